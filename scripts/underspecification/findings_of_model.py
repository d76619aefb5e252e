"""Test the study's findings on one model of the run."""

from pathlib import PurePath

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims, published
from scripts.underspecification.lib import findings


def main(*, tables: list, findings_csv: str, sources: list, facts: dict, threshold: float):
    """Write ``findings_csv``, the verdicts for the model with these ``facts`` of the registry.

    ``tables`` are the analysis tables of each of ``sources``; ``threshold`` is that of the metric.
    """
    runs = {
        name: findings.Source(
            {PurePath(key).stem: frame for key, frame in frames.items()}, threshold, alone=(facts["label"],)
        )
        for name, frames in published.read_tables(tables, sources).items()
    }
    files.write_csv(findings_csv, claims.of_one_model(findings.FINDINGS, findings.ONE_MODEL, runs))


if __name__ == "__main__":
    run(main)
