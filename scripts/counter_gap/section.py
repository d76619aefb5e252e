"""Render the paper's section on Counter-GAP from its template and the results of the run."""

import json
import os
from pathlib import Path

from scripts.core.job import run
from scripts.core.paper import figure, listed, number, table, value, write

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
    relative = {Path(p): os.path.relpath(p, paper) for p in figures}
    sets = {}
    for key, path in zip(template_sets, numbers, strict=True):
        sets[key] = {
            "key": key,
            "id": f"counter_gap.{key}",
            "numbers": json.loads(Path(path).read_text(encoding="utf-8")),
            "tables": {Path(p).stem: table(p) for p in tables if Path(p).parent.name == key},
            "figures": {p.stem: r for p, r in relative.items() if p.parent.name == key},
        }
    # Tables over all sets of quadruples lie beside the folders of the sets.
    beside = {
        "numbers": {k: v for p in comparison_numbers for k, v in json.loads(Path(p).read_text("utf-8")).items()},
        "tables": {Path(p).stem: table(p) for p in tables if Path(p).parent.name == "tables"},
        "key": "comparison of",
        "id": "counter_gap",
    }
    context = {
        "sets": sets,
        "beside": beside,
        "any_set": next(iter(sets.values())),
        "shared": {p.stem: r for p, r in relative.items() if p.parent.name == SHARED},
        "gap": gap,
        "number": number,
        "value": value,
        "listed": listed,
        "figure": figure,
    }
    write(section_tex, section_template, context)


if __name__ == "__main__":
    run(main)
