"""The findings of Underspecification as tests: on every source, and on one model."""

from pathlib import PurePath

from scripts.core import files
from scripts.core.job import run_named
from scripts.core.paper import claims as verdicts
from scripts.core.paper import published
from scripts.underspecification.lib import findings, study


def claims(
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
) -> None:
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
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    verdicts.write(findings.FINDINGS, runs, every_source, **outputs, heads=study.HEADS, models=present)


def findings_of_model(*, tables: list, findings_csv: str, sources: list, facts: dict, threshold: float) -> None:
    """Write ``findings_csv``, the verdicts for the model with these ``facts`` of the registry.

    ``tables`` are the analysis tables of each of ``sources``; ``threshold`` is that of the metric.
    """
    runs = {
        name: findings.Source(
            {PurePath(key).stem: frame for key, frame in frames.items()}, threshold, alone=(facts["label"],)
        )
        for name, frames in published.read_tables(tables, sources).items()
    }
    files.write_csv(findings_csv, verdicts.single_model_verdicts(findings.FINDINGS, findings.ONE_MODEL, runs))


if __name__ == "__main__":
    run_named()
