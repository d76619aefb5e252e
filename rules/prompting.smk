# One prompting job for each study, template set, model and shard. The rules know prompts and a model, not a study.


# The part of a registry entry that answers depend on.
PROMPTED_ENTRIES = {
    name: entry | ({"prompt_wrapping": MODELS[name]["prompt_wrapping"]} if "prompt_wrapping" in MODELS[name] else {})
    for name, entry in SCORED_ENTRIES.items()
}

PROMPTED = {name: study.prompted for name, study in STUDIES.items() if study.prompted}
PROMPT_SHARDS = {
    study: {
        name: registry.jobs_within(job["seconds"], config["scoring"]["minutes_per_job"])
        for name, job in prompted.models.items()
    }
    for study, prompted in PROMPTED.items()
}
check_jobs(PROMPT_SHARDS, "prompt")
PROMPTED_SETS = one_of(dict.fromkeys(name for prompted in PROMPTED.values() for name in prompted.sets))


localrules:
    merge_answers,


rule prompt:
    input:
        unpack(lambda wildcards: PREPARED_WEIGHTS.get(wildcards.model, {})),
        unpack(lambda wildcards: FETCHED_MODELS.get(wildcards.model, {})),
        prompts="results/{study}/prompts/{templates}.parquet",
    output:
        answers="results/{study}/answers/{templates}/{model}/{shard}of{shards}.parquet",
        speed="results/benchmarks/prompt/{study}/{templates}/{model}/{shard}of{shards}.json",
    log:
        "results/logs/prompt/{study}/{templates}/{model}/{shard}of{shards}.log",
    benchmark:
        "results/benchmarks/prompt/{study}/{templates}/{model}/{shard}of{shards}.tsv"
    wildcard_constraints:
        templates=PROMPTED_SETS,
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    resources:
        gpu=lambda wildcards: registry.gpus(MODELS[wildcards.model]),
        mem_mb=lambda wildcards, attempt: registry.memory_mb(MODELS[wildcards.model], attempt),
        runtime=lambda wildcards, attempt: registry.prompt_minutes(
            MODELS[wildcards.model],
            PROMPTED[wildcards.study].models[wildcards.model]["seconds"] / int(wildcards.shards),
            attempt,
        ),
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: PROMPTED_ENTRIES[wildcards.model],
        methods=lambda wildcards: PROMPTED[wildcards.study].models[wildcards.model]["methods"],
        new_tokens=lambda wildcards: PROMPTED[wildcards.study].models[wildcards.model]["new_tokens"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        save_seconds=config["scoring"]["save_seconds"],
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        _weights=lambda wildcards: local_weights(wildcards.model),
    script:
        "../scripts/prompting/prompt.py"


rule merge_answers:
    input:
        shards=lambda wildcards: expand(
            rules.prompt.output.answers,
            shard=range(1, PROMPT_SHARDS[wildcards.study][wildcards.model] + 1),
            shards=PROMPT_SHARDS[wildcards.study][wildcards.model],
            allow_missing=True,
        ),
    output:
        answers="results/{study}/answers/{templates}/{model}.parquet",
    log:
        "results/logs/merge_answers/{study}/{templates}/{model}.log",
    wildcard_constraints:
        templates=PROMPTED_SETS,
    conda:
        "../envs/scoring.yaml"
    script:
        "../scripts/prompting/merge_answers.py"
