# Underspecification (McMilin 2022): evaluation sets and texts, token distributions of this run's models and the authors'
# released outputs as probabilities of gendered words, both methods, figures and tables. A source is a release or the run.

from scripts.underspecification import data as underspecification_data
from scripts.underspecification import study as underspecification_study

UNDERSPEC = config["underspecification"]
UNDERSPEC_ANALYSIS = "results/underspecification/analysis"
UNDERSPEC_TEMPLATES = str(TEMPLATES / "underspecification")
UNDERSPEC_OFFICIAL = "underspecification/winogender_schema_evaluation_set"
UNDERSPEC_EVERY_SOURCE = [*underspecification_study.RELEASES, underspecification_study.RUN]
UNDERSPEC_SOURCES = [*UNDERSPEC["released"], underspecification_study.RUN]

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

STUDY_TEXTS["underspecification"] = expand("results/underspecification/texts/{set}.parquet", set=UNDERSPEC_SETS)
STUDY_NEW_TOKENS.update(
    {f"underspecification/{name}": UNDERSPEC["max_new_tokens"][method] for name, method in UNDERSPEC_METHODS.items()}
)
try:
    STUDY_WORD_GROUPS["underspecification"] = underspecification_data.read_words(f"{UNDERSPEC_TEMPLATES}/words.tsv")
except UserError as error:
    refuse(error)

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

# Figures of each source. In the paper: correlations_date_main 3, correlations_place_main 6, correlations_date_all 7,
# correlations_place_all 8, example 4, occupations_example 5, occupations_<set>_<part> 9 to 14; the others are additions.
UNDERSPEC_PARTS = {
    source: ["run"] if source == underspecification_study.RUN else list(underspecification_study.PARTS)
    for source in UNDERSPEC_EVERY_SOURCE
}
UNDERSPEC_FIGURES = {
    source: [
        *expand("correlations_{variable}_all", variable=["date", "place"]),
        *expand("occupations_{set}_{part}", set=["winogender", "simplified"], part=UNDERSPEC_PARTS[source]),
        "example",
        "roc",
    ]
    for source in UNDERSPEC_SOURCES
}
for _source in UNDERSPEC["released"]:
    UNDERSPEC_FIGURES[_source] += expand("correlations_{variable}_main", variable=["date", "place"])
    UNDERSPEC_FIGURES[_source] += ["occupations_example", "orders"]
# Tables of each source. In the paper: metric 2, detection 3; the others are additions.
UNDERSPEC_TABLES = ["slopes", "masses", "metric", "detection"]

UNDERSPEC_FIGURE_FILES = multiext("results/underspecification/figures/toy_model", ".pdf", ".png", ".csv")
UNDERSPEC_FIGURE_FILES += [
    f"results/underspecification/figures/{source}/{name}.{kind}"
    for source, names in UNDERSPEC_FIGURES.items()
    for name in names
    for kind in ("pdf", "png", "csv")
]
UNDERSPEC_TABLE_FILES = expand(
    "results/underspecification/tables/{source}/{name}.{kind}",
    source=UNDERSPEC_SOURCES,
    name=UNDERSPEC_TABLES,
    kind=["tex", "csv"],
)
UNDERSPEC_TABLE_FILES += multiext("results/underspecification/tables/published_vs_ours", ".tex", ".csv", ".json")
UNDERSPEC_TABLE_FILES += multiext("results/underspecification/tables/claims", ".tex", ".csv", ".json")
UNDERSPEC_INSTANCE_FILES = expand("results/underspecification/instances/{set}.parquet", set=UNDERSPEC_SETS)
UNDERSPEC_RESULTS = expand(
    f"{UNDERSPEC_ANALYSIS}/{{name}}.csv", name=["specification_detection", "method1_slopes", "agreement", "toy_model"]
)


# What Method 1 makes.
UNDERSPEC_METHOD1 = ["*curves", "*slopes", "*correlations_*", "tables/*/masses"]

TRACED["underspecification"] = [
    # Method 1 is about MGC; its positions count the values that were read.
    *(
        {"files": f"results/underspecification/{name}.csv", "then": {"evaluation_set": "mgc"}}
        for name in UNDERSPEC_METHOD1
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
        "files": "*/published_vs_ours.csv",
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
        for name in UNDERSPEC_METHOD1
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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        evaluation_set=lambda wildcards: wildcards.set.partition("_")[0],
        date_range=lambda wildcards: UNDERSPEC["date_range"] if wildcards.set == "mgc" else "winogender",
        outer_dates=lambda wildcards: 0 if wildcards.set == "mgc" else UNDERSPEC["outer_dates"],
        _code=code("scripts/underspecification/instances.py"),
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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        use=lambda wildcards: UNDERSPEC["prompts"][UNDERSPEC_METHODS[wildcards.set]],
        dates=UNDERSPEC["sample"]["dates"],
        places=UNDERSPEC["sample"]["places"],
        occupations=UNDERSPEC["sample"]["occupations"],
        _code=code("scripts/underspecification/texts.py"),
    script:
        "../scripts/underspecification/texts.py"


rule underspecification_masses:
    input:
        instances=UNDERSPEC_INSTANCE_FILES,
        texts=STUDY_TEXTS["underspecification"],
        distributions=expand("results/underspecification/distributions/{set}/{{model}}.parquet", set=UNDERSPEC_SETS),
        full=lambda wildcards: [
            f"results/underspecification/distributions/{name}/{wildcards.model}.mass.parquet"
            for name in (UNDERSPEC_SETS if wildcards.model in RUN else [])
        ],
        words=f"{UNDERSPEC_TEMPLATES}/words.tsv",
    output:
        masses="results/underspecification/masses/run/{model}.parquet",
    log:
        "results/logs/underspecification_masses/{model}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        label=lambda wildcards: UNDERSPEC_FACTS[wildcards.model]["label"],
        methods=lambda wildcards: registry.methods(MODELS[wildcards.model]),
        _code=code("scripts/underspecification/masses.py"),
    script:
        "../scripts/underspecification/masses.py"


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
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        release=lambda wildcards: wildcards.release,
        _code=code("scripts/underspecification/released.py"),
    script:
        "../scripts/underspecification/released.py"


rule underspecification_method1:
    input:
        masses=lambda wildcards: UNDERSPEC_MASSES[wildcards.source],
    output:
        slopes=f"{UNDERSPEC_ANALYSIS}/{{source}}/method1_slopes.csv",
        curves=f"{UNDERSPEC_ANALYSIS}/{{source}}/curves.csv",
    log:
        "results/logs/underspecification_method1/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        draws=UNDERSPEC["bootstrap"]["draws"],
        seed=UNDERSPEC["bootstrap"]["seed"],
        _code=code("scripts/underspecification/method1.py"),
    script:
        "../scripts/underspecification/method1.py"


rule underspecification_method2:
    input:
        masses=lambda wildcards: UNDERSPEC_MASSES[wildcards.source],
    output:
        metric=f"{UNDERSPEC_ANALYSIS}/{{source}}/metric.csv",
        specification_detection=f"{UNDERSPEC_ANALYSIS}/{{source}}/specification_detection.csv",
        roc=f"{UNDERSPEC_ANALYSIS}/{{source}}/roc.csv",
        orders=f"{UNDERSPEC_ANALYSIS}/{{source}}/orders.csv",
    log:
        "results/logs/underspecification_method2/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        threshold=UNDERSPEC["threshold"],
        folds=UNDERSPEC["folds"],
        draws=UNDERSPEC["bootstrap"]["draws"],
        seed=UNDERSPEC["bootstrap"]["seed"],
        _code=code("scripts/underspecification/method2.py"),
    script:
        "../scripts/underspecification/method2.py"


rule underspecification_toy_model:
    output:
        correlations=f"{UNDERSPEC_ANALYSIS}/toy_model.csv",
        points=f"{UNDERSPEC_ANALYSIS}/toy_points.csv",
    log:
        "results/logs/underspecification_toy_model/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        amplification=UNDERSPEC["toy"]["amplification"],
        draws=UNDERSPEC["toy"]["draws"],
        seed=UNDERSPEC["toy"]["seed"],
        _code=code("scripts/underspecification/toy_model.py"),
    script:
        "../scripts/underspecification/toy_model.py"


rule underspecification_all_sources:
    input:
        slopes=expand(rules.underspecification_method1.output.slopes, source=UNDERSPEC_SOURCES),
        rates=expand(rules.underspecification_method2.output.specification_detection, source=UNDERSPEC_SOURCES),
        metric=expand(rules.underspecification_method2.output.metric, source=UNDERSPEC_SOURCES),
        orders=expand(rules.underspecification_method2.output.orders, source=UNDERSPEC_SOURCES),
        printed=root("paper/published/underspecification.csv"),
    output:
        specification_detection=f"{UNDERSPEC_ANALYSIS}/specification_detection.csv",
        method1_slopes=f"{UNDERSPEC_ANALYSIS}/method1_slopes.csv",
        cell_agreement=f"{UNDERSPEC_ANALYSIS}/agreement.csv",
    log:
        "results/logs/underspecification_all_sources/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        sources=UNDERSPEC_SOURCES,
        _code=code("scripts/underspecification/all_sources.py"),
    script:
        "../scripts/underspecification/all_sources.py"


rule underspecification_figure_toy_model:
    input:
        correlations=rules.underspecification_toy_model.output.correlations,
        points=rules.underspecification_toy_model.output.points,
    output:
        pdf="results/underspecification/figures/toy_model.pdf",
        png=reported("results/underspecification/figures/toy_model.png", "Underspecification", "figure"),
        csv="results/underspecification/figures/toy_model.csv",
    log:
        "results/logs/underspecification_figure_toy_model/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/underspecification/figure_toy_model.py"),
    script:
        "../scripts/underspecification/figure_toy_model.py"


rule underspecification_figure_correlations:
    input:
        curves=rules.underspecification_method1.output.curves,
        slopes=rules.underspecification_method1.output.slopes,
    output:
        pdf="results/underspecification/figures/{source}/correlations_{variable}_{choice}.pdf",
        png=reported(
            "results/underspecification/figures/{source}/correlations_{variable}_{choice}.png",
            "Underspecification",
            "figure",
        ),
        csv="results/underspecification/figures/{source}/correlations_{variable}_{choice}.csv",
    log:
        "results/logs/underspecification_figure_correlations/{source}_{variable}_{choice}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
        variable="date|place",
        choice="main|all",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        variable=lambda wildcards: wildcards.variable,
        choice=lambda wildcards: wildcards.choice,
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/figure_correlations.py"),
    script:
        "../scripts/underspecification/figure_correlations.py"


rule underspecification_figure_occupations:
    input:
        unpack(lambda wildcards: UNDERSPEC_SHARES),
        metric=rules.underspecification_method2.output.metric,
    output:
        pdf="results/underspecification/figures/{source}/occupations_{set}_{part}.pdf",
        png=reported(
            "results/underspecification/figures/{source}/occupations_{set}_{part}.png", "Underspecification", "figure"
        ),
        csv="results/underspecification/figures/{source}/occupations_{set}_{part}.csv",
    log:
        "results/logs/underspecification_figure_occupations/{source}_{set}_{part}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
        set="winogender|simplified",
        part=one_of([*underspecification_study.PARTS, underspecification_study.RUN]),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        evaluation_set=lambda wildcards: wildcards.set,
        part=lambda wildcards: wildcards.part,
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/figure_occupations.py"),
    script:
        "../scripts/underspecification/figure_occupations.py"


# One model alone, as in the main text of the study.
use rule underspecification_figure_occupations as underspecification_figure_occupations_example with:
    output:
        pdf="results/underspecification/figures/{source}/occupations_example.pdf",
        png=reported(
            "results/underspecification/figures/{source}/occupations_example.png", "Underspecification", "figure"
        ),
        csv="results/underspecification/figures/{source}/occupations_example.csv",
    log:
        "results/logs/underspecification_figure_occupations_example/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    params:
        evaluation_set="winogender",
        part="GPT-3.5 SFT",
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/figure_occupations.py"),


rule underspecification_figure_example:
    input:
        masses=lambda wildcards: UNDERSPEC_MASSES[wildcards.source],
    output:
        pdf="results/underspecification/figures/{source}/example.pdf",
        png=reported("results/underspecification/figures/{source}/example.png", "Underspecification", "figure"),
        csv="results/underspecification/figures/{source}/example.csv",
    log:
        "results/logs/underspecification_figure_example/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        occupation="doctor",
        model="RoBERTa-large",
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/figure_example.py"),
    script:
        "../scripts/underspecification/figure_example.py"


rule underspecification_figure_roc:
    input:
        roc=rules.underspecification_method2.output.roc,
        specification_detection=rules.underspecification_method2.output.specification_detection,
    output:
        pdf="results/underspecification/figures/{source}/roc.pdf",
        png=reported("results/underspecification/figures/{source}/roc.png", "Underspecification", "figure"),
        csv="results/underspecification/figures/{source}/roc.csv",
    log:
        "results/logs/underspecification_figure_roc/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/figure_roc.py"),
    script:
        "../scripts/underspecification/figure_roc.py"


rule underspecification_figure_orders:
    input:
        orders=rules.underspecification_method2.output.orders,
        specification_detection=rules.underspecification_method2.output.specification_detection,
        printed=root("paper/published/underspecification.csv"),
    output:
        pdf="results/underspecification/figures/{source}/orders.pdf",
        png=reported("results/underspecification/figures/{source}/orders.png", "Underspecification", "figure"),
        csv="results/underspecification/figures/{source}/orders.csv",
    log:
        "results/logs/underspecification_figure_orders/{source}.log",
    wildcard_constraints:
        source=one_of(underspecification_study.RELEASES),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/underspecification/figure_orders.py"),
    script:
        "../scripts/underspecification/figure_orders.py"


rule underspecification_table_slopes:
    input:
        slopes=rules.underspecification_method1.output.slopes,
    output:
        tex="results/underspecification/tables/{source}/slopes.tex",
        csv=reported("results/underspecification/tables/{source}/slopes.csv", "Underspecification", "table"),
    log:
        "results/logs/underspecification_table_slopes/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/underspecification/table_slopes.py"),
    script:
        "../scripts/underspecification/table_slopes.py"


rule underspecification_table_masses:
    input:
        curves=rules.underspecification_method1.output.curves,
    output:
        tex="results/underspecification/tables/{source}/masses.tex",
        csv=reported("results/underspecification/tables/{source}/masses.csv", "Underspecification", "table"),
    log:
        "results/logs/underspecification_table_masses/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/underspecification/table_masses.py"),
    script:
        "../scripts/underspecification/table_masses.py"


rule underspecification_table_metric:
    input:
        metric=rules.underspecification_method2.output.metric,
        printed=root("paper/published/underspecification.csv"),
    output:
        tex="results/underspecification/tables/{source}/metric.tex",
        csv=reported("results/underspecification/tables/{source}/metric.csv", "Underspecification", "table"),
    log:
        "results/logs/underspecification_table_metric/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/underspecification/table_metric.py"),
    script:
        "../scripts/underspecification/table_metric.py"


rule underspecification_table_detection:
    input:
        specification_detection=rules.underspecification_method2.output.specification_detection,
        orders=rules.underspecification_method2.output.orders,
        printed=root("paper/published/underspecification.csv"),
    output:
        tex="results/underspecification/tables/{source}/detection.tex",
        csv=reported("results/underspecification/tables/{source}/detection.csv", "Underspecification", "table"),
    log:
        "results/logs/underspecification_table_detection/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/underspecification/table_detection.py"),
    script:
        "../scripts/underspecification/table_detection.py"


rule underspecification_paper_numbers:
    input:
        slopes=rules.underspecification_method1.output.slopes,
        curves=rules.underspecification_method1.output.curves,
        specification_detection=rules.underspecification_method2.output.specification_detection,
        metric=rules.underspecification_method2.output.metric,
        orders=rules.underspecification_method2.output.orders,
        cell_agreement=rules.underspecification_all_sources.output.cell_agreement,
        toy_model=rules.underspecification_toy_model.output.correlations,
        printed=root("paper/published/underspecification.csv"),
    output:
        paper_numbers=f"{UNDERSPEC_ANALYSIS}/{{source}}/paper_numbers.json",
    log:
        "results/logs/underspecification_paper_numbers/{source}.log",
    wildcard_constraints:
        source=one_of(UNDERSPEC_EVERY_SOURCE),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        source=lambda wildcards: wildcards.source,
        settings={
            "threshold": UNDERSPEC["threshold"],
            "folds": UNDERSPEC["folds"],
            "draws": UNDERSPEC["bootstrap"]["draws"],
        },
        _code=code("scripts/underspecification/paper_numbers.py"),
    script:
        "../scripts/underspecification/paper_numbers.py"


rule underspecification_published_vs_ours:
    input:
        published=root("paper/published/underspecification.csv"),
        mapping=root("paper/published/underspecification_mapping.csv"),
        study_models=root("paper/published/underspecification_models.csv"),
        tables=expand(
            f"{UNDERSPEC_ANALYSIS}/{{source}}/{{table}}",
            source=UNDERSPEC_SOURCES,
            table=["orders.csv", "metric.csv", "paper_numbers.json"],
        ),
    output:
        csv=reported("results/underspecification/tables/published_vs_ours.csv", "Underspecification", "table"),
        tex="results/underspecification/tables/published_vs_ours.tex",
        numbers="results/underspecification/tables/published_vs_ours.json",
    log:
        "results/logs/underspecification_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=UNDERSPEC_SOURCES,
        every_source=UNDERSPEC_EVERY_SOURCE,
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/published_vs_ours.py"),
    script:
        "../scripts/underspecification/published_vs_ours.py"


rule underspecification_claims:
    input:
        unpack(lambda wildcards: UNDERSPEC_SHARES),
        tables=expand(
            f"{UNDERSPEC_ANALYSIS}/{{source}}/{{table}}.csv",
            source=UNDERSPEC_SOURCES,
            table=["method1_slopes", "curves", "specification_detection", "metric"],
        ),
    output:
        csv=reported("results/underspecification/tables/claims.csv", "Underspecification", "table"),
        tex="results/underspecification/tables/claims.tex",
        numbers="results/underspecification/tables/claims.json",
    log:
        "results/logs/underspecification_claims/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=UNDERSPEC_SOURCES,
        every_source=UNDERSPEC_EVERY_SOURCE,
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/claims.py"),
    script:
        "../scripts/underspecification/claims.py"


rule underspecification_section:
    input:
        section_template=root("paper/sections/underspecification.tex.j2"),
        numbers=expand(rules.underspecification_paper_numbers.output.paper_numbers, source=UNDERSPEC_SOURCES),
        figures=[path for path in UNDERSPEC_FIGURE_FILES if path.endswith(".pdf")],
        tables=[path for path in UNDERSPEC_TABLE_FILES if path.endswith(".tex")],
        comparison_numbers=[path for path in UNDERSPEC_TABLE_FILES if path.endswith(".json")],
    output:
        section_tex="results/paper/sections/underspecification.tex",
    log:
        "results/logs/underspecification_section/paper.log",
    conda:
        "../envs/paper.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=UNDERSPEC_SOURCES,
        templates=UNDERSPEC["templates"],
        prompts=UNDERSPEC["prompts"],
        models=UNDERSPEC_FACTS,
        _code=code("scripts/underspecification/section.py"),
    script:
        "../scripts/underspecification/section.py"
