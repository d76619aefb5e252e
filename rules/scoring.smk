# One scoring job for each study, template set, model and shard. The rules know instances and a model, not a study.


# Weights that the workflow makes itself, where a model has a delta, and commits fetched from the hub beforehand.
PREPARED_WEIGHTS = {
    name: {"weights": f"results/models/{name}"} for name, entry in MODELS.items() if "delta" in entry.get("source", {})
}
FETCHED_MODELS = {
    name: {"fetched": f"results/models/fetched/{name}.json"}
    for name, entry in MODELS.items()
    if registry.uses_hub(entry)
}

# The part of a registry entry that scores depend on; a new label or licence rescores nothing.
SCORED_KEYS = ("source", "tokenizer", "architecture", "precision", "gpus", "gated", "remote_code", "demonstration")
SCORED_ENTRIES = {name: {key: entry[key] for key in SCORED_KEYS if key in entry} for name, entry in MODELS.items()}

# Jobs for each study and model: as many as keep each within scoring.minutes_per_job.
SHARDS = {
    study: {name: registry.shards(entry, count, config["scoring"]["minutes_per_job"]) for name, entry in RUN.items()}
    for study, count in STUDY_INSTANCES.items()
}

# One model at a time gets all cores of this machine: fewer copies of weights in memory, and no idle core at the end.
SCORING_THREADS = min(16, workflow.cores or 4)


localrules:
    fetch_model,
    merge_scores,


rule fetch_model:
    output:
        fetched="results/models/fetched/{model}.json",
    log:
        "results/logs/fetch_model/{model}.log",
    conda:
        "../envs/scoring.yaml"
    threads: 1
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: SCORED_ENTRIES[wildcards.model],
        _code=code("scripts/fetch_model.py"),
    script:
        "../scripts/fetch_model.py"


rule score:
    input:
        unpack(lambda wildcards: PREPARED_WEIGHTS.get(wildcards.model, {})),
        unpack(lambda wildcards: FETCHED_MODELS.get(wildcards.model, {})),
        instances="results/{study}/instances/{templates}/selected.parquet",
    output:
        scores="results/{study}/scores/{templates}/{model}/{shard}of{shards}.parquet",
        speed="results/benchmarks/score/{study}/{templates}/{model}/{shard}of{shards}.json",
    log:
        "results/logs/score/{study}/{templates}/{model}/{shard}of{shards}.log",
    benchmark:
        "results/benchmarks/score/{study}/{templates}/{model}/{shard}of{shards}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    resources:
        gpu=lambda wildcards: registry.gpus(MODELS[wildcards.model]),
        mem_mb=lambda wildcards, attempt: registry.memory_mb(MODELS[wildcards.model], attempt),
        runtime=lambda wildcards, attempt: registry.runtime_minutes(
            MODELS[wildcards.model], STUDY_INSTANCES[wildcards.study] / int(wildcards.shards), attempt
        ),
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: SCORED_ENTRIES[wildcards.model],
        engine=config["scoring"]["engine"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        token_values=config["scoring"]["token_values"],
        save_seconds=config["scoring"]["save_seconds"],
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        _code=code("scripts/score.py"),
    script:
        "../scripts/score.py"


rule merge_scores:
    input:
        shards=lambda wildcards: expand(
            rules.score.output.scores,
            shard=range(1, SHARDS[wildcards.study][wildcards.model] + 1),
            shards=SHARDS[wildcards.study][wildcards.model],
            allow_missing=True,
        ),
    output:
        scores="results/{study}/scores/{templates}/{model}.parquet",
    log:
        "results/logs/merge_scores/{study}/{templates}/{model}.log",
    conda:
        "../envs/scoring.yaml"
    threads: 1
    params:
        _code=code("scripts/merge_scores.py"),
    script:
        "../scripts/merge_scores.py"


rule bench_scoring:
    input:
        samples=expand(
            "results/ruff/instances/replica/sample_seed{seed}_distractors{n}.parquet", seed=[13, 17, 19], n=range(6)
        ),
        prepared=["results/models/minilm-l6-mlm"],
    output:
        table="results/benchmarks/scoring.csv",
        summary="results/benchmarks/scoring.md",
    log:
        "results/logs/bench_scoring.log",
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    params:
        entries={name: SCORED_ENTRIES[name] for name in ("smollm2-135m-instruct", "minilm-l6-mlm")},
        cases=config["benchmark"],
        _code=code("scripts/bench_scoring.py"),
    script:
        "../scripts/bench_scoring.py"
