# Underspecification (McMilin 2022): evaluation sets and texts, token distributions of this run's models and the authors'
# released outputs as probabilities of gendered words, both methods, and what it declares about itself. A source is a
# release or the run.

from scripts.underspecification.lib import study as underspecification_study
from scripts.underspecification.lib.templates import read_words as read_underspecification_words
from scripts.underspecification.lib import texts as underspecification_texts

UNDERSPEC = config["underspecification"]
UNDERSPEC_ANALYSIS = "results/underspecification/analysis"
UNDERSPEC_TEMPLATES = str(TEMPLATES / "underspecification")
UNDERSPEC_OFFICIAL = "underspecification/winogender_schema_evaluation_set"
UNDERSPEC_EVERY_SOURCE = [*underspecification_study.RELEASES, underspecification_study.RUN]
UNDERSPEC_SOURCES = [*UNDERSPEC["released"], *([underspecification_study.RUN] if {**RUN, **SERVERS} else [])]

# The evaluation sets and what each is read from.
UNDERSPEC_REPLICA = {
    "schemas": f"{UNDERSPEC_TEMPLATES}/winogender.tsv",
    "occupations": str(TEMPLATES / "occupations.tsv"),
}
UNDERSPEC_FILES = {
    "mgc": {
        "verbs": f"{UNDERSPEC_TEMPLATES}/verbs.tsv",
        "life_stages": f"{UNDERSPEC_TEMPLATES}/life_stages.tsv",
        "places": f"{UNDERSPEC_TEMPLATES}/places.tsv",
    },
    "winogender_replica": UNDERSPEC_REPLICA,
    "simplified_replica": UNDERSPEC_REPLICA,
    "winogender_official": {"sentences": upstream(f"{UNDERSPEC_OFFICIAL}/all_sentences.tsv")},
    "simplified_official": {"sentences": upstream(f"{UNDERSPEC_OFFICIAL}/all_sentences_g_id.tsv")},
}
UNDERSPEC_SETS = ["mgc", *expand("{set}_{t}", set=["winogender", "simplified"], t=UNDERSPEC["templates"])]
# The method that each set is for decides dates, prompts and the length of continuations.
UNDERSPEC_METHODS = {name: "mgc" if name == "mgc" else "winogender" for name in UNDERSPEC_FILES}

UNDERSPEC_INSTANCE_FILES = expand("results/underspecification/instances/{set}.parquet", set=UNDERSPEC_SETS)

try:
    if not UNDERSPEC_SOURCES:
        raise UserError(
            "underspecification.released: without a model in models or completions.models there is nothing to read; name "
            "released outputs or a model, or leave underspecification out of studies"
        )
    UNDERSPEC_WORDS = read_underspecification_words(f"{UNDERSPEC_TEMPLATES}/words.tsv")
except UserError as error:
    exit_with(error)

# The run's models: those here, and those behind servers, which give no masses over the vocabulary.
UNDERSPEC_MODELS = {**RUN, **SERVERS}
UNDERSPEC_FACTS = {name: registry.describe(entry) for name, entry in UNDERSPEC_MODELS.items()}
UNDERSPEC_MASSES = {
    **{name: [f"results/underspecification/masses/released/{name}.parquet"] for name in UNDERSPEC["released"]},
    underspecification_study.RUN: expand(
        "results/underspecification/masses/run/{model}.parquet", model=UNDERSPEC_MODELS
    ),
}
# The share of women by occupation comes with the authors' files, so only runs that fetch some have it.
UNDERSPEC_SHARES = (
    {"shares": upstream(f"{UNDERSPEC_OFFICIAL}/occupations-stats.tsv")}
    if UNDERSPEC["released"] or "official" in UNDERSPEC["templates"]
    else {}
)


# What Method 1 makes.
UNDERSPEC_METHOD1_FILES = ["*curves", "*slopes", "*correlations_*", "tables/*/masses"]

UNDERSPEC_TRACED = [
    # Method 1 is about MGC; its positions count the values that were read.
    *(
        {"files": f"results/underspecification/{name}.csv", "then": {"evaluation_set": "mgc"}}
        for name in UNDERSPEC_METHOD1_FILES
    ),
    {"files": "*/correlations_*.csv", "when": {"choice": ".+"}, "then": {}},
    *(
        {"files": "results/underspecification/tables/*.csv", "when": {"@column": column}, "then": then}
        for column, then in (
            (
                r"(?P<variable>date|place)s(, |: )(?P<gender>female|male|neutral|neo)(:.*)?",
                {"variable": "{variable}", "gender": "{gender}"},
            ),
        )
    ),
    {"files": "results/underspecification/*", "when": {"position": ".+"}, "then": {}},
    # Method 2: sentences of one set; in its tables sets and sentences have other names.
    {"files": "results/underspecification/figures/*", "when": {"set": ".+"}, "then": {"evaluation_set": "{set}"}},
    {"files": "results/underspecification/figures/*", "when": {"part": ".+"}, "then": {}},
    *(
        {
            "files": "*/underspecification/tables/*/detection.csv",
            "when": {"Set": f"{label}( .*)?"},
            "then": {"evaluation_set": name, "templates": templates, "prompt": ["mask", "A"], "accumulation": "top"},
        }
        for name, label in (("winogender", "Winogender"), ("simplified", "Simplified"))
        for label, templates in ((rf"{label} \(replica\)", "replica"), (label, "official"))
    ),
    {
        "files": "*/underspecification/tables/*/metric.csv",
        "when": {"Pronoun": "professional|participant"},
        "then": {"coreferent": "{Pronoun}"},
    },
    {
        "files": "*/underspecification/tables/*/metric.csv",
        "then": {"evaluation_set": "winogender", "prompt": ["mask", "A"], "accumulation": "top"},
    },
    {"files": "*/underspecification/tables/*/metric.csv", "when": {"@column": ".+"}, "then": {"model": "{@column}"}},
    {
        "files": "results/underspecification/tables/published_vs_ours.csv",
        "when": {"table": ".+", "cells": ".*", "models": ".*"},
        "then": {"@file": "results/underspecification/{table}", "@cells": "{cells}", "model": "{models}"},
    },
    # The words whose probabilities are summed; the other sets' are shares of all three groups.
    *(
        {
            "files": f"results/underspecification/{name}.csv",
            "when": {"gender": "female|male|neutral|neo"},
            "then": {"gender": "{gender}", "group": "{gender}"},
        }
        for name in UNDERSPEC_METHOD1_FILES
    ),
]


rule underspecification_instances:
    input:
        unpack(lambda wildcards: UNDERSPEC_FILES[wildcards.set]),
        dates=f"{UNDERSPEC_TEMPLATES}/dates.tsv",
    output:
        instances="results/underspecification/instances/{set}.parquet",
    log:
        "results/logs/underspecification_instances/{set}.log",
    wildcard_constraints:
        set=one_of(UNDERSPEC_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        evaluation_set=lambda wildcards: wildcards.set.partition("_")[0],
        date_range=lambda wildcards: UNDERSPEC["date_range"] if wildcards.set == "mgc" else "winogender",
        outer_dates=lambda wildcards: 0 if wildcards.set == "mgc" else UNDERSPEC["outer_dates"],
    script:
        "../scripts/underspecification/instances.py"


rule underspecification_texts:
    input:
        instances="results/underspecification/instances/{set}.parquet",
        prompts=f"{UNDERSPEC_TEMPLATES}/prompts.tsv",
    output:
        texts="results/underspecification/texts/{set}.parquet",
    log:
        "results/logs/underspecification_texts/{set}.log",
    wildcard_constraints:
        set=one_of(UNDERSPEC_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        use=lambda wildcards: UNDERSPEC["prompts"][UNDERSPEC_METHODS[wildcards.set]],
        dates=UNDERSPEC["sample"]["dates"],
        places=UNDERSPEC["sample"]["places"],
        occupations=UNDERSPEC["sample"]["occupations"],
    script:
        "../scripts/underspecification/instances.py"


rule underspecification_masses:
    input:
        instances=UNDERSPEC_INSTANCE_FILES,
        texts=expand("results/underspecification/texts/{set}.parquet", set=UNDERSPEC_SETS),
        distributions=expand("results/underspecification/distributions/{set}/{{model}}.parquet", set=UNDERSPEC_SETS),
        full=lambda wildcards: [
            f"results/underspecification/distributions/{name}/{wildcards.model}.mass.parquet"
            for name in (UNDERSPEC_SETS if "source" in MODELS[wildcards.model] else [])
        ],
        words=f"{UNDERSPEC_TEMPLATES}/words.tsv",
    output:
        masses="results/underspecification/masses/run/{model}.parquet",
    log:
        "results/logs/underspecification_masses/{model}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        label=lambda wildcards: UNDERSPEC_FACTS[wildcards.model]["label"],
        methods=lambda wildcards: registry.methods(MODELS[wildcards.model], "underspecification"),
    script:
        "../scripts/underspecification/analyses.py"


rule underspecification_released:
    input:
        winogender=lambda wildcards: upstream(
            f"{underspecification_study.RELEASES[wildcards.release]}/data/detect_wino_raw.tar.xz"
        ),
        simplified=lambda wildcards: upstream(
            f"{underspecification_study.RELEASES[wildcards.release]}/data/detect_wino_mod_raw.tar.xz"
        ),
        mgc=lambda wildcards: upstream(
            f"{underspecification_study.RELEASES[wildcards.release]}/data/spur_mgc_raw.tar.xz"
        ),
    output:
        masses="results/underspecification/masses/released/{release}.parquet",
    log:
        "results/logs/underspecification_released/{release}.log",
    wildcard_constraints:
        release=one_of(underspecification_study.RELEASES),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        release=lambda wildcards: wildcards.release,
    script:
        "../scripts/underspecification/analyses.py"


UNDERSPEC_PUBLISHED = repo_path("paper/published/underspecification.csv")


# A tidy table of each of some sources.
underspecification_tables = lambda name, sources: expand(f"{UNDERSPEC_ANALYSIS}/{{source}}/{name}.csv", source=sources)
# What either method reads: the probabilities of a source.
UNDERSPEC_READ = {"masses": lambda wildcards: UNDERSPEC_MASSES[wildcards.source]}
UNDERSPEC_ANALYSES = {
    "method1_slopes": result(
        **UNDERSPEC_READ,
        outputs={"slopes": "method1_slopes", "curves": "curves"},
        params=UNDERSPEC["bootstrap"],
        mem_mb=4000,
        runtime=20,
    ),
    "specification_detection": result(
        **UNDERSPEC_READ,
        outputs=["metric", "specification_detection", "roc", "orders", "independence"],
        params={"threshold": UNDERSPEC["threshold"], "folds": UNDERSPEC["folds"], **UNDERSPEC["bootstrap"]},
        mem_mb=4000,
        runtime=20,
    ),
    "toy_model": result(
        path="", outputs={"correlations": "toy_model", "points": "toy_points"}, params=UNDERSPEC["toy"]
    ),
    "all_sources": result(
        path="",
        outputs=["method1_slopes", "specification_detection"],
        slopes=underspecification_tables("method1_slopes", UNDERSPEC_SOURCES),
        rates=underspecification_tables("specification_detection", UNDERSPEC_SOURCES),
        mem_mb=2000,
    ),
    # A run has no printed cells to agree with.
    "agreement": result(
        path="",
        outputs={"cell_agreement": "agreement"},
        metric=underspecification_tables("metric", UNDERSPEC["released"]),
        rates=underspecification_tables("specification_detection", UNDERSPEC["released"]),
        orders=underspecification_tables("orders", UNDERSPEC["released"]),
        printed=UNDERSPEC_PUBLISHED,
        params={"releases": UNDERSPEC["released"]},
        mem_mb=2000,
    ),
}
UNDERSPEC_METHOD1 = {"slopes": f"{UNDERSPEC_ANALYSIS}/{{source}}/method1_slopes.csv"}
UNDERSPEC_TOY = f"{UNDERSPEC_ANALYSIS}/toy_model.csv"


UNDERSPEC_COMPARED = {
    "sources": UNDERSPEC_SOURCES,
    "every_source": UNDERSPEC_EVERY_SOURCE,
    "models": UNDERSPEC_FACTS,
}
UNDERSPEC_RELEASED = combine(source=UNDERSPEC["released"])

# In the paper: correlations_date_main 3, correlations_place_main 6, correlations_date_all 7, correlations_place_all 8,
# example 4, occupations_example 5, occupations_<set>_<part> 9 to 14; the others are additions.
UNDERSPEC_FIGURES = {
    "toy_model": result(
        path="toy_model",
        correlations=UNDERSPEC_TOY,
        points=f"{UNDERSPEC_ANALYSIS}/toy_points.csv",
        title="The toy model",
    ),
    "correlations": result(
        "curves",
        path="{source}/correlations_{variable}_{choice}",
        targets=[
            *combine(source=UNDERSPEC_SOURCES, variable=["date", "place"], choice=["all"]),
            *combine(source=UNDERSPEC["released"], variable=["date", "place"], choice=["main"]),
        ],
        constraints={"variable": "date|place", "choice": "main|all"},
        **UNDERSPEC_METHOD1,
        params={
            "variable": lambda wildcards: wildcards.variable,
            "choice": lambda wildcards: wildcards.choice,
        },
        title="Pronouns against dates and places",
    ),
    "occupations": result(
        "metric",
        path="{source}/occupations_{set}_{part}",
        targets=[
            *combine(
                source=UNDERSPEC["released"],
                set=["winogender", "simplified"],
                part=underspecification_study.PARTS,
            ),
            *combine(
                source=[underspecification_study.RUN],
                set=["winogender", "simplified"],
                part=[underspecification_study.RUN],
            ),
        ],
        constraints={
            "set": "winogender|simplified",
            "part": one_of([*underspecification_study.PARTS, underspecification_study.RUN]),
        },
        **UNDERSPEC_SHARES,
        params={
            "evaluation_set": lambda wildcards: wildcards.set,
            "part": lambda wildcards: wildcards.part,
            "threshold": UNDERSPEC["threshold"],
        },
        title="Change by occupation",
    ),
    # One model alone, as in the main text of the study.
    "occupations_example": result(
        "metric",
        targets=UNDERSPEC_RELEASED,
        **UNDERSPEC_SHARES,
        params={
            "evaluation_set": "winogender",
            "part": "GPT-3.5 SFT",
            "threshold": UNDERSPEC["threshold"],
        },
        title="Change by occupation, an example",
    ),
    "example": result(
        mem_mb=2000,
        masses=lambda wildcards: UNDERSPEC_MASSES[wildcards.source],
        params={"occupation": "doctor", "model": "RoBERTa-large"},
        title="Pronouns for one sentence",
    ),
    "roc": result(
        "roc",
        "specification_detection",
        "metric",
        params={"models": UNDERSPEC_FACTS, "threshold": UNDERSPEC["threshold"]},
        title="ROC curves",
    ),
    "orders": result(
        "orders",
        "specification_detection",
        targets=UNDERSPEC_RELEASED,
        constraints={"source": one_of(underspecification_study.RELEASES)},
        printed=UNDERSPEC_PUBLISHED,
        title="Rates over orders of files",
    ),
}

# In the paper: metric 2, detection 3; the others are additions.
UNDERSPEC_TABLES = {
    "slopes": result(**UNDERSPEC_METHOD1, title="Slopes over dates and places"),
    "masses": result("curves", title="Probability of pronouns"),
    "metric": result("metric", printed=UNDERSPEC_PUBLISHED, title="Task specification metric"),
    "detection": result(
        "specification_detection", "orders", printed=UNDERSPEC_PUBLISHED, title="Detection of unspecified sentences"
    ),
    "independence": result("independence", title="Winogender beside occupations' shares"),
}

UNDERSPEC_PAIRED = {"model": ["{label}"], "accumulation": ["top"], "debris": ["False"]}


declare(
    name="underspecification",
    label="Underspecification",
    traced=UNDERSPEC_TRACED,
    outcomes={
        "distribution": ["results/underspecification/masses/run/{model}.parquet"],
        "": ["results/underspecification/masses/released/{part}.parquet"],
    },
    paired={
        "slope, female minus male": PairedOutcomes(
            cluster=["item"],
            value="probability",
            unit=["item"],
            where=UNDERSPEC_PAIRED,
            statistic="slope",
            by="position",
            signs={"gender": {"female": 1, "male": -1}},
        ),
        "AUC": PairedOutcomes(
            cluster=["occupation"],
            value="probability",
            unit=["item"],
            where=UNDERSPEC_PAIRED,
            statistic="area",
            by="position",
            signs={"well_specified": {"False": 1, "True": -1}},
        ),
    },
    title="Underspecification (pronouns against dates and places)",
    part="source",
    parts=UNDERSPEC_SOURCES,
    every_part=UNDERSPEC_EVERY_SOURCE,
    instances=UNDERSPEC_INSTANCE_FILES,
    analyses=expand(
        f"{UNDERSPEC_ANALYSIS}/{{name}}.csv",
        name=["specification_detection", "method1_slopes", "agreement", "toy_model"],
    ),
    analysis_rules=UNDERSPEC_ANALYSES,
    texts=Probes(
        sets=UNDERSPEC_SETS,
        new_tokens={name: UNDERSPEC["max_new_tokens"][method] for name, method in UNDERSPEC_METHODS.items()},
        # Prompt A around a Winogender sentence has about 60 tokens.
        tokens=64,
        counts={
            name: underspecification_texts.text_counts(
                name.partition("_")[0],
                UNDERSPEC["sample"],
                UNDERSPEC["outer_dates"],
                UNDERSPEC["prompts"][UNDERSPEC_METHODS[name]],
            )
            for name in UNDERSPEC_SETS
        },
        word_groups=UNDERSPEC_WORDS,
    ),
    figures=UNDERSPEC_FIGURES,
    tables=UNDERSPEC_TABLES,
    comparisons={
        "published_vs_ours": result(
            params=UNDERSPEC_COMPARED,
            published=UNDERSPEC_PUBLISHED,
            mapping=repo_path("paper/published/underspecification_mapping.csv"),
            study_models=repo_path("paper/published/underspecification_models.csv"),
            tables=expand(
                f"{UNDERSPEC_ANALYSIS}/{{source}}/{{table}}",
                source=UNDERSPEC_SOURCES,
                table=["orders.csv", "metric.csv", "paper_numbers.json"],
            ),
        ),
        "claims": result(
            params=UNDERSPEC_COMPARED | {"threshold": UNDERSPEC["threshold"]},
            **UNDERSPEC_SHARES,
            tables=expand(
                f"{UNDERSPEC_ANALYSIS}/{{source}}/{{table}}.csv",
                source=UNDERSPEC_SOURCES,
                table=["method1_slopes", "curves", "specification_detection", "metric", "independence"],
            ),
        ),
    },
    numbers=result(
        "curves",
        "specification_detection",
        "metric",
        "orders",
        "independence",
        **UNDERSPEC_METHOD1,
        cell_agreement=f"{UNDERSPEC_ANALYSIS}/agreement.csv",
        toy_model=UNDERSPEC_TOY,
        printed=UNDERSPEC_PUBLISHED,
        params={
            "source": lambda wildcards: wildcards.source,
            "settings": {
                "threshold": UNDERSPEC["threshold"],
                "folds": UNDERSPEC["folds"],
                "draws": UNDERSPEC["bootstrap"]["draws"],
            },
        },
    ),
    section=result(
        params={
            "sources": UNDERSPEC_SOURCES,
            "templates": UNDERSPEC["templates"],
            "prompts": UNDERSPEC["prompts"],
            "models": UNDERSPEC_FACTS,
            "shares": bool(UNDERSPEC_SHARES),
        }
    ),
    pronoun_sets=False,
    question="Where a sentence does not say which pronoun is right, does a model's pronoun follow a date or a place?",
    summary=result(
        slopes=f"{UNDERSPEC_ANALYSIS}/method1_slopes.csv",
        detection=f"{UNDERSPEC_ANALYSIS}/specification_detection.csv",
        params={"models": UNDERSPEC_FACTS},
    ),
    chances={"AUC": 0.5, "slope, female minus male": 0},
    headline=["correlations"],
    card=Card(
        value="Balanced accuracy",
        points=[
            Point(
                name,
                "balanced accuracy",
                {"evaluation_set": name.lower(), "templates": UNDERSPEC["templates"][0], "gender": "female"},
                ("underspec_balanced_accuracy", f"{name.capitalize()} | {{model}}", "BA", 1.0),
            )
            for name in ("Winogender", "simplified")
        ],
        findings=result(
            tables=expand(
                f"{UNDERSPEC_ANALYSIS}/{underspecification_study.RUN}/{{table}}.csv",
                table=["method1_slopes", "curves", "specification_detection", "metric", "independence"],
            ),
            params={
                "sources": [underspecification_study.RUN],
                "facts": lambda wildcards: registry.describe(MODELS[wildcards.model]),
                "threshold": UNDERSPEC["threshold"],
            },
        ),
        parts=["run"],
        chance=0.5,
        printed="underspecification",
        axis="Sentences, feminine pronouns",
    ),
    explorer=ExplorerView(
        sets=[
            *(
                ExploredSet(
                    label=name,
                    instances=f"results/underspecification/instances/{name}.parquet",
                    own=not name.endswith("official"),
                    decided=[
                        DecisionTable(
                            table=table,
                            reader={"model": "{}", "prompt": {"mask": ""} | {name: f"prompt {name}" for name in "ABC"}},
                            where={"accumulation": "top", "debris": False},
                            options=("gender", "probability"),
                            prompts=f"results/underspecification/texts/{name}.parquet",
                            answers=[
                                {"file": f"results/underspecification/distributions/{name}/{model}.parquet"}
                                for _ in [name]
                                if not name.endswith("official")
                            ],
                        )
                        for model, table in zip(UNDERSPEC_MODELS, UNDERSPEC_MASSES[source], strict=True)
                    ],
                )
                for source in UNDERSPEC_SOURCES
                if source == underspecification_study.RUN
                for name in UNDERSPEC_SETS
            ),
            *(
                ExploredSet(
                    label=f"{source}, released outputs",
                    instances=table,
                    own=False,
                    decided=[
                        DecisionTable(
                            table=table,
                            reader={"model": "{}", "prompt": {"mask": ""} | {name: f"prompt {name}" for name in "ABC"}},
                            where={"accumulation": "top", "debris": False},
                            options=("gender", "probability"),
                        )
                    ],
                )
                for source in UNDERSPEC["released"]
                for table in UNDERSPEC_MASSES[source]
            ),
        ],
        key=["evaluation_set", "templates", "item", "variable", "value"],
        gold="value",
        order=["variable", "position"],
        words=("date or place", "most probable"),
        levels={"female": "she", "male": "he", "neutral": "they", "neo": "xe"},
        unit=("item", "sentences"),
        factors={
            "evaluation_set": "evaluation set",
            "variable": "date or place",
            "well_specified": "says whose pronoun it is",
            "participant": "participant",
            "coreferent": "the pronoun means the",
        },
        own_factors={"occupation": "occupation", "form": "tense", "life_stage": "life stage"},
        value={"female": 1, "male": -1},
        quantity="Probability, female minus male words",
        models={facts["label"]: facts for facts in UNDERSPEC_FACTS.values()},
    ),
)
