"""WinoPron in the paper: its numbers, its section and its rows of the summary, each by the function of its rule."""

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper.numbers import of_settings
from scripts.core.paper.sections import context, write
from scripts.core.workflow.job import run_named
from scripts.winopron.lib import study
from scripts.winopron.lib.summary import identities, rows

TITLES = {"replica": "replica templates", "official": "official templates"}
"""The sets of templates as the text calls them; the last one of a run is that of its figures."""
MOST_PAIRS = 2
"""Up to this many pairs of systems have their overlap typeset: each has twelve rows."""


def paper_numbers(
    *,
    instances: str,
    metrics: str,
    bias: str,
    overlap: str,
    paper_numbers: str,
    templates: str,
    settings: dict,
) -> None:
    """Collect every number that the WinoPron section's prose uses, with where it comes from.

    Write ``paper_numbers`` (JSON) for the template set ``templates``. ``instances`` are about two people;
    ``settings`` are of the config.
    """
    # It loads packages that the other jobs do without.
    from scripts.winopron.lib import numbers as prose

    tables = [study.read_table(path) for path in (metrics, bias, overlap)]
    measured, biases, overlaps = (table[table.templates == templates] for table in tables)
    files.write_json(
        paper_numbers,
        of_settings(settings, prose.KEYS)
        | prose.from_instances(files.read_parquet(instances))
        | prose.from_metrics(measured)
        | prose.from_bias(biases)
        | prose.from_overlap(overlaps),
    )


def section(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    template_sets: list,
    winogender: bool,
    models: dict,
    scored: dict,
) -> None:
    """Render the paper's section on WinoPron from its template and the results of the run.

    Write ``section_tex``. ``numbers`` has one file for each of ``template_sets``, in that order; ``figures`` and
    ``tables`` are the files that the section includes, ``comparison_numbers`` count verdicts on what the study
    publishes; ``winogender`` tells whether the run has Winogender Schemas; ``models`` are those that are prompted,
    and ``scored`` those that resolve by likelihood.
    """
    common = context(
        "winopron", template_sets, numbers, figures, tables, comparison_numbers, section_tex, models=models | scored
    )
    called = {name: TITLES[name] for name in template_sets}
    common |= {
        "called": called,
        "most_pairs": MOST_PAIRS,
        "main": template_sets[-1],
        "winogender": winogender,
        "models": models,
        "scored": scored,
    }
    write(section_tex, section_template, common)


def summary(*, metrics: str, by_prompt: str, summary: str, models: dict, scored: dict, systems: dict) -> None:
    """Write WinoPron's rows of the summary over all studies (CSV).

    ``models`` are those that are prompted, ``scored`` those that resolve by likelihood, ``systems`` the coreference
    systems of the run.
    """
    found = rows(study.read_table(metrics), study.read_table(by_prompt), identities(models, scored, systems))
    estimate_rows.write(summary, "winopron", found)


if __name__ == "__main__":
    run_named()
