"""Rule scripts of rules/demo_encoder.smk."""
