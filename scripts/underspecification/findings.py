"""The study's findings, each a function of the results of one part (:class:`Source`) that returns its checks.

Symbols: f, u and n are the probabilities of female, male and neutral pronouns, averaged over MGC's sentences; slopes
and r are those over dates or places, a constant curve counting as r = 0; of a model with several prompts they are
averaged over them. S is the female metric between the earliest and the latest date, BA balanced accuracy at the
threshold of the settings. Only the study's own models are looked at. Sections and figures are those of McMilin (2022).
"Some models" are at least two.

A comparison holds or fails where the 95 % intervals (bootstrap over sentences, of rates over occupations) do not
overlap, or where a test that is named is significant; otherwise it is undecided. A mean or median over models or
prompts has the widest interval that those of its parts allow, since all are about the same sentences.
"""

import pandas as pd

from scripts.core import files
from scripts.core.paper import finding_verdicts, published
from scripts.core.workflow.job import run_named
from scripts.underspecification import findings_correlation, findings_detection, study
from scripts.underspecification.quantities import Source

ONE_MODEL = frozenset({1, 2, 18})
"""Findings that say something of each model by itself."""
FINDINGS = sorted([*findings_correlation.FINDINGS, *findings_detection.FINDINGS], key=lambda finding: finding.number)
"""In the order of the study."""


def findings(
    *,
    estimates: str,
    curves: str,
    metrics: str,
    csv: str,
    tex: str,
    numbers: str,
    parts: list,
    every_part: list,
    models: dict,
    threshold: float,
    shares: str | None = None,
) -> None:
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    Findings are tested on each of ``parts``; for the other ones of ``every_part`` none is applicable. ``threshold`` is
    that of the metric. Demonstration models among the run's ``models`` are left out. ``shares`` (TSV): the share of
    women by occupation, where it was fetched.
    """
    excluded = frozenset(published.find_demonstration_models(models).values())
    tables = read_tables(estimates, curves, metrics)
    women = study.read_shares(shares)
    runs = {name: Source(of_part(tables, name), threshold, women, excluded) for name in parts}
    present = {name: source.present({*study.METHOD1, *study.METHOD2}) for name, source in runs.items()}
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    finding_verdicts.write_verdicts(FINDINGS, runs, every_part, **outputs, heads=study.HEADS, models=present)


def findings_of_model(
    *, estimates: str, curves: str, metrics: str, findings_csv: str, label: str, threshold: float
) -> None:
    """Write ``findings_csv``, the verdicts for the run's model with this ``label``."""
    tables = of_part(read_tables(estimates, curves, metrics), study.RUN)
    runs = {study.RUN: Source(tables, threshold, alone=(label,))}
    files.write_csv(findings_csv, finding_verdicts.single_model_verdicts(FINDINGS, ONE_MODEL, runs))


def read_tables(estimates: str, curves: str, metrics: str) -> dict[str, pd.DataFrame]:
    """Return the tables that :class:`Source` takes, of all parts."""
    paths = {"estimates": estimates, "curves": curves, "metrics": metrics}
    return {name: study.read_table(path) for name, path in paths.items()}


def of_part(tables: dict[str, pd.DataFrame], part: str) -> dict[str, pd.DataFrame]:
    """Return the rows of a part."""
    return {name: table[table.part == part] for name, table in tables.items()}


if __name__ == "__main__":
    run_named()
