"""Rule scripts of rules/coreference.smk."""
