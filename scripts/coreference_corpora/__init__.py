"""Rule scripts of rules/coreference_corpora.smk."""
