"""What the paper takes from Underspecification: numbers of the text, the section, rows of the summary."""

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper.numbers import of_settings
from scripts.core.paper.published import demonstration
from scripts.core.paper.sections import context, write
from scripts.core.workflow.job import run_named
from scripts.underspecification.lib import numbers, study
from scripts.underspecification.lib.summary import rows


def paper_numbers(
    *,
    slopes: str,
    curves: str,
    specification_detection: str,
    metric: str,
    independence: str,
    toy_model: str,
    paper_numbers: str,
    source: str,
    settings: dict,
    models: dict,
) -> None:
    """Write ``paper_numbers`` (JSON) for a ``source``, a release or the run; ``settings`` are of the config.

    Where the run has other models, its demonstrations among ``models`` are not counted.
    """
    tables = [files.read_csv(path) for path in (slopes, curves, specification_detection, metric, independence)]
    demonstrations = list(demonstration(models).values())
    if not tables[0].model.isin(demonstrations).all():
        tables = [table[~table.model.isin(demonstrations)] for table in tables]
    lines, means, rates, metrics, levels = tables
    collected = {
        **of_settings(settings, numbers.KEYS),
        **numbers.from_toy(files.read_csv(toy_model)),
        **numbers.from_slopes(lines, means),
        **numbers.from_detection(rates, metrics, settings["threshold"]),
        **numbers.from_independence(levels),
    }
    if source != study.RUN:
        collected |= numbers.from_names(rates)
    files.write_json(paper_numbers, collected)


SOURCE_TITLES = {
    "preprint": "Outputs released with the preprint",
    "aaai": "Outputs released with the paper at AAAI",
    study.RUN: "Models of this run",
}
SOURCE_PLACES = {"preprint": "the preprint's outputs", "aaai": "AAAI's outputs", study.RUN: "this run's models"}
"""The sources as sentences and tables of verdicts call them."""


def section(
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
) -> None:
    """Write ``section_tex``.

    ``numbers`` has one file for each of ``sources``, in that order; ``figures`` and ``tables`` are the files that the
    section includes, ``comparison_numbers`` count verdicts; ``templates`` are the Winogender sets that the run's
    ``models`` read, with ``prompts`` by evaluation set; ``shares`` tells whether occupations are in the order of the
    share of women.
    """
    common = context(
        "underspecification",
        sources,
        numbers,
        figures,
        tables,
        comparison_numbers,
        section_tex,
        called="source",
        models=models,
    )
    for key, source in common["sources"].items():
        source |= {"title": SOURCE_TITLES[key], "released": key != study.RUN, "shares": shares}
    section = next(name for name in ("aaai", "preprint", study.RUN) if name in sources)
    titles = {name: SOURCE_PLACES[name] for name in sources}
    common |= {
        "templates": templates,
        "prompts": prompts,
        "main": section,
        "shown": [section, *(name for name in sources if name == study.RUN and name != section)],
        "titles": titles,
    }
    write(section_tex, section_template, common)


def summary(*, slopes: str, detection: str, summary: str, models: dict) -> None:
    """Write ``summary`` (CSV) from the tables of all sources; ``models`` are the run's."""
    estimate_rows.write(summary, "underspecification", rows(files.read_csv(slopes), files.read_csv(detection), models))


if __name__ == "__main__":
    run_named()
