"""Figures with rules alone and with all systems of the study; golden files have what they draw."""

import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from scripts.core import files
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


def test_demonstrations_are_drawn_only_where_there_is_nothing_else(run, tmp_path):
    """Rules, which are no results, leave them in."""
    folder, labels = run
    systems = set(labels) - set(study.RULES)
    for demonstrations in ([], ["LingMess"], list(systems)):
        paths = {kind: [str(tmp_path / f"consistency.{kind}")] for kind in ("pdf", "png", "csv")}
        read = {"estimates": str(folder / "estimates.csv"), "templates": "replica", "labels": labels}
        figures.figures(**read, **paths, demonstrations=demonstrations)
        left = systems - set(demonstrations) or systems
        assert set(files.read_csv(paths["csv"][0]).model) == left | (set(labels) & set(study.RULES))


def test_of_many_systems_there_is_a_row_for_each_way_of_scoring(run):
    folder, labels = run
    rows = figures.select_accuracies(study.with_systems(study.read_table(folder / "estimates.csv"), labels))
    rows = rows[(rows.entities == "double") & (rows.reading == study.CORRECTED) & (rows.model == rows.model.iloc[0])]
    copies = [rows.assign(system=f"system {n}", scoring=("prompted", "clusters")[n % 2]) for n in range(20)]
    drawn = figures.draw_accuracies(pd.concat(copies))
    assert rules.problems(drawn, pronouns=True) == []
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["prompted", "coreference"]
    assert drawn.axes[1].get_xlabel() == "Accuracy of each of 20 systems"
    dots = [marks for ax in drawn.axes for marks in ax.collections if isinstance(marks, PathCollection)]
    assert sum(len(marks.get_offsets()) for marks in dots) == 20 * len(rows)
