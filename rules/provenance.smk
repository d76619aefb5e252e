# Where results come from. Needs the records that jobs write (scripts/core/provenance/job_records.py) and what the
# studies say of their outcomes, which the audit (python -m scripts.audit) reads. Makes the crate of a run.

# How estimates lead back to template rows: through what became of each instance.
OUTCOMES = {study.name: study.outcomes for study in STUDIES.values()}


rule crate:
    """One archive of a run with its results and records (RO-Crate)."""
    input:
        _schema=repo_path("config/schemas/record.schema.yaml"),
        results=[*rules.paper_pdf.output, *RESULT_FILES, *rules.card.input],
    output:
        crate="results/crate/run.crate.zip",
    log:
        "results/logs/crate/crate.log",
    conda:
        "../envs/provenance.yaml"
    params:
        manifest=repo_path("config/upstream.tsv"),
        title="Pronouns in language models: a run and its results",
        allow_stale=config["paper"]["allow_stale"],
        configured=CONFIG_FILES[1:] + ([config_path(config["registry"])] if config.get("registry") else []),
    script:
        "../scripts/provenance/crate.py"
