"""The tables of Underspecification, each by the function of its rule."""

from typing import Any

from scripts.core.paper import published
from scripts.core.paper.published import demonstration, read, read_tables, write
from scripts.core.workflow.job import run_named
from scripts.underspecification.lib import study, tables
from scripts.underspecification.lib.readers import read_rows


def table_detection(*, specification_detection: str, printed: str, tex: str, csv: str) -> None:
    """Tabulate how well the metric detects underspecified sentences (paper Table 3).

    Write the cells as printed (LaTeX and CSV); ``printed`` are the published numbers.
    """
    table = read_rows(specification_detection, "rates")
    tables.write(tex, csv, tables.rates(table, published.read_published(printed)), 2)


def table_independence(*, independence: str, tex: str, csv: str) -> None:
    """Tabulate how the change of the female probability over dates goes with its level, over occupations.

    Write the cells as printed (LaTeX and CSV).
    """
    tables.write(tex, csv, tables.independence(read_rows(independence, "correlations")), 2)


def table_word_group_probabilities(*, curves: str, tex: str, csv: str) -> None:
    """Tabulate the mean mass of gendered pronouns among the most probable tokens and over the vocabulary.

    Write the cells as printed (LaTeX and CSV).
    """
    tables.write(tex, csv, tables.group_probabilities(read_rows(curves, "probabilities")), 3)


def table_metric(*, metric: str, printed: str, tex: str, csv: str) -> None:
    """Tabulate the task specification metric of the sentences about one occupation (paper Table 2).

    Write the cells as printed (LaTeX and CSV); ``printed`` are the published numbers.
    """
    frame = tables.example(read_rows(metric, "metric"), published.read_published(printed))
    # The same in all rows.
    tables.write(tex, csv, frame, 5, hidden=["Occupation"])


def table_slopes(*, slopes: str, tex: str, csv: str) -> None:
    """Tabulate slopes and correlations of Method 1 (the numbers behind Figures 3 and 6 to 8).

    Write the cells as printed (LaTeX and CSV); full precision and intervals are in ``slopes``.
    """
    cells = tables.slopes(read_rows(slopes, "slopes"))
    tables.write(tex, csv, cells, 2, rows=tables.over_prompts(cells))


def published_vs_ours(
    *,
    published: str,
    mapping: str,
    study_models: str,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    sources: list,
    every_source: list,
    models: dict,
) -> None:
    """Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``tables`` are the analysis tables of each of ``sources``; those of ``every_source`` that are not in the run are
    listed as such. Demonstration models among the run's ``models`` are left out.
    """
    printed: Any = read(published, mapping, study_models)
    names = {study.run_label(row.label, "mask"): row.model for row in printed.models.itertuples()}
    by_source = read_tables(tables, sources)
    for frame in (frame for frames in by_source.values() for frame in frames.values() if "model" in frame):
        # Our tables have labels; what the study does not print has no name in the registry and keeps its label.
        frame["model"] = frame.model.map(names).fillna(frame.model)
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    excluded = demonstration(models)
    write("underspec", printed, by_source, every_source, excluded=excluded, parts="Source", **outputs)


if __name__ == "__main__":
    run_named()
