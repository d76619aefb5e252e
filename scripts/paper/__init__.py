"""Rule scripts of rules/paper.smk."""
