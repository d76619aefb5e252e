"""
Underspecification (McMilin 2022): where a sentence leaves the pronoun open, does it follow a date or a place?

REQUIRED INPUTS
    templates/underspecification/*.tsv, templates/occupations.tsv  or the authors' files (rules/upstream.smk)
    results/underspecification/distributions/{set}/{model}.parquet rules/distributions.smk
    the authors' released outputs, where the run names them        rules/upstream.smk

OUTPUTS
    results/underspecification/instances/, texts/, word_group_probabilities/, analysis/
    results/underspecification/estimates.csv, curves.csv, metrics.csv, toy_model.csv
    results/underspecification/figures/, tables/                   figures 2 to 14, tables 2 and 3 of the paper
    results/paper/sections/underspecification.tex

Results have parts: the authors' releases, and this run's models.
"""

from scripts.underspecification import plan as underspecification_plan
from scripts.underspecification import study as underspecification_study

UNDERSPEC_TEMPLATES = str(TEMPLATES / "underspecification")
UNDERSPEC_WORDS = f"{UNDERSPEC_TEMPLATES}/words.tsv"
UNDERSPEC_OFFICIAL = "underspecification/winogender_schema_evaluation_set"
UNDERSPEC = call_or_exit(underspecification_plan.Plan.of, config["underspecification"], RUN | SERVERS, UNDERSPEC_WORDS)
UNDERSPEC_CATEGORY = f"{len(STUDIES) + 2}. Underspecification"

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
UNDERSPEC_ARCHIVES = {
    release: {
        name: upstream(f"{folder}/data/{file}.tar.xz")
        for name, file in (
            ("winogender", "detect_wino_raw"),
            ("simplified", "detect_wino_mod_raw"),
            ("mgc", "spur_mgc_raw"),
        )
    }
    for release, folder in underspecification_study.RELEASES.items()
}
UNDERSPEC_SHARES = {"shares": upstream(f"{UNDERSPEC_OFFICIAL}/occupations-stats.tsv")} if UNDERSPEC.has_shares else {}
UNDERSPEC_PROBABILITIES = [path for part in UNDERSPEC.parts for path in UNDERSPEC.probabilities_of(part)]
UNDERSPEC_COMPARED = {
    "parts": UNDERSPEC.parts,
    "every_part": list(underspecification_study.PARTS),
    "models": UNDERSPEC.models,
}
# Tables 2 (metric) and 3 (detection) of the paper; the others are additions.
UNDERSPEC_TABULATED = ["slopes", "word_group_probabilities", "metric", "detection", "independence"]
UNDERSPEC_FIGURES = [
    "results/underspecification/figures/toy_model",
    *expand("results/underspecification/figures/{drawn}", drawn=UNDERSPEC.drawn),
]
UNDERSPEC_TABLES = expand(
    "results/underspecification/tables/{part}/{table}", part=UNDERSPEC.parts, table=UNDERSPEC_TABULATED
)


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
        evaluation_set=lambda wildcards: underspecification_plan.kind_of(wildcards.set),
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
        **{key: UNDERSPEC["sample"][key] for key in ("dates", "places", "occupations")},
        use=lambda wildcards: UNDERSPEC["prompts"][underspecification_plan.method_of(wildcards.set)],
    script:
        "../scripts/underspecification/texts.py"


rule underspecification_word_group_probabilities:
    input:
        instances=UNDERSPEC.files("instances"),
        texts=UNDERSPEC.files("texts"),
        distributions=UNDERSPEC.files("distributions", "{model}"),
        # A server gives no probabilities over the vocabulary.
        full=lambda wildcards: (
            UNDERSPEC.files("distributions", f"{wildcards.model}.mass") if MODELS[wildcards.model].source else []
        ),
        words=UNDERSPEC_WORDS,
    output:
        probabilities="results/underspecification/word_group_probabilities/run/{model}.parquet",
    log:
        "results/logs/underspecification_word_group_probabilities/{model}.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(20),
    params:
        **from_wildcards("model"),
        label=lambda wildcards: UNDERSPEC.models[wildcards.model]["label"],
        methods=lambda wildcards: MODELS[wildcards.model].methods("underspecification"),
    script:
        "../scripts/underspecification/probabilities.py"


rule underspecification_released:
    input:
        unpack(lambda wildcards: UNDERSPEC_ARCHIVES[wildcards.release]),
    output:
        probabilities="results/underspecification/word_group_probabilities/released/{release}.parquet",
    log:
        "results/logs/underspecification_released/{release}.log",
    wildcard_constraints:
        release=one_of(UNDERSPEC_ARCHIVES),
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(20),
    params:
        **from_wildcards("release"),
    script:
        "../scripts/underspecification/releases.py"


rule underspecification_estimates:
    input:
        probabilities=UNDERSPEC_PROBABILITIES,
    output:
        estimates="results/underspecification/estimates.csv",
        curves="results/underspecification/curves.csv",
        metrics="results/underspecification/metrics.csv",
    log:
        "results/logs/underspecification_estimates/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        **UNDERSPEC.bootstrap,
        threshold=UNDERSPEC["threshold"],
        folds=UNDERSPEC["folds"],
    script:
        "../scripts/underspecification/estimates.py"


rule underspecification_toy_model:
    output:
        correlations="results/underspecification/toy_model.csv",
        points="results/underspecification/toy_points.csv",
    log:
        "results/logs/underspecification_toy_model/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **UNDERSPEC["toy"],
    script:
        "../scripts/underspecification/toy_model.py"


# Figures 2 to 14 of the paper: toy_model 2, correlations_date_main 3, example 4, occupations_example 5,
# correlations_place_main 6, correlations_date_all 7, correlations_place_all 8, occupations_<set>_<group> 9 to 14.
rule underspecification_figures:
    input:
        **rules.underspecification_estimates.output,
        **rules.underspecification_toy_model.output,
        probabilities=UNDERSPEC_PROBABILITIES,
    output:
        pdf=expand("{figure}.pdf", figure=UNDERSPEC_FIGURES),
        png=[
            reported(f"{figure}.png", UNDERSPEC_CATEGORY, 1, "figure", underspecification_plan.title_of(figure))
            for figure in UNDERSPEC_FIGURES
        ],
        csv=expand("{figure}.csv", figure=UNDERSPEC_FIGURES),
    log:
        "results/logs/underspecification_figures/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        threshold=UNDERSPEC["threshold"],
        models=UNDERSPEC.models,
    script:
        "../scripts/underspecification/figures.py"


rule underspecification_tables:
    input:
        **rules.underspecification_estimates.output,
        printed=repo_path("paper/published/underspecification.csv"),
    output:
        tex=expand("{table}.tex", table=UNDERSPEC_TABLES),
        csv=[
            reported(f"{table}.csv", UNDERSPEC_CATEGORY, 2, "table", underspecification_plan.title_of(table))
            for table in UNDERSPEC_TABLES
        ],
    log:
        "results/logs/underspecification_tables/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(2000),
    script:
        "../scripts/underspecification/tables.py"


rule underspecification_published_vs_ours:
    input:
        **published_files("underspecification"),
        **rules.underspecification_estimates.output,
        correlations=rules.underspecification_toy_model.output.correlations,
    output:
        csv=reported(
            "results/underspecification/tables/published_vs_ours.csv",
            UNDERSPEC_CATEGORY,
            3,
            "table",
            "Published numbers beside ours",
        ),
        tex="results/underspecification/tables/published_vs_ours.tex",
        numbers="results/underspecification/tables/published_vs_ours.json",
    log:
        "results/logs/underspecification_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **UNDERSPEC_COMPARED,
    script:
        "../scripts/underspecification/published.py"


rule underspecification_findings:
    input:
        **rules.underspecification_estimates.output,
        **UNDERSPEC_SHARES,
    output:
        csv=reported(
            "results/underspecification/tables/findings.csv", UNDERSPEC_CATEGORY, 4, "table", "Findings of the study"
        ),
        tex="results/underspecification/tables/findings.tex",
        numbers="results/underspecification/tables/findings.json",
    log:
        "results/logs/underspecification_findings/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **UNDERSPEC_COMPARED,
        threshold=UNDERSPEC["threshold"],
    script:
        "../scripts/underspecification/findings.py"


rule underspecification_findings_of_model:
    input:
        **rules.underspecification_estimates.output,
    output:
        findings_csv="results/underspecification/analysis/findings_of_model/{model}.csv",
    log:
        "results/logs/underspecification_findings_of_model/{model}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        label=lambda wildcards: MODELS[wildcards.model].label,
        threshold=UNDERSPEC["threshold"],
    script:
        "../scripts/underspecification/findings.py"


rule underspecification_section:
    input:
        **rules.underspecification_estimates.output,
        section_templates=expand(repo_path("paper/sections/underspecification{part}.tex.j2"), part=SECTION_PARTS),
        correlations=rules.underspecification_toy_model.output.correlations,
        figures=expand("{figure}.pdf", figure=UNDERSPEC_FIGURES),
        tables=[
            *expand("{table}.tex", table=UNDERSPEC_TABLES),
            rules.underspecification_published_vs_ours.output.tex,
            rules.underspecification_findings.output.tex,
        ],
        comparison_numbers=[
            rules.underspecification_published_vs_ours.output.numbers,
            rules.underspecification_findings.output.numbers,
        ],
    output:
        section_files=expand("results/paper/sections/underspecification{part}.tex", part=SECTION_PARTS),
        paper_numbers=expand("results/underspecification/analysis/{part}/paper_numbers.json", part=UNDERSPEC.parts),
    log:
        "results/logs/underspecification_section/all.log",
    conda:
        "../envs/paper.yaml"
    params:
        parts=UNDERSPEC.parts,
        templates=UNDERSPEC.templates,
        prompts=UNDERSPEC["prompts"],
        models=UNDERSPEC.models,
        shares=UNDERSPEC.has_shares,
        settings={key: UNDERSPEC[key] for key in ("threshold", "folds")} | {"draws": UNDERSPEC.bootstrap["draws"]},
    script:
        "../scripts/underspecification/section.py"


rule underspecification_summary:
    input:
        estimates=rules.underspecification_estimates.output.estimates,
    output:
        summary="results/underspecification/analysis/summary.csv",
    log:
        "results/logs/underspecification_summary/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=UNDERSPEC.models,
    script:
        "../scripts/underspecification/section.py"


declare(
    name="underspecification",
    models=list(UNDERSPEC.models),
    title="Underspecification (pronouns against dates and places)",
    question="Where a sentence does not say which pronoun is right, does a model's pronoun follow a date or a place?",
    chances={"AUC": 0.5, "balanced accuracy": 0.5, "slope, female minus male": 0},
    outcomes={
        "distribution": ["results/underspecification/word_group_probabilities/run/{model}.parquet"],
        "": ["results/underspecification/word_group_probabilities/released/{part}.parquet"],
    },
    paired={
        "slope, female minus male": PairedOutcomes(
            cluster=["item"],
            value="probability",
            unit=["item"],
            where={"model": ["{model}"], "accumulation": ["top"]},
            statistic="slope",
            by="position",
            signs={"gender": {"female": 1, "male": -1}},
        ),
        "AUC": PairedOutcomes(
            cluster=["occupation"],
            value="probability",
            unit=["item"],
            where={"model": ["{model}"], "accumulation": ["top"]},
            statistic="area",
            by="position",
            signs={"well_specified": {"False": 1, "True": -1}},
        ),
    },
    parts=UNDERSPEC.parts,
    analyses=[*rules.underspecification_estimates.output, *rules.underspecification_toy_model.output],
    texts=UNDERSPEC.texts,
    figures=UNDERSPEC_FIGURES,
    tables=[
        *UNDERSPEC_TABLES,
        "results/underspecification/tables/published_vs_ours",
        "results/underspecification/tables/findings",
    ],
    pronoun_sets=False,
    card=Card(
        value="Balanced accuracy",
        points=[
            Point(
                name,
                "balanced accuracy",
                {"evaluation_set": name.lower(), "templates": UNDERSPEC.templates[0], "gender": "female"},
                ("underspec_balanced_accuracy", f"{name.capitalize()} | {{model}}", "BA", 1.0),
            )
            for name in ("Winogender", "simplified")
        ],
        parts=["run"],
        chance=0.5,
        printed="underspecification",
        axis="Sentences, feminine pronouns",
    ),
    explorer=ExplorerView(
        sets={
            name: [f"results/underspecification/instances/{name}.parquet", *UNDERSPEC.probabilities_of("run")]
            for name in UNDERSPEC.sets
            if UNDERSPEC.models
        }
        | {f"{name}, released outputs": UNDERSPEC.probabilities_of(name) * 2 for name in UNDERSPEC["released"]},
        own=["replica", "mgc"],
        where={"accumulation": "top"},
        gold="value",
        words=("date or place", "most probable"),
        levels={"female": "she", "male": "he", "neutral": "they", "neo": "xe"},
        unit=("item", "sentences"),
        factors=[
            *("evaluation_set", "variable", "well_specified", "participant", "coreferent"),
            *("occupation", "form", "life_stage"),
        ],
        weights={"female": 1, "male": -1},
        quantity="Probability, female minus male words",
    ),
)
