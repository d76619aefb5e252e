"""Render the paper's section."""

from scripts.core.job import run
from scripts.core.paper.sections import context, write


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
    common = context("greetings", template_sets, numbers, figures, tables, comparison_numbers, section_tex)
    write(section_tex, section_template, common)


if __name__ == "__main__":
    run(main)
