"""Rule script of rules/planning.smk."""
