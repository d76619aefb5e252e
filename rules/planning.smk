# Needs what the studies declare. Makes what a run costs before it is paid for: scoring, prompting, token distributions
# and coreference of every study and model. No file is made for it, so that planning one configuration leaves the
# results of another as they are.


# What one job asks for by estimate, by rule, set and model.
ESTIMATED = {
    "score": {
        f"{study}/{name}": {
            model: estimated(model, scoring_estimate(study, name, model, jobs))
            for model, jobs in SHARDS[study][name].items()
            if "source" in MODELS[model]
        }
        for study, scored in SCORED.items()
        for name in scored.sets
    },
    "prompt": {
        f"{study}/{name}": {
            model: estimated(model, prompting_estimate(study, model, jobs))
            for model, jobs in PROMPT_SHARDS[study].items()
            if "source" in MODELS[model]
        }
        for study, prompted in PROMPTED.items()
        for name in prompted.sets
    },
    "token_distributions": {
        f"{study}/{name}": {
            model: estimated(model, distribution_estimate(study, name, model, sum(texts.counts[name].values())))
            for model in run_here(STUDIES[study].models)
        }
        for study, texts in TEXTS.items()
        for name in texts.sets
    },
}


# The params hold a digest of what earlier runs measured: as inputs those files would ask for scores to be made first.
rule plan:
    """Estimate GPU hours, disk space and downloads of a run before it starts."""
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
                "lengths": {model: scored.lengths_of(name, model) for model in run_here(SHARDS[study][name])},
                "shared": scored.shared,
                "score": scored.score,
                "jobs": {model: SHARDS[study][name][model] for model in run_here(SHARDS[study][name])},
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
                if "source" in MODELS[name]
            }
            for study, prompted in PROMPTED.items()
            for templates in prompted.sets
        },
        texts={
            f"{study}/{name}": {
                "counts": texts.counts[name],
                "tokens": texts.tokens,
                "new_tokens": texts.new_tokens[name],
                "methods": {
                    model: registry.methods(MODELS[model], study) for model in run_here(STUDIES[study].models)
                },
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
            name: {**SCORED_ENTRIES[name], **registry.work_factors(MODELS[name])}
            for name in dict.fromkeys(
                run_here([*READ_MODELS, *(name for prompted in PROMPTED.values() for name in prompted.models)])
            )
        }
        | {
            name: {**RESOLVED_ENTRIES[name], "gpus": SYSTEMS[name]["gpus"], **registry.work_factors(SYSTEMS[name])}
            for name in dict.fromkeys(name for study in RESOLVED for name in STUDIES[study].systems)
        }
        | {
            name: {**RESOLVED_ENTRIES[job["system"]], "source": job["encoder"], "gpus": 1}
            | registry.work_factors(SYSTEMS[job["system"]])
            for name, job in RUN_TRAINING.items()
        },
        devices=config["planning"]["gpus"],
        speeds="results/benchmarks/score",
        benchmarks="results/benchmarks",
        estimated=ESTIMATED,
        margin=MEASURED_MARGIN,
        _measured={
            str(path): path.stat().st_mtime_ns
            for folder in [*usage.RULES, usage.REPORTS]
            for path in Path("results/benchmarks", folder).rglob("*")
            if path.suffix in (".json", ".tsv", ".csv")
        },
    script:
        "../scripts/planning/plan.py"
