"""Test every finding of the study on the tables of the run."""

from pathlib import PurePath

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims as verdicts
from scripts.core.paper import latex, published
from scripts.ruff.lib import findings, study

WIDTHS = {1: [0.04, 0.4, 0.12, 0.37], 2: [0.04, 0.36, 0.1, 0.1, 0.31]}
"""Columns of the typeset table by the number of template sets, in parts of the text's width."""


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
            frozenset(study.demonstration(models)),
            study.obstacle(pronoun_sets),
        )
        for name, frames in published.read_tables(tables, template_sets).items()
    }
    found = verdicts.verdicts(findings.FINDINGS, runs, every_set)
    files.write_csv(csv, found)
    files.write_text(tex, latex.long_table(verdicts.table_cells(found, template_sets), WIDTHS[len(template_sets)]))
    files.write_json(numbers, verdicts.counts(found, "claims.csv"))


if __name__ == "__main__":
    run(main)
