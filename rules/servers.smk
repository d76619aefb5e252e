# Scores of models behind servers. Needs servers that tell the log-probabilities of a given text. Makes one job for each
# study and set, and before it a job that scores a few of its texts here, which the server is checked with.

SERVED = {name: entry for name, entry in RUN.items() if "api" in entry}
# What the check loads here, by served model; none where there are no weights.
REFERENCES = {name: entry for name in SERVED if (entry := registry.reference_of(MODELS, name))}


localrules:
    score_at_server,


rule score_reference:
    input:
        unpack(reference_files),
        instances="results/{study}/instances/{templates}/selected.parquet",
    output:
        reference="results/{study}/gates/{templates}/{model}.parquet",
    log:
        "results/logs/score_reference/{study}/{templates}/{model}.log",
    wildcard_constraints:
        templates=SCORED_SETS,
        model=one_of(REFERENCES) or "none",
    conda:
        "../envs/scoring.yaml"
    threads: SCORING_THREADS
    resources:
        gpu=lambda wildcards: registry.gpus(REFERENCES[wildcards.model]),
        mem_mb=lambda wildcards, attempt: registry.memory_mb(REFERENCES[wildcards.model], attempt),
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        model=lambda wildcards: MODELS[wildcards.model]["api"]["scoring"]["reference"],
        entry=lambda wildcards: {
            key: REFERENCES[wildcards.model][key] for key in SCORED_KEYS if key in REFERENCES[wildcards.model]
        },
        device=config["scoring"]["device"],
        priority=lambda wildcards: SCORED[wildcards.study].of(wildcards.model)["priority"],
        _weights=lambda wildcards: local_weights(MODELS[wildcards.model]["api"]["scoring"]["reference"]),
    script:
        "../scripts/servers/score_reference.py"


# On the submitting host: the key is there, and nodes need no network.
rule score_at_server:
    input:
        unpack(lambda wildcards: reference_files(wildcards) if wildcards.model in REFERENCES else {}),
        unpack(
            lambda wildcards: (
                {"reference": rules.score_reference.output.reference.format(**wildcards)}
                if wildcards.model in REFERENCES
                else {}
            )
        ),
        instances="results/{study}/instances/{templates}/selected.parquet",
    output:
        scores="results/{study}/scores/{templates}/{model}/{shard}of{shards}.parquet",
        usage="results/benchmarks/score_at_server/{study}/{templates}/{model}/{shard}of{shards}.json",
    log:
        "results/logs/score_at_server/{study}/{templates}/{model}/{shard}of{shards}.log",
    wildcard_constraints:
        templates=SCORED_SETS,
        model=one_of(SERVED) or "none",
        shard="1",
        shards="1",
    conda:
        "../envs/scoring.yaml"
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: {key: MODELS[wildcards.model][key] for key in ("api", "architecture", "demonstration")},
        reference_entry=lambda wildcards: REFERENCES.get(wildcards.model),
        score=lambda wildcards: SCORED[wildcards.study].score,
        token_values=config["scoring"]["token_values"],
        priority=lambda wildcards: SCORED[wildcards.study].of(wildcards.model)["priority"],
        # Of all runs: an answer is paid for once.
        cache=repo_path(config["completions"]["cache"]),
        cost_limit_usd=config["completions"]["cost_limit_usd"],
        timeout_seconds=config["completions"]["timeout_seconds"],
        attempts=config["completions"]["attempts"],
        parallel=config["completions"]["parallel"],
    script:
        "../scripts/servers/score_at_server.py"
