"""Test every finding of the study on each source: the releases and the run."""

from pathlib import PurePath

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims as verdicts
from scripts.core.paper import latex, published
from scripts.underspecification.lib import findings, study

WIDTHS = {1: [0.04, 0.4, 0.12, 0.37], 2: [0.04, 0.36, 0.1, 0.1, 0.31], 3: [0.04, 0.32, 0.1, 0.1, 0.1, 0.25]}
"""Columns of the typeset table by the number of sources, in parts of the text's width."""


def main(
    *,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    sources: list,
    every_source: list,
    models: dict,
    threshold: float,
    shares: str | None = None,
):
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    ``tables`` are the analysis tables of each of ``sources``; for the other ones of ``every_source`` no finding is
    applicable. ``threshold`` is that of the metric. Demonstration models among the run's ``models`` are left out.
    ``shares`` (TSV): the share of women by occupation, where it was fetched.
    """
    excluded = study.demonstration(models)
    known = findings.read_shares(shares) if shares else {}
    runs = {
        name: findings.Source({PurePath(key).stem: frame for key, frame in frames.items()}, threshold, known, excluded)
        for name, frames in published.read_tables(tables, sources).items()
    }
    found = verdicts.verdicts(findings.FINDINGS, runs, every_source)
    files.write_csv(csv, found)
    files.write_text(tex, latex.long_table(verdicts.table_cells(found, sources), WIDTHS[len(sources)]))
    files.write_json(numbers, verdicts.counts(found, "claims.csv"))


if __name__ == "__main__":
    run(main)
