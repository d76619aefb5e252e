# Needs what the studies declare. Makes what a run costs before it is paid for: scoring, prompting, token distributions,
# coreference and its training. No file is made for it, so that planning one configuration leaves the results of another
# as they are.


localrules:
    plan,


rule plan:
    """Estimate GPU hours, disk space and downloads of a run before it starts."""
    output:
        plan="results/plan.csv",
    log:
        "results/logs/plan.log",
    conda:
        "../envs/scoring.yaml"
    params:
        work=planned_work(),
        entries={
            name: {**SCORED_ENTRIES[name], **costs.work_factors(MODELS[name])}
            for name in dict.fromkeys(
                run_here([*READ_MODELS, *(name for prompted in PROMPTED.values() for name in prompted.models)])
            )
        }
        | {
            name: {**RESOLVED_ENTRIES[name], "gpus": SYSTEMS[name]["gpus"], **costs.work_factors(SYSTEMS[name])}
            for name in dict.fromkeys(name for study in RESOLVED for name in STUDIES[study].systems)
        }
        | {
            name: {**RESOLVED_ENTRIES[job["system"]], "source": job["encoder"], "gpus": 1}
            | costs.work_factors(SYSTEMS[job["system"]])
            for name, job in RUN_TRAINING.items()
        },
        devices=planned_gpus(),
    script:
        "../scripts/planning/plan.py"
