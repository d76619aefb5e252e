# Sheets for people to fill in and what comes back. A study that is annotated writes its items to
# results/<study>/annotation/<set>/items.parquet (scripts/core/annotation.py) and has a block `annotation` in its
# configuration: the seed of the order, and the sheets that were filled in.


def annotation_sheets(wildcards):
    """Return the filled-in sheets of a set of items."""
    return [entry for entry in config[wildcards.study]["annotation"]["sheets"] if entry["set"] == wildcards.set]


rule annotation_sheet:
    input:
        items="results/{study}/annotation/{set}/items.parquet",
    output:
        sheet="results/{study}/annotation/{set}/sheet.csv",
    log:
        "results/logs/annotation_sheet/{study}_{set}.log",
    wildcard_constraints:
        study=one_of(STUDIES),
        set=r"[a-z_]+",
    conda:
        "../envs/analysis.yaml"
    params:
        seed=lambda wildcards: config[wildcards.study]["annotation"]["seed"],
    script:
        "../scripts/annotation/annotation_sheet.py"


rule annotation_agreement:
    input:
        items="results/{study}/annotation/{set}/items.parquet",
        sheets=lambda wildcards: [entry["file"] for entry in annotation_sheets(wildcards)],
    output:
        agreement="results/{study}/annotation/{set}/agreement.csv",
        rejected="results/{study}/annotation/{set}/rejected.csv",
    log:
        "results/logs/annotation_agreement/{study}_{set}.log",
    wildcard_constraints:
        study=one_of(STUDIES),
        set=r"[a-z_]+",
    conda:
        "../envs/analysis.yaml"
    params:
        annotators=lambda wildcards: [entry["annotator"] for entry in annotation_sheets(wildcards)],
    script:
        "../scripts/annotation/annotation_agreement.py"
