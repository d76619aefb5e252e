"""What the paper says of Counter-GAP, each by the function of its rule."""

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper.numbers import of_settings
from scripts.core.paper.sections import context, write
from scripts.core.workflow.job import run_named
from scripts.counter_gap.lib import numbers as of_prose
from scripts.counter_gap.lib.study import read_set
from scripts.counter_gap.lib.summary import rows

ORDER = ("replica", "books", "released", "official")
"""The sets of quadruples; the last one that a run has is the one of its figures."""


def paper_numbers(
    *, significance: str, metrics: str, subset_sizes: str, paper_numbers: str, templates: str, settings: dict,
) -> None:  # fmt: skip
    """Collect every number that the section's prose uses, with where it comes from.

    Write ``paper_numbers`` (JSON) for the set of quadruples ``templates``; ``settings`` are of the config.
    """
    collected = {
        **of_settings(settings, of_prose.KEYS),
        **of_prose.from_sizes(files.read_csv(subset_sizes), templates),
        **of_prose.from_tests(read_set(significance, templates), read_set(metrics, templates)),
    }
    files.write_json(paper_numbers, collected)


def section(
    *, section_template: str, numbers: list, figures: list, tables: list, comparison_numbers: list,
    section_tex: str, template_sets: list,
) -> None:  # fmt: skip
    """Render the paper's section from its template and the results of the run.

    Write ``section_tex``. ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and
    ``tables`` are the files that the section includes, ``comparison_numbers`` count verdicts on what the study
    publishes.
    """
    common = context("counter_gap", template_sets, numbers, figures, tables, comparison_numbers, section_tex)
    main = [name for name in ORDER if name in template_sets][-1]
    write(section_tex, section_template, common | {"main": main})


def summary(*, metrics: str, sizes: str, summary: str, systems: dict) -> None:
    """Write the study's rows of the summary over all studies.

    ``summary`` is the table to write (CSV); ``systems`` are the coreference systems of the run.
    """
    estimate_rows.write(summary, "counter_gap", rows(files.read_csv(metrics), files.read_csv(sizes), systems))


if __name__ == "__main__":
    run_named()
