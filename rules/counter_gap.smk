"""
Counter-GAP (Xie et al. 2023): is a coreference system inconsistent across genders more than within?

REQUIRED INPUTS
    templates/counter_gap/*.tsv                                or the authors' files (rules/upstream.smk)
    results/counter_gap/clusters/{templates}/{system}.jsonl    rules/coreference.smk
    results/coreference/f1/{corpus}/{system}.csv               rules/coreference.smk, where a corpus is scored
    results/counter_gap/books/*.tsv                            rules/counter_gap_books.smk, for quadruples from books

OUTPUTS
    results/counter_gap/instances/, clusters/ (those of rules), predictions/, annotation/, analysis/
    results/counter_gap/estimates.csv
    results/counter_gap/figures/, tables/                      figure 1, tables 2 to 8 of the paper
    results/paper/sections/counter_gap.tex
"""

from scripts.counter_gap import plan as counter_gap_plan
from scripts.counter_gap import study as counter_gap_study

COUNTER_GAP_COMPACT = str(TEMPLATES / "counter_gap/released_flags.tsv")
COUNTER_GAP = call_or_exit(
    counter_gap_plan.Plan,
    config["counter_gap"],
    RUN_SYSTEM_FACTS,
    COUNTER_GAP_COMPACT,
    {path: upstream(path) for path in UPSTREAM},
    config_path,
)
COUNTER_GAP_CATEGORY = f"{len(STUDIES) + 2}. Counter-GAP"

# The data sets and what each is read from.
COUNTER_GAP_FILES = {
    "replica": {
        "quadruples": str(TEMPLATES / "counter_gap/quadruples.tsv"),
        "pronouns": PRONOUN_FILE,
    },
    "released": {"released": COUNTER_GAP_COMPACT},
    # Without stops behind titles, as it is scored (Section 4).
    "official": {"c_gap": upstream("counter_gap/data/C-GAP.tsv")},
    # Quadruples from books, with labels and before anybody gave them some (rules/counter_gap_books.smk).
    "books": {"c_gap": "results/counter_gap/books/quadruples.tsv"},
    "candidates": {"candidates": "results/counter_gap/books/candidates.tsv"},
    "gap_test": {"gap": upstream("gap/gap-test.tsv")},
    "gap_validation": {"gap": upstream("gap/gap-validation.tsv")},
    "gap_development": {"gap": upstream("gap/gap-development.tsv")},
}
COUNTER_GAP_READ = {"labels": COUNTER_GAP.labels, "alpha": COUNTER_GAP["alpha"]}
COUNTER_GAP_COMPARED = {"template_sets": COUNTER_GAP.templates, "every_set": COUNTER_GAP.compared_sets}
# Figure 1 of the paper; cancellation is an addition.
COUNTER_GAP_DRAWN = ["inconsistencies", *expand("{templates}/cancellation", templates=COUNTER_GAP.templates)]
# Tables 2 to 8 of the paper; bias and by_gender set what Tables 2 to 4 and 6 come to on all sets below each other.
COUNTER_GAP_TABULATED = [
    "bias",
    "by_gender",
    "training",
    *expand(
        "{templates}/{table}",
        templates=COUNTER_GAP.templates,
        table=["accuracy", "inconsistency", "original_counterfactual", "datasets", "debiasing"],
    ),
    *expand("{templates}/examples", templates=COUNTER_GAP.example_sets),
]
COUNTER_GAP_FIGURES = expand("results/counter_gap/figures/{figure}", figure=COUNTER_GAP_DRAWN)
COUNTER_GAP_TABLES = expand("results/counter_gap/tables/{table}", table=COUNTER_GAP_TABULATED)


rule counter_gap_instances:
    input:
        unpack(lambda wildcards: COUNTER_GAP_FILES[wildcards.templates]),
    output:
        instances="results/counter_gap/instances/{templates}.parquet",
    log:
        "results/logs/counter_gap_instances/{templates}.log",
    wildcard_constraints:
        templates=one_of(COUNTER_GAP_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        # The sets of a quadruple's two genders.
        _rows=lambda wildcards: pronoun_rows(["he", "she"] if wildcards.templates == "replica" else []),
    script:
        "../scripts/counter_gap/instances.py"


rule counter_gap_clusters:
    input:
        instances="results/counter_gap/instances/{templates}.parquet",
    output:
        clusters="results/counter_gap/clusters/{templates}/{rule}.jsonl",
    log:
        "results/logs/counter_gap_clusters/{templates}_{rule}.log",
    wildcard_constraints:
        templates=one_of(COUNTER_GAP_FILES),
        rule=one_of(counter_gap_study.RULES),
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("rule"),
    script:
        "../scripts/counter_gap/baselines.py"


rule counter_gap_predictions:
    input:
        instances="results/counter_gap/instances/{templates}.parquet",
        outputs=lambda wildcards: [reader["file"] for reader in COUNTER_GAP.readers(wildcards.templates)],
    output:
        predictions="results/counter_gap/predictions/{templates}.parquet",
    log:
        "results/logs/counter_gap_predictions/{templates}.log",
    wildcard_constraints:
        # Nothing is right or wrong without labels.
        templates=one_of(data for data in COUNTER_GAP_FILES if data != "candidates"),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        **from_wildcards("templates"),
        readers=lambda wildcards: COUNTER_GAP.readers(wildcards.templates),
    script:
        "../scripts/counter_gap/predictions.py"


# What templates/counter_gap/released_flags.tsv is a copy of; no target asks for it.
rule counter_gap_released_flags:
    input:
        c_gap=COUNTER_GAP_FILES["official"]["c_gap"],
        released=[entry["file"] for entry in COUNTER_GAP.released],
    output:
        compact="results/counter_gap/released_flags.tsv",
    log:
        "results/logs/counter_gap_released_flags/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        systems=COUNTER_GAP.released,
    script:
        "../scripts/counter_gap/released_flags.py"


rule counter_gap_estimates:
    input:
        instances=COUNTER_GAP.files("instances"),
        predictions=COUNTER_GAP.files("predictions"),
        corpus_scores=list(COUNTER_GAP.corpus_scores),
    output:
        estimates="results/counter_gap/estimates.csv",
    log:
        "results/logs/counter_gap_estimates/all.log",
    benchmark:
        "results/benchmarks/counter_gap_estimates/all.tsv"
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(20),
    params:
        **COUNTER_GAP.bootstrap,
        scored=list(COUNTER_GAP.corpus_scores.values()),
    script:
        "../scripts/counter_gap/estimates.py"


# Annotators label quadruples (Section 2.3). The set books consists of the candidates that were found in books.
rule counter_gap_sheet:
    input:
        instances=lambda wildcards: f"results/counter_gap/instances/{counter_gap_plan.ANNOTATED[wildcards.templates]}.parquet",
    output:
        sheet="results/counter_gap/annotation/{templates}/sheet.csv",
    log:
        "results/logs/counter_gap_sheet/{templates}.log",
    wildcard_constraints:
        templates=one_of(counter_gap_plan.ANNOTATED),
    conda:
        "../envs/analysis.yaml"
    params:
        seed=COUNTER_GAP["annotation"]["seed"],
    script:
        "../scripts/counter_gap/annotation.py"


rule counter_gap_labels:
    input:
        instances=rules.counter_gap_sheet.input.instances,
        sheet=rules.counter_gap_sheet.output.sheet,
        completed=lambda wildcards: [
            config_path(path) for path in COUNTER_GAP["annotation"]["sheets"].get(wildcards.templates, [])
        ],
    output:
        answers="results/counter_gap/annotation/{templates}/answers.csv",
        labels="results/counter_gap/annotation/{templates}/labels.csv",
        funnel="results/counter_gap/annotation/{templates}/funnel.csv",
        discarded="results/counter_gap/annotation/{templates}/discarded.csv",
        agreement="results/counter_gap/annotation/{templates}/agreement.csv",
    log:
        "results/logs/counter_gap_labels/{templates}.log",
    wildcard_constraints:
        templates=one_of(counter_gap_plan.ANNOTATED),
    conda:
        "../envs/analysis.yaml"
    params:
        annotators=COUNTER_GAP["annotation"]["annotators"],
    script:
        "../scripts/counter_gap/annotation.py"


include: "counter_gap_books.smk"


rule counter_gap_figures:
    input:
        estimates=rules.counter_gap_estimates.output.estimates,
    output:
        pdf=expand("{figure}.pdf", figure=COUNTER_GAP_FIGURES),
        png=[
            reported(f"{path}.png", COUNTER_GAP_CATEGORY, 1, "figure", name)
            for path, name in zip(COUNTER_GAP_FIGURES, COUNTER_GAP_DRAWN)
        ],
        csv=expand("{figure}.csv", figure=COUNTER_GAP_FIGURES),
    log:
        "results/logs/counter_gap_figures/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        labels=COUNTER_GAP.labels,
    script:
        "../scripts/counter_gap/figures.py"


rule counter_gap_tables:
    input:
        estimates=rules.counter_gap_estimates.output.estimates,
        # Examples show texts.
        instances=expand("results/counter_gap/instances/{templates}.parquet", templates=COUNTER_GAP.example_sets),
        predictions=expand("results/counter_gap/predictions/{templates}.parquet", templates=COUNTER_GAP.example_sets),
    output:
        tex=expand("{table}.tex", table=COUNTER_GAP_TABLES),
        csv=[
            reported(f"{path}.csv", COUNTER_GAP_CATEGORY, 2, "table", name)
            for path, name in zip(COUNTER_GAP_TABLES, COUNTER_GAP_TABULATED)
        ],
    log:
        "results/logs/counter_gap_tables/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **COUNTER_GAP_READ,
        template_sets=COUNTER_GAP.templates,
        training={entry["label"]: {part: entry[part] for part in ("model", "training")} for entry in TRAINED.values()},
    script:
        "../scripts/counter_gap/tables.py"


rule counter_gap_published_vs_ours:
    input:
        **published_files("counter_gap"),
        estimates=rules.counter_gap_estimates.output.estimates,
    output:
        csv=reported(
            "results/counter_gap/tables/published_vs_ours.csv",
            COUNTER_GAP_CATEGORY,
            3,
            "table",
            "Published numbers beside ours",
        ),
        tex="results/counter_gap/tables/published_vs_ours.tex",
        numbers="results/counter_gap/tables/published_vs_ours.json",
    log:
        "results/logs/counter_gap_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **COUNTER_GAP_COMPARED,
        **COUNTER_GAP_READ,
    script:
        "../scripts/counter_gap/published.py"


rule counter_gap_findings:
    input:
        estimates=rules.counter_gap_estimates.output.estimates,
    output:
        csv=reported(
            "results/counter_gap/tables/findings.csv", COUNTER_GAP_CATEGORY, 4, "table", "Findings of the study"
        ),
        tex="results/counter_gap/tables/findings.tex",
        numbers="results/counter_gap/tables/findings.json",
    log:
        "results/logs/counter_gap_findings/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **COUNTER_GAP_COMPARED,
        **COUNTER_GAP_READ,
    script:
        "../scripts/counter_gap/findings.py"


rule counter_gap_section:
    input:
        section_templates=expand(repo_path("paper/sections/counter_gap{part}.tex.j2"), part=SECTION_PARTS),
        estimates=rules.counter_gap_estimates.output.estimates,
        figures=rules.counter_gap_figures.output.pdf,
        tables=[
            *rules.counter_gap_tables.output.tex,
            rules.counter_gap_published_vs_ours.output.tex,
            rules.counter_gap_findings.output.tex,
        ],
        comparison_numbers=[
            rules.counter_gap_published_vs_ours.output.numbers,
            rules.counter_gap_findings.output.numbers,
        ],
    output:
        section_files=expand("results/paper/sections/counter_gap{part}.tex", part=SECTION_PARTS),
        paper_numbers=expand(
            "results/counter_gap/analysis/{templates}/paper_numbers.json", templates=COUNTER_GAP.templates
        ),
    log:
        "results/logs/counter_gap_section/all.log",
    conda:
        "../envs/paper.yaml"
    params:
        **COUNTER_GAP_READ,
        template_sets=COUNTER_GAP.templates,
        draws=COUNTER_GAP["bootstrap"]["draws"],
    script:
        "../scripts/counter_gap/section.py"


rule counter_gap_summary:
    input:
        estimates=rules.counter_gap_estimates.output.estimates,
    output:
        summary="results/counter_gap/analysis/summary.csv",
    log:
        "results/logs/counter_gap_summary/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        labels=COUNTER_GAP.labels,
        systems=RUN_SYSTEM_FACTS,
    script:
        "../scripts/counter_gap/section.py"


declare(
    name="counter_gap",
    title="Counter-GAP (inconsistency across genders)",
    question="Is a coreference system less consistent if the people of a passage change their gender than if they swap names?",
    chances={"inconsistency, across minus within genders": 0},
    outcomes={"": ["results/counter_gap/predictions/{part}.parquet"]},
    paired={
        "inconsistency, across minus within genders": PairedOutcomes(
            cluster=["quadruple"],
            unit=["quadruple"],
            where={
                "model": ["{model}"],
                "scoring": ["{scoring}"],
                "debiasing": ["{debiasing}", "none"],
                "reading": ["", "corrected"],
            },
            prediction=["a_pred", "b_pred"],
            statistic="disagreement",
            by="gender",
        )
    },
    parts=COUNTER_GAP.templates,
    resolved=COUNTER_GAP.documents,
    pronoun_sets=False,
    figures=COUNTER_GAP_FIGURES,
    tables=[*COUNTER_GAP_TABLES, "results/counter_gap/tables/published_vs_ours", "results/counter_gap/tables/findings"],
    explorer=ExplorerView(
        sets={
            counter_gap_study.GAP.get(data, data): expand(
                "results/counter_gap/{kind}/{data}.parquet", kind=["instances", "predictions"], data=data
            )
            for data in COUNTER_GAP.data
        },
        gold={"a_coref": "first", "b_coref": "second"},
        predicted={"a_pred": "first", "b_pred": "second"},
        words=("correct", "chosen"),
        levels=dict.fromkeys(["first", "second", "first and second", "none"], ""),
        unit=("quadruple", "quadruples"),
        factors=["gender", "role", "case", "source"],
        called=COUNTER_GAP.explorer_words,
        clusters=COUNTER_GAP.explored_clusters,
    ),
)
