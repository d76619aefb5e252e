# From one template row to one number in the paper, for each study:
#
#   templates/{study}/*.tsv  -> results/{study}/instances/, texts/, prompts/       rules/{study}.smk
#                            -> results/{study}/scores/{set}/{model}.parquet       rules/scoring.smk
#                               results/{study}/answers/{set}/{model}.parquet      rules/prompting.smk
#                               results/{study}/distributions/{set}/{model}.parquet  rules/distributions.smk
#                               results/{study}/clusters/{set}/{system}.jsonl      rules/coreference.smk
#                            -> results/{study}/analysis/                          rules/{study}.smk
#                            -> results/{study}/figures/, tables/                  rules/{study}.smk
#                            -> results/paper/main.pdf                             rules/paper.smk
#
# Targets are the rules with a docstring (snakemake --list-target-rules prints it) and one for each study, by its name.


include: "rules/common.smk"
include: "rules/upstream.smk"
include: "rules/demo_encoder.smk"
include: "rules/coreference_inputs.smk"
include: "rules/coreference_corpora.smk"
include: "rules/coreference_training.smk"


# The studies, in the order of the paper.
for name in select_studies(
    "ruff",
    "counter_gap",
    "misgendered",
    "underspecification",
    "winopron",
):

    include: f"rules/{name}.smk"


include: "rules/studies.smk"
include: "rules/model_jobs.smk"
include: "rules/scoring.smk"
include: "rules/prompting.smk"
include: "rules/distributions.smk"
include: "rules/coreference.smk"
include: "rules/planning.smk"
include: "rules/paper.smk"
include: "rules/explorer.smk"
include: "rules/card.smk"
include: "rules/provenance.smk"
include: "rules/modules.smk"
include: "rules/cluster.smk"


localrules:
    paper,
    all,
    summary,
    figures,
    tables,
    scores,
    clusters,
    instances,
    fetch_models,


rule paper:
    """The typeset paper with all figures and tables (the default target)."""
    default_target: True
    input:
        rules.paper_pdf.output.pdf,
        rules.paper_summary.output,
        rules.explorer.output,


rule all:
    """The paper, and the cards of the models that the configuration lists."""
    input:
        rules.paper.input,
        rules.card.input,


rule summary:
    """The headline estimates of all studies: results/paper/summary.csv."""
    input:
        rules.paper_summary.output,


rule figures:
    """All figures, without the paper."""
    input:
        [study.figure_files for study in STUDIES.values()],


rule tables:
    """All tables, comparisons with published numbers and tidy analyses, without the paper."""
    input:
        [[*study.table_files, *study.analyses] for study in STUDIES.values()],


rule scores:
    """Only the scores of all models."""
    input:
        SCORE_FILES,


rule clusters:
    """Only the clusters of all coreference systems."""
    input:
        CLUSTER_FILES,


rule instances:
    """Only what models and coreference systems read."""
    input:
        [study.read_files for study in STUDIES.values()],


rule fetch_models:
    """Download the checkpoints that a run needs, without running anything."""
    input:
        [FETCHED_MODELS[name]["fetched"] for name in [*READ_MODELS, *ASKED_MODELS] if name in FETCHED_MODELS],
        [FETCHED_SYSTEMS[name] for name in RUN_SYSTEMS if name in FETCHED_SYSTEMS],
        [FETCHED_ENCODERS[name] for name in dict.fromkeys(job["entry"] for job in RUN_TRAINING.values())],
