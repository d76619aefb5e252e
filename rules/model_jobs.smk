# Needs the declarations of the studies. Makes what models do for each of them, in how many jobs and how long these
# take, what belongs to a card, and what a plan lists. No rules here.

# What models do for each study that declares it, and what a card shows of it.
SCORED = {name: study.scored for name, study in STUDIES.items() if study.scored}
PROMPTED = {name: study.prompted for name, study in STUDIES.items() if study.prompted}
TEXTS = {name: study.texts for name, study in STUDIES.items() if study.texts}
RESOLVED = {name: study.resolved for name, study in STUDIES.items() if study.resolved}
CARDS = {name: study.card for name, study in STUDIES.items() if study.card}


def check_jobs(jobs, verb):
    """Refuse numbers of jobs that no scheduler takes."""
    for study, counts in jobs.items():
        call_or_exit(costs.check_jobs, counts, f"{verb} {study}", config["scoring"]["minutes_per_job"])


def run_here(models):
    """Return the models that are not behind a server, whose work costs this machine nothing."""
    return [name for name in models if MODELS[name].source]


def scoring_seconds(scored, name, model):
    """Return how long a model scores a set of a study at most."""
    instances, tokens = scored.size_of(name, model)
    return costs.scoring_seconds(MODELS[model], instances, scored.options, tokens)


def prompting_seconds(prompted, model):
    """Return how long a model answers a set of a study at most."""
    return costs.prompting_seconds(MODELS[model], prompted.tokens, prompted.models[model].answers)


def resolving_seconds(documents, system):
    """Return how long a coreference system takes for a set of documents at most."""
    return costs.resolving_seconds(SYSTEMS[system], documents.count, documents.count * documents.tokens)


def jobs_within(seconds):
    """Return in how many jobs work is done."""
    return costs.jobs_within(seconds, config["scoring"]["minutes_per_job"])


# Jobs for each study, set and model: as many as keep each within scoring.minutes_per_job.
SHARDS = {
    study: {
        name: {
            model: jobs_within(scoring_seconds(scored, name, model))
            for model in scored.models_of(name, STUDIES[study].models)
        }
        for name in scored.sets
    }
    for study, scored in SCORED.items()
}
PROMPT_SHARDS = {
    study: {model: jobs_within(prompting_seconds(prompted, model)) for model in prompted.models}
    for study, prompted in PROMPTED.items()
}
# Of sets of documents, too, that this run does not resolve.
DOCUMENT_SHARDS = {
    study: {
        name: {system: jobs_within(resolving_seconds(documents, system)) for system in STUDIES[study].systems}
        for name, documents in resolved.documents.items()
    }
    for study, resolved in RESOLVED.items()
}
check_jobs({f"{study} {name}": counts for study, sets in SHARDS.items() for name, counts in sets.items()}, "score")
check_jobs(PROMPT_SHARDS, "prompt")
check_jobs(
    {f"{study} {name}": DOCUMENT_SHARDS[study][name] for study, resolved in RESOLVED.items() for name in resolved.sets},
    "resolve",
)


def scoring_minutes(wildcards, attempt):
    """Return the time limit of a scoring job in minutes."""
    seconds = scoring_seconds(SCORED[wildcards.study], wildcards.templates, wildcards.model)
    return costs.job_minutes(MODELS[wildcards.model], seconds / int(wildcards.shards), attempt)


def prompting_minutes(wildcards, attempt):
    """Return the time limit of a prompting job in minutes."""
    seconds = prompting_seconds(PROMPTED[wildcards.study], wildcards.model)
    return costs.job_minutes(MODELS[wildcards.model], seconds / int(wildcards.shards), attempt)


def distribution_minutes(wildcards, count, attempt):
    """Return the time limit of a job with so many texts in minutes."""
    texts = TEXTS[wildcards.study]
    new_tokens = texts.new_tokens[wildcards.set]
    seconds = count * costs.reading_seconds(MODELS[wildcards.model], texts.tokens + new_tokens)
    return costs.job_minutes(MODELS[wildcards.model], seconds, attempt)


def resolving_minutes(wildcards, attempt):
    """Return the time limit of a job with documents in minutes."""
    seconds = resolving_seconds(RESOLVED[wildcards.study].documents[wildcards.data], wildcards.system)
    return costs.job_minutes(SYSTEMS[wildcards.system], seconds / int(wildcards.shards), attempt)


def resolved_entry(wildcards):
    """Return what clusters of a system depend on; a new label or licence resolves nothing again."""
    return entries.job_entry(SYSTEMS[wildcards.system], entries.ResolvedSystem)


def card_studies(models):
    """Return the studies for which any of some models does something, by name."""
    return [name for name in CARDS if STUDIES[name].outputs_of(*models)]


def card_pairs(models):
    """Return study and model of a card, for each study the models that do something for it."""
    return [[name, model] for name in card_studies(models) for model in models if STUDIES[name].outputs_of(model)]


def card_summaries(models):
    """Return the summaries of the studies of a card."""
    return [STUDIES[name].summary_file for name in card_studies(models)]


def speeds_of(model):
    """Return the measured times of a model's jobs; nobody measured what a server or scores from elsewhere took."""
    speeds = []
    for study in card_studies([model]) if MODELS[model].source else []:
        for output in STUDIES[study].outputs_of(model):
            named_by = {"study": study, "templates": output.set, "model": model}
            if output.kind == "distributions":
                speeds.append(f"results/benchmarks/token_distributions/{study}/{output.set}/{model}.json")
            else:
                scored = output.kind == "scores"
                shards = SHARDS[study][output.set][model] if scored else PROMPT_SHARDS[study][model]
                made_by = rules.score if scored else rules.prompt
                speeds += expand(made_by.output.speed, shard=range(1, shards + 1), shards=shards, **named_by)
    return speeds


def planned_work():
    """Return what each model and system does for each set of a study."""
    work = []
    for study, scored in SCORED.items():
        for part in scored.sets:
            for model in run_here(SHARDS[study][part]):
                lengths = scored.lengths_of(part, model)
                read = costs.scored_tokens(MODELS[model], scored.options, lengths, scored.shared)
                count, jobs = sum(n for n, _ in lengths), SHARDS[study][part][model]
                work.append(costs.Work("score", study, part, MODELS[model], count, read, 0, jobs))
    for study, prompted in PROMPTED.items():
        for part in prompted.sets:
            for model in run_here(prompted.models):
                asked, jobs = prompted.models[model], PROMPT_SHARDS[study][model]
                generated = asked.generated(MODELS[model].thought_tokens)
                read = asked.prompts * prompted.tokens
                work.append(costs.Work("prompt", study, part, MODELS[model], asked.prompts, read, generated, jobs))
    for study, texts in TEXTS.items():
        for part in texts.sets:
            for model in run_here(STUDIES[study].models):
                methods = MODELS[model].methods(study)
                count = sum(texts.counts[part][method] for method in methods)
                read = count * texts.tokens
                generated = texts.counts[part]["generate"] * texts.new_tokens[part] if "generate" in methods else 0
                work.append(costs.Work("token_distributions", study, part, MODELS[model], count, read, generated, 1))
    for study, resolved in RESOLVED.items():
        for part in resolved.sets:
            sizes = resolved.documents[part]
            for system, jobs in DOCUMENT_SHARDS[study][part].items():
                read = round(sizes.count * sizes.tokens)
                work.append(costs.Work("coreference", study, part, SYSTEMS[system], sizes.count, read, 0, jobs))
    # Training reads a document forward and twice as long backward.
    for name, job in RUN_TRAINING.items():
        documents, read = (
            costs.TRAINING_PASSES * job[f"trained{unit}"] + job[f"resolved{unit}"] for unit in ("", "_tokens")
        )
        encoder = entries.read_source(job["encoder"])
        trained = dataclasses.replace(SYSTEMS[job["system"]], name=name, source=encoder, gpus=1)
        work.append(costs.Work("train_coreference", "training", "ontonotes", trained, documents, read, 0, 1))
    return work


def planned_gpus():
    """Return the GPU types of a plan: all, or the one that ``planning.gpu`` names."""
    known, wanted = config["planning"]["gpus"], config["planning"]["gpu"]
    if wanted is not None and wanted not in known:
        exit_with(
            f"planning.gpu: '{wanted}' is not in planning.gpus{did_you_mean(wanted, known) or '; add its speeds there'}"
        )
    return {name: facts for name, facts in known.items() if wanted in (None, name)}
