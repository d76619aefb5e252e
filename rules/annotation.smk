# Sheets for people to fill in and what comes back. A study that is annotated writes its questions to
# results/<study>/annotation/<set>/questions.parquet (scripts/core/annotation.py) and has a block `annotation` in its
# configuration: the seed of the order, and the sheets that were filled in.


ANNOTATED = [name for name, block in config.items() if isinstance(block, dict) and "annotation" in block]

# The filled-in sheets of a set of questions.
annotation_sheets = lambda wildcards: [
    entry for entry in config[wildcards.study]["annotation"]["sheets"] if entry["set"] == wildcards.set
]


rule annotation_sheet:
    input:
        questions="results/{study}/annotation/{set}/questions.parquet",
    output:
        sheet="results/{study}/annotation/{set}/sheet.csv",
    log:
        "results/logs/annotation_sheet/{study}_{set}.log",
    wildcard_constraints:
        study=one_of(ANNOTATED),
        set=r"[a-z_]+",
    group:
        "analyses"
    conda:
        "../envs/analysis.yaml"
    params:
        seed=lambda wildcards: config[wildcards.study]["annotation"]["seed"],
    script:
        "../scripts/annotation/annotation_sheet.py"


rule annotation_agreement:
    input:
        questions="results/{study}/annotation/{set}/questions.parquet",
        sheets=lambda wildcards: [entry["file"] for entry in annotation_sheets(wildcards)],
    output:
        agreement="results/{study}/annotation/{set}/agreement.csv",
        rejected="results/{study}/annotation/{set}/rejected.csv",
    log:
        "results/logs/annotation_agreement/{study}_{set}.log",
    wildcard_constraints:
        study=one_of(ANNOTATED),
        set=r"[a-z_]+",
    group:
        "analyses"
    conda:
        "../envs/analysis.yaml"
    params:
        annotators=lambda wildcards: [entry["annotator"] for entry in annotation_sheets(wildcards)],
    script:
        "../scripts/annotation/annotation_agreement.py"
