# One scoring job for each study, template set and model. The rule knows instances and a model, not a study.


def prepared_weights(wildcards):
    """Return the folder of weights that the workflow makes itself, where a model has a delta."""
    if "delta" in MODELS[wildcards.model]["source"]:
        return {"weights": f"results/models/{wildcards.model}"}
    return {}


def scored_entry(wildcards):
    """Return the part of a registry entry that scores depend on; a new label or licence rescores nothing."""
    keys = ("source", "tokenizer", "architecture", "precision", "gpus", "gated", "remote_code", "demonstration")
    return {key: MODELS[wildcards.model][key] for key in keys if key in MODELS[wildcards.model]}


def scoring_threads(wildcards):
    """Share the cores of this machine among the models that run without a GPU."""
    on_cpu = sum(1 for entry in RUN.values() if entry["gpus"] == 0)
    return max(1, (workflow.cores or 1) // max(1, on_cpu))


rule score:
    input:
        unpack(prepared_weights),
        instances="results/{study}/instances/{templates}/selected.parquet",
    output:
        scores="results/{study}/scores/{templates}/{model}.parquet",
    log:
        "results/logs/score/{study}/{templates}/{model}.log",
    benchmark:
        "results/benchmarks/score/{study}/{templates}/{model}.tsv"
    threads: scoring_threads
    resources:
        gpu=lambda wildcards: registry.gpus(MODELS[wildcards.model]),
        mem_mb=lambda wildcards, attempt: registry.memory_mb(MODELS[wildcards.model], attempt),
        runtime=lambda wildcards, attempt: registry.runtime_minutes(
            MODELS[wildcards.model], STUDY_INSTANCES[wildcards.study], attempt
        ),
    params:
        model=lambda wildcards: wildcards.model,
        entry=scored_entry,
        engine=config["scoring"]["engine"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        _code=code("scripts/score.py"),
    conda:
        "../envs/scoring.yaml"
    script:
        script("scripts/score.py")
