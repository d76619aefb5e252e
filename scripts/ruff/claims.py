"""Test every finding of the study on the tables of the run."""

from pathlib import PurePath

from scripts.core.job import run
from scripts.core.paper import published
from scripts.core.paper.claims import write
from scripts.ruff.lib import findings, study


def main(
    *,
    printed: str,
    study_models: str,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    pronoun_sets: list,
):
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    ``tables`` are the analysis tables of each of ``template_sets``; for the other sets of ``every_set`` no finding is
    applicable. Demonstration models among ``models`` are left out.
    """
    listed = published.read_published(printed)
    known = findings.study_models(published.read_models(study_models), listed)
    runs = {
        name: findings.Run(
            known,
            findings.printed_numbers(listed),
            {PurePath(key).stem: frame for key, frame in frames.items()},
            frozenset(published.demonstration(models)),
            study.obstacle(pronoun_sets),
        )
        for name, frames in published.read_tables(tables, template_sets).items()
    }
    present = {name: run.present(known.model) for name, run in runs.items()}
    write(findings.FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


if __name__ == "__main__":
    run(main)
