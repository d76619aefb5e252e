# MISGENDERED (Hossain, Dev and Singh 2023). Needs scripts/misgendered/lib/plan.py, which says what the run declares and
# scores, templates/misgendered or the authors' files, and scores (rules/scoring.smk). Makes instances, counts of
# corpora and analyses; declares figures, tables and numbers.

from scripts.core.paper.formats import have_sizes
from scripts.misgendered.lib import labels as misgendered_labels
from scripts.misgendered.lib import plan as misgendered_plan
from scripts.misgendered.lib import study as misgendered_study
from scripts.misgendered.lib import traces as misgendered_traces

MISGENDERED_TEMPLATES = TEMPLATES / "misgendered"
MISGENDERED_COMBINATIONS = str(MISGENDERED_TEMPLATES / "declarations.tsv")
MISGENDERED = call_or_exit(
    misgendered_plan.Plan.of,
    config["misgendered"],
    MODELS,
    RUN,
    KNOWN_PRONOUNS,
    MISGENDERED_COMBINATIONS,
    config_path,
)

# What each template set is made from: this project's files, or the authors', whose texts with declarations are used as
# they are in the wording that is theirs.
MISGENDERED_FILES = {
    "replica": {
        "templates": str(MISGENDERED_TEMPLATES / "templates.tsv"),
        "names": str(MISGENDERED_TEMPLATES / "names.tsv"),
    },
    "official": {
        "templates": upstream("misgendered/templates/templates.csv"),
        **{name: upstream(f"misgendered/names/{name}.txt") for name in misgendered_study.NAME_CLASSES},
        **{
            misgendered_study.declaration(kind, number): upstream(
                f"misgendered/templates/{prefix}_template_{number}.csv"
            )
            for kind, prefix in (("explicit", "explicit"), ("parenthetical", "parenth"))
            for number in (2, 31, 32, 41, 42, 5)
        },
    },
}

# What the rules take that make instances.
MISGENDERED_SOURCES = {
    "template_files": lambda wildcards: list(MISGENDERED_FILES[wildcards.templates].values()),
    "pronouns": PRONOUN_FILE,
    "combinations": MISGENDERED_COMBINATIONS,
}
MISGENDERED_PARAMS = {
    "kinds": lambda wildcards: list(MISGENDERED_FILES[wildcards.templates]),
    "pronoun_sets": MISGENDERED["pronoun_sets"],
    **{key: MISGENDERED["declarations"][key] for key in ("types", "wording", "numbers")},
}
misgendered_params = lambda *names: {name: MISGENDERED_PARAMS[name] for name in names}


rule misgendered_instances:
    input:
        **MISGENDERED_SOURCES,
    output:
        instances=expand(
            "results/misgendered/instances/{{templates}}/{declaration}.parquet", declaration=MISGENDERED.declarations
        ),
    log:
        "results/logs/misgendered_instances/{templates}.log",
    benchmark:
        "results/benchmarks/misgendered_instances/{templates}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        **MISGENDERED_PARAMS,
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
        **MISGENDERED_PARAMS,
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
        **misgendered_params("kinds", "pronoun_sets", "wording"),
        shots=lambda wildcards: int(wildcards.shots),
        draws=MISGENDERED["few_shot"]["draws"],
        size=MISGENDERED["few_shot"]["instances"],
        seed=MISGENDERED["few_shot"]["seed"],
    script:
        "../scripts/misgendered/instances.py"


rule misgendered_corpus:
    input:
        texts=lambda wildcards: MISGENDERED.corpora[wildcards.corpus]["files"],
        pronouns=PRONOUN_FILE,
    output:
        counts="results/misgendered/corpora/{corpus}/counts.csv",
        excerpts="results/misgendered/corpora/{corpus}/excerpts.csv",
    log:
        "results/logs/misgendered_corpus/{corpus}.log",
    wildcard_constraints:
        corpus=one_of(MISGENDERED.corpora),
    conda:
        "../envs/analysis.yaml"
    threads: min(64, workflow.cores or 4)
    resources:
        mem_mb=growing(4000),
        runtime=growing(1440),
    params:
        **misgendered_params("pronoun_sets"),
        name=lambda wildcards: wildcards.corpus,
        label=lambda wildcards: MISGENDERED.corpora[wildcards.corpus]["label"],
        layout=lambda wildcards: MISGENDERED.corpora[wildcards.corpus]["layout"],
        seed=MISGENDERED["corpora"]["seed"],
        parts=lambda wildcards: f"results/misgendered/corpora/{wildcards.corpus}/parts",
    script:
        "../scripts/misgendered/analyses.py"


rule misgendered_corpus_counts:
    input:
        counted=expand("results/misgendered/corpora/{corpus}/counts.csv", corpus=MISGENDERED.corpora),
        excerpted=expand("results/misgendered/corpora/{corpus}/excerpts.csv", corpus=MISGENDERED.corpora),
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


rule misgendered_accuracy:
    input:
        predictions=expand(MISGENDERED_PREDICTIONS, templates=MISGENDERED.templates),
        study_models=repo_path("paper/published/misgendered_models.csv"),
    output:
        accuracy=f"{MISGENDERED_ANALYSIS}/accuracy.csv",
    log:
        "results/logs/misgendered_accuracy/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        **MISGENDERED.bootstrap,
        template_sets=MISGENDERED.templates,
    script:
        "../scripts/misgendered/analyses.py"


MISGENDERED_RANKS = expand(f"{MISGENDERED_ANALYSIS}/{{templates}}/name_ranks.csv", templates=MISGENDERED.templates)
MISGENDERED_ACCURACY = {"accuracy": rules.misgendered_accuracy.output.accuracy}
MISGENDERED_COUNTS = {"corpus_counts": rules.misgendered_corpus_counts.output.corpus_counts}
MISGENDERED_PUBLISHED = {"study_models": repo_path("paper/published/misgendered_models.csv")} | MISGENDERED_COUNTS
MISGENDERED_SET = from_wildcards("templates")
MISGENDERED_TABLE_PARAMS = MISGENDERED_SET | {"models": MISGENDERED.models}
MISGENDERED_FIGURE_PARAMS = MISGENDERED_TABLE_PARAMS | {"chance": MISGENDERED.chance}
# What scores and predictions are compared by, and how many draws intervals have.
MISGENDERED_COMPARED_BY = MISGENDERED["scores"] | {"wording": MISGENDERED.wording}
MISGENDERED_OF_SCORES = {
    "instances": MISGENDERED_SELECTED,
    "scores": expand("results/misgendered/scores/{{templates}}/{model}.parquet", model=MISGENDERED.models),
}
# Models come one after the other. Measured with all 3.3 million instances: 2.3 GB, however many models there are.
MISGENDERED_ONE_MODEL = 2000 + MISGENDERED.scored.instances // 1000
MISGENDERED_ANALYSES = {
    "predictions": result(
        outputs=["predictions.parquet"],
        instances=lambda wildcards: expand(
            "results/misgendered/instances/{set}/selected.parquet", set=MISGENDERED.sets[wildcards.templates]
        ),
        scores=lambda wildcards: MISGENDERED.score_files(wildcards.templates),
        combinations=MISGENDERED_COMBINATIONS,
        params=MISGENDERED_COMPARED_BY
        | {"models": lambda wildcards: list(MISGENDERED.readers_of(wildcards.templates).values())},
        mem_mb=MISGENDERED_ONE_MODEL,
        runtime=60,
    ),
    "draws": result(
        outputs=["accuracy_by_draw", "accuracy_over_draws"], predictions=MISGENDERED_PREDICTIONS, mem_mb=4000
    ),
    "name_ranks": result(predictions=MISGENDERED_PREDICTIONS, params=MISGENDERED.bootstrap, mem_mb=4000),
    "choices": result(
        predictions=MISGENDERED_PREDICTIONS,
        **MISGENDERED_OF_SCORES,
        combinations=MISGENDERED_COMBINATIONS,
        params=MISGENDERED.bootstrap
        | {
            "models": list(MISGENDERED.models),
            "wording": MISGENDERED.wording,
            "made": MISGENDERED["scores"],
        },
        mem_mb=8000,
        runtime=60,
    ),
    "normalisation": result(
        **MISGENDERED_OF_SCORES,
        params=MISGENDERED.bootstrap | MISGENDERED_COMPARED_BY | {"models": list(MISGENDERED.models)},
        # An estimate: all scores of one model at once.
        mem_mb=8000 + MISGENDERED.scored.instances * 5 // 1000,
        runtime=60,
    ),
}
# Figures and tables of examples are for runs with some, those of models for runs with some that the study takes.
MISGENDERED_WITH_MODELS = combine(templates=MISGENDERED.templates if MISGENDERED.models else [])
MISGENDERED_WITH_EXAMPLES = MISGENDERED_WITH_MODELS if MISGENDERED.shots else []
# In the paper: model_size 3, constrained_decoding 4; the others are additions.
MISGENDERED_POINTS = [
    Point(
        label,
        "accuracy",
        {"scoring": "probability", "shots": 0, "pronoun_type": kind},
        ("misgendered_accuracy", misgendered_labels.TYPES[kind], "Accuracy", 0.01),
    )
    for label, kind in {"binary": "binary", "they": "neutral", "neo": "neo"}.items()
]
misgendered_figure = lambda title, targets=MISGENDERED_WITH_MODELS, **more: result(
    targets=targets, title=title, **MISGENDERED_ACCURACY, params=MISGENDERED_FIGURE_PARAMS | more
)
MISGENDERED_FIGURES = {
    "model_size": misgendered_figure(
        "Accuracy by model size", targets=MISGENDERED_WITH_MODELS if have_sizes(MISGENDERED.models) else []
    ),
    "constrained_decoding": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Constrained decoding",
        instances=MISGENDERED_SELECTED,
        scores=f"results/misgendered/scores/{{templates}}/{next(iter(MISGENDERED.models), None)}.parquet",
        params={
            "model": next(iter(MISGENDERED.models), None),
            "models": MISGENDERED.models,
            "wording": MISGENDERED.wording,
            "choices": MISGENDERED["scores"],
        },
    ),
    "accuracy_by_group": misgendered_figure("Accuracy by pronoun group", **misgendered_params("pronoun_sets")),
    "few_shot": result(
        "accuracy_over_draws",
        "accuracy_by_draw",
        targets=MISGENDERED_WITH_EXAMPLES,
        title="Accuracy by examples in the prompt",
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_FIGURE_PARAMS,
    ),
}

# In the paper: pronouns 1, declarations 2, models 3, zero_shot 4, declaration_type 5, declaration_number 6, groups 7,
# forms 8, name_ranks 9, name_class 10, corpus_counts 11, excerpts 12, few_shot 13, templates 14; the others are additions.
# Figures 1 and 2 are text: the tables evaluation_examples and framework.
MISGENDERED_TABLES = {
    "evaluation_examples": result(
        targets=MISGENDERED_WITH_MODELS,
        title="Examples of instances",
        predictions=MISGENDERED_PREDICTIONS,
        instances=MISGENDERED_SELECTED,
        params={"models": MISGENDERED.models},
    ),
    "framework": result(title="How instances are made", **MISGENDERED_SOURCES, params=MISGENDERED_PARAMS),
    "pronouns": result(pronouns=PRONOUN_FILE, params=misgendered_params("pronoun_sets")),
    "declarations": result(combinations=MISGENDERED_COMBINATIONS, params=misgendered_params("numbers")),
    "models": result(params={"models": MISGENDERED.models}),
    **{
        name: result(targets=MISGENDERED_WITH_MODELS, **MISGENDERED_ACCURACY, params=MISGENDERED_TABLE_PARAMS)
        for name in ("zero_shot", "declaration_type", "declaration_number", "groups", "forms", "name_class")
    },
    "name_ranks": result("name_ranks", targets=MISGENDERED_WITH_MODELS),
    "corpus_counts": result(**MISGENDERED_COUNTS, params=misgendered_params("pronoun_sets")),
    "excerpts": result(excerpts=rules.misgendered_corpus_counts.output.excerpts),
    "few_shot": result(
        "accuracy_over_draws",
        targets=MISGENDERED_WITH_EXAMPLES,
        **MISGENDERED_ACCURACY,
        params=MISGENDERED_TABLE_PARAMS,
    ),
    "templates": result(**MISGENDERED_SOURCES, params=MISGENDERED_PARAMS),
    "choices": result("choices", targets=MISGENDERED_WITH_MODELS, params={"models": MISGENDERED.models}),
}
MISGENDERED_COMPARED = {
    "template_sets": MISGENDERED.templates,
    "every_set": list(MISGENDERED_FILES),
    "models": MISGENDERED.known,
}


declare(
    name="misgendered",
    label="MISGENDERED",
    title="MISGENDERED (declared pronouns)",
    pronoun_sets=False,
    question="Does a model use the pronouns that a person has declared, also those that are rare?",
    chances={"accuracy": MISGENDERED.chance},
    headline=["accuracy_by_group"],
    traced=misgendered_traces.list_traces(MISGENDERED),
    outcomes={"": ["results/misgendered/analysis/{part}/predictions.parquet"]},
    paired={
        "accuracy": PairedOutcomes(
            cluster=["form", "template_index"], where={"model": ["{model}"]}, prediction=["picked"]
        )
    },
    models=list(MISGENDERED.known),
    parts=MISGENDERED.templates,
    every_part=list(MISGENDERED_FILES),
    instances=[
        *expand("results/misgendered/instances/{set}/selected.parquet", set=MISGENDERED.scored.sets),
        *expand(rules.misgendered_instances.output.instances, templates=MISGENDERED.templates),
    ],
    analyses=[
        rules.misgendered_accuracy.output.accuracy,
        rules.misgendered_corpus_counts.output.corpus_counts,
    ],
    appendix=True,
    analysis_rules=MISGENDERED_ANALYSES,
    scored=MISGENDERED.scored,
    figures=MISGENDERED_FIGURES,
    tables=MISGENDERED_TABLES,
    comparisons={
        "published_vs_ours": result(
            params=MISGENDERED_COMPARED | misgendered_params("pronoun_sets"),
            published=repo_path("paper/published/misgendered.csv"),
            mapping=repo_path("paper/published/misgendered_mapping.csv"),
            **MISGENDERED_PUBLISHED,
            **MISGENDERED_ACCURACY,
            tables=[
                *expand(
                    "results/misgendered/tables/{templates}/{table}.csv",
                    templates=MISGENDERED.templates,
                    table=["declarations", "models"],
                ),
                *expand(f"{MISGENDERED_ANALYSIS}/{{templates}}/paper_numbers.json", templates=MISGENDERED.templates),
            ],
        ),
        "findings": result(
            params=MISGENDERED_COMPARED | MISGENDERED.bootstrap,
            **MISGENDERED_PUBLISHED,
            predictions=rules.misgendered_accuracy.input.predictions,
            name_ranks=MISGENDERED_RANKS,
            mem_mb=8000,
        ),
    },
    numbers=result(
        "normalisation",
        "accuracy_over_draws",
        "choices",
        **MISGENDERED_SOURCES,
        **MISGENDERED_ACCURACY,
        predictions=MISGENDERED_PREDICTIONS,
        **MISGENDERED_COUNTS,
        params=MISGENDERED_SET
        | misgendered_params("kinds", "pronoun_sets", "types", "wording")
        | {
            "numbers_declared": MISGENDERED_PARAMS["numbers"],
            "settings": {
                "draws": MISGENDERED["bootstrap"]["draws"],
                "few_shot_draws": MISGENDERED["few_shot"]["draws"],
            },
        },
    ),
    section=result(
        params={
            "template_sets": MISGENDERED.templates,
            "models": MISGENDERED.models,
            "shots": MISGENDERED.shots,
            "scores": MISGENDERED["scores"],
            "wording": MISGENDERED.wording,
        },
    ),
    summary=result(
        **MISGENDERED_ACCURACY,
        normalisation=expand(
            f"{MISGENDERED_ANALYSIS}/{{templates}}/normalisation.csv",
            templates=MISGENDERED.templates if MISGENDERED.models else [],
        ),
        params={
            "models": MISGENDERED.models,
            "template_sets": MISGENDERED.templates,
            "wording": MISGENDERED.wording,
        },
    ),
    card=Card(
        value="Accuracy",
        points=MISGENDERED_POINTS,
        findings=result(
            predictions=rules.misgendered_accuracy.input.predictions,
            name_ranks=MISGENDERED_RANKS,
            **MISGENDERED_COUNTS,
            params={
                "model": lambda wildcards: wildcards.model,
                "facts": lambda wildcards: MODELS[wildcards.model].facts,
                "template_sets": MISGENDERED.templates,
            }
            | MISGENDERED.bootstrap,
            mem_mb=8000,
        ),
        parts=MISGENDERED.templates,
        chance=MISGENDERED.chance,
        printed="misgendered",
        axis="Pronouns",
    ),
    explorer=ExplorerView(
        sets={
            f"{templates}, {MISGENDERED.few_shot_sets.get(name, 'no')} examples": [
                f"results/misgendered/instances/{name}/selected.parquet",
                f"{MISGENDERED_ANALYSIS}/{templates}/predictions.parquet",
            ]
            for templates, names in MISGENDERED.sets.items()
            for name in names
        },
        gold="group",
        words=("declared", "preferred"),
        levels=dict(zip(MISGENDERED.groups, MISGENDERED.groups)),
        unit=("template_index", "templates"),
        factors=["pronoun_type", "form", "declaration_type", "declaration_number", "name_class", "sentence_initial"],
    ),
)
