"""Scripts of rules/winopron.smk, named like its rules."""
