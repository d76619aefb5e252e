"""
Greetings, a study as small as one can be: does a model continue with the pronoun set that was introduced?

REQUIRED INPUTS
    templates/greetings/sentences.tsv
    results/greetings/scores/{templates}/{model}.parquet      rules/scoring.smk

OUTPUTS
    results/greetings/instances/, estimates.csv, figures/, tables/
    results/paper/sections/greetings.tex
"""

GREETINGS = config["greetings"]
GREETINGS_CATEGORY = f"{len(STUDIES) + 2}. Greetings"
GREETINGS_LABELS = {name: MODELS[name].facts["label"] for name in RUN}
GREETINGS_CHANCE = 1 / len(PRONOUN_SETS)
GREETINGS_DRAWN = ["accuracy"]
GREETINGS_FIGURES = expand(
    "results/greetings/figures/{templates}/{figure}", templates=GREETINGS["templates"], figure=GREETINGS_DRAWN
)
GREETINGS_TABLES = expand("results/greetings/tables/{templates}/accuracy", templates=GREETINGS["templates"])


rule greetings_instances:
    input:
        sentences=str(TEMPLATES / "greetings/sentences.tsv"),
        pronouns=PRONOUN_FILE,
    output:
        instances="results/greetings/instances/{templates}/selected.parquet",
    log:
        "results/logs/greetings_instances/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        pronoun_sets=PRONOUN_SETS,
    script:
        "../scripts/greetings/instances.py"


rule greetings_estimates:
    input:
        instances=expand(rules.greetings_instances.output.instances, templates=GREETINGS["templates"]),
        scores=expand(
            "results/greetings/scores/{templates}/{model}.parquet", templates=GREETINGS["templates"], model=RUN
        ),
    output:
        estimates="results/greetings/estimates.csv",
    log:
        "results/logs/greetings_estimates/all.log",
    conda:
        "../envs/analysis.yaml"
    params:
        draws=1000,
        seed=1,
    script:
        "../scripts/greetings/estimates.py"


rule greetings_figures:
    input:
        estimates=rules.greetings_estimates.output.estimates,
    output:
        pdf=expand("results/greetings/figures/{{templates}}/{figure}.pdf", figure=GREETINGS_DRAWN),
        png=[
            reported(path, GREETINGS_CATEGORY, 1, "figure", f"Greetings, {Path(path).stem}")
            for path in expand("results/greetings/figures/{{templates}}/{figure}.png", figure=GREETINGS_DRAWN)
        ],
        csv=expand("results/greetings/figures/{{templates}}/{figure}.csv", figure=GREETINGS_DRAWN),
    log:
        "results/logs/greetings_figures/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        chance=GREETINGS_CHANCE,
        labels=GREETINGS_LABELS,
    script:
        "../scripts/greetings/figures.py"


rule greetings_table:
    input:
        estimates=rules.greetings_estimates.output.estimates,
    output:
        tex="results/greetings/tables/{templates}/accuracy.tex",
        csv=reported("results/greetings/tables/{templates}/accuracy.csv", GREETINGS_CATEGORY, 2, "table", "Accuracy"),
    log:
        "results/logs/greetings_table/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **from_wildcards("templates"),
        labels=GREETINGS_LABELS,
    script:
        "../scripts/greetings/tables.py"


rule greetings_section:
    input:
        section_template=repo_path("paper/sections/greetings.tex.j2"),
        estimates=rules.greetings_estimates.output.estimates,
        figures=expand("{figure}.pdf", figure=GREETINGS_FIGURES),
        tables=expand("{table}.tex", table=GREETINGS_TABLES),
    output:
        section_tex="results/paper/sections/greetings.tex",
        summary="results/greetings/analysis/summary.csv",
        paper_numbers=expand(
            "results/greetings/analysis/{templates}/paper_numbers.json", templates=GREETINGS["templates"]
        ),
    log:
        "results/logs/greetings_section/all.log",
    conda:
        "../envs/paper.yaml"
    params:
        template_sets=GREETINGS["templates"],
        models={name: MODELS[name].facts for name in RUN},
    script:
        "../scripts/greetings/section.py"


declare(
    name="greetings",
    title="Greetings (a study of the tests)",
    question="Does a model continue with the pronoun set that a person was introduced with?",
    parts=GREETINGS["templates"],
    analyses=[*rules.greetings_estimates.output],
    figures=GREETINGS_FIGURES,
    tables=GREETINGS_TABLES,
    scored=ScoredInstances(
        sets=GREETINGS["templates"], instances=10 * len(PRONOUN_SETS), options=len(PRONOUN_SETS), tokens=15
    ),
    chances={"accuracy": GREETINGS_CHANCE},
)
