"""Rule scripts of rules/prompting.smk."""
