# Needs what the studies declare. Makes what a run costs before it is paid for: scoring, prompting, token distributions,
# coreference and its training. No file is made for it, so that planning one configuration leaves the results of another
# as they are.


def planned_work():
    """Return what each model and system does for each set of a study, as scripts/core/engines/planning.py takes it."""
    work = []

    def add(rule, study, part, model, items, read, generated, jobs):
        work.append(
            {"rule": rule, "study": study, "set": part, "model": model, "items": items, "read": read}
            | {"generated": generated, "jobs": jobs}
        )

    for study, scored in SCORED.items():
        for part in scored.sets:
            for model in run_here(SHARDS[study][part]):
                lengths = scored.lengths_of(part, model)
                read = planning.scored_tokens(MODELS[model], scored.options, lengths, scored.shared)
                add("score", study, part, model, sum(n for n, _ in lengths), read, 0, SHARDS[study][part][model])
    for study, prompted in PROMPTED.items():
        for part in prompted.sets:
            for model in run_here(prompted.models):
                job = prompted.models[model]
                read = job["prompts"] * prompted.tokens
                add("prompt", study, part, model, job["prompts"], read, job["generated"], PROMPT_SHARDS[study][model])
    for study, texts in TEXTS.items():
        for part in texts.sets:
            for model in run_here(STUDIES[study].models):
                methods = registry.methods(MODELS[model], study)
                count = sum(texts.counts[part][method] for method in methods)
                generated = texts.counts[part]["generate"] * texts.new_tokens[part] if "generate" in methods else 0
                add("token_distributions", study, part, model, count, count * texts.tokens, generated, 1)
    for study, resolved in RESOLVED.items():
        for part in resolved.sets:
            sizes = resolved.documents[part]
            for system, jobs in DOCUMENT_SHARDS[study][part].items():
                add("coreference", study, part, system, sizes.count, round(sizes.count * sizes.tokens), 0, jobs)
    # Training reads a document forward and twice as long backward.
    for name, job in RUN_TRAINING.items():
        documents, read = (
            registry.TRAINING_PASSES * job[f"trained{unit}"] + job[f"resolved{unit}"] for unit in ("", "_tokens")
        )
        add("train_coreference", "training", "ontonotes", name, documents, read, 0, 1)
    return work


def planned_gpus():
    """Return the GPU types of a plan: all, or the one that ``planning.gpu`` names."""
    known, wanted = config["planning"]["gpus"], config["planning"]["gpu"]
    if wanted is not None and wanted not in known:
        exit_with(
            f"planning.gpu: '{wanted}' is not in planning.gpus{did_you_mean(wanted, known) or '; add its speeds there'}"
        )
    return {name: facts for name, facts in known.items() if wanted in (None, name)}


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
        devices=planned_gpus(),
    script:
        "../scripts/planning/plan.py"
