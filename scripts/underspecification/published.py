"""Every published number of Underspecification beside ours."""

import pandas as pd

from scripts.core import files
from scripts.core.paper.published import find_demonstration_models, read_study, write_comparison
from scripts.core.workflow.job import run_named
from scripts.underspecification import study


def published_vs_ours(
    *,
    published: str,
    mapping: str,
    study_models: str,
    estimates: str,
    curves: str,
    metrics: str,
    correlations: str,
    csv: str,
    tex: str,
    numbers: str,
    parts: list,
    every_part: list,
    models: dict,
) -> None:
    """Set every published number beside ours, on each release and the run, with a verdict.

    Those of ``every_part`` that are none of ``parts`` are listed as not in the run. ``correlations`` are those of the
    toy model. Demonstration models among the run's ``models`` are left out.
    """
    printed = read_study(published, mapping, study_models)
    names = {study.run_label(row.label, "mask"): row.model for row in files.iterate_rows(printed.models)}
    toy = files.read_csv(correlations)
    tables = {
        "estimates.csv": name_models(study.read_table(estimates), names),
        "metrics.csv": name_models(study.read_table(metrics), names),
        "curves.csv": with_years(study.read_table(curves)),
    }
    compared = {
        part: {name: table[table.part == part] for name, table in tables.items()} | {"toy_model.csv": toy}
        for part in parts
    }
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    write_comparison(
        "underspec",
        printed,
        compared,
        every_part,
        excluded=find_demonstration_models(models),
        parts="Source",
        **outputs,
    )


def name_models(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Return a table in which ``model`` is what the study's models are called, by their labels, else the label."""
    return table.assign(model=table.label.map(names).fillna(table.label))


def with_years(curves: pd.DataFrame) -> pd.DataFrame:
    """Return curves with the ``year`` of each date."""
    return curves.assign(year=pd.to_numeric(curves.value.where(curves.variable == "date")))


if __name__ == "__main__":
    run_named()
