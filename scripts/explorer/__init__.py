"""Scripts of rules/explorer.smk."""
