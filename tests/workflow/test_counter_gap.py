"""Counter-GAP in the complete run of the workflow tests; the golden files have every number of the default run.

The run has two more systems than the rules that stand in for systems (``config/test.yaml``): the output of one is that
of the gendered rule, and after debiasing that of a rule without bias; the other is random and run by the workflow.
"""

import re

import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.counter_gap import study

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def run(complete):
    """The study's results."""
    return complete / "results/counter_gap"


def test_delta_i_follows_from_the_predictions(run):
    """By Equations 2 to 4 of the study."""
    table = estimate_rows.read_table(run / "estimates.csv", [*study.IDENTITY, *study.FACTORS])
    ours = study.pick(table, metric="delta_i").set_index(study.IDENTITY).value
    seen = 0
    for templates in ("replica", "released"):
        roles = files.read_parquet(run / f"instances/{templates}.parquet")[["id", "quadruple", "role"]]
        predicted = files.read_parquet(run / f"predictions/{templates}.parquet").merge(roles, on="id")
        for system, rows in predicted.groupby(study.IDENTITY):
            right = rows.assign(correct=rows.correct * 1).pivot(index="quadruple", columns="role", values="correct")
            o, c, s1, s2 = (right[role] for role in ("original", "control", "swap-1", "swap-2"))
            across = ((o - s1).abs() + (c - s2).abs() + (o - s2).abs() + (c - s1).abs()).mean() / 4
            within = ((o - c).abs() + (s1 - s2).abs()).mean() / 2
            assert ours[system] == pytest.approx(across - within)
            seen += 1
    assert seen == len(ours) >= 2 * 6 + 8


def test_the_section_speaks_of_all_that_it_shows(run):
    text = "".join(
        path.read_text(encoding="utf-8") for path in (run.parent / "paper/sections").glob("counter_gap*.tex")
    )
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert labels and len(labels) == len(set(labels))
    for label in labels:
        assert re.search(rf"\\ref\{{{label}\}}", text), label
    for cells in re.findall(r"\\midrule.*?\\bottomrule", text, flags=re.DOTALL):
        assert not re.search("not (applicable|run|released)", cells), cells
