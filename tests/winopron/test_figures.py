"""Figures with rules alone and with all systems of the study; golden files have what they draw."""

import pytest

from scripts.winopron import figures, study
from tests import figures as rules


@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_keep_the_rules_and_have_the_systems_that_they_are_of(run, name):
    folder, labels = run
    select, draw = figures.FIGURES[name]
    rows = study.with_systems(study.read_table(folder / "estimates.csv"), labels)
    rows = select(rows[(rows.entities == "double") & (rows.reading == study.CORRECTED)])
    assert rules.problems(draw(rows), pronouns=name != "consistency") == []
    systems = set(labels) - set(study.RULES)
    # Rules have accuracies only where there is nothing else, and never a bias.
    drawn = {"accuracy": systems or set(labels), "consistency": set(labels), "bias": systems}
    assert set(rows.model) == drawn[name]
