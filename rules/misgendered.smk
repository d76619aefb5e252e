# MISGENDERED (Hossain, Dev and Singh 2023): instances, and what it declares about itself.

from scripts.misgendered.lib import declarations as misgendered_declarations
from scripts.misgendered.lib import study as misgendered_study

MISGENDERED = config["misgendered"]
MISGENDERED_TEMPLATES = TEMPLATES / "misgendered"
MISGENDERED_COMBINATIONS = str(MISGENDERED_TEMPLATES / "declarations.tsv")

try:
    MISGENDERED_GROUPS = misgendered_study.select_groups(KNOWN_PRONOUNS, MISGENDERED["pronoun_sets"])
    MISGENDERED_DECLARATIONS = [
        way.name
        for way in misgendered_declarations.select(
            misgendered_declarations.read(MISGENDERED_COMBINATIONS),
            MISGENDERED["declarations"]["types"],
            MISGENDERED["declarations"]["numbers"],
            MISGENDERED_COMBINATIONS,
        )
    ]
except UserError as error:
    refuse(error)

# What each template set is made from: this project's files, or the authors', whose texts with declarations are
# used as they are where the wording is theirs.
MISGENDERED_RELEASED = {
    misgendered_study.declaration(kind, number): upstream(f"misgendered/templates/{prefix}_template_{number}.csv")
    for kind, prefix in (("explicit", "explicit"), ("parenthetical", "parenth"))
    for number in (2, 31, 32, 41, 42, 5)
}
MISGENDERED_FILES = {
    "replica": {
        "templates": str(MISGENDERED_TEMPLATES / "templates.tsv"),
        "names": str(MISGENDERED_TEMPLATES / "names.tsv"),
    },
    "official": {
        "templates": upstream("misgendered/templates/templates.csv"),
        **{name: upstream(f"misgendered/names/{name}.txt") for name in misgendered_study.NAME_CLASSES},
        **(MISGENDERED_RELEASED if MISGENDERED["declarations"]["wording"] == "faithful" else {}),
    },
}

# The sets that are scored: samples without examples by the name of their templates, others with their number of examples.
MISGENDERED_SETS = [
    *MISGENDERED["templates"],
    *expand("{templates}_few_{shots}", templates=MISGENDERED["templates"], shots=MISGENDERED["few_shot"]["shots"]),
]


rule misgendered_instances:
    input:
        template_files=lambda wildcards: list(MISGENDERED_FILES[wildcards.templates].values()),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
        combinations=MISGENDERED_COMBINATIONS,
    output:
        instances=expand(
            "results/misgendered/instances/{{templates}}/{declaration}.parquet", declaration=MISGENDERED_DECLARATIONS
        ),
    log:
        "results/logs/misgendered_instances/{templates}.log",
    benchmark:
        "results/benchmarks/misgendered_instances/{templates}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        kinds=lambda wildcards: list(MISGENDERED_FILES[wildcards.templates]),
        pronoun_sets=MISGENDERED["pronoun_sets"],
        types=MISGENDERED["declarations"]["types"],
        numbers=MISGENDERED["declarations"]["numbers"],
        wording=MISGENDERED["declarations"]["wording"],
    script:
        "../scripts/misgendered/instances.py"


rule misgendered_sample:
    input:
        template_files=lambda wildcards: list(MISGENDERED_FILES[wildcards.templates].values()),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
        combinations=MISGENDERED_COMBINATIONS,
    output:
        selected="results/misgendered/instances/{templates}/selected.parquet",
    log:
        "results/logs/misgendered_sample/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        kinds=lambda wildcards: list(MISGENDERED_FILES[wildcards.templates]),
        pronoun_sets=MISGENDERED["pronoun_sets"],
        types=MISGENDERED["declarations"]["types"],
        numbers=MISGENDERED["declarations"]["numbers"],
        wording=MISGENDERED["declarations"]["wording"],
        size=MISGENDERED["sample"]["instances"],
        seed=MISGENDERED["sample"]["seed"],
    script:
        "../scripts/misgendered/sample.py"


rule misgendered_few_shot:
    input:
        template_files=lambda wildcards: list(MISGENDERED_FILES[wildcards.templates].values()),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
        combinations=MISGENDERED_COMBINATIONS,
    output:
        selected="results/misgendered/instances/{templates}_few_{shots}/selected.parquet",
    log:
        "results/logs/misgendered_few_shot/{templates}_few_{shots}.log",
    wildcard_constraints:
        shots=r"[1-9]\d*",
    conda:
        "../envs/analysis.yaml"
    params:
        kinds=lambda wildcards: list(MISGENDERED_FILES[wildcards.templates]),
        pronoun_sets=MISGENDERED["pronoun_sets"],
        wording=MISGENDERED["declarations"]["wording"],
        shots=lambda wildcards: int(wildcards.shots),
        draws=MISGENDERED["few_shot"]["draws"],
        size=MISGENDERED["few_shot"]["instances"],
        seed=MISGENDERED["few_shot"]["seed"],
    script:
        "../scripts/misgendered/few_shot.py"
