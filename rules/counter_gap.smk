# Counter-GAP (Xie et al. 2023), from predictions. Needs scripts/counter_gap/lib/plan.py, which says what the run
# resolves and scores, templates/counter_gap or the authors' files, and clusters: those of rules/coreference.smk or
# files in the format of scripts/core/data/coreference.py, or the flags that the authors released. Makes instances, flags,
# metrics and questions for annotators; declares figures, tables and numbers. Quadruples from books are in
# rules/counter_gap_books.smk.

from scripts.counter_gap.lib import plan as counter_gap_plan
from scripts.counter_gap.lib import study as counter_gap_study
from scripts.counter_gap.lib import traces as counter_gap_traces

COUNTER_GAP_ANALYSIS = "results/counter_gap/analysis"
COUNTER_GAP = call_or_exit(
    counter_gap_plan.Plan.of,
    config["counter_gap"],
    RUN_SYSTEM_FACTS,
    {path: upstream(path) for path in UPSTREAM},
    config_path,
)

# The data sets and what each is read from.
COUNTER_GAP_FILES = {
    "replica": {
        "quadruples": str(TEMPLATES / "counter_gap/quadruples.tsv"),
        "pronouns": PRONOUN_FILE,
    },
    "released": {"released": str(TEMPLATES / "counter_gap/released_flags.tsv")},
    # Without stops behind titles, as it is scored (Section 4).
    "official": {"c_gap": upstream("counter_gap/data/C-GAP.tsv")},
    # Quadruples from books, with labels and before anybody gave them some (rules/counter_gap_books.smk).
    "books": {"c_gap": "results/counter_gap/books/quadruples.tsv"},
    "candidates": {"candidates": "results/counter_gap/books/candidates.tsv"},
    "gap_test": {"gap": upstream("gap/gap-test.tsv")},
    "gap_validation": {"gap": upstream("gap/gap-validation.tsv")},
    "gap_development": {"gap": upstream("gap/gap-development.tsv")},
}

# Every system whose flags were released.
COUNTER_GAP_OUTPUTS = [
    {"system": label, "debiasing": debiasing, "file": upstream(path.format(name=name))}
    for debiasing, path in counter_gap_study.RELEASED.items()
    for name, label in counter_gap_study.SYSTEMS.items()
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
        baseline=one_of(counter_gap_study.RULES),
    conda:
        "../envs/analysis.yaml"
    params:
        baseline=lambda wildcards: wildcards.baseline,
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_flags:
    input:
        instances="results/counter_gap/instances/{data}.parquet",
        outputs=lambda wildcards: [entry["file"] for entry in COUNTER_GAP.clusters[wildcards.data]],
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
        cluster_systems=lambda wildcards: COUNTER_GAP.clusters[wildcards.data],
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
        instances=expand("results/counter_gap/instances/{data}.parquet", data=COUNTER_GAP.data),
        flags=expand("results/counter_gap/flags/{data}.parquet", data=COUNTER_GAP.data),
        scores=list(COUNTER_GAP.corpus_scores),
    output:
        metrics=f"{COUNTER_GAP_ANALYSIS}/metrics.csv",
        significance=f"{COUNTER_GAP_ANALYSIS}/significance.csv",
        decomposition=f"{COUNTER_GAP_ANALYSIS}/decomposition.csv",
        subset_sizes=f"{COUNTER_GAP_ANALYSIS}/subset_sizes.csv",
        corpus_scores=f"{COUNTER_GAP_ANALYSIS}/corpus_scores.csv",
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
        **COUNTER_GAP.bootstrap,
        data=COUNTER_GAP.data,
        scored=list(COUNTER_GAP.corpus_scores.values()),
        alpha=COUNTER_GAP["alpha"],
    script:
        "../scripts/counter_gap/analyses.py"


# Annotators label quadruples (Section 2.3). The set books consists of the candidates that were found in books.
rule counter_gap_sheet:
    input:
        instances=lambda wildcards: f"results/counter_gap/instances/{counter_gap_plan.ANNOTATED[wildcards.data]}.parquet",
    output:
        sheet="results/counter_gap/annotation/{data}/sheet.csv",
    log:
        "results/logs/counter_gap_sheet/{data}.log",
    wildcard_constraints:
        data=one_of(counter_gap_plan.ANNOTATED),
    conda:
        "../envs/analysis.yaml"
    params:
        seed=COUNTER_GAP["annotation"]["seed"],
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_labels:
    input:
        instances=rules.counter_gap_sheet.input.instances,
        sheet=rules.counter_gap_sheet.output.sheet,
        completed=lambda wildcards: [
            config_path(path) for path in COUNTER_GAP["annotation"]["sheets"].get(wildcards.data, [])
        ],
    output:
        answers="results/counter_gap/annotation/{data}/answers.csv",
        labels="results/counter_gap/annotation/{data}/labels.csv",
        funnel="results/counter_gap/annotation/{data}/funnel.csv",
        discarded="results/counter_gap/annotation/{data}/discarded.csv",
        agreement="results/counter_gap/annotation/{data}/agreement.csv",
    log:
        "results/logs/counter_gap_labels/{data}.log",
    wildcard_constraints:
        data=one_of(counter_gap_plan.ANNOTATED),
    conda:
        "../envs/analysis.yaml"
    params:
        annotators=COUNTER_GAP["annotation"]["annotators"],
    script:
        "../scripts/counter_gap/analyses.py"


COUNTER_GAP_METRICS = {"metrics": rules.counter_gap_metrics.output.metrics}
COUNTER_GAP_TESTED = COUNTER_GAP_METRICS | {"significance": rules.counter_gap_metrics.output.significance}
COUNTER_GAP_SCORES = {"corpus_scores": rules.counter_gap_metrics.output.corpus_scores}
COUNTER_GAP_SIZES = {"subset_sizes": rules.counter_gap_metrics.output.subset_sizes}
# How the study's systems are trained.
COUNTER_GAP_TRAINING = {
    entry["label"]: {part: entry[part] for part in ("model", "training")}
    for entry in TRAINED.values()
    if entry["data"] == "ontonotes"
}
COUNTER_GAP_SET = from_wildcards("templates")
COUNTER_GAP_COMPARED = {"template_sets": COUNTER_GAP.templates, "every_set": COUNTER_GAP.compared_sets}


include: "counter_gap_books.smk"


declare(
    name="counter_gap",
    label="Counter-GAP",
    traced=counter_gap_traces.list_traces(),
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
    parts=COUNTER_GAP.templates,
    every_part=list(counter_gap_plan.SETS),
    instances=expand("results/counter_gap/instances/{data}.parquet", data=COUNTER_GAP.data),
    resolved=COUNTER_GAP.documents,
    # In the paper: inconsistencies 1; the others are additions.
    figures={
        "inconsistencies": result(path="inconsistencies", title="What each inconsistency compares"),
        "cancellation": result(params=COUNTER_GAP_SET, **COUNTER_GAP_METRICS, title="Bias that cancels in accuracies"),
    },
    # In the paper: accuracy 2, inconsistency 3, original_counterfactual 4, datasets 5, debiasing 6, examples 7, training
    # 8; the others are additions. Bias and by_gender set what Tables 2 to 4 and 6 come to on all sets below each other.
    tables={
        **{
            name: result(path=name, params={"template_sets": COUNTER_GAP.templates}, **COUNTER_GAP_TESTED, title=title)
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
            params=COUNTER_GAP_SET, **COUNTER_GAP_TESTED, **COUNTER_GAP_SCORES, title="Results after debiasing"
        ),
        "training": result(path="training", params={"listed": COUNTER_GAP_TRAINING}, title="Settings of training"),
        "cancellation": result(
            params=COUNTER_GAP_SET,
            **COUNTER_GAP_METRICS,
            decomposition=rules.counter_gap_metrics.output.decomposition,
            title="What the difference of inconsistencies is made of",
        ),
        "examples": result(
            targets=combine(templates=COUNTER_GAP.example_sets),
            constraints={"templates": one_of(counter_gap_study.PASSAGES)},
            instances="results/counter_gap/instances/{templates}.parquet",
            flags="results/counter_gap/flags/{templates}.parquet",
            title="Examples",
        ),
    },
    comparisons={
        "published_vs_ours": result(
            params=COUNTER_GAP_COMPARED,
            **published_files("counter_gap"),
            **COUNTER_GAP_TESTED,
            **COUNTER_GAP_SIZES,
            **COUNTER_GAP_SCORES,
        ),
        "findings": result(
            params=COUNTER_GAP_COMPARED, **COUNTER_GAP_TESTED, **COUNTER_GAP_SIZES, **COUNTER_GAP_SCORES
        ),
    },
    numbers=result(
        **COUNTER_GAP_TESTED,
        **COUNTER_GAP_SIZES,
        params=COUNTER_GAP_SET | {"settings": {"alpha": COUNTER_GAP["alpha"], "draws": COUNTER_GAP.bootstrap["draws"]}},
    ),
    section=result(params={"template_sets": COUNTER_GAP.templates}),
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
        sets={
            counter_gap_study.DATA.get(data, data): expand(
                "results/counter_gap/{kind}/{data}.parquet", kind=["instances", "flags"], data=data
            )
            for data in COUNTER_GAP.data
        },
        gold={"a_coref": "first", "b_coref": "second"},
        predicted={"a_pred": "first", "b_pred": "second"},
        words=("meant", "taken"),
        levels=dict.fromkeys(["first", "second", "first and second", "none"], ""),
        unit=("quadruple", "quadruples"),
        factors=["gender", "role", "case", "source"],
        called=counter_gap_study.SCORING | {"released": "", "clusters": "", "a": "first", "b": "second"},
        clusters=[entry for data in COUNTER_GAP.data if data == "replica" for entry in COUNTER_GAP.clusters[data]],
    ),
)
