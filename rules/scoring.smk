# One scoring job for each study, template set and model. The rule knows instances and a model, not a study.


# Weights that the workflow makes itself, where a model has a delta.
PREPARED_WEIGHTS = {
    name: {"weights": f"results/models/{name}"} for name, entry in MODELS.items() if "delta" in entry.get("source", {})
}

# The part of a registry entry that scores depend on; a new label or licence rescores nothing.
SCORED_KEYS = ("source", "tokenizer", "architecture", "precision", "gpus", "gated", "remote_code", "demonstration")
SCORED_ENTRIES = {name: {key: entry[key] for key in SCORED_KEYS if key in entry} for name, entry in MODELS.items()}

# One model at a time gets all cores of this machine: fewer copies of weights in memory, and no idle core at the end.
SCORING_THREADS = min(16, workflow.cores or 4)


rule score:
    input:
        unpack(lambda wildcards: PREPARED_WEIGHTS.get(wildcards.model, {})),
        instances="results/{study}/instances/{templates}/selected.parquet",
    output:
        scores="results/{study}/scores/{templates}/{model}.parquet",
    log:
        "results/logs/score/{study}/{templates}/{model}.log",
    benchmark:
        "results/benchmarks/score/{study}/{templates}/{model}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    resources:
        gpu=lambda wildcards: registry.gpus(MODELS[wildcards.model]),
        mem_mb=lambda wildcards, attempt: registry.memory_mb(MODELS[wildcards.model], attempt),
        runtime=lambda wildcards, attempt: registry.runtime_minutes(
            MODELS[wildcards.model], STUDY_INSTANCES[wildcards.study], attempt
        ),
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: SCORED_ENTRIES[wildcards.model],
        engine=config["scoring"]["engine"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        _code=code("scripts/score.py"),
    script:
        "../scripts/score.py"
