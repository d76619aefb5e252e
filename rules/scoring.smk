# Scores of models. Needs instances that studies declare, and models; the rules know no study. Makes one job for each
# study, template set, model and shard.


# The files of scores that were computed elsewhere, by model and set.
try:
    GIVEN_SCORES = {
        name: {
            f"{study}/{part}": registry.given_scores(model, f"{study}/{part}", Path.cwd(), ROOT)
            for study, sets in SHARDS.items()
            for part, jobs in sets.items()
            if name in jobs
        }
        for name, model in RUN.items()
        if model.outputs
    }
    for study in STUDIES.values():
        for model in GIVEN_SCORES:
            if study.texts and model in study.models:
                raise UserError(f"models: '{model}' has scores from elsewhere only; leave out the study {study.name}")
except UserError as error:
    exit_with(error)


# A study may have other sets than those of templates, such as instances behind examples.
SCORED_SETS = one_of(dict.fromkeys(name for scored in SCORED.values() for name in scored.sets))


localrules:
    fetch_model,
    import_scores,
    merge_scores,


rule fetch_model:
    output:
        fetched="results/models/fetched/{model}.json",
    log:
        "results/logs/fetch_model/{model}.log",
    conda:
        "../envs/scoring.yaml"
    params:
        name=lambda wildcards: wildcards.model,
        entry=scored_entry,
        stated=lambda wildcards: {
            key: value
            for key in ("context", "parameters")
            if (value := getattr(MODELS[wildcards.model], key)) is not None
        },
    script:
        "../scripts/scoring/fetch_model.py"


rule score:
    input:
        unpack(model_files),
        instances="results/{study}/instances/{templates}/selected.parquet",
    output:
        scores="results/{study}/scores/{templates}/{model}/{shard}of{shards}.parquet",
        speed="results/benchmarks/score/{study}/{templates}/{model}/{shard}of{shards}.json",
    log:
        "results/logs/score/{study}/{templates}/{model}/{shard}of{shards}.log",
    benchmark:
        "results/benchmarks/score/{study}/{templates}/{model}/{shard}of{shards}.tsv"
    wildcard_constraints:
        templates=SCORED_SETS,
        model=WITH_WEIGHTS,
    # Scoring takes longest: it begins before all but instances (rules/modules.smk), and other models come next.
    priority: 2
    conda:
        "../envs/scoring.yaml"
    threads: model_threads
    resources:
        gpu=lambda wildcards: MODELS[wildcards.model].gpus,
        gpu_model=lambda wildcards: gpu_type(MODELS[wildcards.model].gpus),
        nodes=1,
        mem_mb=model_memory,
        runtime=scoring_minutes,
    params:
        model=lambda wildcards: wildcards.model,
        entry=scored_entry,
        engine=config["scoring"]["engine"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        criterion=lambda wildcards: SCORED[wildcards.study].criterion,
        token_values=config["scoring"]["token_values"],
        save_seconds=config["scoring"]["save_seconds"],
        priority=lambda wildcards: SCORED[wildcards.study].of(wildcards.model)["priority"],
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        _weights=lambda wildcards: local_weights(wildcards.model),
    script:
        "../scripts/scoring/score.py"


rule import_scores:
    input:
        instances="results/{study}/instances/{templates}/selected.parquet",
        given=lambda wildcards: GIVEN_SCORES[wildcards.model][f"{wildcards.study}/{wildcards.templates}"],
    output:
        scores="results/{study}/scores/{templates}/{model}/{shard}of{shards}.parquet",
    log:
        "results/logs/import_scores/{study}/{templates}/{model}/{shard}of{shards}.log",
    wildcard_constraints:
        templates=SCORED_SETS,
        model=one_of(GIVEN_SCORES) or "none",
        shard="1",
        shards="1",
    conda:
        "../envs/scoring.yaml"
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: {
            key: getattr(MODELS[wildcards.model], key) for key in ("label", "outputs", "architecture", "demonstration")
        },
        criterion=lambda wildcards: SCORED[wildcards.study].criterion,
        priority=lambda wildcards: SCORED[wildcards.study].of(wildcards.model)["priority"],
    script:
        "../scripts/scoring/import_scores.py"


rule merge_scores:
    input:
        shards=lambda wildcards: expand(
            rules.score.output.scores,
            shard=range(1, SHARDS[wildcards.study][wildcards.templates][wildcards.model] + 1),
            shards=SHARDS[wildcards.study][wildcards.templates][wildcards.model],
            allow_missing=True,
        ),
    output:
        scores="results/{study}/scores/{templates}/{model}.parquet",
    log:
        "results/logs/merge_scores/{study}/{templates}/{model}.log",
    wildcard_constraints:
        templates=SCORED_SETS,
    conda:
        "../envs/scoring.yaml"
    params:
        _shards=lambda wildcards: shard_params(
            rules.import_scores if wildcards.model in GIVEN_SCORES else rules.score, wildcards
        ),
    script:
        "../scripts/scoring/merge_scores.py"
