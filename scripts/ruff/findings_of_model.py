"""Test the study's findings on one model of the run."""

from pathlib import PurePath

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims, published
from scripts.ruff.lib import findings, study


def main(
    *, printed: str, tables: list, findings_csv: str, model: str, facts: dict, template_sets: list, pronoun_sets: list
):
    """Write ``findings_csv``, the verdicts for ``model``, of which ``facts`` are those of the registry.

    ``tables`` are the analysis tables of each of ``template_sets``.
    """
    listed = published.read_published(printed)
    group = f"likelihood;likelihood {facts['architecture']}"
    alone = pd.DataFrame([["", facts["family"], facts["label"], model, group]], columns=published.MODEL_COLUMNS)
    runs = {
        name: findings.Run(
            alone.assign(parameters=float(facts["parameters"])),
            findings.printed_numbers(listed),
            {PurePath(key).stem: frame for key, frame in frames.items()},
            obstacle=study.obstacle(pronoun_sets),
        )
        for name, frames in published.read_tables(tables, template_sets).items()
    }
    files.write_csv(findings_csv, claims.of_one_model(findings.FINDINGS, findings.ONE_MODEL, runs))


if __name__ == "__main__":
    run(main)
