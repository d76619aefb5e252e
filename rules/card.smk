# The card of a model, or of several next to each other. Needs what every study finds for them (summaries, findings,
# figures) and published values. Makes a page as PDF and HTML with its manifest.

# The cards of this run, by name: their models.
CARDED = {
    cards.joined(names): names
    for entry in config.get("cards", [])
    if (names := [name for name in entry.split(",") if name in READ_MODELS or name in ASKED_MODELS])
}
CARD_ENTRY_KEYS = (
    "label",
    "architecture",
    "parameters",
    "precision",
    "gpus",
    "context",
    "licence",
    "gated",
    "demonstration",
    "source",
)


if CARD and len(CARD.models) > 1:
    call_or_exit(
        cards.check_studies,
        {name: [STUDIES[study].label for study in card_studies([name])] for name in CARD.models},
    )


wildcard_constraints:
    card=one_of(CARDED),


# They take seconds each.
localrules:
    card,
    card_scorecard,
    card_figure,
    card_differences,
    card_page,
    card_pdf,


rule card:
    """Two pages about up to four models: --config card=owner/name, folders or registry entries, with commas between."""
    input:
        expand("results/cards/{card}/card.{suffix}", card=CARDED, suffix=["pdf", "html"]),


# The headlines of all studies, as on the paper's first page, of the card's models alone.
rule card_scorecard:
    input:
        summary_csv=lambda wildcards: card_summaries(CARDED[wildcards.card]),
    output:
        pdf="results/cards/{card}/scorecard.pdf",
        png="results/cards/{card}/scorecard.png",
        csv="results/cards/{card}/scorecard.csv",
    log:
        "results/logs/card_scorecard/{card}.log",
    conda:
        "../envs/paper.yaml"
    params:
        studies=PAPER_STUDIES,
        models=lambda wildcards: {name: registry.describe(MODELS[name]) for name in CARDED[wildcards.card]},
        alone=True,
    script:
        "../scripts/paper/paper_figure.py"


# Every further model is compared with the first, on the instances that both read.
rule card_differences:
    input:
        summaries=lambda wildcards: card_summaries(CARDED[wildcards.card]),
        outcomes=lambda wildcards: (
            [path for name in card_studies(CARDED[wildcards.card]) for path in EXPLORED[name].files]
            if len(CARDED[wildcards.card]) > 1
            else []
        ),
    output:
        differences="results/cards/{card}/differences.csv",
    log:
        "results/logs/card_differences/{card}.log",
    conda:
        "../envs/paper.yaml"
    resources:
        mem_mb=4000,
    params:
        models=lambda wildcards: CARDED[wildcards.card],
        declared=DECLARED_PAIRS,
    script:
        "../scripts/card/card_differences.py"


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
        models=lambda wildcards: {model: MODELS[model]["label"] for model in CARDED[wildcards.card]},
        studies=lambda wildcards: [
            {"key": name, "label": STUDIES[name].label, "points": [list(point) for point in CARDS[name].points]}
            | {key: getattr(CARDS[name], key) for key in ("value", "parts", "chance", "axis", "printed")}
            for name in card_studies(CARDED[wildcards.card])
        ],
    script:
        "../scripts/card/card_figure.py"


rule card_page:
    input:
        template_tex=repo_path("paper/card.tex.j2"),
        template_html=repo_path("paper/card.html.j2"),
        style=repo_path("paper/proceedings.sty"),
        differences=rules.card_differences.output.differences,
        findings=lambda wildcards: [
            STUDIES[study].findings_file(model) for study, model in card_pairs(CARDED[wildcards.card])
        ],
        figures=expand(
            "results/cards/{{card}}/{figure}.{suffix}", figure=["scorecard", "studies"], suffix=["png", "csv"]
        ),
        made=lambda wildcards: [
            path for study, model in card_pairs(CARDED[wildcards.card]) for path in STUDIES[study].files_of(model)
        ],
        summaries=lambda wildcards: card_summaries(CARDED[wildcards.card]),
        fronts=FRONTS,
    output:
        main_tex="results/cards/{card}/card.tex",
        html="results/cards/{card}/card.html",
        style_copy="results/cards/{card}/proceedings.sty",
        findings_csv="results/cards/{card}/findings.csv",
    log:
        "results/logs/card_page/{card}.log",
    conda:
        "../envs/paper.yaml"
    params:
        models=lambda wildcards: {
            model: {key: MODELS[model][key] for key in CARD_ENTRY_KEYS if key in MODELS[model]}
            for model in CARDED[wildcards.card]
        },
        pairs=lambda wildcards: card_pairs(CARDED[wildcards.card]),
        studies=lambda wildcards: [
            {
                "key": name,
                "label": STUDIES[name].label,
                "question": STUDIES[name].question,
                "chances": STUDIES[name].chances,
            }
            for name in card_studies(CARDED[wildcards.card])
        ],
        audit=cards.audit_command(CARD),
        left_out=lambda wildcards: [
            study.label for name, study in STUDIES.items() if name not in card_studies(CARDED[wildcards.card])
        ],
    script:
        "../scripts/card/card_page.py"


rule card_pdf:
    input:
        main_tex="results/cards/{card}/card.tex",
        style="results/cards/{card}/proceedings.sty",
        figures=expand("results/cards/{{card}}/{figure}.pdf", figure=["scorecard", "studies"]),
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
