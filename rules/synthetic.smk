# Needs synthetic models, which measure what a run of many models costs (scripts/scale.py makes and measures such runs).
# Makes their scores, which are drawn.


SYNTHETIC = call_or_exit(
    synthetic.check_run,
    {name: MODELS[name] for name in dict.fromkeys([*READ_MODELS, *ASKED_MODELS])},
    {*ASKED_MODELS, *(name for study in STUDIES.values() if study.texts for name in study.models)},
    config.get("run"),
)

if SYNTHETIC:

    ruleorder: draw_scores > merge_scores

    rule draw_scores:
        input:
            instances="results/{study}/instances/{templates}/selected.parquet",
        output:
            scores="results/{study}/scores/{templates}/{model}.parquet",
        log:
            "results/logs/draw_scores/{study}/{templates}/{model}.log",
        wildcard_constraints:
            templates=SCORED_SETS,
            model=one_of(SYNTHETIC),
        conda:
            "../envs/analysis.yaml"
        resources:
            mem_mb=4000,
        params:
            model=lambda wildcards: wildcards.model,
            entry=lambda wildcards: SCORED_ENTRIES[wildcards.model],
            score=lambda wildcards: SCORED[wildcards.study].score,
        script:
            "../scripts/synthetic/draw_scores.py"
