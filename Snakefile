# From one template row to one number in the paper, for each study:
#
#   templates/{study}/*.tsv  -> results/{study}/instances/, texts/, prompts/       rules/{study}.smk
#                            -> results/{study}/scores/{set}/{model}.parquet       rules/scoring.smk
#                               results/{study}/answers/{set}/{model}.parquet      rules/prompting.smk
#                               results/{study}/distributions/{set}/{model}.parquet  rules/distributions.smk
#                               results/{study}/clusters/{set}/{system}.jsonl      rules/coreference.smk
#                            -> results/{study}/analysis/                          rules/{study}.smk
#                            -> results/{study}/figures/, tables/                  rules/studies.smk
#                            -> results/paper/main.pdf                             rules/paper.smk
#
# Named targets: paper (the default), all (paper and cards), summary, figures, tables, scores, clusters, instances,
# fetch_models, plan, bench, card, compare, and one for each study, by its name; audit says whether all that was made is what would be
# made today.


include: "rules/common.smk"
include: "rules/upstream.smk"
include: "rules/demo_encoder.smk"
include: "rules/coreference_inputs.smk"
include: "rules/coreference_corpora.smk"
include: "rules/coreference_training.smk"
include: "rules/coreference_conversion.smk"


# The studies, in the order of the paper.
for name in chosen(
    "ruff",
    "counter_gap",
    "misgendered",
    "underspecification",
    "winopron",
):

    include: f"rules/{name}.smk"


include: "rules/studies.smk"
include: "rules/scoring.smk"
include: "rules/servers.smk"
include: "rules/synthetic.smk"
include: "rules/prompting.smk"
include: "rules/distributions.smk"
include: "rules/coreference.smk"
include: "rules/annotation.smk"
include: "rules/planning.smk"
include: "rules/paper.smk"
include: "rules/card.smk"
include: "rules/provenance.smk"
include: "rules/export.smk"
include: "rules/compare.smk"
include: "rules/modules.smk"
include: "rules/progress.smk"
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
    audit,


rule paper:
    default_target: True
    input:
        rules.paper_pdf.output.pdf,
        rules.paper_summary.output,


rule all:
    input:
        rules.paper.input,
        rules.card.input,


rule summary:
    input:
        rules.paper_summary.output,


rule figures:
    input:
        [study.files("figure") for study in STUDIES.values()],


rule tables:
    input:
        [[*study.files("table", "comparison"), *study.analyses] for study in STUDIES.values()],


rule scores:
    input:
        SCORE_FILES,


rule clusters:
    input:
        CLUSTER_FILES,


rule instances:
    input:
        [study.instances for study in STUDIES.values()],


rule fetch_models:
    input:
        [FETCHED_MODELS[name]["fetched"] for name in [*READ_MODELS, *ASKED_MODELS] if name in FETCHED_MODELS],
        [FETCHED_SYSTEMS[name] for name in RUN_SYSTEMS if name in FETCHED_SYSTEMS],
        [FETCHED_ENCODERS[name] for name in dict.fromkeys(job["entry"] for job in RUN_TRAINING.values())],
