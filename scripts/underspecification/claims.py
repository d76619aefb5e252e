"""Test every finding of the study on each source: the releases and the run."""

from pathlib import PurePath

from scripts.core.job import run
from scripts.core.paper import published
from scripts.core.paper.claims import write
from scripts.underspecification.lib import findings, study


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
    # The tables call models by their labels.
    excluded = frozenset(published.demonstration(models).values())
    women = findings.read_shares(shares) if shares else {}
    runs = {
        name: findings.Source({PurePath(key).stem: frame for key, frame in frames.items()}, threshold, women, excluded)
        for name, frames in published.read_tables(tables, sources).items()
    }
    present = {name: source.present({*findings.METHOD1, *findings.METHOD2}) for name, source in runs.items()}
    write(
        findings.FINDINGS, runs, every_source, csv=csv, tex=tex, numbers=numbers, heads=study.HEADS, models=present
    )  # fmt: skip


if __name__ == "__main__":
    run(main)
