# What a run costs before it is paid for: scoring, prompting and token distributions of every study and model.


SCORED_SETS = [(study, name) for study, scored in SCORED.items() for name in scored.sets]
TEXT_SETS = [(study, name) for study, texts in TEXTS.items() for name in texts.sets]

# What the plan's columns mean, for the audit (scripts/core/provenance/origins.py).
PLAN_TRACED = [
    {
        "files": "results/plan.csv",
        "when": {"instances_of": r"(?P<study>\w+)/(?P<set>\w+)"},
        "then": {"@path": ["results/{study}/instances/{set}/*", "results/{study}/texts/{set}.parquet"]},
    },
]


# The params hold a digest of what earlier runs measured: as inputs those files would ask for scores to be made first.
rule plan:
    input:
        instances=[f"results/{study}/instances/{name}/selected.parquet" for study, name in SCORED_SETS],
        texts=[f"results/{study}/texts/{name}.parquet" for study, name in TEXT_SETS],
    output:
        plan="results/plan.csv",
    log:
        "results/logs/plan.log",
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        studies=[f"{study}/{name}" for study, name in SCORED_SETS],
        sets={
            f"{study}/{name}": {"tokens": TEXTS[study].tokens, "new_tokens": TEXTS[study].new_tokens[name]}
            for study, name in TEXT_SETS
        },
        entries={
            name: {**SCORED_ENTRIES[name], **registry.work(MODELS[name])}
            for name in dict.fromkeys([*RUN, *(name for prompted in PROMPTED.values() for name in prompted.models)])
        },
        jobs=SHARDS,
        prompted={
            f"{study}/{templates}": {
                name: {
                    "prompts": job["prompts"],
                    "tokens": prompted.tokens,
                    "generated": job["generated"],
                    "jobs": PROMPT_SHARDS[study][name],
                }
                for name, job in prompted.models.items()
            }
            for study, prompted in PROMPTED.items()
            for templates in prompted.sets
        },
        methods={study: {name: registry.methods(entry, study) for name, entry in RUN.items()} for study in TEXTS},
        devices=config["planning"]["gpus"],
        speeds="results/benchmarks/score",
        _measured={str(path): path.stat().st_mtime_ns for path in Path("results/benchmarks/score").rglob("*.json")},
    script:
        "../scripts/planning/plan.py"
