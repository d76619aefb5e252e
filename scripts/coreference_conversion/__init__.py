"""Rule scripts of rules/coreference_conversion.smk."""
