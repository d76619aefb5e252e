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
        _code=code("scripts/audit.py"),
    script:
        "../scripts/audit.py"
