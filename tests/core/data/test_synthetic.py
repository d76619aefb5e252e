"""Synthetic models are never taken for others."""

import pytest

from scripts.core.data import synthetic
from scripts.core.errors import UserError

DRAWN = {"label": "Synthetic A 1B", "source": {"synthetic": 1}}
REAL = {"label": "My model", "source": {"path": "weights"}}


def test_names_and_labels_say_which_models_are_synthetic():
    synthetic.check_names({"synthetic-01": DRAWN, "mine": REAL, "served": {"label": "Served", "api": {}}})
    with pytest.raises(UserError, match="'mine' is a synthetic model, so its name must start with 'synthetic-'"):
        synthetic.check_names({"mine": DRAWN})
    with pytest.raises(UserError, match="its label must start with 'Synthetic '"):
        synthetic.check_names({"synthetic-01": DRAWN | {"label": "GPT-2"}})
    with pytest.raises(UserError, match="'synthetic-02' is called like a synthetic model and has weights"):
        synthetic.check_names({"synthetic-02": REAL})


def test_a_run_has_synthetic_models_only_or_none():
    assert synthetic.check_run({"mine": REAL}, {"mine"}, None) == []
    assert synthetic.check_run({"synthetic-01": DRAWN}, (), "scale") == ["synthetic-01"]
    with pytest.raises(UserError, match="'mine' is not; results must not be mixed with simulated numbers"):
        synthetic.check_run({"synthetic-01": DRAWN, "mine": REAL}, (), "scale")
    with pytest.raises(
        UserError, match="the default run is for results; give the configuration a name with the key run"
    ):
        synthetic.check_run({"synthetic-01": DRAWN}, (), None)
    with pytest.raises(UserError, match="which has scores only; leave out studies that prompt it"):
        synthetic.check_run({"synthetic-01": DRAWN}, {"synthetic-01"}, "scale")


def test_drawn_scores_are_not_published():
    synthetic.check_published({"model": "mine", "engine": "packed"})
    with pytest.raises(UserError, match="the scores of 'synthetic-01' were drawn"):
        synthetic.check_published({"model": "synthetic-01", "engine": "synthetic"})
