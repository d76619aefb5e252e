# The typeset paper: numbers for the prose, LaTeX sources, PDF. Sections of studies that were not run are absent.


rule ruff_paper_numbers:
    input:
        **RUFF_PROMPTING_TABLES,
        accuracy=rules.ruff_accuracy.output.accuracy,
        accuracy_over_models=rules.ruff_accuracy.output.accuracy_over_models,
        context_free=rules.ruff_context_free_counts.output.context_free,
        context_free_summary=rules.ruff_context_free_counts.output.context_free_summary,
        pronoun_tests=rules.ruff_pronoun_tests.output.pronoun_tests,
        error_types=rules.ruff_error_types.output.error_types,
        error_range=rules.ruff_error_types.output.error_range,
        instance_counts=rules.ruff_table_instance_counts.output.csv,
    output:
        paper_numbers=f"{RUFF_ANALYSIS}/paper_numbers.json",
    log:
        "results/logs/ruff_paper_numbers/{templates}.log",
    conda:
        "../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings={
            "seeds": len(RUFF["seeds"]),
            "sample_size": RUFF["sample_size"],
            "chance": RUFF_CHANCE,
            "alpha": RUFF["alpha"],
            "bootstrap_draws": RUFF["bootstrap"]["draws"],
        },
        prompting_settings=RUFF_PROMPTING_NUMBERS,
        _code=code("scripts/ruff/paper_numbers.py"),
    script:
        "../scripts/ruff/paper_numbers.py"


rule paper_source:
    input:
        main_template=root("paper/main.tex.j2"),
        section_template=root("paper/sections/ruff.tex.j2"),
        _included=root("paper/sections/ruff_prompting.tex.j2"),
        bibliography=root("paper/references.bib"),
        numbers=expand(rules.ruff_paper_numbers.output.paper_numbers, templates=RUFF["templates"]),
        figures=[path for path in RUFF_FIGURE_FILES if path.endswith(".pdf")],
        figure_data=[path for path in RUFF_FIGURE_FILES if path.endswith(".csv")],
        tables=[path for path in RUFF_TABLE_FILES if path.endswith(".tex")],
        comparison_numbers=[path for path in RUFF_TABLE_FILES if path.endswith(".json")],
        scores=RUFF_SCORE_FILES,
    output:
        main_tex="results/paper/main.tex",
        section_tex="results/paper/sections/ruff.tex",
        bibliography_copy="results/paper/references.bib",
    log:
        "results/logs/paper_source/paper.log",
    conda:
        "../envs/paper.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        template_sets=RUFF["templates"],
        models=RUN_MODELS,
        pronoun_sets=PRONOUN_LABELS,
        distractors=RUFF["distractors"],
        seeds=RUFF["seeds"],
        engine=config["scoring"]["engine"],
        prompting=RUFF_PROMPTING_SECTION,
        studies=[
            {"key": "ruff", "name": "RUFF (robust pronoun fidelity)"},
            {"key": "counter_gap", "name": "Counter-GAP (inconsistency across genders)"},
            {"key": "underspecification", "name": "Underspecification (pronouns against dates and places)"},
        ],
        _code=code("scripts/paper_source.py"),
    script:
        "../scripts/paper_source.py"


# Figures and tables of all wings, in every format.
RESULT_FILES = [*RUFF_FIGURE_FILES, *RUFF_TABLE_FILES, *COUNTER_GAP_FIGURE_FILES, *COUNTER_GAP_TABLE_FILES]
RESULT_FILES += [*UNDERSPEC_FIGURE_FILES, *UNDERSPEC_TABLE_FILES]


rule paper_provenance:
    input:
        _schema=root("config/schemas/record.schema.yaml"),
        main_tex=rules.paper_source.output.main_tex,
        sections=[
            rules.paper_source.output.section_tex,
            rules.counter_gap_section.output.section_tex,
            rules.underspecification_section.output.section_tex,
        ],
        numbers=[
            *rules.paper_source.input.numbers,
            *rules.paper_source.input.comparison_numbers,
            *rules.counter_gap_section.input.numbers,
            *rules.counter_gap_section.input.comparison_numbers,
            *rules.underspecification_section.input.numbers,
            *rules.underspecification_section.input.comparison_numbers,
        ],
        results=[path for path in RESULT_FILES if path.endswith((".pdf", ".tex"))],
    output:
        provenance_tex="results/paper/sections/provenance.tex",
        currency_tex="results/paper/sections/currency.tex",
        captions="results/paper/captions.rst",
        manifest="results/paper/manifest.sha256",
    log:
        "results/logs/paper_provenance/paper.log",
    conda:
        "../envs/paper.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        allow_stale=config["paper"]["allow_stale"],
        _code=code("scripts/paper_provenance.py"),
    script:
        "../scripts/paper_provenance.py"


rule paper_pdf:
    input:
        main_tex=rules.paper_source.output.main_tex,
        sections=[
            *rules.paper_provenance.input.sections,
            rules.paper_provenance.output.provenance_tex,
            rules.paper_provenance.output.currency_tex,
        ],
        bibliography=rules.paper_source.output.bibliography_copy,
        figures=[path for path in RESULT_FILES if path.endswith(".pdf")],
        manifest=rules.paper_provenance.output.manifest,
    output:
        pdf=report("results/paper/main.pdf", category="Paper", labels={"kind": "paper", "result": "all studies"}),
    log:
        "results/logs/paper_pdf/paper.log",
    conda:
        "../envs/paper.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        overfull=10.0,
        _code=code("scripts/paper_pdf.py"),
    script:
        "../scripts/paper_pdf.py"
