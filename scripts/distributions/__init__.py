"""Rule scripts of rules/distributions.smk."""
