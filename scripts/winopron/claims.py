"""Test every finding of the study on the predictions of the run."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.claims import write
from scripts.winopron.lib import findings, study
from scripts.winopron.lib.analyses import performance


def main(
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
):
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    ``instances`` and ``predictions`` have a file for each of ``sets`` (``templates``, ``entities``). Findings are
    tested on each of ``template_sets``, Winogender Schemas beside it; for the other sets of ``every_set`` none is
    applicable.
    ``draws`` and ``seed`` belong to the bootstrap over pairs of people.
    """
    answers = {}
    for names, sentences, predicted in zip(sets, instances, predictions, strict=True):
        table = study.as_published(files.read_parquet(predicted))
        table = table[table.system.isin(study.SYSTEMS)]
        known = files.read_parquet(sentences)
        of_systems = [performance.joined(rows, performance.asked(rows, known)) for _, rows in table.groupby("system")]
        empty = table.merge(known, on="instance_id")
        answers[names["templates"], names["entities"]] = pd.concat(of_systems) if of_systems else empty
    runs = findings.results_of(answers, template_sets, draws, seed)
    present = {name: answers[name, "double"].system.nunique() for name in template_sets}
    write(findings.FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


if __name__ == "__main__":
    run(main)
