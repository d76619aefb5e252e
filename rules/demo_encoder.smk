# The demonstration encoder. Needs a package's weights and the delta that this project ships. Makes the weights that
# jobs load.

DEMO_ENCODER = MODELS["minilm-l6-mlm"].source


rule merge_demo_encoder:
    input:
        delta=repo_path(DEMO_ENCODER.delta),
    output:
        weights=directory("results/models/minilm-l6-mlm"),
    log:
        "results/logs/merge_demo_encoder/minilm-l6-mlm.log",
    conda:
        "../envs/scoring.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **DEMO_ENCODER.place,
    script:
        "../scripts/demo_encoder/merge_demo_encoder.py"
