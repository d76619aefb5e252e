# Counter-GAP (Xie et al. 2023), from predictions: instances, flags, metrics, and what it declares about itself. What comes
# in is a coreference system's output in the format of scripts/core/coreference.py, or the flags that the authors released.

from scripts.counter_gap.lib import study as COUNTER_GAP_STUDY

COUNTER_GAP = config["counter_gap"]
COUNTER_GAP_ANALYSIS = "results/counter_gap/analysis"

# The data sets of this run and what each is read from.
COUNTER_GAP_FILES = {
    "replica": {
        "quadruples": str(TEMPLATES / "counter_gap/quadruples.tsv"),
        "pronouns": PRONOUN_FILE,
    },
    "released": {"released": str(TEMPLATES / "counter_gap/released_flags.tsv")},
    "official": {
        "c_gap": upstream("counter_gap/data/C-GAP.tsv"),
        "with_dots": upstream("counter_gap/data/C-GAP-withdot.tsv"),
    },
    # Quadruples from books, with labels and before anybody gave them some (rules/counter_gap_books.smk).
    "books": {"c_gap": "results/counter_gap/books/quadruples.tsv"},
    "candidates": {"candidates": "results/counter_gap/books/candidates.tsv"},
    "gap_test": {"gap": upstream("gap/gap-test.tsv")},
    "gap_validation": {"gap": upstream("gap/gap-validation.tsv")},
    "gap_development": {"gap": upstream("gap/gap-development.tsv")},
}
COUNTER_GAP_DATA = [*COUNTER_GAP["templates"], *expand("gap_{part}", part=COUNTER_GAP["gap"])]

# How many passages those with texts have, which rules and systems can resolve, and words and marks in a typical one.
COUNTER_GAP_DOCUMENTS = {
    data: Documents(f"results/counter_gap/instances/{data}.parquet", "id", *size)
    for data, size in COUNTER_GAP_STUDY.PASSAGES.items()
}

# Every system whose flags were released.
COUNTER_GAP_OUTPUTS = [
    {"system": label, "debiasing": debiasing, "file": upstream(path.format(name=name))}
    for debiasing, path in COUNTER_GAP_STUDY.RELEASED.items()
    for name, label in COUNTER_GAP_STUDY.SYSTEMS.items()
]
# Every system whose clusters are scored, for each data set.
try:
    COUNTER_GAP_CLUSTERS = {
        data: COUNTER_GAP_STUDY.clusters(data, COUNTER_GAP["baselines"], RUN_SYSTEM_FACTS, COUNTER_GAP["clusters"])
        for data in COUNTER_GAP_FILES
    }
except UserError as error:
    exit_with(error)

# What its tables mean by their columns and values, where tables of instances have other names, so that the audit finds
# the template rows behind a cell (scripts/core/provenance/origins.py says how an entry is read).
COUNTER_GAP_TRACED = [
    {
        "files": "results/counter_gap/*",
        "when": {"templates": ".+"},
        "then": {"data": "{templates}", "templates": "{templates}"},
    },
    # The columns of tables are metrics of groups.
    *(
        {"files": f"*/counter_gap/tables/*/{name}.csv", "when": {"@column": column}, "then": then}
        for name in ("accuracy", "inconsistency", "original_counterfactual", "datasets", "artefact")
        for column, then in (
            ("(Acc_)?(?P<gender>[MF])", {"group": "{gender}", "metric": "accuracy"}),
            ("(?P<group>M2F|F2M)", {"group": "{group}"}),
            ("Original|Counterfactual", {"group": "{@column}"}),
            (".* w/o", {"subset": "all without artefact"}),
        )
    ),
    *(
        {"files": f"*/counter_gap/tables/{name}.csv", "when": {"@column": column}, "then": then}
        for name in ("bias", "by_gender")
        for column, then in (
            ("accuracy: (?P<gender>[MF])", {"group": "{gender}", "metric": "accuracy"}),
            ("within: (?P<gender>[MF])", {"group": "{gender}", "metric": "i_within"}),
            ("across: (?P<group>M2F|F2M)", {"group": "{group}"}),
            ("accuracy: (?P<group>original|counterf)[.]?", {"group": "{group}"}),
            ("without artefact: .*", {"subset": "all without artefact"}),
        )
    ),
    *(
        {"files": "*/counter_gap/tables/*.csv", "when": {"Scoring": label}, "then": {"scoring": scoring}}
        for scoring, label in COUNTER_GAP_STUDY.SCORING.items()
    ),
    {"files": "*/datasets.csv", "when": {"Data": "originals only"}, "then": {"subset": "originals"}},
    {"files": "*/datasets.csv", "when": {"Data": "quadruples"}, "then": {"subset": "all"}},
    *(
        {"files": "*/datasets.csv", "when": {"Data": label}, "then": {"data": data}}
        for data, label in COUNTER_GAP_STUDY.DATA.items()
    ),
    # Of one gender, of the genders that a quadruple has before and after swapping, of the original and the other one.
    *(
        {"files": "*/counter_gap/*", "when": {"group": group, **when}, "then": then}
        for group, when, then in (
            ("(?P<gender>[MF])", {"metric": "accuracy|i_within"}, {"gender": "{gender}"}),
            ("(?P<gender>[MF])2[MF]", {}, {"original_gender": "{gender}"}),
            ("[Oo]riginal", {}, {"role": ["original", "control"]}),
            ("[Cc]ounterf(actual)?", {}, {"role": ["swap-1", "swap-2"]}),
        )
    ),
    {"files": "*/counter_gap/*", "when": {"metric": r"without\..+"}, "then": {"subset": "all without artefact"}},
    {"files": "*/subset_sizes.csv", "when": {"@column": "masculine"}, "then": {"original_gender": "M"}},
    {
        "files": "results/counter_gap/tables/published_vs_ours.csv",
        "when": {"table": ".+", "cells": ".*", "models": ".*"},
        "then": {"@file": "results/counter_gap/{table}", "@cells": "{cells}", "system": "{models}"},
    },
]


rule counter_gap_instances:
    input:
        unpack(lambda wildcards: COUNTER_GAP_FILES[wildcards.data]),
    output:
        instances="results/counter_gap/instances/{data}.parquet",
    log:
        "results/logs/counter_gap_instances/{data}.log",
    wildcard_constraints:
        data=one_of(COUNTER_GAP_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        # The sets of a quadruple's two genders.
        _rows=lambda wildcards: pronoun_rows(["he", "she"] if "pronouns" in COUNTER_GAP_FILES[wildcards.data] else []),
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_baseline:
    input:
        instances="results/counter_gap/instances/{data}.parquet",
    output:
        clusters="results/counter_gap/clusters/{data}/{baseline}.jsonl",
    log:
        "results/logs/counter_gap_baseline/{data}_{baseline}.log",
    wildcard_constraints:
        data=one_of(COUNTER_GAP_FILES),
        baseline=one_of(COUNTER_GAP_STUDY.RULES),
    conda:
        "../envs/analysis.yaml"
    params:
        baseline=lambda wildcards: wildcards.baseline,
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_flags:
    input:
        instances="results/counter_gap/instances/{data}.parquet",
        outputs=lambda wildcards: [entry["file"] for entry in COUNTER_GAP_CLUSTERS[wildcards.data]],
        released=lambda wildcards: [entry["file"] for entry in COUNTER_GAP_OUTPUTS if wildcards.data == "official"],
        compact=lambda wildcards: [
            path for path in COUNTER_GAP_FILES["released"].values() if wildcards.data == "released"
        ],
    output:
        flags="results/counter_gap/flags/{data}.parquet",
    log:
        "results/logs/counter_gap_flags/{data}.log",
    wildcard_constraints:
        # Nothing is right or wrong without labels.
        data=one_of(data for data in COUNTER_GAP_FILES if data != "candidates"),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        data=lambda wildcards: wildcards.data,
        cluster_systems=lambda wildcards: COUNTER_GAP_CLUSTERS[wildcards.data],
        systems=lambda wildcards: [entry for entry in COUNTER_GAP_OUTPUTS if wildcards.data == "official"],
    script:
        "../scripts/counter_gap/analyses.py"


# What templates/counter_gap/released_flags.tsv is a copy of; no target asks for it.
rule counter_gap_released_flags:
    input:
        c_gap=COUNTER_GAP_FILES["official"]["c_gap"],
        released=[entry["file"] for entry in COUNTER_GAP_OUTPUTS],
    output:
        compact="results/counter_gap/released_flags.tsv",
    log:
        "results/logs/counter_gap_released_flags/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        systems=COUNTER_GAP_OUTPUTS,
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_metrics:
    input:
        instances=expand("results/counter_gap/instances/{data}.parquet", data=COUNTER_GAP_DATA),
        flags=expand("results/counter_gap/flags/{data}.parquet", data=COUNTER_GAP_DATA),
    output:
        metrics=f"{COUNTER_GAP_ANALYSIS}/metrics.csv",
        significance=f"{COUNTER_GAP_ANALYSIS}/significance.csv",
        decomposition=f"{COUNTER_GAP_ANALYSIS}/decomposition.csv",
        subset_sizes=f"{COUNTER_GAP_ANALYSIS}/subset_sizes.csv",
        members=f"{COUNTER_GAP_ANALYSIS}/members.parquet",
    log:
        "results/logs/counter_gap_metrics/all.log",
    benchmark:
        "results/benchmarks/counter_gap_metrics/all.tsv"
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        data=COUNTER_GAP_DATA,
        draws=COUNTER_GAP["bootstrap"]["draws"],
        seed=COUNTER_GAP["bootstrap"]["seed"],
        alpha=COUNTER_GAP["alpha"],
    script:
        "../scripts/counter_gap/analyses.py"


# People: what annotators are asked about quadruples, and what their answers come to (Section 2.3). The set books has the
# candidates that were found in books.
COUNTER_GAP_ANNOTATED = {"replica": "replica", "official": "official", "books": "candidates"}


rule counter_gap_questions:
    input:
        instances=lambda wildcards: f"results/counter_gap/instances/{COUNTER_GAP_ANNOTATED[wildcards.data]}.parquet",
        declaration=repo_path("templates/annotation/counter_gap_coreference.yaml"),
    output:
        questions="results/counter_gap/annotation/{data}/questions.parquet",
    log:
        "results/logs/counter_gap_questions/{data}.log",
    wildcard_constraints:
        data=one_of(COUNTER_GAP_ANNOTATED),
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_labels:
    input:
        questions="results/counter_gap/annotation/{data}/questions.parquet",
        answers="results/counter_gap/annotation/{data}/answers.csv",
    output:
        labels="results/counter_gap/annotation/{data}/labels.csv",
        funnel="results/counter_gap/annotation/{data}/funnel.csv",
        discarded="results/counter_gap/annotation/{data}/discarded.csv",
        accepted_agreement="results/counter_gap/annotation/{data}/accepted_agreement.csv",
    log:
        "results/logs/counter_gap_labels/{data}.log",
    wildcard_constraints:
        data=one_of(COUNTER_GAP_ANNOTATED),
    conda:
        "../envs/analysis.yaml"
    params:
        annotators=COUNTER_GAP["annotation"]["annotators"],
        flagged=COUNTER_GAP["annotation"]["flagged"],
    script:
        "../scripts/counter_gap/analyses.py"


COUNTER_GAP_METRICS = {"metrics": rules.counter_gap_metrics.output.metrics}
COUNTER_GAP_TESTED = COUNTER_GAP_METRICS | {"significance": rules.counter_gap_metrics.output.significance}
COUNTER_GAP_SIMULATION = f"{COUNTER_GAP_ANALYSIS}/simulation.csv"
COUNTER_GAP_SIZES = {"subset_sizes": rules.counter_gap_metrics.output.subset_sizes}
# Systems of the run that are scored on an annotated corpus: file to label and debiasing.
COUNTER_GAP_F1 = {
    f"results/coreference/f1/{COUNTER_GAP['corpus']}/{name}.csv": {
        "system": facts["label"],
        "debiasing": facts["debiasing"],
    }
    for name, facts in RUN_SYSTEM_FACTS.items()
    if COUNTER_GAP["corpus"] and SYSTEMS[name]["architecture"] == "c2f"
}
# How the study's systems are trained.
COUNTER_GAP_TRAINING = {
    entry["label"]: {part: entry[part] for part in ("model", "training")}
    for entry in TRAINED.values()
    if entry["data"] == "ontonotes"
}
COUNTER_GAP_SET = {"templates": lambda wildcards: wildcards.templates}
COUNTER_GAP_SETS = ["replica", "books", "released", "official"]
COUNTER_GAP_COMPARED = {
    "template_sets": COUNTER_GAP["templates"],
    "every_set": [name for name in COUNTER_GAP_SETS if name != "books" or name in COUNTER_GAP["templates"]],
}
# Examples show texts.
COUNTER_GAP_SHOWN = [templates for templates in COUNTER_GAP["templates"] if templates in COUNTER_GAP_DOCUMENTS]


include: "counter_gap_books.smk"


declare(
    name="counter_gap",
    label="Counter-GAP",
    traced=COUNTER_GAP_TRACED,
    outcomes={"": ["results/counter_gap/flags/{part}.parquet", "results/counter_gap/analysis/members.parquet"]},
    paired={
        "inconsistency, across minus within genders": PairedOutcomes(
            cluster=["quadruple"],
            unit=["quadruple"],
            where={"system": ["{label}"], "debiasing": ["{debiasing}", "none"], "scoring": ["{scoring}", "released"]},
            prediction=["a_pred", "b_pred"],
            statistic="disagreement",
            by="gender",
        )
    },
    title="Counter-GAP (inconsistency across genders)",
    parts=COUNTER_GAP["templates"],
    every_part=COUNTER_GAP_SETS,
    instances=expand("results/counter_gap/instances/{data}.parquet", data=COUNTER_GAP_DATA),
    resolved=Coreference(
        sets=[data for data in COUNTER_GAP_DATA if data in COUNTER_GAP_DOCUMENTS], documents=COUNTER_GAP_DOCUMENTS
    ),
    analysis_rules={
        "simulation": result(
            path="",
            params={name: COUNTER_GAP["simulation"][name] for name in ("quadruples", "repeats", "seed")},
            mem_mb=2000,
        )
    },
    # In the paper: inconsistencies 1; the others are additions.
    figures={
        "inconsistencies": result(path="inconsistencies", title="What each inconsistency compares"),
        "simulation": result(
            path="simulation",
            simulation=COUNTER_GAP_SIMULATION,
            title="Metrics on simulated systems",
        ),
        "cancellation": result(params=COUNTER_GAP_SET, **COUNTER_GAP_METRICS, title="Bias that cancels in accuracies"),
        "breakdown": result(
            params=COUNTER_GAP_SET,
            **COUNTER_GAP_METRICS,
            **COUNTER_GAP_SIZES,
            title="Inconsistency by case, distance and source",
        ),
    },
    # In the paper: accuracy 2, inconsistency 3, original_counterfactual 4, datasets 5, debiasing 6, examples 7, training
    # 8; the others are additions. Bias and by_gender set what Tables 2 to 4 and 6 come to on all sets below each other.
    tables={
        **{
            name: result(
                path=name, params={"template_sets": COUNTER_GAP["templates"]}, **COUNTER_GAP_TESTED, title=title
            )
            for name, title in (
                ("bias", "Bias, all sets and systems"),
                ("by_gender", "Accuracy and inconsistency by gender, all sets"),
            )
        },
        **{
            name: result(params=COUNTER_GAP_SET, **COUNTER_GAP_TESTED, title=title)
            for name, title in (
                ("accuracy", "Accuracy by gender"),
                ("inconsistency", "Inconsistency within and across genders"),
                ("original_counterfactual", "Originals beside counterfactuals"),
                ("datasets", "Results by source of the data"),
            )
        },
        "debiasing": result(
            params=COUNTER_GAP_SET | {"corpus": COUNTER_GAP["corpus"], "scored": list(COUNTER_GAP_F1.values())},
            **COUNTER_GAP_TESTED,
            scores=list(COUNTER_GAP_F1),
            title="Results after debiasing",
        ),
        "training": result(path="training", params={"listed": COUNTER_GAP_TRAINING}, title="Settings of training"),
        "cancellation": result(
            params=COUNTER_GAP_SET,
            **COUNTER_GAP_METRICS,
            decomposition=rules.counter_gap_metrics.output.decomposition,
            title="What the difference of inconsistencies is made of",
        ),
        "artefact": result(
            params=COUNTER_GAP_SET, **COUNTER_GAP_TESTED, **COUNTER_GAP_SIZES, title="Results without the artefact"
        ),
        "examples": result(
            targets=combine(templates=COUNTER_GAP_SHOWN),
            constraints={"templates": one_of(COUNTER_GAP_DOCUMENTS)},
            instances="results/counter_gap/instances/{templates}.parquet",
            flags="results/counter_gap/flags/{templates}.parquet",
            title="Examples",
        ),
    },
    comparisons={
        "published_vs_ours": result(
            params=COUNTER_GAP_COMPARED,
            published=repo_path("paper/published/counter_gap.csv"),
            mapping=repo_path("paper/published/counter_gap_mapping.csv"),
            study_models=repo_path("paper/published/counter_gap_models.csv"),
            **COUNTER_GAP_TESTED,
            **COUNTER_GAP_SIZES,
        ),
        "claims": result(params=COUNTER_GAP_COMPARED, **COUNTER_GAP_TESTED, **COUNTER_GAP_SIZES),
    },
    numbers=result(
        **COUNTER_GAP_TESTED,
        **COUNTER_GAP_SIZES,
        simulation=COUNTER_GAP_SIMULATION,
        examples=lambda wildcards: [
            f"results/counter_gap/tables/{shown}/examples.csv"
            for shown in COUNTER_GAP_SHOWN
            if shown == wildcards.templates
        ],
        params={
            "templates": lambda wildcards: wildcards.templates,
            "settings": {
                "alpha": COUNTER_GAP["alpha"],
                "draws": COUNTER_GAP["bootstrap"]["draws"],
                "simulated_quadruples": COUNTER_GAP["simulation"]["quadruples"],
                "simulated_data_sets": COUNTER_GAP["simulation"]["repeats"],
            },
        },
    ),
    section=result(params={"template_sets": COUNTER_GAP["templates"]}),
    pronoun_sets=False,
    question="Is a coreference system less consistent if the people of a passage change their gender than if they swap names?",
    summary=result(
        metrics=COUNTER_GAP_METRICS["metrics"],
        sizes=COUNTER_GAP_SIZES["subset_sizes"],
        params={"systems": RUN_SYSTEM_FACTS},
    ),
    chances={"inconsistency, across minus within genders": 0},
    headline=["cancellation"],
    explorer=ExplorerView(
        sets=[
            ExploredSet(
                label=COUNTER_GAP_STUDY.DATA.get(data, data),
                instances=f"results/counter_gap/instances/{data}.parquet",
                own=data == "replica",
                decided=[
                    DecisionTable(
                        table=f"results/counter_gap/flags/{data}.parquet",
                        reader={
                            "system": "{}",
                            "debiasing": {"none": ""},
                            "scoring": COUNTER_GAP_STUDY.SCORING | {"clusters": "", "released": ""},
                        },
                        picked={"a_pred": "first", "b_pred": "second"},
                        right="correct",
                        clusters=[
                            {key: entry[key] for key in ("file", "system", "debiasing")}
                            for entry in COUNTER_GAP_CLUSTERS[data]
                            if data == "replica"
                        ],
                    )
                ],
            )
            for data in COUNTER_GAP_DATA
        ],
        key=["id"],
        identifier="id",
        gold={"a_coref": "first", "b_coref": "second"},
        words=("meant", "taken"),
        levels={"first": "", "second": "", "first and second": "", "none": ""},
        unit=("quadruple", "quadruples"),
        factors={"gender": "gender", "role": "passage of the quadruple", "case": "case", "source": "source"},
        marks={"a": "first", "b": "second", "pronoun": "pronoun"},
        models={
            facts["label"] + ("" if facts["debiasing"] == "none" else f", {facts['debiasing']}"): facts
            for facts in RUN_SYSTEM_FACTS.values()
        },
    ),
)
