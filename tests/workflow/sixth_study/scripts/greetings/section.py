"""Render the paper's section."""

from pathlib import Path

from scripts.core.job import run
from scripts.core.paper.sections import figure, number, part_of, write


def main(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    template_sets: list,
):
    """Write ``section_tex``; ``numbers`` has one file for each of ``template_sets``, in that order."""
    folder = Path(section_tex).parents[1]
    sets = {
        key: part_of("greetings", key, path, tables, figures, folder)
        for key, path in zip(template_sets, numbers, strict=True)
    }
    write(section_tex, section_template, {"sets": sets, "figure": figure, "number": number})


if __name__ == "__main__":
    run(main)
