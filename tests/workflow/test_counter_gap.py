"""Counter-GAP in the complete run of the workflow tests; the golden files have every number of the default run.

The run has two more systems than the rules that stand in for systems (``config/test.yaml``): the output of one is that
of the gendered rule, and after debiasing that of a rule without bias; the other is random and run by the workflow.
"""

import re

import pytest

from scripts.core import files
from scripts.counter_gap import study

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def run(complete):
    """The study's results."""
    return complete / "results/counter_gap"


def test_delta_i_follows_from_the_predictions(run):
    """By Equations 2 to 4 of the study."""
    table = study.read_estimates(run / "estimates.csv", 0.01)
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


def test_the_section_shows_what_the_other_tables_repeat(run):
    text = (run.parent / "paper/sections/counter_gap.tex").read_text(encoding="utf-8")
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert len(labels) == len(set(labels))
    for label in labels:
        assert re.search(rf"\\ref\{{{label}\}}", text), label
    shown, left_out = set(), set()
    for path in run.glob("figures/**/*.pdf"):
        (shown if str(path.relative_to(run.parent)) in text else left_out).add(path.stem)
    for path in run.glob("tables/**/*.tex"):
        cells = path.read_text(encoding="utf-8").strip()
        (shown if cells.startswith("%") or cells.partition("\n\\tablenote")[0] in text else left_out).add(path.stem)
    # The study's own tables are files: bias and by_gender have their numbers together.
    assert left_out - shown == {
        "accuracy", "findings", "datasets", "debiasing", "inconsistency", "original_counterfactual",
        "training",
    }  # fmt: skip
    for cells in re.findall(r"\\midrule.*?\\bottomrule", text, flags=re.DOTALL):
        assert not re.search("not (applicable|run|released)", cells), cells
