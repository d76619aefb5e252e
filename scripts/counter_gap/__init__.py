"""Scripts of rules/counter_gap.smk, named like its rules."""
