"""Render the paper's section on Counter-GAP from its template and the results of the run."""

from scripts.core.job import run
from scripts.core.paper import closing
from scripts.core.paper.sections import context

TITLES = {
    "replica": "replica quadruples",
    "books": "quadruples from books",
    "released": "released flags",
    "official": "official quadruples",
}
"""The sets of quadruples as the table of counts calls them; the last one of a run is that of its figures."""


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
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and ``tables`` are the files that
    the section includes, ``comparison_numbers`` count verdicts on what the study publishes.
    """
    common = context("counter_gap", template_sets, numbers, figures, tables, comparison_numbers, section_tex)
    called = {name: title for name, title in TITLES.items() if name in template_sets}
    common |= {"counts": closing.counts(common["beside"], called), "main": list(called)[-1]}
    closing.write(section_tex, section_template, common, figures, tables)


if __name__ == "__main__":
    run(main)
