"""Test every finding of the study on the metrics of the run."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import claims as verdicts
from scripts.core.paper import latex
from scripts.counter_gap.lib import findings
from scripts.counter_gap.lib.analyses import comparable

WIDTHS = {1: [0.04, 0.4, 0.12, 0.37], 2: [0.04, 0.36, 0.1, 0.1, 0.31], 3: [0.04, 0.3, 0.1, 0.1, 0.1, 0.27]}
"""Columns of the typeset table by the number of sets of quadruples, in parts of the text's width."""


def main(*, metrics: str, significance: str, csv: str, tex: str, numbers: str, template_sets: list, every_set: list):
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    For the sets of ``every_set`` that are not among ``template_sets`` no finding is applicable.
    """
    runs = {name: findings.Results(comparable.read(metrics, significance, name)) for name in template_sets}
    found = verdicts.verdicts(findings.FINDINGS, runs, every_set)
    files.write_csv(csv, found)
    files.write_text(tex, latex.long_table(verdicts.table_cells(found, template_sets), WIDTHS[len(template_sets)]))
    files.write_json(numbers, verdicts.counts(found, "claims.csv"))


if __name__ == "__main__":
    run(main)
