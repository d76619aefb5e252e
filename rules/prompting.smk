# Answers of prompted models. Needs prompts that studies declare, and models; the rules know no study. Makes one job for
# each study, template set, model and shard.


PROMPTED_SETS = one_of(dict.fromkeys(name for prompted in PROMPTED.values() for name in prompted.sets))


localrules:
    ask_server,
    merge_answers,


rule prompt:
    input:
        unpack(model_files),
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
        model=WITH_WEIGHTS,
    priority: 1
    conda:
        "../envs/scoring.yaml"
    threads: model_threads
    resources:
        gpu=lambda wildcards: MODELS[wildcards.model].gpus,
        gpu_model=lambda wildcards: gpu_type(MODELS[wildcards.model].gpus),
        nodes=1,
        mem_mb=model_memory,
        runtime=prompting_minutes,
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: entries.job_entry(MODELS[wildcards.model], entries.PromptedModel),
        methods=lambda wildcards: PROMPTED[wildcards.study].models[wildcards.model].methods,
        new_tokens=lambda wildcards: PROMPTED[wildcards.study].models[wildcards.model].new_tokens,
        date=config["chat_templates"]["date"],
        device=config["scoring"]["device"],
        tokens_per_batch=config["scoring"]["tokens_per_batch"],
        save_seconds=config["scoring"]["save_seconds"],
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        _weights=lambda wildcards: local_weights(wildcards.model),
    script:
        "../scripts/prompting/prompt.py"


# On the submitting host: the key is there, and nodes need no network.
rule ask_server:
    input:
        prompts=rules.prompt.input.prompts,
    output:
        answers=rules.prompt.output.answers,
    log:
        "results/logs/ask_server/{study}/{templates}/{model}/{shard}of{shards}.log",
    wildcard_constraints:
        templates=PROMPTED_SETS,
        model=BEHIND_SERVERS,
        shard="1",
        shards="1",
    conda:
        "../envs/scoring.yaml"
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: {
            key: getattr(MODELS[wildcards.model], key) for key in ("api", "architecture", "demonstration")
        },
        methods=lambda wildcards: PROMPTED[wildcards.study].models[wildcards.model].methods,
        new_tokens=lambda wildcards: PROMPTED[wildcards.study].models[wildcards.model].new_tokens["answer"],
        # Of all runs: an answer is paid for once.
        cache=repo_path(config["completions"]["cache"]),
        timeout_seconds=config["completions"]["timeout_seconds"],
        attempts=config["completions"]["attempts"],
        parallel=config["completions"]["parallel"],
    script:
        "../scripts/prompting/ask_server.py"


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
    params:
        _shards=lambda wildcards: shard_params(
            rules.ask_server if MODELS[wildcards.model].api else rules.prompt, wildcards
        ),
    script:
        "../scripts/prompting/merge_answers.py"
