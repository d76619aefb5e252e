# From one template row to one number in the paper:
#
#   templates/ruff/*.tsv  -> results/ruff/instances/{templates}/*.parquet      rules/ruff.smk
#                         -> results/ruff/scores/{templates}/{model}/*.parquet,
#                            results/ruff/scores/{templates}/{model}.parquet   rules/scoring.smk
#                            results/ruff/answers/{templates}/{model}.parquet  rules/prompting.smk (prompted models)
#                         -> results/ruff/analysis/{templates}/*.csv           rules/ruff.smk, rules/ruff_prompting.smk
#                         -> results/ruff/{figures,tables}/{templates}/*       rules/ruff.smk
#                         -> results/paper/main.pdf                            rules/paper.smk
#
# Named targets: paper (the default), figures, tables, scores, instances, fetch_models, plan, bench, and one for each
# study (ruff, counter_gap, underspecification); audit says whether all that was made is what would be made today.


include: "rules/common.smk"
include: "rules/upstream.smk"
include: "rules/demo_encoder.smk"
include: "rules/ruff.smk"
include: "rules/ruff_prompting.smk"
include: "rules/counter_gap.smk"
include: "rules/underspecification.smk"
include: "rules/scoring.smk"
include: "rules/prompting.smk"
include: "rules/distributions.smk"
include: "rules/planning.smk"
include: "rules/paper.smk"
include: "rules/provenance.smk"
include: "rules/cluster.smk"


localrules:
    paper,
    figures,
    tables,
    scores,
    instances,
    bench,
    fetch_models,
    ruff,
    counter_gap,
    underspecification,
    audit,


rule paper:
    default_target: True
    input:
        rules.paper_pdf.output.pdf,


rule figures:
    input:
        RUFF_FIGURE_FILES,
        COUNTER_GAP_FIGURE_FILES,
        UNDERSPEC_FIGURE_FILES,


rule tables:
    input:
        RUFF_TABLE_FILES,
        COUNTER_GAP_TABLE_FILES,
        UNDERSPEC_TABLE_FILES,
        UNDERSPEC_RESULTS,


rule scores:
    input:
        RUFF_SCORE_FILES,


rule instances:
    input:
        RUFF_INSTANCE_FILES,
        COUNTER_GAP_INSTANCE_FILES,
        UNDERSPEC_INSTANCE_FILES,


rule bench:
    input:
        rules.bench_scoring.output.table,


rule fetch_models:
    input:
        [FETCHED_MODELS[name]["fetched"] for name in RUN | PROMPTED_MODELS if name in FETCHED_MODELS],


rule ruff:
    input:
        RUFF_FIGURE_FILES,
        RUFF_TABLE_FILES,


rule counter_gap:
    input:
        COUNTER_GAP_FIGURE_FILES,
        COUNTER_GAP_TABLE_FILES,


rule underspecification:
    input:
        UNDERSPEC_FIGURE_FILES,
        UNDERSPEC_TABLE_FILES,
        UNDERSPEC_RESULTS,
