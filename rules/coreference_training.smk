# Coreference systems that are trained here on OntoNotes, outside the default targets. Needs
# config/coreference_training.yaml, which lists them, and corpora (rules/coreference_corpora.smk). Makes checkpoints.


# Systems of the run that are trained before they resolve anything: how much of OntoNotes is read for each.
RUN_TRAINING = {
    name
    + suffix: {
        "entry": name,
        "system": system,
        "encoder": entry["encoder"],
        **trained_systems.training_tokens(entry, suffix),
    }
    for system, chosen in RUN_SYSTEMS.items()
    for name, entry in TRAINED.items()
    for suffix in AUGMENTED
    if chosen.source == entries.Trained(name + suffix)
}
# Encoders that come from the hub.
FETCHED_ENCODERS = {
    name: f"results/training/fetched/{name}.json" for name, entry in TRAINED.items() if "hub" in entry["encoder"]
}


localrules:
    fetch_encoder,


rule fetch_encoder:
    output:
        fetched="results/training/fetched/{system}.json",
    log:
        "results/logs/fetch_encoder/{system}.log",
    wildcard_constraints:
        system=one_of(FETCHED_ENCODERS),
    conda:
        "../envs/scoring.yaml"
    params:
        name=lambda wildcards: wildcards.system,
        entry=lambda wildcards: {"source": {"revision": None} | TRAINED[wildcards.system]["encoder"]},
    script:
        "../scripts/scoring/fetch_model.py"


# Such as snakemake results/training/c2f-bert-base-ncda --configfile=<one that sets corpora.ontonotes>
rule train_coreference:
    input:
        train=training_part,
        development="results/coreference/corpora/ontonotes/development.jsonl",
        test="results/coreference/corpora/ontonotes/test.jsonl",
        fetched=lambda wildcards: [path for name, path in FETCHED_ENCODERS.items() if name == wildcards.system],
    output:
        weights=directory("results/training/{system}{augmented}"),
    log:
        "results/logs/train_coreference/{system}{augmented}.log",
    benchmark:
        "results/benchmarks/train_coreference/{system}{augmented}.tsv"
    wildcard_constraints:
        system=one_of(TRAINED),
        augmented=one_of(AUGMENTED),
    conda:
        "../envs/scoring.yaml"
    threads: 4
    resources:
        mem_mb=growing(32000),
        runtime=growing(2880),
        gpu=1,
        gpu_model=gpu_type(1),
        nodes=1,
    params:
        name=lambda wildcards: wildcards.system + wildcards.augmented,
        encoder=lambda wildcards: TRAINED[wildcards.system]["encoder"],
        model=lambda wildcards: TRAINED[wildcards.system]["model"],
        training_settings=lambda wildcards: TRAINED[wildcards.system]["training"],
        state=lambda wildcards: f"results/training/{wildcards.system}{wildcards.augmented}.state",
        device="cuda",
    script:
        "../scripts/coreference_training/train_coreference.py"
