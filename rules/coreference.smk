# Clusters of coreference systems. Needs documents that studies declare, and systems; the rules know no study. Makes one
# job for each study, set of documents, system and shard, and scores on annotated corpora.

CLUSTER_FILES = [path for declared in STUDIES.values() for path in declared.cluster_files]
RESOLVING = one_of(RESOLVED)
RESOLVED_SETS = one_of(dict.fromkeys(name for resolved in RESOLVED.values() for name in resolved.documents))

# What a system is read from besides its entry.
FETCHED_SYSTEMS = {
    name: f"results/systems/fetched/{name}.json" for name, system in SYSTEMS.items() if system.is_fetched
}
SYSTEM_FILES = {
    name: {
        **({"fetched": FETCHED_SYSTEMS[name]} if name in FETCHED_SYSTEMS else {}),
        **({"delta": repo_path(system.source.delta)} if system.has_delta else {}),
        **(
            {"trained": f"results/training/{system.source.trained}"}
            if isinstance(system.source, entries.Trained)
            else {}
        ),
        **({"environment": "results/environments/coreference.json"} if system.environment != "main" else {}),
    }
    for name, system in SYSTEMS.items()
}


localrules:
    coreference_environment,
    fetch_system,
    merge_clusters,


# In the repository, for all runs; with --sdm conda the job's own environment has all packages.
rule coreference_environment:
    input:
        lock=repo_path("envs/coreference.lock"),
        requirements=repo_path("envs/coreference.in"),
    output:
        environment="results/environments/coreference.json",
    log:
        "results/logs/coreference_environment/coreference.log",
    conda:
        "../envs/coreference.yaml"
    params:
        folder=repo_path(".venv-coreference"),
    script:
        "../scripts/planning/environments.py"


rule fetch_system:
    output:
        fetched="results/systems/fetched/{system}.json",
    log:
        "results/logs/fetch_system/{system}.log",
    conda:
        "../envs/scoring.yaml"
    params:
        name=lambda wildcards: wildcards.system,
        entry=resolved_entry,
    script:
        "../scripts/scoring/fetch_model.py"


rule coreference:
    input:
        unpack(lambda wildcards: SYSTEM_FILES[wildcards.system]),
        documents=lambda wildcards: RESOLVED[wildcards.study].documents[wildcards.data].table,
    output:
        clusters="results/{study}/clusters/{data}/{system}/{shard}of{shards}.jsonl",
        metadata="results/{study}/clusters/{data}/{system}/{shard}of{shards}.metadata.json",
    log:
        "results/logs/coreference/{study}/{data}/{system}/{shard}of{shards}.log",
    benchmark:
        "results/benchmarks/coreference/{study}/{data}/{system}/{shard}of{shards}.tsv"
    wildcard_constraints:
        study=RESOLVING,
        data=RESOLVED_SETS,
    priority: 1
    conda:
        "../envs/scoring.yaml"
    # Documents are short: a small system gains little from a second core.
    threads: lambda wildcards: 1 if SYSTEMS[wildcards.system].parameters < 50_000_000 else SCORING_THREADS
    resources:
        gpu=lambda wildcards: SYSTEMS[wildcards.system].gpus,
        gpu_model=lambda wildcards: gpu_type(SYSTEMS[wildcards.system].gpus),
        nodes=1,
        mem_mb=lambda wildcards, attempt: costs.memory_mb(SYSTEMS[wildcards.system], attempt),
        runtime=resolving_minutes,
    params:
        system=lambda wildcards: wildcards.system,
        entry=resolved_entry,
        identifier=lambda wildcards: RESOLVED[wildcards.study].documents[wildcards.data].identifier,
        device=config["scoring"]["device"],
        save_seconds=config["scoring"]["save_seconds"],
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        _weights=system_weights,
        _package=system_package,
    script:
        "../scripts/coreference/coreference.py"


rule merge_clusters:
    input:
        shards=lambda wildcards: expand(
            rules.coreference.output.clusters,
            shard=range(1, DOCUMENT_SHARDS[wildcards.study][wildcards.data][wildcards.system] + 1),
            shards=DOCUMENT_SHARDS[wildcards.study][wildcards.data][wildcards.system],
            allow_missing=True,
        ),
        facts=lambda wildcards: expand(
            rules.coreference.output.metadata,
            shard=range(1, DOCUMENT_SHARDS[wildcards.study][wildcards.data][wildcards.system] + 1),
            shards=DOCUMENT_SHARDS[wildcards.study][wildcards.data][wildcards.system],
            allow_missing=True,
        ),
    output:
        clusters="results/{study}/clusters/{data}/{system}.jsonl",
        metadata="results/{study}/clusters/{data}/{system}.metadata.json",
    log:
        "results/logs/merge_clusters/{study}/{data}/{system}.log",
    wildcard_constraints:
        study=RESOLVING,
        data=RESOLVED_SETS,
    conda:
        "../envs/scoring.yaml"
    params:
        _shards=lambda wildcards: shard_params(rules.coreference, wildcards),
    script:
        "../scripts/coreference/merge_clusters.py"


# Table 6 of Counter-GAP has it, where counter_gap.corpus names the corpus: of OntoNotes on the development set.
rule coreference_f1:
    input:
        unpack(lambda wildcards: SYSTEM_FILES[wildcards.system]),
        annotated=lambda wildcards: (
            f"results/coreference/corpora/{wildcards.corpus}/{annotated.SCORED_PARTS[wildcards.corpus]}.jsonl"
        ),
    output:
        csv="results/coreference/f1/{corpus}/{system}.csv",
    log:
        "results/logs/coreference_f1/{corpus}/{system}.log",
    wildcard_constraints:
        corpus="litbank|ontonotes",
        system=one_of(name for name, system in SYSTEMS.items() if system.architecture == "c2f"),
    conda:
        "../envs/scoring.yaml"
    threads: lambda wildcards: 1 if SYSTEMS[wildcards.system].parameters < 50_000_000 else SCORING_THREADS
    resources:
        gpu=lambda wildcards: SYSTEMS[wildcards.system].gpus,
        gpu_model=lambda wildcards: gpu_type(SYSTEMS[wildcards.system].gpus),
        nodes=1,
        mem_mb=lambda wildcards, attempt: costs.memory_mb(SYSTEMS[wildcards.system], attempt),
        runtime=growing(60),
    params:
        draws=10_000,
        seed=20230502,
        system=lambda wildcards: wildcards.system,
        entry=resolved_entry,
        corpus=lambda wildcards: wildcards.corpus,
        part=lambda wildcards: annotated.SCORED_PARTS[wildcards.corpus],
        device=config["scoring"]["device"],
        _weights=system_weights,
        _package=system_package,
    script:
        "../scripts/coreference/coreference_f1.py"
