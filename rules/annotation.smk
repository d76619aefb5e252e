# Tasks for people and what comes back (docs/annotation.md). Needs the questions of a study that is annotated,
# results/<study>/annotation/<set>/questions.parquet (scripts/core/data/annotation.py), and the block `annotation` of its
# configuration: the seed of the order, and the sheets that were filled in. Makes sheets, pages, agreement and accuracy;
# no default target asks for any of it.


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


rule annotation_page:
    input:
        questions="results/{study}/annotation/{set}/questions.parquet",
        template=repo_path("templates/annotation/page.html.j2"),
    output:
        page="results/{study}/annotation/{set}/page.html",
    log:
        "results/logs/annotation_page/{study}_{set}.log",
    wildcard_constraints:
        study=one_of(ANNOTATED),
        set=r"[a-z_]+",
    group:
        "analyses"
    conda:
        "../envs/paper.yaml"
    params:
        seed=lambda wildcards: config[wildcards.study]["annotation"]["seed"],
        name="{study}_{set}",
    script:
        "../scripts/annotation/annotation_page.py"


rule annotation_agreement:
    input:
        questions="results/{study}/annotation/{set}/questions.parquet",
        sheets=lambda wildcards: [config_path(entry["file"]) for entry in annotation_sheets(wildcards)],
    output:
        answers="results/{study}/annotation/{set}/answers.csv",
        agreement="results/{study}/annotation/{set}/agreement.csv",
        accuracy="results/{study}/annotation/{set}/accuracy.csv",
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
        partial=lambda wildcards: [entry.get("partial", False) for entry in annotation_sheets(wildcards)],
        draws=lambda wildcards: config[wildcards.study]["bootstrap"]["draws"],
        seed=lambda wildcards: config[wildcards.study]["bootstrap"]["seed"],
    script:
        "../scripts/annotation/annotation_agreement.py"
