# Where results come from: the audit of all records and files (scripts/core/provenance.py writes the records).


# Without outputs, so that it runs whenever it is asked for; without inputs, so that it makes nothing current by itself.
rule audit:
    log:
        "results/logs/audit/audit.log",
    conda:
        "../envs/provenance.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        configuration=config,
        targets=[],
        configfiles=[str(path) for path in workflow.overwrite_configfiles],
        _code=code("scripts/audit.py"),
    script:
        "../scripts/audit.py"


rule crate:
    input:
        _schema=root("config/schemas/record.schema.yaml"),
        results=[*rules.paper_pdf.output, *RESULT_FILES],
    output:
        crate="results/crate/run.crate.zip",
    log:
        "results/logs/crate/crate.log",
    conda:
        "../envs/provenance.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        manifest=root("config/upstream.tsv"),
        title="Pronouns in language models: a run and its results",
        _code=code("scripts/crate.py"),
    script:
        "../scripts/crate.py"
