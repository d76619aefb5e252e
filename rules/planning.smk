# What a run costs before it is paid for: scoring, prompting and token distributions of every study and model.


TRACED["plan"] = [
    {
        "files": "results/plan.csv",
        "when": {"instances_of": r"(?P<study>\w+)/(?P<set>\w+)"},
        "then": {"@path": ["results/{study}/instances/{set}/*", "results/{study}/texts/{set}.parquet"]},
    },
]


# The params hold a digest of what earlier runs measured: as inputs those files would ask for scores to be made first.
rule plan:
    input:
        instances=list(PLANNED_INSTANCES.values()),
        texts=[path for paths in STUDY_TEXTS.values() for path in paths],
    output:
        plan="results/plan.csv",
    log:
        "results/logs/plan.log",
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    params:
        studies=list(PLANNED_INSTANCES),
        sets=[f"{study}/{Path(path).stem}" for study, paths in STUDY_TEXTS.items() for path in paths],
        entries={
            name: {**SCORED_ENTRIES[name], **registry.work(MODELS[name])}
            for name in dict.fromkeys([*RUN, *(name for asked in PROMPTED.values() for name in asked)])
        },
        jobs=SHARDS,
        prompted={
            f"{study}/{templates}": {
                name: {"prompts": job["prompts"], "generated": job["generated"], "jobs": PROMPT_SHARDS[study][name]}
                for name, job in asked.items()
            }
            for study, asked in PROMPTED.items()
            for templates in config[study]["templates"]
        },
        methods={name: registry.methods(entry) for name, entry in RUN.items()},
        new_tokens=STUDY_NEW_TOKENS,
        default_new_tokens=DEFAULT_NEW_TOKENS,
        devices=config["planning"]["gpus"],
        speeds="results/benchmarks/score",
        _measured={str(path): path.stat().st_mtime_ns for path in Path("results/benchmarks/score").rglob("*.json")},
        _code=code("scripts/plan.py"),
    script:
        "../scripts/plan.py"
