"""Rule scripts of coreference systems."""
