"""Rule scripts of rules/scoring.smk."""
