# Clusters of coreference systems. Needs documents that studies declare, and systems; the rules know no study. Makes one
# job for each study, set of documents, system and shard, and scores on annotated corpora.

# The part of a registry entry that clusters depend on; a new label or licence resolves nothing again.
RESOLVED_KEYS = ("source", "encoder", "architecture", "precision", "gated", "environment", "demonstration")
RESOLVED_ENTRIES = {name: {key: entry[key] for key in RESOLVED_KEYS if key in entry} for name, entry in SYSTEMS.items()}

RESOLVED = {name: study.resolved for name, study in STUDIES.items() if study.resolved}
CLUSTER_FILES = [path for declared in STUDIES.values() for path in declared.cluster_files]
# A run of other studies has none, and a wildcard needs something that it could be.
RESOLVING = one_of(RESOLVED or ["none"])
RESOLVED_SETS = one_of(dict.fromkeys(name for resolved in RESOLVED.values() for name in resolved.documents) or ["none"])

# Jobs for each study, set and system: as many as keep each within scoring.minutes_per_job.
DOCUMENT_SHARDS = {
    study: {
        name: {
            system: costs.jobs_within(
                documents.count * costs.document_seconds(SYSTEMS[system], documents.tokens),
                config["scoring"]["minutes_per_job"],
            )
            for system in STUDIES[study].systems
        }
        for name, documents in resolved.documents.items()
    }
    for study, resolved in RESOLVED.items()
}
# Of the sets that this run resolves; others only if they are asked for by name.
check_jobs(
    {f"{study} {name}": DOCUMENT_SHARDS[study][name] for study, resolved in RESOLVED.items() for name in resolved.sets},
    "resolve",
)

# What a system is read from besides its entry.
FETCHED_SYSTEMS = {
    name: f"results/systems/fetched/{name}.json"
    for name, entry in SYSTEMS.items()
    if any("hub" in entry.get(part, {}) for part in ("source", "encoder"))
}
SYSTEM_FILES = {
    name: {
        **({"fetched": FETCHED_SYSTEMS[name]} if name in FETCHED_SYSTEMS else {}),
        **({"delta": repo_path(entry["source"]["delta"])} if "delta" in entry["source"] else {}),
        **({"trained": "results/training/{trained}".format(**entry["source"])} if "trained" in entry["source"] else {}),
        **({"environment": "results/environments/coreference.json"} if entry["environment"] != "main" else {}),
    }
    for name, entry in SYSTEMS.items()
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
        system=lambda wildcards: wildcards.system,
        entry=lambda wildcards: RESOLVED_ENTRIES[wildcards.system],
    script:
        "../scripts/coreference/fetch_system.py"


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
    threads: lambda wildcards: 1 if SYSTEMS[wildcards.system]["parameters"] < 50_000_000 else SCORING_THREADS
    resources:
        gpu=lambda wildcards: SYSTEMS[wildcards.system]["gpus"],
        mem_mb=lambda wildcards, attempt: costs.memory_mb(SYSTEMS[wildcards.system], attempt),
        runtime=lambda wildcards, attempt: costs.job_minutes(
            SYSTEMS[wildcards.system],
            RESOLVED[wildcards.study].documents[wildcards.data].count
            / int(wildcards.shards)
            * costs.document_seconds(
                SYSTEMS[wildcards.system], RESOLVED[wildcards.study].documents[wildcards.data].tokens
            ),
            attempt,
        ),
    params:
        system=lambda wildcards: wildcards.system,
        entry=lambda wildcards: RESOLVED_ENTRIES[wildcards.system],
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
        system=one_of([name for name, entry in SYSTEMS.items() if entry["architecture"] == "c2f"]),
    conda:
        "../envs/scoring.yaml"
    threads: lambda wildcards: 1 if SYSTEMS[wildcards.system]["parameters"] < 50_000_000 else SCORING_THREADS
    resources:
        gpu=lambda wildcards: SYSTEMS[wildcards.system]["gpus"],
        mem_mb=lambda wildcards, attempt: costs.memory_mb(SYSTEMS[wildcards.system], attempt),
        runtime=60,
    params:
        draws=10_000,
        seed=20230502,
        system=lambda wildcards: wildcards.system,
        entry=lambda wildcards: RESOLVED_ENTRIES[wildcards.system],
        corpus=lambda wildcards: wildcards.corpus,
        part=lambda wildcards: annotated.SCORED_PARTS[wildcards.corpus],
        device=config["scoring"]["device"],
        _weights=system_weights,
        _package=system_package,
    script:
        "../scripts/coreference/coreference_f1.py"
