# RUFF (Gautam et al. 2024), models scored by likelihood: instances, analyses, figures and tables. Prompted models are in
# rules/ruff_prompting.smk; what stands beside the study takes both.

from scripts.ruff import prompting_jobs, sample_sizes
from scripts.ruff import study as ruff_study

RUFF = config["ruff"]
RUFF_ANALYSIS = "results/ruff/analysis/{templates}"
PROMPTING = RUFF["prompting"]

try:
    RUFF_CHANCE = ruff_study.chance(ruff_study.select_pronoun_sets(KNOWN_PRONOUNS, config["pronoun_sets"]))
    sample_sizes.check(RUFF, len(PRONOUN_SETS))
    PROMPTED["ruff"] = prompting_jobs.jobs(PROMPTING, MODELS, RUFF["seeds"], RUFF["distractors"])
except UserError as error:
    refuse(error)

PROMPTED_MODELS = {name: registry.describe(MODELS[name]) for name in PROMPTED["ruff"]}

# Figures: the tidy tables that each one draws and the params it takes besides the models. In the paper: headline 1,
# context_free 4, introduction_accuracy 5, accuracy_by_pronoun 6, accuracy_by_distractors 7, scaling 8,
# error_types 9, context_free_by_model 10; the others are additions.
RUFF_FIGURES = {
    "headline": (["accuracy"], ["chance", "human"]),
    "context_free": (["context_free", "context_free_summary"], ["pronoun_sets"]),
    "introduction_accuracy": (["accuracy"], ["chance", "human"]),
    "accuracy_by_pronoun": (["accuracy", "pronoun_tests"], ["pronoun_sets", "chance", "human"]),
    "accuracy_by_distractors": (["accuracy"], ["chance", "human"]),
    "scaling": (["scaling"], ["chance", "human"]),
    "error_types": (["error_types"], []),
    "context_free_by_model": (["context_free"], ["pronoun_sets"]),
    "accuracy_by_case": (["accuracy", "accuracy_over_models"], ["chance", "human"]),
    "accuracy_by_polarity": (["accuracy", "accuracy_over_models"], ["chance", "human"]),
}
RUFF_FIGURE_PARAMS = {"pronoun_sets": PRONOUN_LABELS, "chance": RUFF_CHANCE, "human": RUFF["human_accuracy"]}
# Tables; in the paper: instance_counts 1, models 2.
RUFF_TABLES = ["instance_counts", "models", "accuracy", "pronoun_tests", "error_types"]
RUFF_COMPARED = len(RUFF["templates"]) > 1

RUFF_FIGURE_FILES = expand(
    "results/ruff/figures/{templates}/{name}.{kind}",
    templates=RUFF["templates"],
    name=RUFF_FIGURES,
    kind=["pdf", "png", "csv"],
)
if RUFF_COMPARED:
    RUFF_FIGURE_FILES += multiext("results/ruff/figures/comparison/template_comparison", ".pdf", ".png", ".csv")
RUFF_TABLE_FILES = expand(
    "results/ruff/tables/{templates}/{name}.{kind}", templates=RUFF["templates"], name=RUFF_TABLES, kind=["tex", "csv"]
)
# Beside the study: published numbers and findings, over all template sets at once.
RUFF_TABLE_FILES += multiext("results/ruff/tables/published_vs_ours", ".tex", ".csv", ".json")
RUFF_TABLE_FILES += multiext("results/ruff/tables/claims", ".tex", ".csv", ".json")
RUFF_SCORE_FILES = expand("results/ruff/scores/{templates}/{model}.parquet", templates=RUFF["templates"], model=RUN)
RUFF_FULL_SETS = "results/ruff/instances/{{templates}}/distractors{n}.parquet"
RUFF_SAMPLES = "results/ruff/instances/{{templates}}/sample_seed{seed}_distractors{n}.parquet"
RUFF_INSTANCE_FILES = expand(
    [
        "results/ruff/instances/{templates}/context_free.parquet",
        "results/ruff/instances/{templates}/selected.parquet",
        *expand(RUFF_FULL_SETS, n=RUFF["distractors"]),
        *expand(RUFF_SAMPLES, n=RUFF["distractors"], seed=RUFF["seeds"]),
    ],
    templates=RUFF["templates"],
)

PLANNED_INSTANCES |= {
    f"ruff/{templates}": f"results/ruff/instances/{templates}/selected.parquet" for templates in RUFF["templates"]
}
STUDY_INSTANCES["ruff"] = 180 + len(RUFF["seeds"]) * len(RUFF["distractors"]) * RUFF["sample_size"]


TRACED["ruff"] = [
    # A row of accuracies is about one level of one factor.
    {"files": "results/ruff/*", "when": {"factor": r"\w+", "level": r"\w+"}, "then": {"{factor}": "{level}"}},
    {"files": "*/accuracy_by_case.csv", "when": {"level": r"\w+"}, "then": {"case": "{level}"}},
    {"files": "*/accuracy_by_polarity.csv", "when": {"level": r"\w+"}, "then": {"polarity": "{level}"}},
    {"files": "*/accuracy_by_*.csv", "when": {"panel": ".+"}, "then": {"model": "{panel}"}},
    *(
        {"files": f"results/ruff/*/{name}.csv", "then": {"setting": "fidelity"}}
        for name in ("accuracy*", "scaling", "headline", "introduction_accuracy", "error_*", "pronoun_tests")
    ),
    *(
        {"files": f"results/ruff/figures/*/{name}.csv", "then": {"n_distractors": "0"}}
        for name in ("accuracy_by_pronoun", "introduction_accuracy")
    ),
    {
        "files": "*/pronoun_tests.csv",
        "when": {"pronoun_a": ".+", "pronoun_b": ".+"},
        "then": {"pronoun": ["{pronoun_a}", "{pronoun_b}"]},
    },
    {"files": "*/pronoun_tests.csv", "then": {"n_distractors": "0"}},
    {
        "files": "*/error_types.csv",
        "without": ["n_distractors"],
        "then": {"n_distractors": [str(n) for n in RUFF["distractors"] if n]},
    },
    # Without context every task sentence is counted, whichever pronoun a model picks.
    {"files": "*/context_free*.csv", "when": {"pronoun": ".+"}, "then": {}},
    {"files": "*/context_free*.csv", "then": {"setting": "context_free"}},
    {"files": "*/instance_counts.csv", "when": {"n_distractors": "context_free|"}, "then": {"n_distractors": ""}},
    {"files": "*/instance_counts.csv", "when": {"setting": ".+"}, "then": {}},
    {"files": "*/instance_counts.csv", "when": {"@column": "scored"}, "then": {"@path": "*/selected.parquet"}},
    {
        "files": "*/instance_counts.csv",
        "when": {"@column": "instances", "n_distractors": r"\d"},
        "then": {"@path": "*/distractors{n_distractors}.parquet", "n_distractors": "{n_distractors}"},
    },
    {
        "files": "*/instance_counts.csv",
        "when": {"@column": "instances", "n_distractors": ""},
        "then": {"@path": "*/context_free.parquet"},
    },
    {"files": "*/instance_counts.csv", "when": {"@column": "samples?.*"}, "then": {"@path": "*/sample_*.parquet"}},
    {
        "files": "*/template_comparison.csv",
        "when": {"@column": ".*_(?P<set>replica|official)"},
        "then": {"templates": "{set}"},
    },
    # Prompted models: two prompts, or a prompted and a scored model, in one row.
    {
        "files": "*/prompt*_agreement.csv",
        "when": {"prompt_a": ".+", "prompt_b": ".+"},
        "then": {"prompt": ["{prompt_a}", "{prompt_b}"]},
    },
    {"files": "*/prompt*_agreement.csv", "then": {"answer": "final", "order": "published"}},
    {
        "files": "*/prompt*_against_scored.csv",
        "when": {"prompted": ".+", "scored": ".+"},
        "then": {"model": ["{prompted}", "{scored}"]},
    },
    {"files": "*/prompt*_against_scored.csv", "then": {"method": "vanilla", "answer": "final", "setting": "fidelity"}},
    *(
        {"files": f"results/ruff/*/{name}.csv", "then": {"order": "published"}}
        for name in (
            "prompted_accuracy",
            "prompted_summary",
            "prompting",
            "prompting_chain",
            "prompting_final",
            "prompting_options",
            "prompting_outcomes",
            "prompting_vanilla",
            "prompt*_against_scored",
        )
    ),
    {"files": "*/prompt*_positions.csv", "when": {"@column": "named|n_all", "place": ".+"}, "then": {}},
    {"files": "*/prompt*_positions.csv", "then": {"kind": "options", "answer": "final"}},
    {
        "files": "*/published_vs_ours.csv",
        "when": {"table": ".+", "cells": ".*", "models": ".*"},
        "then": {"@file": "results/ruff/{table}", "@cells": "{cells}", "model": "{models}"},
    },
]


# The template files of each set: this project's own, or the authors' archive.
RUFF_TEMPLATE_FILES = {
    "replica": {
        "task": str(TEMPLATES / "ruff/task.tsv"),
        "context": str(TEMPLATES / "ruff/context.tsv"),
        "occupations": str(TEMPLATES / "occupations.tsv"),
    },
    "official": {"archive": upstream("ruff/data.zip")},
}


rule ruff_instances:
    input:
        unpack(lambda wildcards: RUFF_TEMPLATE_FILES[wildcards.templates]),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        instances="results/ruff/instances/{templates}/distractors{n}.parquet",
    log:
        "results/logs/ruff_instances/{templates}_distractors{n}.log",
    benchmark:
        "results/benchmarks/ruff_instances/{templates}_distractors{n}.tsv"
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        n_distractors=lambda wildcards: int(wildcards.n),
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/instances.py"),
    script:
        "../scripts/ruff/instances.py"


rule ruff_sample:
    input:
        unpack(lambda wildcards: RUFF_TEMPLATE_FILES[wildcards.templates]),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        sample="results/ruff/instances/{templates}/sample_seed{seed}_distractors{n}.parquet",
    log:
        "results/logs/ruff_sample/{templates}_seed{seed}_distractors{n}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        n_distractors=lambda wildcards: int(wildcards.n),
        seed=lambda wildcards: int(wildcards.seed),
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/sample.py"),
    script:
        "../scripts/ruff/sample.py"


rule ruff_context_free:
    input:
        unpack(lambda wildcards: RUFF_TEMPLATE_FILES[wildcards.templates]),
        pronouns=str(TEMPLATES / "pronouns.tsv"),
    output:
        context_free="results/ruff/instances/{templates}/context_free.parquet",
    log:
        "results/logs/ruff_context_free/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/context_free.py"),
    script:
        "../scripts/ruff/context_free.py"


rule ruff_select_instances:
    input:
        context_free="results/ruff/instances/{templates}/context_free.parquet",
        samples=expand(RUFF_SAMPLES, seed=RUFF["seeds"], n=RUFF["distractors"]),
    output:
        selected="results/ruff/instances/{templates}/selected.parquet",
    log:
        "results/logs/ruff_select_instances/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sample_size=RUFF["sample_size"],
        _code=code("scripts/ruff/select_instances.py"),
    script:
        "../scripts/ruff/select_instances.py"


rule ruff_predictions:
    input:
        instances="results/ruff/instances/{templates}/selected.parquet",
        scores=expand("results/ruff/scores/{{templates}}/{model}.parquet", model=RUN),
    output:
        predictions=f"{RUFF_ANALYSIS}/predictions.parquet",
    log:
        "results/logs/ruff_predictions/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        models=list(RUN),
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/predictions.py"),
    script:
        "../scripts/ruff/predictions.py"


rule ruff_context_free_counts:
    input:
        predictions=rules.ruff_predictions.output.predictions,
    output:
        context_free=f"{RUFF_ANALYSIS}/context_free.csv",
        context_free_summary=f"{RUFF_ANALYSIS}/context_free_summary.csv",
    log:
        "results/logs/ruff_context_free_counts/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        models=RUN_MODELS,
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/context_free_counts.py"),
    script:
        "../scripts/ruff/context_free_counts.py"


rule ruff_accuracy:
    input:
        predictions=rules.ruff_predictions.output.predictions,
    output:
        accuracy_by_seed=f"{RUFF_ANALYSIS}/accuracy_by_seed.csv",
        accuracy=f"{RUFF_ANALYSIS}/accuracy.csv",
        accuracy_over_models=f"{RUFF_ANALYSIS}/accuracy_over_models.csv",
    log:
        "results/logs/ruff_accuracy/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        models=RUN_MODELS,
        draws=RUFF["bootstrap"]["draws"],
        seed=RUFF["bootstrap"]["seed"],
        _code=code("scripts/ruff/accuracy.py"),
    script:
        "../scripts/ruff/accuracy.py"


rule ruff_pronoun_tests:
    input:
        predictions=rules.ruff_predictions.output.predictions,
    output:
        pronoun_tests=f"{RUFF_ANALYSIS}/pronoun_tests.csv",
    log:
        "results/logs/ruff_pronoun_tests/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        pronoun_sets=PRONOUN_SETS,
        alpha=RUFF["alpha"],
        _code=code("scripts/ruff/pronoun_tests.py"),
    script:
        "../scripts/ruff/pronoun_tests.py"


rule ruff_error_types:
    input:
        predictions=rules.ruff_predictions.output.predictions,
    output:
        error_types=f"{RUFF_ANALYSIS}/error_types.csv",
        error_range=f"{RUFF_ANALYSIS}/error_range.csv",
    log:
        "results/logs/ruff_error_types/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        _code=code("scripts/ruff/error_types.py"),
    script:
        "../scripts/ruff/error_types.py"


rule ruff_scaling:
    input:
        accuracy=rules.ruff_accuracy.output.accuracy,
    output:
        scaling=f"{RUFF_ANALYSIS}/scaling.csv",
    log:
        "results/logs/ruff_scaling/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=RUN_MODELS,
        _code=code("scripts/ruff/scaling.py"),
    script:
        "../scripts/ruff/scaling.py"


rule ruff_template_comparison:
    input:
        replica="results/ruff/analysis/replica/accuracy.csv",
        official="results/ruff/analysis/official/accuracy.csv",
    output:
        template_comparison="results/ruff/analysis/comparison/template_comparison.csv",
    log:
        "results/logs/ruff_template_comparison/comparison.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/ruff/template_comparison.py"),
    script:
        "../scripts/ruff/template_comparison.py"


for figure, (tables, options) in RUFF_FIGURES.items():

    rule:
        name:
            f"ruff_figure_{figure}"
        input:
            **{table: f"{RUFF_ANALYSIS}/{table}.csv" for table in tables},
        output:
            pdf=f"results/ruff/figures/{{templates}}/{figure}.pdf",
            png=reported(f"results/ruff/figures/{{templates}}/{figure}.png", "RUFF", "figure"),
            csv=f"results/ruff/figures/{{templates}}/{figure}.csv",
        log:
            f"results/logs/ruff_figure_{figure}/{{templates}}.log",
        conda:
            "../envs/analysis.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            **{option: RUFF_FIGURE_PARAMS[option] for option in options},
            models=RUN_MODELS,
            # The script's path is put together when the job runs, after the loop.
            _figure=figure,
            _code=code(f"scripts/ruff/figure_{figure}.py"),
        script:
            "../scripts/ruff/figure_{params._figure}.py"


rule ruff_figure_template_comparison:
    input:
        template_comparison=rules.ruff_template_comparison.output.template_comparison,
    output:
        pdf="results/ruff/figures/comparison/template_comparison.pdf",
        png=reported("results/ruff/figures/comparison/template_comparison.png", "RUFF", "figure"),
        csv="results/ruff/figures/comparison/template_comparison.csv",
    log:
        "results/logs/ruff_figure_template_comparison/comparison.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        models=RUN_MODELS,
        _code=code("scripts/ruff/figure_template_comparison.py"),
    script:
        "../scripts/ruff/figure_template_comparison.py"


rule ruff_table_instance_counts:
    input:
        context_free="results/ruff/instances/{templates}/context_free.parquet",
        full=expand(RUFF_FULL_SETS, n=RUFF["distractors"]),
        samples=expand(RUFF_SAMPLES, seed=RUFF["seeds"], n=RUFF["distractors"]),
        selected="results/ruff/instances/{templates}/selected.parquet",
    output:
        tex="results/ruff/tables/{templates}/instance_counts.tex",
        csv=reported("results/ruff/tables/{templates}/instance_counts.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_instance_counts/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        _code=code("scripts/ruff/table_instance_counts.py"),
    script:
        "../scripts/ruff/table_instance_counts.py"


rule ruff_table_models:
    output:
        tex="results/ruff/tables/{templates}/models.tex",
        csv=reported("results/ruff/tables/{templates}/models.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_models/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=RUN_MODELS,
        _code=code("scripts/ruff/table_models.py"),
    script:
        "../scripts/ruff/table_models.py"


rule ruff_table_accuracy:
    input:
        accuracy=rules.ruff_accuracy.output.accuracy,
    output:
        tex="results/ruff/tables/{templates}/accuracy.tex",
        csv=reported("results/ruff/tables/{templates}/accuracy.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_accuracy/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=RUN_MODELS,
        _code=code("scripts/ruff/table_accuracy.py"),
    script:
        "../scripts/ruff/table_accuracy.py"


rule ruff_table_pronoun_tests:
    input:
        pronoun_tests=rules.ruff_pronoun_tests.output.pronoun_tests,
    output:
        tex="results/ruff/tables/{templates}/pronoun_tests.tex",
        csv=reported("results/ruff/tables/{templates}/pronoun_tests.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_pronoun_tests/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=RUN_MODELS,
        _code=code("scripts/ruff/table_pronoun_tests.py"),
    script:
        "../scripts/ruff/table_pronoun_tests.py"


rule ruff_table_error_types:
    input:
        error_types=rules.ruff_error_types.output.error_types,
    output:
        tex="results/ruff/tables/{templates}/error_types.tex",
        csv=reported("results/ruff/tables/{templates}/error_types.csv", "RUFF", "table"),
    log:
        "results/logs/ruff_table_error_types/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        models=RUN_MODELS,
        _code=code("scripts/ruff/table_error_types.py"),
    script:
        "../scripts/ruff/table_error_types.py"


rule ruff_published_vs_ours:
    input:
        published=root("paper/published/ruff.csv"),
        mapping=root("paper/published/ruff_mapping.csv"),
        study_models=root("paper/published/ruff_models.csv"),
        tables=expand(
            [
                "results/ruff/analysis/{templates}/accuracy.csv",
                "results/ruff/analysis/{templates}/error_types.csv",
                "results/ruff/analysis/{templates}/paper_numbers.json",
                "results/ruff/tables/{templates}/instance_counts.csv",
                "results/ruff/tables/{templates}/models.csv",
                *[
                    f"results/ruff/{table}.csv"
                    for table in (
                        "analysis/{templates}/prompted_accuracy",
                        "analysis/{templates}/prompted_positions",
                        "tables/{templates}/prompted_models",
                    )
                    if PROMPTED_MODELS
                ],
            ],
            templates=RUFF["templates"],
        ),
    output:
        csv=reported("results/ruff/tables/published_vs_ours.csv", "RUFF", "table"),
        tex="results/ruff/tables/published_vs_ours.tex",
        numbers="results/ruff/tables/published_vs_ours.json",
    log:
        "results/logs/ruff_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        template_sets=RUFF["templates"],
        every_set=list(RUFF_TEMPLATE_FILES),
        models=RUN_MODELS | PROMPTED_MODELS,
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/published_vs_ours.py"),
    script:
        "../scripts/ruff/published_vs_ours.py"


rule ruff_claims:
    input:
        printed=root("paper/published/ruff.csv"),
        study_models=root("paper/published/ruff_models.csv"),
        tables=expand(
            "results/ruff/analysis/{templates}/{table}.csv",
            templates=RUFF["templates"],
            table=[
                "accuracy",
                "context_free",
                "pronoun_tests",
                "error_types",
                *(["prompted_accuracy"] if PROMPTED_MODELS else []),
            ],
        ),
    output:
        csv=reported("results/ruff/tables/claims.csv", "RUFF", "table"),
        tex="results/ruff/tables/claims.tex",
        numbers="results/ruff/tables/claims.json",
    log:
        "results/logs/ruff_claims/all.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        template_sets=RUFF["templates"],
        every_set=list(RUFF_TEMPLATE_FILES),
        models=RUN_MODELS | PROMPTED_MODELS,
        pronoun_sets=PRONOUN_SETS,
        _code=code("scripts/ruff/claims.py"),
    script:
        "../scripts/ruff/claims.py"
