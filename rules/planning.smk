# What a run costs before it is paid for: scoring, prompting, token distributions and coreference of every study and model. Nothing is
# made for it, so that planning one configuration leaves the results of another as they are: it uses what the
# studies declare.


# The params hold a digest of what earlier runs measured: as inputs those files would ask for scores to be made first.
rule plan:
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
        scored={
            f"{study}/{name}": {
                "options": scored.options,
                "lengths": {model: scored.lengths_of(name, model) for model in SHARDS[study][name]},
                "shared": scored.shared,
                "jobs": SHARDS[study][name],
            }
            for study, scored in SCORED.items()
            for name in scored.sets
        },
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
        texts={
            f"{study}/{name}": {
                "counts": texts.counts[name],
                "tokens": texts.tokens,
                "new_tokens": texts.new_tokens[name],
                "methods": {model: registry.methods(MODELS[model], study) for model in STUDIES[study].models},
            }
            for study, texts in TEXTS.items()
            for name in texts.sets
        },
        resolved={
            f"{study}/{name}": {
                "documents": resolved.documents[name].count,
                "tokens": resolved.documents[name].tokens,
                "jobs": DOCUMENT_SHARDS[study][name],
            }
            for study, resolved in RESOLVED.items()
            for name in resolved.sets
        },
        trained=RUN_TRAINING,
        entries={
            name: {**SCORED_ENTRIES[name], **registry.work(MODELS[name])}
            for name in dict.fromkeys(
                [*READ_MODELS, *(name for prompted in PROMPTED.values() for name in prompted.models)]
            )
        }
        | {
            name: {**RESOLVED_ENTRIES[name], "gpus": SYSTEMS[name]["gpus"], **registry.work(SYSTEMS[name])}
            for name in dict.fromkeys(name for study in RESOLVED for name in STUDIES[study].systems)
        }
        | {
            name: {**RESOLVED_ENTRIES[job["system"]], "source": job["encoder"], "gpus": 1}
            | registry.work(SYSTEMS[job["system"]])
            for name, job in RUN_TRAINING.items()
        },
        devices=config["planning"]["gpus"],
        speeds="results/benchmarks/score",
        _measured={str(path): path.stat().st_mtime_ns for path in Path("results/benchmarks/score").rglob("*.json")},
    script:
        "../scripts/planning/plan.py"
