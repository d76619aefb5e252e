"""Render the paper's section on Counter-GAP from its template and the results of the run."""

import os
from pathlib import Path

from scripts.core.job import run
from scripts.core.paper.sections import across, figure, listed, number, part_of, value, write

SHARED = "figures"
"""Name of the folder of the figures that belong to no set of quadruples."""


def main(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    template_sets: list,
    gap: list,
):
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``comparison_numbers`` count verdicts on what the study publishes; ``gap`` are the parts of
    GAP in the run.
    """
    paper = Path(section_tex).parents[1]
    sets = {}
    for key, path in zip(template_sets, numbers, strict=True):
        sets[key] = part_of("counter_gap", key, path, tables, figures, paper)
    context = {
        "sets": sets,
        "beside": across("counter_gap", comparison_numbers, tables),
        "any_set": next(iter(sets.values())),
        "shared": {Path(p).stem: os.path.relpath(p, paper) for p in figures if Path(p).parent.name == SHARED},
        "gap": gap,
        "number": number,
        "value": value,
        "listed": listed,
        "figure": figure,
    }
    write(section_tex, section_template, context)


if __name__ == "__main__":
    run(main)
