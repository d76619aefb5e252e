"""
MISGENDERED (Hossain, Dev and Singh 2023): does a model use the pronouns that a person has declared?

REQUIRED INPUTS
    templates/misgendered/*.tsv, templates/pronouns.tsv       or the authors' files (rules/upstream.smk)
    results/misgendered/scores/{set}/{model}.parquet          rules/scoring.smk
    files of text corpora                                     misgendered.corpora.local of the configuration

OUTPUTS
    results/misgendered/instances/, predictions/, corpora/
    results/misgendered/sizes.csv, estimates.csv, choices.csv, normalisation.csv, corpus_counts.csv
    results/misgendered/figures/, tables/                     figure 3, tables 1 to 11, 13, 14 of the paper
    results/paper/sections/misgendered.tex, misgendered_appendix.tex
"""

from scripts.core.paper.formats import have_sizes
from scripts.misgendered import plan as misgendered_plan
from scripts.misgendered import study as misgendered_study

MISGENDERED_COMBINATIONS = str(TEMPLATES / "misgendered/declarations.tsv")
MISGENDERED = call_or_exit(
    misgendered_plan.Plan,
    config["misgendered"],
    MODELS,
    RUN,
    KNOWN_PRONOUNS,
    MISGENDERED_COMBINATIONS,
    config_path,
)
MISGENDERED_CATEGORY = f"{len(STUDIES) + 2}. MISGENDERED"

# What the template sets are read from. The authors' texts with declarations are used as they are in the wording that is
# theirs.
MISGENDERED_FILES = {
    "replica": [str(TEMPLATES / "misgendered/templates.tsv"), str(TEMPLATES / "misgendered/names.tsv")],
    "official": [
        upstream("misgendered/templates/templates.csv"),
        *expand(upstream("misgendered/names/{name_class}.txt"), name_class=misgendered_study.NAME_CLASSES),
        *expand(
            upstream("misgendered/templates/{declared}_{number}.csv"),
            declared=misgendered_study.RELEASED_FILES.values(),
            number=[2, 31, 32, 41, 42, 5],
        ),
    ],
}
MISGENDERED_SOURCES = {
    "template_files": lambda wildcards: MISGENDERED_FILES[wildcards.templates],
    "pronouns": PRONOUN_FILE,
    "combinations": MISGENDERED_COMBINATIONS,
}
MISGENDERED_SET = "results/misgendered/instances/{templates}/selected.parquet"
MISGENDERED_PREDICTED = "results/misgendered/predictions/{templates}.parquet"
MISGENDERED_SCORES = expand(
    "results/misgendered/scores/{templates}/{model}.parquet",
    templates=MISGENDERED.templates,
    model=MISGENDERED.models,
)
# Models come one after the other. Measured with all 3.3 million instances: 2.8 GB, however many models there are.
MISGENDERED_ONE_MODEL = 2000 + MISGENDERED.scored.instances // 1000
# model_size is Figure 3 of the paper; the others are additions. Its other figures show how instances are made.
MISGENDERED_DRAWN = ["accuracy_by_group"]
MISGENDERED_DRAWN += ["model_size"] if have_sizes(MISGENDERED.models) else []
MISGENDERED_DRAWN += ["few_shot"] if MISGENDERED.shots else []
# Tables 4 to 10 and 13 of the paper.
MISGENDERED_TABULATED = ["zero_shot", "declaration_type", "declaration_number", "groups", "forms", "name_ranks"]
MISGENDERED_TABULATED += ["name_class", *(["few_shot"] if MISGENDERED.shots else [])]
# Tables 1, 2, 14, 11 and 3. (Table 12 shows excerpts.)
MISGENDERED_MADE_FROM = ["pronouns", "declarations", "templates", "corpus_counts", "models"]
# A run without a model that the study takes has no results.
MISGENDERED_RESULTS = MISGENDERED.templates if MISGENDERED.models else []
MISGENDERED_FIGURES = expand(
    "results/misgendered/figures/{templates}/{figure}", templates=MISGENDERED_RESULTS, figure=MISGENDERED_DRAWN
)
MISGENDERED_TABLES = [
    *expand(
        "results/misgendered/tables/{templates}/{table}", templates=MISGENDERED.templates, table=MISGENDERED_MADE_FROM
    ),
    *expand(
        "results/misgendered/tables/{templates}/{table}", templates=MISGENDERED_RESULTS, table=MISGENDERED_TABULATED
    ),
]
MISGENDERED_COMPARED = {
    "template_sets": MISGENDERED.templates,
    "every_set": list(MISGENDERED_FILES),
    "models": MISGENDERED.known,
}


rule misgendered_sample:
    input:
        **MISGENDERED_SOURCES,
    output:
        selected=MISGENDERED_SET,
    log:
        "results/logs/misgendered_sample/{templates}.log",
    wildcard_constraints:
        templates=one_of(MISGENDERED_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=MISGENDERED["pronoun_sets"],
        declared=MISGENDERED["declarations"],
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
        templates=one_of(MISGENDERED_FILES),
        shots=r"[1-9]\d*",
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=MISGENDERED["pronoun_sets"],
        declared={"wording": MISGENDERED.wording},
        shots=lambda wildcards: int(wildcards.shots),
        draws=MISGENDERED["few_shot"]["draws"],
        size=MISGENDERED["few_shot"]["instances"],
        seed=MISGENDERED["few_shot"]["seed"],
    script:
        "../scripts/misgendered/instances.py"


rule misgendered_sizes:
    input:
        template_files=[path for name in MISGENDERED.templates for path in MISGENDERED_FILES[name]],
        pronouns=PRONOUN_FILE,
        combinations=MISGENDERED_COMBINATIONS,
    output:
        sizes="results/misgendered/sizes.csv",
    log:
        "results/logs/misgendered_sizes/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=MISGENDERED["pronoun_sets"],
        declared=MISGENDERED["declarations"],
        template_sets={name: len(MISGENDERED_FILES[name]) for name in MISGENDERED.templates},
    script:
        "../scripts/misgendered/instances.py"


rule misgendered_corpus:
    input:
        texts=lambda wildcards: MISGENDERED.corpora[wildcards.corpus]["files"],
        pronouns=PRONOUN_FILE,
    output:
        counts="results/misgendered/corpora/{corpus}/counts.csv",
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
        pronoun_sets=MISGENDERED["pronoun_sets"],
        name=lambda wildcards: wildcards.corpus,
        label=lambda wildcards: MISGENDERED.corpora[wildcards.corpus]["label"],
        layout=lambda wildcards: MISGENDERED.corpora[wildcards.corpus]["layout"],
        parts=lambda wildcards: f"results/misgendered/corpora/{wildcards.corpus}/parts",
    script:
        "../scripts/misgendered/corpora.py"


rule misgendered_corpus_counts:
    input:
        counted=expand("results/misgendered/corpora/{corpus}/counts.csv", corpus=MISGENDERED.corpora),
    output:
        corpus_counts="results/misgendered/corpus_counts.csv",
    log:
        "results/logs/misgendered_corpus_counts/all.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/misgendered/corpora.py"


rule misgendered_predictions:
    input:
        instances=lambda wildcards: expand(MISGENDERED_SET, templates=MISGENDERED.sets[wildcards.templates]),
        scores=lambda wildcards: MISGENDERED.score_files(wildcards.templates),
    output:
        predictions=MISGENDERED_PREDICTED,
    log:
        "results/logs/misgendered_predictions/{templates}.log",
    wildcard_constraints:
        templates=one_of(MISGENDERED_FILES),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(MISGENDERED_ONE_MODEL),
        runtime=growing(60),
    params:
        **MISGENDERED["scores"],
        models=lambda wildcards: list(MISGENDERED.readers_of(wildcards.templates).values()),
        wording=MISGENDERED.wording,
    script:
        "../scripts/misgendered/predictions.py"


rule misgendered_estimates:
    input:
        predictions=expand(MISGENDERED_PREDICTED, templates=MISGENDERED.templates),
        study_models=repo_path("paper/published/misgendered_models.csv"),
    output:
        estimates="results/misgendered/estimates.csv",
    log:
        "results/logs/misgendered_estimates/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        **MISGENDERED.bootstrap,
        template_sets=MISGENDERED.templates,
        wording=MISGENDERED.wording,
    script:
        "../scripts/misgendered/estimates.py"


rule misgendered_choices:
    input:
        predictions=rules.misgendered_estimates.input.predictions,
        instances=expand(MISGENDERED_SET, templates=MISGENDERED.templates),
        scores=MISGENDERED_SCORES,
    output:
        choices="results/misgendered/choices.csv",
    log:
        "results/logs/misgendered_choices/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        **MISGENDERED.bootstrap,
        models=list(MISGENDERED.models),
        template_sets=MISGENDERED.templates,
        wording=MISGENDERED.wording,
        made=MISGENDERED["scores"],
    script:
        "../scripts/misgendered/choices.py"


rule misgendered_normalisation:
    input:
        instances=expand(MISGENDERED_SET, templates=MISGENDERED.templates),
        scores=MISGENDERED_SCORES,
    output:
        normalisation="results/misgendered/normalisation.csv",
    log:
        "results/logs/misgendered_normalisation/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        # An estimate: all scores of one model at once.
        mem_mb=growing(8000 + MISGENDERED.scored.instances * 5 // 1000),
        runtime=growing(60),
    params:
        **MISGENDERED.bootstrap,
        **MISGENDERED["scores"],
        models=list(MISGENDERED.models),
        template_sets=MISGENDERED.templates,
        wording=MISGENDERED.wording,
    script:
        "../scripts/misgendered/normalisation.py"


rule misgendered_figures:
    input:
        estimates=rules.misgendered_estimates.output.estimates,
    output:
        pdf=expand("results/misgendered/figures/{{templates}}/{figure}.pdf", figure=MISGENDERED_DRAWN),
        png=[
            reported(path, MISGENDERED_CATEGORY, 1, "figure")
            for path in expand("results/misgendered/figures/{{templates}}/{figure}.png", figure=MISGENDERED_DRAWN)
        ],
        csv=expand("results/misgendered/figures/{{templates}}/{figure}.csv", figure=MISGENDERED_DRAWN),
    log:
        "results/logs/misgendered_figures/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        models=MISGENDERED.models,
        pronoun_sets=MISGENDERED["pronoun_sets"],
        chance=MISGENDERED.chance,
    script:
        "../scripts/misgendered/figures.py"


rule misgendered_tables:
    input:
        estimates=rules.misgendered_estimates.output.estimates,
    output:
        tex=expand("results/misgendered/tables/{{templates}}/{table}.tex", table=MISGENDERED_TABULATED),
        csv=[
            reported(path, MISGENDERED_CATEGORY, 2, "table")
            for path in expand("results/misgendered/tables/{{templates}}/{table}.csv", table=MISGENDERED_TABULATED)
        ],
    log:
        "results/logs/misgendered_tables/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        models=MISGENDERED.models,
    script:
        "../scripts/misgendered/tables.py"


rule misgendered_input_tables:
    input:
        **MISGENDERED_SOURCES,
        **rules.misgendered_corpus_counts.output,
    output:
        tex=expand("results/misgendered/tables/{{templates}}/{table}.tex", table=MISGENDERED_MADE_FROM),
        csv=[
            reported(path, MISGENDERED_CATEGORY, 3, "table")
            for path in expand("results/misgendered/tables/{{templates}}/{table}.csv", table=MISGENDERED_MADE_FROM)
        ],
    log:
        "results/logs/misgendered_input_tables/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=MISGENDERED["pronoun_sets"],
        declared=MISGENDERED["declarations"],
        models=MISGENDERED.models,
    script:
        "../scripts/misgendered/input_tables.py"


rule misgendered_published_vs_ours:
    input:
        **published_files("misgendered"),
        estimates=rules.misgendered_estimates.output.estimates,
        corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
        sizes=rules.misgendered_sizes.output.sizes,
        # What is declared and which models there are is the same for all template sets.
        declared=f"results/misgendered/tables/{MISGENDERED.templates[0]}/declarations.csv",
        asked=f"results/misgendered/tables/{MISGENDERED.templates[0]}/models.csv",
    output:
        csv=reported(
            "results/misgendered/tables/published_vs_ours.csv",
            MISGENDERED_CATEGORY,
            4,
            "table",
            "Published numbers beside ours",
        ),
        tex="results/misgendered/tables/published_vs_ours.tex",
        numbers="results/misgendered/tables/published_vs_ours.json",
    log:
        "results/logs/misgendered_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **MISGENDERED_COMPARED,
        pronoun_sets=MISGENDERED["pronoun_sets"],
    script:
        "../scripts/misgendered/published.py"


rule misgendered_findings:
    input:
        predictions=rules.misgendered_estimates.input.predictions,
        estimates=rules.misgendered_estimates.output.estimates,
        corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
        study_models=repo_path("paper/published/misgendered_models.csv"),
    output:
        csv=reported(
            "results/misgendered/tables/findings.csv", MISGENDERED_CATEGORY, 5, "table", "Findings of the study"
        ),
        tex="results/misgendered/tables/findings.tex",
        numbers="results/misgendered/tables/findings.json",
    log:
        "results/logs/misgendered_findings/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
    params:
        **MISGENDERED.bootstrap,
        **MISGENDERED_COMPARED,
    script:
        "../scripts/misgendered/findings.py"


rule misgendered_findings_of_model:
    input:
        predictions=rules.misgendered_estimates.input.predictions,
        estimates=rules.misgendered_estimates.output.estimates,
        corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
    output:
        findings_csv="results/misgendered/analysis/findings_of_model/{model}.csv",
    log:
        "results/logs/misgendered_findings_of_model/{model}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(8000),
    params:
        **from_wildcards("model"),
        **MISGENDERED.bootstrap,
        facts=lambda wildcards: MODELS[wildcards.model].facts,
        template_sets=MISGENDERED.templates,
    script:
        "../scripts/misgendered/findings.py"


rule misgendered_section:
    input:
        section_templates=expand(repo_path("paper/sections/misgendered{part}.tex.j2"), part=SECTION_PARTS),
        estimates=rules.misgendered_estimates.output.estimates,
        normalisation=rules.misgendered_normalisation.output.normalisation,
        choices=rules.misgendered_choices.output.choices,
        corpus_counts=rules.misgendered_corpus_counts.output.corpus_counts,
        sizes=rules.misgendered_sizes.output.sizes,
        instances=expand(MISGENDERED_SET, templates=MISGENDERED.templates),
        figures=expand("{figure}.pdf", figure=MISGENDERED_FIGURES),
        tables=[
            *expand("{table}.tex", table=MISGENDERED_TABLES),
            rules.misgendered_published_vs_ours.output.tex,
            rules.misgendered_findings.output.tex,
        ],
        comparison_numbers=[
            rules.misgendered_published_vs_ours.output.numbers,
            rules.misgendered_findings.output.numbers,
        ],
    output:
        section_files=expand("results/paper/sections/misgendered{part}.tex", part=SECTION_PARTS),
        paper_numbers=expand(
            "results/misgendered/analysis/{templates}/paper_numbers.json", templates=MISGENDERED.templates
        ),
    log:
        "results/logs/misgendered_section/all.log",
    conda:
        "../envs/paper.yaml"
    params:
        template_sets=MISGENDERED.templates,
        models=MISGENDERED.models,
        scores=MISGENDERED["scores"],
        wording=MISGENDERED.wording,
        settings={
            "draws": MISGENDERED["bootstrap"]["draws"],
            "few_shot_draws": MISGENDERED["few_shot"]["draws"],
        },
    script:
        "../scripts/misgendered/section.py"


rule misgendered_summary:
    input:
        estimates=rules.misgendered_estimates.output.estimates,
        normalisation=rules.misgendered_normalisation.output.normalisation,
    output:
        summary="results/misgendered/analysis/summary.csv",
    log:
        "results/logs/misgendered_summary/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=MISGENDERED.models,
    script:
        "../scripts/misgendered/section.py"


declare(
    name="misgendered",
    title="MISGENDERED (declared pronouns)",
    pronoun_sets=False,
    question="Does a model use the pronouns that a person has declared, also those that are rare?",
    chances={"accuracy": MISGENDERED.chance},
    outcomes={"": ["results/misgendered/predictions/{part}.parquet"]},
    paired={
        "accuracy": PairedOutcomes(
            cluster=["form", "template_index"], where={"model": ["{model}"]}, prediction=["picked"]
        )
    },
    models=list(MISGENDERED.known),
    parts=MISGENDERED.templates,
    analyses=[
        rules.misgendered_estimates.output.estimates,
        *rules.misgendered_corpus_counts.output,
    ],
    scored=MISGENDERED.scored,
    figures=MISGENDERED_FIGURES,
    tables=[*MISGENDERED_TABLES, "results/misgendered/tables/published_vs_ours", "results/misgendered/tables/findings"],
    card=Card(
        value="Accuracy",
        points=[
            Point(
                label,
                "accuracy",
                {"scoring": "probability", "shots": 0, "pronoun_type": kind},
                ("misgendered_accuracy", misgendered_study.TYPES[kind], "Accuracy", 0.01),
            )
            for label, kind in {"binary": "binary", "they": "neutral", "neo": "neo"}.items()
        ],
        parts=MISGENDERED.templates,
        chance=MISGENDERED.chance,
        printed="misgendered",
        axis="Pronouns",
    ),
    explorer=ExplorerView(
        sets={
            f"{templates}, {MISGENDERED.few_shot_sets.get(name, 'no')} examples": [
                f"results/misgendered/instances/{name}/selected.parquet",
                f"results/misgendered/predictions/{templates}.parquet",
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
