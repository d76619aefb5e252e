"""
WinoPron (Gautam et al. 2024): whom does a pronoun mean?

REQUIRED INPUTS
    templates/winopron/*.tsv, templates/occupations.tsv        or the authors' files (rules/upstream.smk)
    results/winopron/scores/{templates}/{model}.parquet        rules/scoring.smk
    results/winopron/answers/{templates}/{model}.parquet       rules/prompting.smk
    results/winopron/clusters/{templates}/{entities}/{system}.jsonl  rules/coreference.smk

OUTPUTS
    results/winopron/instances/, prompts/, clusters/ (those of rules), predictions/, analysis/
    results/winopron/estimates.csv, biased_occupations.csv, overlap.csv
    results/winopron/figures/, tables/                         figures 3 and 5, tables 1 to 10 of the paper
    results/paper/sections/winopron.tex
"""

from scripts.winopron import plan as winopron_plan
from scripts.winopron import study as winopron_study

WINOPRON_PROMPTS = str(TEMPLATES / "winopron/prompts.tsv")
WINOPRON = call_or_exit(
    winopron_plan.Plan,
    config["winopron"],
    MODELS,
    RUN_MODELS,
    RUN_SYSTEM_FACTS,
    len(PRONOUN_SETS),
    WINOPRON_PROMPTS,
)
WINOPRON_CATEGORY = f"{len(STUDIES) + 2}. WinoPron"

# What the template sets are read from.
WINOPRON_FILES = {
    "replica": {
        "sentences": str(TEMPLATES / "winopron/sentences.tsv"),
        "occupations": str(TEMPLATES / "occupations.tsv"),
    },
    "official": {"archive": upstream("winopron/data.zip")},
    "winogender": {"winogender": upstream("winogender/data/templates.tsv")},
}
WINOPRON_COMPARED = {"template_sets": WINOPRON.parts, "every_set": ["replica", "official"]}
WINOPRON_DRAWN = ["accuracy", "consistency", "bias"]
WINOPRON_TABULATED = ["performance", "consistency", "biased_occupations", "overlap_systems", "overlap_cases"]
WINOPRON_TABULATED += ["f1", "precision", "recall"]
WINOPRON_SHOWN = ["problems", "schemas", "groups"]
# Tables of sentences show this project's own: the authors' are in none.
WINOPRON_OWN = [name for name in WINOPRON.parts if name == "replica"]
WINOPRON_FIGURES = expand(
    "results/winopron/figures/{templates}/{figure}", templates=WINOPRON.parts, figure=WINOPRON_DRAWN
)
WINOPRON_TABLES = [
    *expand("results/winopron/tables/{templates}/{table}", templates=WINOPRON_OWN, table=WINOPRON_SHOWN),
    "results/winopron/tables/counts",
    "results/winopron/tables/prompts",
    *expand("results/winopron/tables/{templates}/{table}", templates=WINOPRON.parts, table=WINOPRON_TABULATED),
]


rule winopron_instances:
    input:
        unpack(lambda wildcards: WINOPRON_FILES[wildcards.templates]),
        pronouns=PRONOUN_FILE,
    output:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    log:
        "results/logs/winopron_instances/{templates}_{entities}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
        entities=one_of(winopron_study.ENTITIES),
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("entities"),
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/winopron/instances.py"


rule winopron_clusters:
    input:
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    output:
        clusters="results/winopron/clusters/{templates}/{entities}/{rule}.jsonl",
    log:
        "results/logs/winopron_clusters/{templates}_{entities}_{rule}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
        entities=one_of(winopron_study.ENTITIES),
        rule=one_of(winopron_study.RULES),
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("rule"),
    script:
        "../scripts/winopron/baselines.py"


rule winopron_templates_to_score:
    input:
        instances="results/winopron/instances/{templates}/double.parquet",
    output:
        selected="results/winopron/instances/{templates}/selected.parquet",
    log:
        "results/logs/winopron_templates_to_score/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **WINOPRON["resolution"],
    script:
        "../scripts/winopron/instances.py"


rule winopron_prompts:
    input:
        instances=lambda wildcards: WINOPRON.asked_about(wildcards.templates),
        prompt_templates=WINOPRON_PROMPTS,
    output:
        prompts="results/winopron/prompts/{templates}.parquet",
    log:
        "results/logs/winopron_prompts/{templates}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
    conda:
        "../envs/analysis.yaml"
    params:
        pairs=WINOPRON["prompting"]["pairs"],
        seed=WINOPRON["prompting"]["seed"],
        wording=WINOPRON["prompting"]["wording"],
        chosen=WINOPRON["prompting"]["prompts"],
        variants=WINOPRON["prompting"]["variants"],
    script:
        "../scripts/winopron/instances.py"


rule winopron_predictions:
    input:
        unpack(lambda wildcards: WINOPRON.inputs(wildcards.templates, wildcards.entities)),
        instances="results/winopron/instances/{templates}/{entities}.parquet",
    output:
        predictions="results/winopron/predictions/{templates}/{entities}.parquet",
    log:
        "results/logs/winopron_predictions/{templates}_{entities}.log",
    wildcard_constraints:
        templates=one_of(WINOPRON_FILES),
        entities=one_of(winopron_study.ENTITIES),
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates", "entities"),
        readers=lambda wildcards: WINOPRON.readers(wildcards.templates, wildcards.entities),
    script:
        "../scripts/winopron/predictions.py"


rule winopron_estimates:
    input:
        instances=WINOPRON.files("instances"),
        predictions=WINOPRON.files("predictions"),
    output:
        estimates="results/winopron/estimates.csv",
        biased_occupations="results/winopron/biased_occupations.csv",
        overlap="results/winopron/overlap.csv",
    log:
        "results/logs/winopron_estimates/all.log",
    conda:
        "../envs/analysis.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **WINOPRON.bootstrap,
    script:
        "../scripts/winopron/estimates.py"


# Figures 3 (accuracy) and 5 (bias) of the paper; consistency has the numbers of Table 3.
rule winopron_figures:
    input:
        estimates=rules.winopron_estimates.output.estimates,
    output:
        pdf=expand("results/winopron/figures/{{templates}}/{figure}.pdf", figure=WINOPRON_DRAWN),
        png=[
            reported(path, WINOPRON_CATEGORY, 1, "figure")
            for path in expand("results/winopron/figures/{{templates}}/{figure}.png", figure=WINOPRON_DRAWN)
        ],
        csv=expand("results/winopron/figures/{{templates}}/{figure}.csv", figure=WINOPRON_DRAWN),
    log:
        "results/logs/winopron_figures/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        labels=WINOPRON.labels,
        demonstrations=WINOPRON.demonstrations,
    script:
        "../scripts/winopron/figures.py"


# Tables 2 to 6 and 8 to 10 of the paper.
rule winopron_tables:
    input:
        **rules.winopron_estimates.output,
    output:
        tex=expand("results/winopron/tables/{{templates}}/{table}.tex", table=WINOPRON_TABULATED),
        csv=[
            reported(path, WINOPRON_CATEGORY, 2, "table")
            for path in expand("results/winopron/tables/{{templates}}/{table}.csv", table=WINOPRON_TABULATED)
        ],
    log:
        "results/logs/winopron_tables/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        labels=WINOPRON.labels,
    script:
        "../scripts/winopron/tables.py"


# Table 1 of the paper.
rule winopron_table_counts:
    input:
        instances=WINOPRON.files("instances"),
    output:
        tex="results/winopron/tables/counts.tex",
        csv=reported("results/winopron/tables/counts.csv", WINOPRON_CATEGORY, 3, "table", "Templates by case"),
    log:
        "results/logs/winopron_table_counts/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        sets=WINOPRON.sets,
    script:
        "../scripts/winopron/tables.py"


# Table 7 of the paper.
rule winopron_table_prompts:
    input:
        prompt_templates=WINOPRON_PROMPTS,
    output:
        tex="results/winopron/tables/prompts.tex",
        csv=reported("results/winopron/tables/prompts.csv", WINOPRON_CATEGORY, 4, "table", "Prompts"),
    log:
        "results/logs/winopron_table_prompts/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        wording=WINOPRON["prompting"]["wording"],
        chosen=WINOPRON["prompting"]["prompts"],
    script:
        "../scripts/winopron/tables.py"


# Figures 1, 2 and 4 of the paper, which are text.
rule winopron_tables_of_sentences:
    input:
        problems=str(TEMPLATES / "winopron/problems.tsv"),
        instances="results/winopron/instances/replica/double.parquet",
    output:
        tex=expand("results/winopron/tables/replica/{sentences}.tex", sentences=WINOPRON_SHOWN),
        csv=[
            reported(path, WINOPRON_CATEGORY, 5, "table")
            for path in expand("results/winopron/tables/replica/{sentences}.csv", sentences=WINOPRON_SHOWN)
        ],
    log:
        "results/logs/winopron_tables_of_sentences/all.log",
    conda:
        "../envs/analysis.yaml"
    script:
        "../scripts/winopron/tables.py"


rule winopron_published_vs_ours:
    input:
        **published_files("winopron"),
        **rules.winopron_estimates.output,
        named_occupations=repo_path("paper/published/winopron_table4.csv"),
        counts=rules.winopron_table_counts.output.csv,
    output:
        csv=reported(
            "results/winopron/tables/published_vs_ours.csv",
            WINOPRON_CATEGORY,
            6,
            "table",
            "Published numbers beside ours",
        ),
        tex="results/winopron/tables/published_vs_ours.tex",
        numbers="results/winopron/tables/published_vs_ours.json",
    log:
        "results/logs/winopron_published_vs_ours/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **WINOPRON_COMPARED,
        models=WINOPRON.asked,
        labels=WINOPRON.labels,
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/winopron/published.py"


rule winopron_findings:
    input:
        instances=WINOPRON.files("instances"),
        predictions=WINOPRON.files("predictions"),
    output:
        csv=reported("results/winopron/tables/findings.csv", WINOPRON_CATEGORY, 7, "table", "Findings of the study"),
        tex="results/winopron/tables/findings.tex",
        numbers="results/winopron/tables/findings.json",
    log:
        "results/logs/winopron_findings/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **WINOPRON.bootstrap,
        **WINOPRON_COMPARED,
        labels=WINOPRON.labels,
    script:
        "../scripts/winopron/findings.py"


rule winopron_findings_of_model:
    input:
        instances=WINOPRON.files("instances"),
        predictions=WINOPRON.files("predictions"),
    output:
        findings_csv="results/winopron/analysis/findings_of_model/{model}.csv",
    log:
        "results/logs/winopron_findings_of_model/{model}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("model"),
        **WINOPRON.bootstrap,
        label=lambda wildcards: MODELS[wildcards.model].label,
        template_sets=WINOPRON.parts,
    script:
        "../scripts/winopron/findings.py"


rule winopron_section:
    input:
        section_templates=expand(repo_path("paper/sections/winopron{part}.tex.j2"), part=SECTION_PARTS),
        estimates=rules.winopron_estimates.output.estimates,
        overlap=rules.winopron_estimates.output.overlap,
        instances=expand("results/winopron/instances/{templates}/double.parquet", templates=WINOPRON.parts),
        figures=expand("{figure}.pdf", figure=WINOPRON_FIGURES),
        tables=[
            *expand("{table}.tex", table=WINOPRON_TABLES),
            rules.winopron_published_vs_ours.output.tex,
            rules.winopron_findings.output.tex,
        ],
        comparison_numbers=[
            rules.winopron_published_vs_ours.output.numbers,
            rules.winopron_findings.output.numbers,
        ],
    output:
        section_files=expand("results/paper/sections/winopron{part}.tex", part=SECTION_PARTS),
        paper_numbers=expand("results/winopron/analysis/{templates}/paper_numbers.json", templates=WINOPRON.parts),
    log:
        "results/logs/winopron_section/all.log",
    conda:
        "../envs/paper.yaml"
    params:
        template_sets=WINOPRON.parts,
        winogender="winogender" in WINOPRON.templates,
        models=WINOPRON.asked,
        scored=WINOPRON.scoring,
        labels=WINOPRON.labels,
        draws=WINOPRON["bootstrap"]["draws"],
    script:
        "../scripts/winopron/section.py"


rule winopron_summary:
    input:
        estimates=rules.winopron_estimates.output.estimates,
    output:
        summary="results/winopron/analysis/summary.csv",
    log:
        "results/logs/winopron_summary/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        labels=WINOPRON.labels,
        models=WINOPRON.asked,
        scored=WINOPRON.scoring,
        systems=RUN_SYSTEM_FACTS,
    script:
        "../scripts/winopron/section.py"


declare(
    name="winopron",
    title="WinoPron (whom a pronoun means)",
    question="Does a system resolve a pronoun to the right one of two people, in every case and whatever the pronoun?",
    chances={"accuracy": 0.5},
    outcomes={"": ["results/winopron/predictions/{part}/{entities}.parquet"]},
    paired={
        "accuracy": PairedOutcomes(
            cluster=["pair"],
            value="right",
            unit=["instance_id", "prompt", "variant"],
            where={name: [f"{{{name}}}"] for name in winopron_study.SYSTEM} | {"reading": ["corrected"]},
            prediction=["prediction"],
        )
    },
    parts=WINOPRON.parts,
    analyses=[*rules.winopron_estimates.output],
    resolved=WINOPRON.documents,
    scored=WINOPRON.scored,
    prompted=WINOPRON.prompts,
    figures=WINOPRON_FIGURES,
    tables=[*WINOPRON_TABLES, "results/winopron/tables/published_vs_ours", "results/winopron/tables/findings"],
    card=Card(
        value="Share right",
        points=[
            Point(
                short,
                "accuracy",
                {"entities": "double", "case": case},
                ("winopron_accuracy", f"double-entity | {case.capitalize()}", "{model}", 0.01),
            )
            for case, short in winopron_study.CASE_LABELS.items()
        ]
        + [
            Point(
                label,
                f"{kind} consistency",
                {"entities": "double"},
                (f"winopron_{kind}_consistency", "{model}", column, 0.01),
            )
            for label, kind, column in (
                ("all pronouns", "pronoun", "PronounC"),
                ("both people", "disambiguation", "DisambigC"),
            )
        ],
        parts=WINOPRON.parts,
        printed="winopron",
        axis="Case, or sentences that are right together",
    ),
    explorer=ExplorerView(
        sets={
            f"{templates}, {winopron_study.ENTITIES[entities]}": expand(
                f"results/winopron/{{kind}}/{templates}/{entities}.parquet", kind=["instances", "predictions"]
            )
            for templates, entities in WINOPRON.sets
        },
        gold="answer",
        words=("correct", "chosen"),
        levels={"occupation": "", "participant": ""},
        unit=("pair", "pairs of people"),
        factors=["case", "pronoun_set", "occupation"],
        called=WINOPRON.called,
        clusters=[
            {"system": reader["model"], "file": reader["file"]}
            for names in WINOPRON.sets
            for reader in WINOPRON.readers(*names)
            if reader["outputs"] == "clusters"
        ],
        scorings=winopron_study.LIKELIHOODS,
    ),
)
