# The explorer (docs/results.md). Needs what the studies declare of it. Makes one HTML page with every instance of a
# run and what all models and systems made of it.

from dataclasses import asdict

EXPLORED = {name: study.explorer for name, study in STUDIES.items() if study.explorer}
EXPLORED_MODELS = {
    name: MODELS[name].facts
    for study in STUDIES.values()
    for name in [*study.models, *(study.prompted.models if study.prompted else [])]
} | RUN_SYSTEM_FACTS
EXPLORED_OUTPUTS = {
    name: [
        {"kind": output.kind, "model": output.model, "file": output.file, "asked": output.asked}
        for output in STUDIES[name].explored_outputs()
    ]
    for name in EXPLORED
}


# It takes seconds.
localrules:
    explorer,


rule explorer:
    """One page with every instance of the run: results/explorer.html."""
    input:
        template=repo_path("paper/explorer.html"),
        summaries=[STUDIES[name].summary_file for name in EXPLORED],
        _read=[path for explored in EXPLORED.values() for path in explored.files],
        _clusters=[entry["file"] for explored in EXPLORED.values() for entry in explored.clusters],
        _outputs=sorted(
            {path for outputs in EXPLORED_OUTPUTS.values() for one in outputs for path in (one["file"], one["asked"])}
        ),
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
            name: asdict(explored)
            | {
                "label": STUDIES[name].label,
                "question": STUDIES[name].question,
                "outputs": EXPLORED_OUTPUTS[name],
                "shown": [label for label, (instances, *_) in explored.sets.items() if explored.shows(instances)],
                "template_files": {
                    path.name: str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
                    for path in [*TEMPLATES.glob("*.tsv"), *(TEMPLATES / name).glob("*.tsv")]
                },
            }
            for name, explored in EXPLORED.items()
        },
        models=EXPLORED_MODELS,
    script:
        "../scripts/explorer/explorer.py"
