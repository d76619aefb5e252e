"""The findings of RUFF, each rule by its function: what a run and what one model say of them."""

from collections.abc import Collection
from pathlib import PurePath

import pandas as pd

from scripts.core import files
from scripts.core.paper import published
from scripts.core.paper.finding_verdicts import single_model_verdicts, write
from scripts.core.workflow.job import run_named
from scripts.ruff.lib import findings as study_findings
from scripts.ruff.lib import study


def findings(
    *, printed: str, study_models: str, tables: list, csv: str, tex: str, numbers: str, template_sets: list,
    every_set: list, models: dict, pronoun_sets: list,
) -> None:  # fmt: skip
    """Test every finding of the study on the tables of the run.

    Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    ``tables`` are the analysis tables of each of ``template_sets``; for the other sets of ``every_set`` no finding is
    applicable. Demonstration models among ``models`` are left out.
    """
    listed = published.read_published(printed)
    known = study_findings.study_models(published.read_models(study_models), listed)
    excluded = frozenset(published.demonstration(models))
    runs = _runs(known, listed, tables, template_sets, pronoun_sets, excluded)
    present = {name: run.present(known.model) for name, run in runs.items()}
    write(study_findings.FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def findings_of_model(
    *, printed: str, tables: list, findings_csv: str, model: str, facts: dict, template_sets: list, pronoun_sets: list
) -> None:
    """Test the study's findings on one model of the run.

    Write ``findings_csv``, the verdicts for ``model``, of which ``facts`` are those of the registry.

    ``tables`` are the analysis tables of each of ``template_sets``.
    """
    listed = published.read_published(printed)
    group = f"likelihood;likelihood {facts['architecture']}"
    alone = pd.DataFrame([["", facts["family"], facts["label"], model, group]], columns=published.MODEL_COLUMNS)
    alone = alone.assign(parameters=float(facts["parameters"]))
    runs = _runs(alone, listed, tables, template_sets, pronoun_sets)
    files.write_csv(findings_csv, single_model_verdicts(study_findings.FINDINGS, study_findings.ONE_MODEL, runs))


def _runs(
    known: pd.DataFrame,
    listed: pd.DataFrame,
    tables: list[str],
    template_sets: list[str],
    pronoun_sets: Collection[str],
    excluded: frozenset[str] = frozenset(),
):
    return {
        name: study_findings.Run(
            known,
            study_findings.printed_numbers(listed),
            {PurePath(key).stem: frame for key, frame in frames.items()},
            excluded,
            study.comparison_obstacle(pronoun_sets),
        )
        for name, frames in published.read_tables(tables, template_sets).items()
    }


if __name__ == "__main__":
    run_named()
