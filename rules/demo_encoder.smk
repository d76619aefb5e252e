# The demonstration encoder. Needs a package's weights and the delta that this project ships. Makes the weights that
# jobs load and, outside the default targets, the delta again from books.

DEMO_ENCODER = MODELS["minilm-l6-mlm"]["source"]
DEMO_PACKAGE = {key: DEMO_ENCODER[key] for key in ("package", "version", "folder")}


rule merge_demo_encoder:
    input:
        delta=repo_path(DEMO_ENCODER["delta"]),
    output:
        weights=directory("results/models/minilm-l6-mlm"),
    log:
        "results/logs/merge_demo_encoder/minilm-l6-mlm.log",
    conda:
        "../envs/scoring.yaml"
    resources:
        mem_mb=2000,
    params:
        **DEMO_PACKAGE,
    script:
        "../scripts/demo_encoder/merge_demo_encoder.py"


# Outside the default targets: makes the delta again from public-domain books, which only a mirror offers as archives.
rule train_demo_encoder:
    input:
        litbank=upstream("litbank/original.tar.xz"),
        books=[
            upstream("gutenberg/The-Little-Colonel-s-Hero_15122/15122-8.txt"),
            upstream("gutenberg/Jack-Sheppard--A-Romance_16215/16215-8.txt"),
            upstream("gutenberg/Katrine--A-Novel_14263/14263-8.txt"),
        ],
    output:
        delta="results/training/minilm-l6-mlm.safetensors",
    log:
        "results/logs/train_demo_encoder/minilm-l6-mlm.log",
    benchmark:
        "results/benchmarks/train_demo_encoder/minilm-l6-mlm.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=120,
    params:
        **DEMO_PACKAGE,
        steps=1500,
        seed=0,
        rank=8,
        batch_size=32,
        characters=350000,
    script:
        "../scripts/demo_encoder/train_demo_encoder.py"
