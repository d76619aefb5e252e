"""The toy model against its simulation and against quadrature."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad

from scripts.core import files
from scripts.underspecification import toy_model


def test_the_toy_model_agrees_with_its_simulation():
    table = toy_model.correlate_variables(10, 200_000, 7)
    assert len(table) == 24
    assert ((table.simulated - table.exact).abs() / table.standard_error).max() < 4.5
    keyed = table.set_index(["task", "population", "a", "b"]).exact
    # Nothing but selection connects X and Y of the unspecified task.
    assert keyed["unspecified", "all", "X", "Y"] == 0 and keyed["unspecified", "selected", "X", "Y"] < -0.6
    assert keyed["well-specified", "all", "X", "Y"] > 0.9
    assert table[table.population == "selected"].exact_share.iloc[0] == pytest.approx(stats.norm.sf(20 / np.sqrt(126)))


def test_the_exact_covariance_is_that_of_quadrature():
    a, sd = 2.0, np.sqrt(1 + 4)

    def moment(power):
        # W = e0, T = e0 + rest with rest ~ N(0, 5), selected where T > 4.
        def density(rest, w):
            return w**power * stats.norm.pdf(w) * stats.norm.pdf(rest, 0, sd)

        return dblquad(density, -8, 8, lambda w: 2 * a - w, 30)[0]

    share = moment(0)
    assert share == pytest.approx(toy_model.selected_share(a), rel=1e-4)
    variance = moment(2) / share - (moment(1) / share) ** 2
    assert toy_model.exact_covariance("unspecified", a, "selected")[0, 0] == pytest.approx(variance, rel=1e-4)


def test_the_points_of_the_figure_have_the_share_of_what_is_selected(tmp_path):
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("correlations", "points")}
    toy_model.toy_model(**paths, amplification=10, draws=3000, seed=1)
    points = files.read_csv(paths["points"])
    share = toy_model.selected_share(10)
    assert (points.groupby("task").size() == toy_model.POINTS_SHOWN).all()
    assert points.selected.mean() == pytest.approx(share, abs=4 * np.sqrt(share / len(points)))
