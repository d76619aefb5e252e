"""Mixed models find effects that are there, at the rate that their intervals promise, and say when they cannot."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core.statistics import mixed_effects

TRUTH = {("intercept", ""): -0.5, ("kind", "b"): 0.7, ("place", "1"): -0.6}
SDS = {"item": 0.8, "model": 0.5}
FITS = 100


def simulated(seed, items=24, models=14):
    """Return outcomes of items that each belong to a kind and that all models meet, in one of two places at random."""
    random = np.random.default_rng(seed)
    item, model = (part.ravel() for part in np.meshgrid(np.arange(items), np.arange(models), indexing="ij"))
    kind, place = np.where(item % 2, "b", "a"), random.integers(0, 2, len(item)).astype(str)
    odds = TRUTH["intercept", ""] + TRUTH["kind", "b"] * (kind == "b") + TRUTH["place", "1"] * (place == "1")
    odds = odds + random.normal(0, SDS["item"], items)[item] + random.normal(0, SDS["model"], models)[model]
    right = random.random(len(odds)) < 1 / (1 + np.exp(-odds))
    return pd.DataFrame({"item": item, "model": model, "kind": kind, "place": place, "right": right})


def fit(rows, seed=0):
    return mixed_effects.table(rows, {"kind": ("a", "b"), "place": ("0", "1")}, ["item", "model"], seed)


@pytest.fixture(scope="module")
def fitted():
    return [fit(simulated(seed), seed) for seed in range(FITS)]


def test_intervals_hold_known_effects_as_often_as_they_promise(fitted):
    assert all(table.converged.all() for table in fitted)
    held = {}
    for truth in ({("fixed", *key): value for key, value in TRUTH.items()},
                  {("random", key, "standard deviation"): value for key, value in SDS.items()}):  # fmt: skip
        for key, value in truth.items():
            rows = [table.set_index(["kind", "factor", "level"]).loc[key] for table in fitted]
            held[key] = sum(row.ci_low <= value <= row.ci_high for row in rows)
    # Of 100 fits whose intervals cover at 95 %, fewer than 87 hold the truth once in a thousand times.
    assert stats.binom.cdf(86, FITS, 0.95) < 0.001
    assert all(count >= 87 for count in held.values()), held
    # They are not wide for nothing either: an effect between items has an interval of about four times 0.4.
    widths = [row.ci_high - row.ci_low for table in fitted for row in table[table.factor == "kind"].itertuples()]
    assert np.mean(widths) < 2.2


def test_effects_are_found_without_a_bias(fitted):
    estimates = pd.concat(fitted).groupby(["factor", "level"]).estimate.mean()
    for (factor, level), value in TRUTH.items():
        assert estimates[factor, level] == pytest.approx(value, abs=0.12)


def test_given_spread_estimates_are_where_the_posterior_is_highest():
    # One coefficient and hardly any spread: the logit of the share, drawn to 0 by the prior alone.
    rows = pd.DataFrame({"item": [0, 1] * 50, "right": [True] * 75 + [False] * 25})
    _, dummies = mixed_effects._fixed_design(rows, {})
    effects, owners = mixed_effects._random_design(rows, ["item"])
    data = mixed_effects.Outcomes(rows.right.to_numpy(float), dummies, effects, owners)
    values, curvature = mixed_effects.mode(data, np.array([-9.0]), np.zeros(3))
    share = 1 / (1 + np.exp(-values[0]))
    assert 100 * (0.75 - share) == pytest.approx(values[0] / 4)
    assert np.sqrt(np.linalg.inv(curvature)[0, 0]) == pytest.approx(
        (100 * share * (1 - share) + 1 / 4) ** -0.5, rel=1e-4
    )


def test_what_cannot_be_fitted_is_said(monkeypatch):
    rows = simulated(0)
    refused = fit(rows.assign(right=True))
    assert refused.loc[0, ["converged", "reason"]].tolist() == [False, "correctness does not vary"]
    assert refused.estimate.isna().all()
    monkeypatch.setattr(mixed_effects, "STEPS", 1)
    assert fit(rows).reason.tolist() == ["the coefficients did not settle in 1 steps"]
    monkeypatch.setitem(mixed_effects.OPTIMIZER, "maxiter", 2)
    assert fit(rows).reason.str.contains("did not converge in").tolist() == [True]


def test_estimates_do_not_depend_on_the_order_of_rows():
    """Sums of another order differ in the last digits, as they do between processors."""
    rows = simulated(0)
    table, other = fit(rows), fit(rows.sample(frac=1, random_state=1))
    numbers = ["estimate", "sd", "ci_low", "ci_high"]
    np.testing.assert_allclose(table[numbers], other[numbers], rtol=1e-7)


def test_of_many_outcomes_some_are_drawn_and_counted(monkeypatch):
    monkeypatch.setattr(mixed_effects, "MOST", 200)
    table = fit(simulated(0))
    assert table.n.unique().tolist() == [200]
    pd.testing.assert_frame_equal(table, fit(simulated(0)))
