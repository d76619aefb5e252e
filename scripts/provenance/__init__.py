"""Scripts of rules/provenance.smk, and what the audit compares: the jobs that Snakemake plans, and what is on disk."""
