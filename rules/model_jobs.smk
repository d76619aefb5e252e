# Needs the declarations of the studies. Makes what models do for each of them, in how many jobs and how long these
# take, and what belongs to a card. No rules here.

# What models do for each study that declares it, and what a card shows of it.
SCORED = {name: study.scored for name, study in STUDIES.items() if study.scored}
PROMPTED = {name: study.prompted for name, study in STUDIES.items() if study.prompted}
TEXTS = {name: study.texts for name, study in STUDIES.items() if study.texts}
CARDS = {name: study.card for name, study in STUDIES.items() if study.card}


def check_jobs(jobs, verb):
    """Refuse numbers of jobs that no scheduler takes."""
    for study, counts in jobs.items():
        call_or_exit(registry.check_jobs, counts, f"{verb} {study}", config["scoring"]["minutes_per_job"])


def run_here(models):
    """Return the models that are not behind a server, whose work costs this machine nothing."""
    return [name for name in models if "source" in MODELS[name]]


def shards_of(scored, name, model):
    """Return in how many jobs a model scores a set of a study."""
    instances, tokens = scored.size_of(name, model)
    return registry.shard_count(MODELS[model], instances, scored.options, tokens, config["scoring"]["minutes_per_job"])


# Jobs for each study, set and model: as many as keep each within scoring.minutes_per_job.
SHARDS = {
    study: {
        name: {model: shards_of(scored, name, model) for model in scored.models_of(name, STUDIES[study].models)}
        for name in scored.sets
    }
    for study, scored in SCORED.items()
}
PROMPT_SHARDS = {
    study: {
        name: registry.jobs_within(job["seconds"], config["scoring"]["minutes_per_job"])
        for name, job in prompted.models.items()
    }
    for study, prompted in PROMPTED.items()
}
check_jobs({f"{study} {name}": counts for study, sets in SHARDS.items() for name, counts in sets.items()}, "score")
check_jobs(PROMPT_SHARDS, "prompt")


def scoring_minutes(wildcards, attempt):
    """Return the time limit of a scoring job in minutes."""
    scored = SCORED[wildcards.study]
    instances, tokens = scored.size_of(wildcards.templates, wildcards.model)
    return registry.runtime_minutes(
        MODELS[wildcards.model], instances / int(wildcards.shards), scored.options, tokens, attempt
    )


def prompting_minutes(wildcards, attempt):
    """Return the time limit of a prompting job in minutes."""
    seconds = PROMPTED[wildcards.study].models[wildcards.model]["seconds"]
    return registry.prompt_minutes(MODELS[wildcards.model], seconds / int(wildcards.shards), attempt)


def distribution_minutes(wildcards, count, attempt):
    """Return the time limit of a job with so many texts in minutes."""
    texts = TEXTS[wildcards.study]
    new_tokens = texts.new_tokens[wildcards.set]
    return registry.distribution_minutes(MODELS[wildcards.model], count, texts.tokens, new_tokens, attempt)


def card_studies(models):
    """Return the studies for which any of some models does something, by name."""
    return [name for name in CARDS if any(map(STUDIES[name].takes, models))]


def card_pairs(models):
    """Return study and model of a card, for each study the models that do something for it."""
    return [[name, model] for name in card_studies(models) for model in models if STUDIES[name].takes(model)]


def card_summaries(models):
    """Return the summaries of the studies of a card."""
    return [STUDIES[name].summary_file for name in card_studies(models)]


def speeds_of(model):
    """Return the measured times of a model's jobs; nobody measured what a server or scores from elsewhere took."""
    speeds = []
    if "source" not in MODELS[model]:
        return speeds
    for study in card_studies([model]):
        for path in STUDIES[study].files_of(model):
            _, _, room, *parts = Path(path).with_suffix("").parts
            named_by = {"study": study, "model": model, "templates": "/".join(parts[:-1])}
            if room == "distributions":
                speeds.append(f"results/benchmarks/token_distributions/{study}/{named_by['templates']}/{model}.json")
            else:
                shards = (
                    SHARDS[study][named_by["templates"]][model] if room == "scores" else PROMPT_SHARDS[study][model]
                )
                rule_of = {"scores": rules.score, "answers": rules.prompt}[room]
                speeds += expand(rule_of.output.speed, shard=range(1, shards + 1), shards=shards, **named_by)
    return speeds
