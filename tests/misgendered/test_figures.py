"""Figures keep the rules of all figures, with one model and with all of the study's."""

import pytest

from scripts.core import files
from scripts.misgendered import figures, study
from tests import figures as rules
from tests.misgendered import synthetic


@pytest.mark.parametrize(
    "models",
    [
        pytest.param(synthetic.DEMONSTRATION, id="one"),
        pytest.param(synthetic.STUDY_MODELS, id="all of the study", marks=pytest.mark.nightly),
    ],
)
def test_figures_keep_the_rules(models, tmp_path):
    path = synthetic.write(tmp_path / "p.parquet", synthetic.predicted(list(models), size=330, shots=(2, 6), draws=2))
    files.write_csv(tmp_path / "estimates.csv", synthetic.estimated(path, 20))
    rows, run = study.read_table(tmp_path / "estimates.csv"), figures.Run(models, list(study.PRONOUN_GROUPS), 0.0945)
    alone = next(iter(models.values()))["label"] if len(models) == 1 else None
    for name, (select, draw) in figures.FIGURES.items():
        drawn = draw(select(rows, run), run)
        assert rules.problems(drawn, alone=alone) == [], name
        if name == "few_shot":
            assert len([ax for ax in drawn.axes if ax.axison]) == len(models)
        nothing = draw(select(rows.assign(below=1), run), run)
        assert "Nothing is drawn" in nothing.axes[0].texts[0].get_text(), name
