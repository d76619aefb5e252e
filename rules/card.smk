# The card of a model, or of several next to each other. Needs what every study finds for them (summaries, findings,
# figures) and published values. Makes a page as PDF and HTML with its manifest.

# The cards of this run, by name: their models.
CARDED = {
    cards.joined(names): names
    for entry in config.get("cards", [])
    if (names := [name for name in entry.split(",") if name in READ_MODELS or name in ASKED_MODELS])
}
# A run in a folder of its own is compared with the default run, if that was made.
CARD_OTHERS = [repo_path("results/paper/summary.csv")] if Path.cwd() != ROOT else []
CARD_OTHERS = [path for path in CARD_OTHERS if Path(path).is_file()]
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
    carded=one_of(CARDS),
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
        summary=lambda wildcards: STUDIES[wildcards.carded].summary_file,
        others=CARD_OTHERS,
        printed=lambda wildcards: (
            [repo_path(f"paper/published/{CARDS[wildcards.carded].printed}{part}.csv") for part in ("", "_models")]
            if CARDS[wildcards.carded].printed
            else []
        ),
    output:
        pdf="results/cards/{card}/{carded}.pdf",
        png="results/cards/{card}/{carded}.png",
        csv="results/cards/{card}/{carded}.csv",
    log:
        "results/logs/card_figure/{card}_{carded}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        study=lambda wildcards: wildcards.carded,
        models=lambda wildcards: CARDED[wildcards.card],
        value=lambda wildcards: CARDS[wildcards.carded].value,
        points=lambda wildcards: [list(point) for point in CARDS[wildcards.carded].points],
        parts=lambda wildcards: CARDS[wildcards.carded].parts,
        chance=lambda wildcards: CARDS[wildcards.carded].chance,
        axis=lambda wildcards: CARDS[wildcards.carded].axis,
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
        figures=lambda wildcards: expand(
            "results/cards/{{card}}/{study}.{suffix}",
            study=["scorecard", *card_studies(CARDED[wildcards.card])],
            suffix=["png", "csv"],
        ),
        made=lambda wildcards: [
            path for study, model in card_pairs(CARDED[wildcards.card]) for path in STUDIES[study].files_of(model)
        ],
        speeds=lambda wildcards: [path for model in CARDED[wildcards.card] for path in speeds_of(model)],
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
        figures=lambda wildcards: expand(
            "results/cards/{{card}}/{study}.pdf", study=["scorecard", *card_studies(CARDED[wildcards.card])]
        ),
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
