"""Rule script of rules/upstream.smk."""
