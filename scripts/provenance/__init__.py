"""Scripts of rules/provenance.smk, and the list of jobs that the audit asks Snakemake for."""
