"""Rule scripts of rules/coreference_training.smk."""
