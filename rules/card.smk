# The card of a model, or of several next to each other. Needs what every study finds for them (summaries, findings,
# figures) and published values. Makes a page as PDF and HTML.

# The cards of this run, by name: their models.
CARDED = {
    cards.join_names(names): names
    for entry in config.get("cards", [])
    if (names := [name for name in entry.split(",") if card_studies([name])])
}


wildcard_constraints:
    card=one_of(CARDED),


# They take seconds each.
localrules:
    card,
    card_figure,
    card_page,
    card_pdf,


rule card:
    """Two pages about up to four models: those that the key cards lists (python -m scripts.card writes it)."""
    input:
        expand("results/cards/{card}/card.{suffix}", card=CARDED, suffix=["pdf", "html"]),


rule card_figure:
    input:
        summaries=lambda wildcards: card_summaries(CARDED[wildcards.card]),
        printed=lambda wildcards: [
            repo_path(f"paper/published/{CARDS[study].printed}{part}.csv")
            for study in card_studies(CARDED[wildcards.card])
            if CARDS[study].printed
            for part in ("", "_models")
        ],
    output:
        pdf="results/cards/{card}/studies.pdf",
        png="results/cards/{card}/studies.png",
        csv="results/cards/{card}/studies.csv",
    log:
        "results/logs/card_figure/{card}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=lambda wildcards: {model: MODELS[model].label for model in CARDED[wildcards.card]},
        studies=lambda wildcards: [
            {"key": name, "label": STUDIES[name].label, "points": [list(point) for point in CARDS[name].points]}
            | {key: getattr(CARDS[name], key) for key in ("value", "parts", "chance", "axis", "printed")}
            for name in card_studies(CARDED[wildcards.card])
        ],
    script:
        "../scripts/card/card_figure.py"


# Compares every further model with the first, on the instances that both read.
rule card_page:
    input:
        template_tex=repo_path("paper/card.tex.j2"),
        template_html=repo_path("paper/card.html.j2"),
        style=repo_path("paper/proceedings.sty"),
        summaries=lambda wildcards: card_summaries(CARDED[wildcards.card]),
        findings=lambda wildcards: [
            STUDIES[study].findings_file(model) for study, model in card_pairs(CARDED[wildcards.card])
        ],
        figure=rules.card_figure.output.png,
        made=lambda wildcards: [
            output.file
            for study, model in card_pairs(CARDED[wildcards.card])
            for output in STUDIES[study].outputs_of(model)
        ],
        fronts=FRONTS,
        outcomes=lambda wildcards: [
            path
            for name in card_studies(CARDED[wildcards.card])
            for path in EXPLORED[name].files
            if len(CARDED[wildcards.card]) > 1
        ],
    output:
        main_tex="results/cards/{card}/card.tex",
        html="results/cards/{card}/card.html",
        style_copy="results/cards/{card}/proceedings.sty",
        findings_csv="results/cards/{card}/findings.csv",
        differences="results/cards/{card}/differences.csv",
    log:
        "results/logs/card_page/{card}.log",
    conda:
        "../envs/paper.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        models=lambda wildcards: {model: cards.describe_model(MODELS[model]) for model in CARDED[wildcards.card]},
        pairs=lambda wildcards: card_pairs(CARDED[wildcards.card]),
        studies=PAPER_STUDIES,
        declared=DECLARED_PAIRS,
        audit=cards.audit_command(
            config.get("run"), [runs.in_repository(Path(path).resolve(), ROOT, ROOT) for path in CONFIG_FILES[1:]]
        ),
    script:
        "../scripts/card/card_page.py"


rule card_pdf:
    input:
        main_tex=rules.card_page.output.main_tex,
        style=rules.card_page.output.style_copy,
        figure=rules.card_figure.output.pdf,
    output:
        pdf=report(
            "results/cards/{card}/card.pdf",
            category="1. All studies",
            labels={"no.": "03", "result": "Card of {card}"},
        ),
    log:
        "results/logs/card_pdf/{card}.log",
    conda:
        "../envs/paper.yaml"
    params:
        overfull=10.0,
    script:
        "../scripts/card/card_pdf.py"
