# Counter-GAP (Xie et al. 2023), from predictions: instances, flags, metrics, figures and tables. What comes in is a
# coreference system's output in the format of scripts/core/coreference.py, or the flags that the authors released.

from scripts.counter_gap.baselines import LABELS as COUNTER_GAP_RULES
from scripts.counter_gap.labels import DATA as COUNTER_GAP_LABELS
from scripts.counter_gap.labels import SCORING as COUNTER_GAP_SCORING

COUNTER_GAP = config["counter_gap"]
COUNTER_GAP_ANALYSIS = "results/counter_gap/analysis"

# The data sets of this run and what each is read from.
COUNTER_GAP_FILES = {
    "replica": {
        "quadruples": str(TEMPLATES / "counter_gap/quadruples.tsv"),
        "pronouns": str(TEMPLATES / "pronouns.tsv"),
    },
    "official": {
        "c_gap": upstream("counter_gap/data/C-GAP.tsv"),
        "with_dots": upstream("counter_gap/data/C-GAP-withdot.tsv"),
    },
    "gap_test": {"gap": upstream("gap/gap-test.tsv")},
    "gap_validation": {"gap": upstream("gap/gap-validation.tsv")},
    "gap_development": {"gap": upstream("gap/gap-development.tsv")},
}
COUNTER_GAP_DATA = [*COUNTER_GAP["templates"], *expand("gap_{part}", part=COUNTER_GAP["gap"])]

# The systems whose flags were released, by the names of their files.
COUNTER_GAP_RELEASED = {
    "bert_base": "BERT-base",
    "bert_large": "BERT-large",
    "spanbert_base": "SpanBERT-base",
    "spanbert_large": "SpanBERT-large",
}
COUNTER_GAP_DEBIASED = {
    "none": "counter_gap/results/none/{name}_output.tsv",
    "n-CDA": "counter_gap_ncda/results/none/ncda/{name}_output.tsv",
}
COUNTER_GAP_OUTPUTS = [
    {"system": label, "debiasing": debiasing, "file": upstream(path.format(name=name))}
    for debiasing, path in COUNTER_GAP_DEBIASED.items()
    for name, label in COUNTER_GAP_RELEASED.items()
]
# Every system whose clusters are scored, for each data set.
COUNTER_GAP_CLUSTERS = {
    data: [
        *(
            {
                "system": COUNTER_GAP_RULES[rule],
                "debiasing": "none",
                "file": f"results/counter_gap/clusters/{data}/{rule}.jsonl",
            }
            for rule in COUNTER_GAP["baselines"]
        ),
        *(entry for entry in COUNTER_GAP["clusters"] if entry["data"] == data),
    ]
    for data in COUNTER_GAP_FILES
}

# Figures, with the tidy tables that each draws. In the paper: inconsistencies 1; the others are additions.
COUNTER_GAP_FIGURES = ["inconsistencies", "simulation", "cancellation", "breakdown"]
# Tables of each set of quadruples. In the paper: accuracy 2, inconsistency 3, original_counterfactual 4, datasets 5,
# debiasing 6, examples 7; the others are additions.
COUNTER_GAP_TABLES = ["accuracy", "inconsistency", "original_counterfactual", "datasets", "debiasing"]
COUNTER_GAP_TABLES += ["cancellation", "artefact", "examples"]

TRACED["counter_gap"] = [
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
        {
            "files": "*/counter_gap/tables/*.csv",
            "when": {"Scoring": label},
            "then": {"source": [f"{data}/{scoring}" for data in COUNTER_GAP_FILES]},
        }
        for scoring, label in COUNTER_GAP_SCORING.items()
    ),
    {"files": "*/datasets.csv", "when": {"Data": "originals only"}, "then": {"subset": "originals"}},
    {"files": "*/datasets.csv", "when": {"Data": "quadruples"}, "then": {"subset": "all"}},
    *(
        {"files": "*/datasets.csv", "when": {"Data": label}, "then": {"data": data}}
        for data, label in COUNTER_GAP_LABELS.items()
    ),
    # Of one gender, of the genders that a quadruple has before and after swapping, of the original and the other one.
    *(
        {"files": "*/counter_gap/*", "when": {"group": group, **when}, "then": then}
        for group, when, then in (
            ("(?P<gender>[MF])", {"metric": "accuracy|i_within"}, {"gender": "{gender}"}),
            ("(?P<gender>[MF])2[MF]", {}, {"original_gender": "{gender}"}),
            ("[Oo]riginal", {}, {"role": ["original", "control"]}),
            ("[Cc]ounterfactual", {}, {"role": ["swap-1", "swap-2"]}),
        )
    ),
    {"files": "*/counter_gap/*", "when": {"metric": r"without\..+"}, "then": {"subset": "all without artefact"}},
    {"files": "*/subset_sizes.csv", "when": {"@column": "masculine"}, "then": {"original_gender": "M"}},
    {
        "files": "*/published_vs_ours.csv",
        "when": {"table": ".+", "cells": ".*", "models": ".*"},
        "then": {"@file": "results/counter_gap/{table}", "@cells": "{cells}", "system": "{models}"},
    },
]

# Every set of quadruples that a run may have.
COUNTER_GAP_TEMPLATE_SETS = ["replica", "official"]

COUNTER_GAP_FIGURE_FILES = expand(
    "results/counter_gap/figures/{name}.{kind}", name=["inconsistencies", "simulation"], kind=["pdf", "png", "csv"]
)
COUNTER_GAP_FIGURE_FILES += expand(
    "results/counter_gap/figures/{templates}/{name}.{kind}",
    templates=COUNTER_GAP["templates"],
    name=["cancellation", "breakdown"],
    kind=["pdf", "png", "csv"],
)
COUNTER_GAP_TABLE_FILES = expand(
    "results/counter_gap/tables/{templates}/{name}.{kind}",
    templates=COUNTER_GAP["templates"],
    name=COUNTER_GAP_TABLES,
    kind=["tex", "csv"],
)
COUNTER_GAP_TABLE_FILES += multiext("results/counter_gap/tables/published_vs_ours", ".tex", ".csv", ".json")
COUNTER_GAP_TABLE_FILES += multiext("results/counter_gap/tables/claims", ".tex", ".csv", ".json")
COUNTER_GAP_INSTANCE_FILES = expand("results/counter_gap/instances/{data}.parquet", data=COUNTER_GAP_DATA)


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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/counter_gap/instances.py"),
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
        baseline=one_of(COUNTER_GAP_RULES),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        baseline=lambda wildcards: wildcards.baseline,
        _code=code("scripts/counter_gap/baseline.py"),
    script:
        "../scripts/counter_gap/baseline.py"


rule counter_gap_flags:
    input:
        instances="results/counter_gap/instances/{data}.parquet",
        outputs=lambda wildcards: [entry["file"] for entry in COUNTER_GAP_CLUSTERS[wildcards.data]],
        released=lambda wildcards: [entry["file"] for entry in COUNTER_GAP_OUTPUTS if wildcards.data == "official"],
    output:
        flags="results/counter_gap/flags/{data}.parquet",
    log:
        "results/logs/counter_gap_flags/{data}.log",
    wildcard_constraints:
        data=one_of(COUNTER_GAP_FILES),
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        data=lambda wildcards: wildcards.data,
        cluster_systems=lambda wildcards: COUNTER_GAP_CLUSTERS[wildcards.data],
        systems=lambda wildcards: [entry for entry in COUNTER_GAP_OUTPUTS if wildcards.data == "official"],
        _code=code("scripts/counter_gap/flags.py"),
    script:
        "../scripts/counter_gap/flags.py"


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
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        data=COUNTER_GAP_DATA,
        draws=COUNTER_GAP["bootstrap"]["draws"],
        seed=COUNTER_GAP["bootstrap"]["seed"],
        alpha=COUNTER_GAP["alpha"],
        _code=code("scripts/counter_gap/metrics.py"),
    script:
        "../scripts/counter_gap/metrics.py"


rule counter_gap_simulate:
    output:
        simulation=f"{COUNTER_GAP_ANALYSIS}/simulation.csv",
    log:
        "results/logs/counter_gap_simulate/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        quadruples=COUNTER_GAP["simulation"]["quadruples"],
        repeats=COUNTER_GAP["simulation"]["repeats"],
        seed=COUNTER_GAP["simulation"]["seed"],
        _code=code("scripts/counter_gap/simulate.py"),
    script:
        "../scripts/counter_gap/simulate.py"


rule counter_gap_figure_inconsistencies:
    output:
        pdf="results/counter_gap/figures/inconsistencies.pdf",
        png=reported("results/counter_gap/figures/inconsistencies.png", "Counter-GAP", "figure"),
        csv="results/counter_gap/figures/inconsistencies.csv",
    log:
        "results/logs/counter_gap_figure_inconsistencies/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/counter_gap/figure_inconsistencies.py"),
    script:
        "../scripts/counter_gap/figure_inconsistencies.py"


rule counter_gap_figure_simulation:
    input:
        simulation=rules.counter_gap_simulate.output.simulation,
    output:
        pdf="results/counter_gap/figures/simulation.pdf",
        png=reported("results/counter_gap/figures/simulation.png", "Counter-GAP", "figure"),
        csv="results/counter_gap/figures/simulation.csv",
    log:
        "results/logs/counter_gap_figure_simulation/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/counter_gap/figure_simulation.py"),
    script:
        "../scripts/counter_gap/figure_simulation.py"


rule counter_gap_figure_cancellation:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
    output:
        pdf="results/counter_gap/figures/{templates}/cancellation.pdf",
        png=reported("results/counter_gap/figures/{templates}/cancellation.png", "Counter-GAP", "figure"),
        csv="results/counter_gap/figures/{templates}/cancellation.csv",
    log:
        "results/logs/counter_gap_figure_cancellation/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/figure_cancellation.py"),
    script:
        "../scripts/counter_gap/figure_cancellation.py"


rule counter_gap_figure_breakdown:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        subset_sizes=rules.counter_gap_metrics.output.subset_sizes,
    output:
        pdf="results/counter_gap/figures/{templates}/breakdown.pdf",
        png=reported("results/counter_gap/figures/{templates}/breakdown.png", "Counter-GAP", "figure"),
        csv="results/counter_gap/figures/{templates}/breakdown.csv",
    log:
        "results/logs/counter_gap_figure_breakdown/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/figure_breakdown.py"),
    script:
        "../scripts/counter_gap/figure_breakdown.py"


rule counter_gap_table_accuracy:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
    output:
        tex="results/counter_gap/tables/{templates}/accuracy.tex",
        csv=reported("results/counter_gap/tables/{templates}/accuracy.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_accuracy/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_accuracy.py"),
    script:
        "../scripts/counter_gap/table_accuracy.py"


rule counter_gap_table_inconsistency:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
    output:
        tex="results/counter_gap/tables/{templates}/inconsistency.tex",
        csv=reported("results/counter_gap/tables/{templates}/inconsistency.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_inconsistency/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_inconsistency.py"),
    script:
        "../scripts/counter_gap/table_inconsistency.py"


rule counter_gap_table_original_counterfactual:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
    output:
        tex="results/counter_gap/tables/{templates}/original_counterfactual.tex",
        csv=reported("results/counter_gap/tables/{templates}/original_counterfactual.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_original_counterfactual/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_original_counterfactual.py"),
    script:
        "../scripts/counter_gap/table_original_counterfactual.py"


rule counter_gap_table_datasets:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
    output:
        tex="results/counter_gap/tables/{templates}/datasets.tex",
        csv=reported("results/counter_gap/tables/{templates}/datasets.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_datasets/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_datasets.py"),
    script:
        "../scripts/counter_gap/table_datasets.py"


rule counter_gap_table_debiasing:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
    output:
        tex="results/counter_gap/tables/{templates}/debiasing.tex",
        csv=reported("results/counter_gap/tables/{templates}/debiasing.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_debiasing/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_debiasing.py"),
    script:
        "../scripts/counter_gap/table_debiasing.py"


rule counter_gap_table_cancellation:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        decomposition=rules.counter_gap_metrics.output.decomposition,
    output:
        tex="results/counter_gap/tables/{templates}/cancellation.tex",
        csv=reported("results/counter_gap/tables/{templates}/cancellation.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_cancellation/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_cancellation.py"),
    script:
        "../scripts/counter_gap/table_cancellation.py"


rule counter_gap_table_artefact:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
        subset_sizes=rules.counter_gap_metrics.output.subset_sizes,
    output:
        tex="results/counter_gap/tables/{templates}/artefact.tex",
        csv=reported("results/counter_gap/tables/{templates}/artefact.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_artefact/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        _code=code("scripts/counter_gap/table_artefact.py"),
    script:
        "../scripts/counter_gap/table_artefact.py"


rule counter_gap_table_examples:
    input:
        instances="results/counter_gap/instances/{templates}.parquet",
        flags="results/counter_gap/flags/{templates}.parquet",
    output:
        tex="results/counter_gap/tables/{templates}/examples.tex",
        csv=reported("results/counter_gap/tables/{templates}/examples.csv", "Counter-GAP", "table"),
    log:
        "results/logs/counter_gap_table_examples/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/counter_gap/table_examples.py"),
    script:
        "../scripts/counter_gap/table_examples.py"


rule counter_gap_paper_numbers:
    input:
        significance=rules.counter_gap_metrics.output.significance,
        metrics=rules.counter_gap_metrics.output.metrics,
        subset_sizes=rules.counter_gap_metrics.output.subset_sizes,
        simulation=rules.counter_gap_simulate.output.simulation,
        examples=rules.counter_gap_table_examples.output.csv,
    output:
        paper_numbers=f"{COUNTER_GAP_ANALYSIS}/{{templates}}/paper_numbers.json",
    log:
        "results/logs/counter_gap_paper_numbers/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        templates=lambda wildcards: wildcards.templates,
        settings={
            "alpha": COUNTER_GAP["alpha"],
            "draws": COUNTER_GAP["bootstrap"]["draws"],
            "simulated_quadruples": COUNTER_GAP["simulation"]["quadruples"],
            "simulated_data_sets": COUNTER_GAP["simulation"]["repeats"],
        },
        _code=code("scripts/counter_gap/paper_numbers.py"),
    script:
        "../scripts/counter_gap/paper_numbers.py"


rule counter_gap_published_vs_ours:
    input:
        published=root("paper/published/counter_gap.csv"),
        mapping=root("paper/published/counter_gap_mapping.csv"),
        study_models=root("paper/published/counter_gap_models.csv"),
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
        subset_sizes=rules.counter_gap_metrics.output.subset_sizes,
    output:
        csv=reported("results/counter_gap/tables/published_vs_ours.csv", "Counter-GAP", "table"),
        tex="results/counter_gap/tables/published_vs_ours.tex",
        numbers="results/counter_gap/tables/published_vs_ours.json",
    log:
        "results/logs/counter_gap_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        template_sets=COUNTER_GAP["templates"],
        every_set=COUNTER_GAP_TEMPLATE_SETS,
        _code=code("scripts/counter_gap/published_vs_ours.py"),
    script:
        "../scripts/counter_gap/published_vs_ours.py"


rule counter_gap_claims:
    input:
        metrics=rules.counter_gap_metrics.output.metrics,
        significance=rules.counter_gap_metrics.output.significance,
    output:
        csv=reported("results/counter_gap/tables/claims.csv", "Counter-GAP", "table"),
        tex="results/counter_gap/tables/claims.tex",
        numbers="results/counter_gap/tables/claims.json",
    log:
        "results/logs/counter_gap_claims/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        template_sets=COUNTER_GAP["templates"],
        every_set=COUNTER_GAP_TEMPLATE_SETS,
        _code=code("scripts/counter_gap/claims.py"),
    script:
        "../scripts/counter_gap/claims.py"


rule counter_gap_section:
    input:
        section_template=root("paper/sections/counter_gap.tex.j2"),
        numbers=expand(rules.counter_gap_paper_numbers.output.paper_numbers, templates=COUNTER_GAP["templates"]),
        figures=[path for path in COUNTER_GAP_FIGURE_FILES if path.endswith(".pdf")],
        tables=[path for path in COUNTER_GAP_TABLE_FILES if path.endswith(".tex")],
        comparison_numbers=[path for path in COUNTER_GAP_TABLE_FILES if path.endswith(".json")],
    output:
        section_tex="results/paper/sections/counter_gap.tex",
    log:
        "results/logs/counter_gap_section/paper.log",
    conda:
        "../envs/paper.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        template_sets=COUNTER_GAP["templates"],
        gap=COUNTER_GAP["gap"],
        _code=code("scripts/counter_gap/section.py"),
    script:
        "../scripts/counter_gap/section.py"
