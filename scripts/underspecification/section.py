"""Render the paper's section on Underspecification from its template and the results of the run."""

import os
from pathlib import Path

from scripts.core.job import run
from scripts.core.paper.sections import across, figure, listed, number, part_of, value, write
from scripts.underspecification.lib import study

NAMES = {
    "preprint": "Outputs released with the preprint",
    "aaai": "Outputs released with the paper at AAAI",
    study.RUN: "Models of this run",
}


def main(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    sources: list,
    templates: list,
    prompts: dict,
    models: dict,
    shares: bool,
):
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``sources``, in that order; ``figures`` and ``tables`` are the files that the
    section includes, ``comparison_numbers`` count verdicts; ``templates`` are the Winogender sets that the run's
    ``models`` read, with ``prompts`` by evaluation set; ``shares`` tells whether occupations are in the order of the
    share of women.
    """
    paper = Path(section_tex).parents[1]
    parts = {}
    for key, path in zip(sources, numbers, strict=True):
        parts[key] = part_of("underspecification", key, path, tables, figures, paper)
        parts[key] |= {"title": NAMES[key], "released": key != study.RUN, "shares": shares}
    context = {
        "sources": parts,
        "any_source": next(iter(parts.values())),
        "toy_figure": next(os.path.relpath(p, paper) for p in figures if Path(p).stem == "toy_model"),
        "beside": across("underspecification", comparison_numbers, tables),
        "templates": templates,
        "prompts": prompts,
        "demonstration": [facts["label"] for facts in models.values() if facts["demonstration"]],
        "number": number,
        "value": value,
        "listed": listed,
        "figure": figure,
    }
    write(section_tex, section_template, context)


if __name__ == "__main__":
    run(main)
