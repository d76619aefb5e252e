# Needs sections, numbers, figures and tables of all studies of the run. Makes the typeset paper: LaTeX sources, the
# appendix of provenance, PDF.

from scripts.paper import citation

# Sections and their appendices, and the numbers of their text.
SECTION_FILES = [
    f"results/paper/sections/{study.name}{part}.tex"
    for study in STUDIES.values()
    for part in SECTION_PARTS
    if Path(repo_path(f"paper/sections/{study.name}{part}.tex.j2")).is_file()
]
# What the paper says of all studies together.
COMMON_SECTIONS = ["overview", "protocols", "scores", "headlines", "evidence", "findings"]
NUMBER_FILES = [path for study in STUDIES.values() for path in [*study.number_files, *study.verdict_files]]
# Figures and tables of all studies, in every format.
RESULT_FILES = [path for study in STUDIES.values() for path in [*study.figure_files, *study.table_files]]


# What the studies that test findings say of them, and what counts verdicts and comparisons.
VERDICTS = [path for study in STUDIES.values() for path in study.table_files if Path(path).name == "findings.csv"]
FINDINGS_TABLES = [str(Path(path).with_suffix(".tex")) for path in VERDICTS]
COMPARED = [path for study in STUDIES.values() for path in study.verdict_files]

# What a study says in texts about all studies, of those that have sentences of their own.
FRONTS = [
    path for study in STUDIES.values() if Path(path := repo_path(f"paper/sections/{study.name}_front.tex.j2")).is_file()
]
# The models that do anything for some study, and what they leave.
PAPER_MODELS = list(dict.fromkeys([*READ_MODELS, *ASKED_MODELS]))
PAPER_STUDIES = [
    {
        "key": study.name,
        "label": study.label,
        "question": study.question,
        "parts": study.parts,
        "appendix": f"results/paper/sections/{study.name}_appendix.tex" in SECTION_FILES,
        "chances": study.chances,
    }
    for study in STUDIES.values()
]
PLAIN_TITLE = citation.plain_title(
    [MODELS[name].label for name in PAPER_MODELS if not MODELS[name].demonstration],
    [study.label for study in STUDIES.values()],
)


rule paper_summary:
    input:
        summaries_of_studies=[study.summary_file for study in STUDIES.values()],
    output:
        csv=report(
            "results/paper/summary.csv",
            category="1. All studies",
            labels={"no.": "02", "result": "Summary: all results"},
        ),
        json_file="results/paper/summary.json",
    log:
        "results/logs/paper_summary/paper.log",
    conda:
        "../envs/paper.yaml"
    script:
        "../scripts/paper/paper_summary.py"


# The headlines of all studies in one picture.
rule paper_figure:
    input:
        summary_csv=rules.paper_summary.output.csv,
    output:
        pdf="results/paper/figures/headlines.pdf",
        png=reported("results/paper/figures/headlines.png", "1. All studies", 4, "figure", "Headlines of all studies"),
        csv="results/paper/figures/headlines.csv",
    log:
        "results/logs/paper_figure/paper.log",
    conda:
        "../envs/paper.yaml"
    params:
        studies=PAPER_STUDIES,
        models={name: MODELS[name].facts for name in PAPER_MODELS},
    script:
        "../scripts/paper/paper_figure.py"


# The same options by other scores, over all studies.
rule paper_scores:
    input:
        summary_csv=rules.paper_summary.output.csv,
    output:
        pdf="results/paper/figures/scores.pdf",
        png=reported("results/paper/figures/scores.png", "1. All studies", 5, "figure", "Accuracy by each score"),
        csv="results/paper/figures/scores.csv",
        table_tex="results/paper/tables/scores.tex",
        table_csv="results/paper/tables/scores.csv",
    log:
        "results/logs/paper_scores/paper.log",
    conda:
        "../envs/paper.yaml"
    params:
        studies=PAPER_STUDIES,
    script:
        "../scripts/paper/paper_scores.py"


rule paper_overview:
    input:
        templates=expand(repo_path("paper/{section}.tex.j2"), section=COMMON_SECTIONS),
        fronts=FRONTS,
        summary_csv=rules.paper_summary.output.csv,
        figure=rules.paper_figure.output.pdf,
        scores_figure=rules.paper_scores.output.pdf,
        scores_table=rules.paper_scores.output.table_tex,
        verdicts=VERDICTS,
        findings_tables=FINDINGS_TABLES,
        comparison_numbers=COMPARED,
    output:
        sections_tex=expand("results/paper/sections/{section}.tex", section=COMMON_SECTIONS),
        csv="results/paper/tables/overview.csv",
        numbers="results/paper/tables/overview.json",
    log:
        "results/logs/paper_overview/paper.log",
    conda:
        "../envs/paper.yaml"
    params:
        studies=PAPER_STUDIES,
        models=[MODELS[name].facts for name in PAPER_MODELS],
    script:
        "../scripts/paper/paper_overview.py"


# Revisions are read from the files that models leave.
rule paper_source:
    input:
        main_template=repo_path("paper/main.tex.j2"),
        _related_work=repo_path("paper/related_work.tex.j2"),
        _included=repo_path("paper/limitations.tex.j2"),
        bibliography=repo_path("paper/references.bib"),
        style=repo_path("paper/proceedings.sty"),
        citation_file=repo_path("CITATION.cff"),
        summary_csv=rules.paper_summary.output.csv,
        made=[output.file for study in STUDIES.values() for model in PAPER_MODELS for output in study.outputs_of(model)],
        speeds=[path for model in PAPER_MODELS for path in speeds_of(model)],
    output:
        main_tex="results/paper/main.tex",
        bibliography_copy="results/paper/references.bib",
        style_copy="results/paper/proceedings.sty",
    log:
        "results/logs/paper_source/paper.log",
    conda:
        "../envs/paper.yaml"
    params:
        models={name: MODELS[name].facts for name in PAPER_MODELS},
        coreference_systems={
            name: RUN_SYSTEM_FACTS[name] for study in STUDIES.values() if study.resolved for name in study.systems
        },
        pronoun_sets=PRONOUN_LABELS if any(study.pronoun_sets for study in STUDIES.values()) else [],
        engine=config["scoring"]["engine"] if SCORE_FILES else None,
        studies=PAPER_STUDIES,
        plain_title=PLAIN_TITLE,
        settings=config["paper"],
    script:
        "../scripts/paper/paper_source.py"


rule paper_provenance:
    input:
        _schema=repo_path("config/schemas/record.schema.yaml"),
        main_tex=rules.paper_source.output.main_tex,
        sections=[*rules.paper_overview.output.sections_tex, *SECTION_FILES],
        numbers=[*NUMBER_FILES, rules.paper_overview.output.numbers],
        results=[
            rules.paper_figure.output.pdf,
            rules.paper_scores.output.pdf,
            rules.paper_scores.output.table_tex,
            *(path for path in RESULT_FILES if path.endswith((".pdf", ".tex"))),
            *(path for study in STUDIES.values() for path in study.analyses),
        ],
    output:
        provenance_csv="results/paper/provenance.csv",
        provenance_tex="results/paper/sections/provenance.tex",
        currency_tex="results/paper/sections/currency.tex",
        captions="results/paper/captions.rst",
        manifest="results/paper/manifest.sha256",
    log:
        "results/logs/paper_provenance/paper.log",
    conda:
        "../envs/paper.yaml"
    params:
        allow_stale=config["paper"]["allow_stale"],
    script:
        "../scripts/paper/paper_provenance.py"


rule paper_pdf:
    input:
        main_tex=rules.paper_source.output.main_tex,
        sections=[
            *rules.paper_overview.output.sections_tex,
            *SECTION_FILES,
            rules.paper_provenance.output.provenance_tex,
            rules.paper_provenance.output.currency_tex,
        ],
        bibliography=rules.paper_source.output.bibliography_copy,
        style=rules.paper_source.output.style_copy,
        figures=[
            rules.paper_figure.output.pdf,
            rules.paper_scores.output.pdf,
            *(path for path in RESULT_FILES if path.endswith(".pdf")),
        ],
        manifest=rules.paper_provenance.output.manifest,
        provenance_csv=rules.paper_provenance.output.provenance_csv,
    output:
        pdf=report("results/paper/main.pdf", category="1. All studies", labels={"no.": "01", "result": "The paper"}),
        located_json="results/paper/paper.provenance.json",
    log:
        "results/logs/paper_pdf/paper.log",
    conda:
        "../envs/paper.yaml"
    params:
        overfull=10.0,
    script:
        "../scripts/paper/paper_pdf.py"
