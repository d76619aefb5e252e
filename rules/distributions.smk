# Token distributions. Needs texts that studies declare, and models; the rules know no study. Makes one job for each
# study, set of texts and model, here or at a server.


localrules:
    completions,


rule token_distributions:
    input:
        unpack(model_files),
        texts="results/{study}/texts/{set}.parquet",
    output:
        distributions="results/{study}/distributions/{set}/{model}.parquet",
        masses="results/{study}/distributions/{set}/{model}.mass.parquet",
        speed="results/benchmarks/token_distributions/{study}/{set}/{model}.json",
    log:
        "results/logs/token_distributions/{study}/{set}/{model}.log",
    benchmark:
        "results/benchmarks/token_distributions/{study}/{set}/{model}.tsv"
    wildcard_constraints:
        model=WITH_WEIGHTS,
    priority: 1
    # On a cluster one job for each model; the profile lets it load the model for one set after another.
    group:
        "distributions_{model}"
    conda:
        "../envs/scoring.yaml"
    threads: model_threads
    resources:
        loaded_models=1,
        gpu=lambda wildcards: MODELS[wildcards.model].gpus,
        gpu_model=lambda wildcards: gpu_type(MODELS[wildcards.model].gpus),
        nodes=1,
        mem_mb=model_memory,
        runtime=lambda wildcards, input, attempt: distribution_minutes(wildcards, rows_of(input.texts), attempt),
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: entries.job_entry(MODELS[wildcards.model], entries.ProbedModel),
        methods=lambda wildcards: MODELS[wildcards.model].methods(wildcards.study),
        top_k=config["distributions"]["top_k"],
        max_new_tokens=lambda wildcards: TEXTS[wildcards.study].new_tokens[wildcards.set],
        groups=lambda wildcards: TEXTS[wildcards.study].word_groups,
        date=config["chat_templates"]["date"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        save_seconds=config["scoring"]["save_seconds"],
        _weights=lambda wildcards: local_weights(wildcards.model),
    script:
        "../scripts/distributions/token_distributions.py"


# On the submitting host: the key is there, and nodes need no network.
rule completions:
    input:
        texts="results/{study}/texts/{set}.parquet",
    output:
        distributions="results/{study}/distributions/{set}/{model}.parquet",
    log:
        "results/logs/completions/{study}/{set}/{model}.log",
    wildcard_constraints:
        model=BEHIND_SERVERS,
    conda:
        "../envs/scoring.yaml"
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: {
            key: getattr(MODELS[wildcards.model], key) for key in ("api", "architecture", "demonstration")
        },
        top_k=config["distributions"]["top_k"],
        max_new_tokens=lambda wildcards: TEXTS[wildcards.study].new_tokens[wildcards.set],
        # Of all runs: an answer is paid for once.
        cache=repo_path(config["completions"]["cache"]),
        timeout_seconds=config["completions"]["timeout_seconds"],
        attempts=config["completions"]["attempts"],
        parallel=config["completions"]["parallel"],
    script:
        "../scripts/distributions/completions.py"
