# Published c2f checkpoints, outside the default targets. Needs checkpoints in the formats of other implementations,
# which config/coreference_conversion.yaml lists, or a file of that name in the working directory
# (docs/coreference_conversion.md says where they come from). Makes c2f systems of this project's format.


# In an environment of its own: of conda with --sdm conda, else a virtual environment in the repository.
rule convert_tensorflow:
    input:
        index=lambda wildcards: foreign_files(wildcards.system)["index"],
        values=lambda wildcards: foreign_files(wildcards.system)["values"],
        lock=repo_path("envs/tensorflow.lock"),
    output:
        variables=temp("results/coreference/variables/{system}.safetensors"),
    log:
        "results/logs/convert_tensorflow/{system}.log",
    wildcard_constraints:
        system=one_of([name for name, entry in CONVERTED.items() if entry["format"] == "tensorflow"] or ["none"]),
    conda:
        "../envs/tensorflow.yaml"
    resources:
        mem_mb=8000,
    params:
        environment=repo_path(".venv-tensorflow"),
    script:
        "../scripts/coreference_conversion/convert_tensorflow.py"


# snakemake --cores 1 results/coreference/systems/joshi-spanbert-base
rule convert_coreference:
    input:
        weights=foreign_weights,
        originals=lambda wildcards: list(foreign_files(wildcards.system).values()),
        encoder=foreign_file("encoder"),
        vocabulary=foreign_file("vocabulary"),
    output:
        system=directory("results/coreference/systems/{system}"),
    log:
        "results/logs/convert_coreference/{system}.log",
    wildcard_constraints:
        system=one_of(CONVERTED or ["none"]),
    conda:
        "../envs/scoring.yaml"
    resources:
        mem_mb=8000,
    params:
        name=lambda wildcards: f"config/coreference_conversion.yaml: {wildcards.system}",
        kind=lambda wildcards: CONVERTED[wildcards.system]["format"],
        settings=lambda wildcards: CONVERTED[wildcards.system]["settings"],
    script:
        "../scripts/coreference_conversion/convert_coreference.py"
