# Coreference systems that are trained here, outside the default targets: config/coreference_training.yaml lists them.

from scripts.core.coreference_systems import entries

try:
    TRAINED = entries.read_entries(root("config/coreference_training.yaml"))
except UserError as error:
    refuse(error)


# A system that ships as a delta, on LitBank: snakemake results/training/c2f-minilm-litbank.safetensors
rule train_demo_coreference:
    input:
        train=upstream("litbank/coref/conll.tar.xz"),
        names=root("templates/coreference/names.tsv"),
    output:
        weights="results/training/{system}.safetensors",
    log:
        "results/logs/train_demo_coreference/{system}.log",
    benchmark:
        "results/benchmarks/train_demo_coreference/{system}.tsv"
    wildcard_constraints:
        system=one_of([name for name, entry in TRAINED.items() if entry["data"] == "litbank"]),
    conda:
        "../envs/scoring.yaml"
    resources:
        mem_mb=6000,
        runtime=120,
    params:
        name=lambda wildcards: wildcards.system,
        kind="litbank",
        encoder=lambda wildcards: TRAINED[wildcards.system]["encoder"],
        model=lambda wildcards: TRAINED[wildcards.system]["model"],
        training_settings=lambda wildcards: TRAINED[wildcards.system]["training"],
        state=lambda wildcards: f"results/training/{wildcards.system}.state/state.pt",
    script:
        "../scripts/coreference/train_coreference.py"
