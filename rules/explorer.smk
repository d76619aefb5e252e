# The explorer (docs/explorer.md). Needs what the studies declare of it. Makes one HTML page with every instance of a
# run and what all models and systems made of it.

from dataclasses import asdict

EXPLORED = {name: study.explorer for name, study in STUDIES.items() if study.explorer}


# It takes seconds.
localrules:
    explorer,


rule explorer:
    """One page with every instance of the run: results/explorer.html."""
    input:
        template=repo_path("paper/explorer.html"),
        _read=[path for explored in EXPLORED.values() for path in explored.files],
    output:
        page=report(
            "results/explorer.html",
            category="1. All studies",
            labels={"no.": "04", "result": "Explorer: every instance"},
        ),
    log:
        "results/logs/explorer/explorer.log",
    conda:
        "../envs/analysis.yaml"
    params:
        # The line alone: a row of pronouns makes no new page.
        canary=(TEMPLATES / "pronouns.tsv").read_text(encoding="utf-8").splitlines()[0].lstrip("# "),
        studies={
            name: {"label": STUDIES[name].label, "question": STUDIES[name].question} | asdict(explored)
            for name, explored in EXPLORED.items()
        },
        template_files={
            name: {
                path.name: str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
                for path in [*TEMPLATES.glob("*.tsv"), *(TEMPLATES / name).glob("*.tsv")]
            }
            for name in EXPLORED
        },
    script:
        "../scripts/explorer/explorer.py"
