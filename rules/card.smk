# The card of a model: what every study finds for it, beside the models of the papers and those of this project's runs.

# The models of this run that have a card.
CARD_MODELS = [name for name in config.get("cards", []) if name in READ_MODELS or name in ASKED_MODELS]
# What a study declares for cards, and the models that do something for it.
CARDS = {name: study.card for name, study in STUDIES.items() if study.card}
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
    "api",
)


wildcard_constraints:
    carded=one_of(CARDS),


# They take seconds each.
localrules:
    card,
    card_figure,
    card_page,
    card_pdf,
    card_manifest,


rule card:
    """Two pages about a model: --config card=owner/name, a folder or a registry entry."""
    input:
        expand("results/cards/{model}/card.{suffix}", model=CARD_MODELS, suffix=["pdf", "html"]),
        expand("results/cards/{model}/manifest.sha256", model=CARD_MODELS),


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
        pdf="results/cards/{model}/{carded}.pdf",
        png="results/cards/{model}/{carded}.png",
        csv="results/cards/{model}/{carded}.csv",
    log:
        "results/logs/card_figure/{model}_{carded}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        study=lambda wildcards: wildcards.carded,
        model=lambda wildcards: wildcards.model,
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
        findings=lambda wildcards: [
            STUDIES[name].findings_file(wildcards.model) for name in card_studies(wildcards.model)
        ],
        figures=lambda wildcards: expand(
            "results/cards/{{model}}/{study}.{suffix}",
            study=card_studies(wildcards.model),
            suffix=["png", "csv"],
        ),
        trajectories=lambda wildcards: [f"{stem}.png" for stem in card_trajectories(wildcards.model).values()],
        made=lambda wildcards: [
            path for name in card_studies(wildcards.model) for path in STUDIES[name].files_of(wildcards.model)
        ],
        speeds=card_speeds,
        summaries=lambda wildcards: [STUDIES[name].summary_file for name in card_studies(wildcards.model)],
        fronts=FRONTS,
    output:
        main_tex="results/cards/{model}/card.tex",
        html="results/cards/{model}/card.html",
        style_copy="results/cards/{model}/proceedings.sty",
        findings_csv="results/cards/{model}/findings.csv",
    log:
        "results/logs/card_page/{model}.log",
    conda:
        "../envs/paper.yaml"
    params:
        model=lambda wildcards: wildcards.model,
        entry=lambda wildcards: {
            key: MODELS[wildcards.model][key] for key in CARD_ENTRY_KEYS if key in MODELS[wildcards.model]
        },
        studies=lambda wildcards: [
            {
                "key": name,
                "label": STUDIES[name].label,
                "question": STUDIES[name].question,
                "chances": STUDIES[name].chances,
            }
            for name in card_studies(wildcards.model)
        ],
        drawn=lambda wildcards: card_trajectories(wildcards.model),
        audit=cards.audit_command(CARD),
        left_out=lambda wildcards: [
            study.label for name, study in STUDIES.items() if name not in card_studies(wildcards.model)
        ],
    script:
        "../scripts/card/card_page.py"


rule card_pdf:
    input:
        main_tex="results/cards/{model}/card.tex",
        style="results/cards/{model}/proceedings.sty",
        figures=lambda wildcards: [
            *expand("results/cards/{{model}}/{study}.pdf", study=card_studies(wildcards.model)),
            *(f"{stem}.pdf" for stem in card_trajectories(wildcards.model).values()),
        ],
    output:
        pdf=report(
            "results/cards/{model}/card.pdf",
            category="1. All studies",
            labels={"no.": "03", "result": "Card of {model}"},
        ),
    log:
        "results/logs/card_pdf/{model}.log",
    conda:
        "../envs/paper.yaml"
    params:
        overfull=10.0,
    script:
        "../scripts/card/card_pdf.py"


# Whoever changes a card can change its record too; against a list that was published both are found.
rule card_manifest:
    input:
        _schema=repo_path("config/schemas/record.schema.yaml"),
        card=[
            "results/cards/{model}/card.pdf",
            "results/cards/{model}/card.html",
            "results/cards/{model}/findings.csv",
        ],
    output:
        manifest="results/cards/{model}/manifest.sha256",
    log:
        "results/logs/card_manifest/{model}.log",
    conda:
        "../envs/provenance.yaml"
    script:
        "../scripts/card/card_manifest.py"
