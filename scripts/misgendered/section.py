"""Render the section on MISGENDERED and its part of the appendix from templates and the results of the run."""

from scripts.core.job import run
from scripts.core.paper import closing
from scripts.core.paper.sections import context, value, write

TITLES = {"replica": "replica templates", "official": "official templates"}
"""The sets of templates as the text calls them."""


def main(
    *,
    section_template: str,
    appendix_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    appendix_tex: str,
    template_sets: list,
    models: dict,
    shots: list,
    scores: dict,
    wording: str,
):
    """Write ``section_tex`` and ``appendix_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``comparison_numbers`` count verdicts on what the study publishes; ``models`` are those of the
    run that the study takes, ``shots`` the numbers of examples; ``scores`` and ``wording`` are choices of the
    configuration.
    """
    common = context(
        "misgendered", template_sets, numbers, figures, tables, comparison_numbers, section_tex, models=models
    )
    everything = common | {
        "models": models,
        "shots": shots,
        "scores": scores,
        "wording": wording,
        "word": word,
        "called": {name: TITLES[name] for name in template_sets},
    }
    everything["counts"] = closing.counts(common["beside"], everything["called"])
    closing.write(section_tex, section_template, everything, figures, tables)
    write(appendix_tex, appendix_template, everything)


def word(part, name, above, below, neither):
    """Return the word that fits the sign of a number: of an interval's, or of its value."""
    found = value(part, name) or 0
    return above if found > 0 else below if found < 0 else neither


if __name__ == "__main__":
    run(main)
