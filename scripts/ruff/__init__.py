"""Scripts of rules/ruff.smk, named like its rules."""
