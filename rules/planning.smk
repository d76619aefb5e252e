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
        rows=lambda wildcards: costs.plan_costs(planned_work(), planned_gpus()),
    script:
        "../scripts/planning/plan.py"
