"""Render the paper's section on Counter-GAP from its template and the results of the run."""

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
    gap: list,
):
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``comparison_numbers`` count verdicts on what the study publishes; ``gap`` are the parts of
    GAP in the run.
    """
    common = context("counter_gap", template_sets, numbers, figures, tables, comparison_numbers, section_tex)
    write(section_tex, section_template, common | {"gap": gap})


if __name__ == "__main__":
    run(main)
