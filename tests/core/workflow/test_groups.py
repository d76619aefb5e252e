"""Which rules travel together on a cluster; tests/test_rules.py looks at those of the workflow."""

import pytest

from scripts.core.workflow import groups


@pytest.mark.parametrize(
    "outputs, group",
    [
        (["results/ruff/analysis/{templates}/a.csv", "results/ruff/analysis/{templates}/b.csv"], "analyses"),
        *[([f"results/ruff/{folder}/run.parquet"], "instances") for folder in ("instances", "texts", "prompts")],
        (["results/sixth/figures/{templates}/x.pdf"], None),
        (["results/paper/main.tex"], "analyses"),
        (["results/plan.csv"], None),
        (["results/ruff/instances/a/b", "results/ruff/figures/a/b"], None),
        ([], None),
    ],
)
def test_small_rules_join_the_group_of_their_room(outputs, group):
    assert groups.job_group(outputs, ["ruff", "underspecification"]) == group
