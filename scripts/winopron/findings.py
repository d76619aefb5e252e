"""The tests of the study's findings, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.paper.finding_verdicts import single_model_verdicts, write
from scripts.core.workflow.job import run_named
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses import performance
from scripts.winopron.lib.findings import FINDINGS, ONE_MODEL, results_of


def findings(
    *,
    instances: list,
    predictions: list,
    csv: str,
    tex: str,
    numbers: str,
    sets: list,
    template_sets: list,
    every_set: list,
    draws: int,
    seed: int,
) -> None:
    """Test every finding of the study on the predictions of the run.

    Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON). ``instances`` and
    ``predictions`` have a file for each of ``sets`` (``templates``, ``entities``). Findings are tested on each of
    ``template_sets``, Winogender Schemas beside it; for the other sets of ``every_set`` none is applicable.
    ``draws`` and ``seed`` belong to the bootstrap over pairs of people.
    """
    tables = [study.as_published(files.read_parquet(path)) for path in predictions]
    answers = _answers(sets, instances, [table[table.system.isin(study.SYSTEMS)] for table in tables])
    runs = results_of(answers, template_sets, draws, seed)
    present = {name: answers[name, "double"].system.nunique() for name in template_sets}
    write(FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def findings_of_model(
    *,
    instances: list,
    predictions: list,
    findings_csv: str,
    facts: dict,
    sets: list,
    template_sets: list,
    draws: int,
    seed: int,
) -> None:
    """Test the study's findings on one model of the run.

    Write ``findings_csv``, the verdicts for the model with these ``facts`` of the registry. If it was prompted, its
    answers are asked, read as the study's authors read them; otherwise what it resolves by full likelihood.
    ``instances`` and ``predictions`` have a file for each of ``sets`` (``templates``, ``entities``).
    ``draws`` and ``seed`` belong to the bootstrap over pairs of people.
    """
    tables = [files.read_parquet(path) for path in predictions]
    label = facts["label"]
    prompted = any((table.system == label).any() for table in tables)
    system, conversion = (label, "published") if prompted else (label + study.FULL, study.CORRECTED)
    kept = [table[(table.system == system) & (table.conversion == conversion)] for table in tables]
    runs = results_of(_answers(sets, instances, kept), template_sets, draws, seed, systems=(system,))
    files.write_csv(findings_csv, single_model_verdicts(FINDINGS, ONE_MODEL, runs))


def _answers(sets: list[dict], instances: list[str], tables: list[pd.DataFrame]):
    """Return the answers of every system on each set, by template set and entities; each is read in one way."""
    answers = {}
    for names, path, table in zip(sets, instances, tables, strict=True):
        known = files.read_parquet(path)
        of_systems = [
            performance.join_instances(rows, performance.asked_instances(rows, known))
            for _, rows in table.groupby("system")
        ]
        empty = table.merge(known, on="instance_id")
        answers[names["templates"], names["entities"]] = pd.concat(of_systems) if of_systems else empty
    return answers


if __name__ == "__main__":
    run_named()
