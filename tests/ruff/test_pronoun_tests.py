"""Tests between pronoun sets: over occupations, of one model and over models."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.core.statistics import procedures
from scripts.ruff import pronoun_tests
from tests.ruff.synthetic import FOUR


def compare(rights, least=0, pooled=None):
    """Return the tests of rows of model, pronoun set, occupation and accuracy; what is over models is of ``all``."""
    units = pd.DataFrame(rights, columns=["model", "pronoun", "occupation", "correct"])
    units = units.set_index(["model", "pronoun", "occupation"]).correct
    made = pronoun_tests.compare_sets(units, FOUR, 0.05, least, pooled)
    return made.assign(model=made.model.replace("", "all"))


def of_model(tests, model="m"):
    return tests[tests.model == model].set_index(["pronoun_a", "pronoun_b"])


def test_tests_over_all_models_leave_out_what_is_not_pooled():
    rows = [
        (model, name, f"o{o}", right)
        for o in range(12)
        for model, name, right in (
            ("a", "he", 0.8 - o % 3 / 10), ("a", "she", 0.2), ("demo", "he", 0.0), ("demo", "she", 0.2)
        )
    ]  # fmt: skip
    tests = compare(rows, pooled=["a"]).set_index("model")
    assert tests.loc["all", "mean_a"] == tests.loc["a", "mean_a"] == pytest.approx(0.7)
    assert tests.n_models.to_dict() == {"all": 1, "a": 1, "demo": 1}
    every = compare(rows).set_index("model").loc["all"]
    assert (every.mean_a, every.n_models) == (pytest.approx(0.35), 2)


def test_the_paired_test_sees_what_welchs_test_misses():
    """Occupations are between nearly hopeless and nearly sure; in each, he is a little ahead of she and xe."""
    random = np.random.default_rng(0)
    rows = []
    for o in range(60):
        easy = int(random.integers(10, 80))
        for name, ahead in (("he", 6), ("she", 0), ("they", -30), ("xe", 0)):
            rows.append(("m", name, f"o{o}", (easy + ahead + int(random.integers(-4, 5))) / 100))
    tests = compare(rows)
    assert tests.model.tolist() == ["all"] * 6 + ["m"] * 6 and (tests.n_a == 60).all()
    tests = of_model(tests)
    seen = tests.loc[[("he", "she"), ("he", "xe")]]
    assert not seen.significant_holm.any() and seen.significant_paired_holm.all()
    assert seen.difference_paired.between(0.04, 0.08).all()
    assert tests.loc[("he", "they"), "significant_holm"] and tests.loc[("he", "they"), "difference"] > 0.3
    assert not tests.loc[("she", "xe"), "significant_paired_holm"]
    # Holm's correction is over the pairs of one model, for each test by itself.
    assert tests.p_paired_holm.tolist() == pytest.approx(procedures.holm(tests.p_paired).tolist())
    assert tests.p_holm.tolist() == pytest.approx(procedures.holm(tests.p).tolist())


def test_pairs_are_those_of_one_occupation():
    """The sets come in other orders of occupations, and one occupation is there with one set alone."""
    he, she = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.7}, {"c": 0.1, "a": 0.7, "b": 0.4}
    rows = [("m", name, o, right) for name, rights in (("he", he), ("she", she)) for o, right in rights.items()]
    found = of_model(compare(rows)).iloc[0]
    assert (found.n_a, found.n_b, found.n_pairs) == (4, 3, 3)
    assert found.difference == pytest.approx(0.575 - 0.4)
    assert found.p == pytest.approx(stats.ttest_ind([*he.values()], [*she.values()], equal_var=False).pvalue)
    # Differences 0.2, 0.1, 0.1: mean 0.4 / 3, standard deviation 0.1 / sqrt(3), t = 4.
    assert (found.difference_paired, found.t_paired, found.df_paired) == pytest.approx((0.4 / 3, 4, 2))
    assert found.p_paired == pytest.approx(2 * stats.t.sf(4, 2))


def test_sets_without_a_common_occupation_have_no_pairs():
    found = of_model(
        compare([("m", "he", "a", 0.5), ("m", "he", "b", 1), ("m", "she", "c", 0), ("m", "she", "d", 0.5)])
    )
    found = found.iloc[0]
    assert found.n_pairs == 0 and np.isfinite(found.p) and not found.significant_paired
    assert np.isnan([found.difference_paired, found.t_paired, found.p_paired, found.p_paired_holm]).all()


def test_equal_means_over_models_are_not_tested():
    """Three models change places from occupation to occupation; their means differ by rounding alone."""
    rows = []
    for o in range(12):
        he, she = ((1, 2, 4), (4, 2, 1)) if o else ((2, 1, 4), (1, 4, 2))
        rows += [(model, "he", f"o{o}", right / 6) for model, right in zip("klm", he, strict=True)]
        rows += [(model, "she", f"o{o}", right / 6) for model, right in zip("klm", she, strict=True)]
    units = pd.DataFrame(rows, columns=["model", "pronoun", "occupation", "correct"])
    assert 0 < np.ptp(units.groupby(["pronoun", "occupation"], sort=False).correct.mean()) < 1e-15
    tests = compare(rows)
    pooled = of_model(tests, "all")
    assert len(pooled) == 1 and pooled[["t", "df", "t_paired", "df_paired"]].isna().all(axis=None)
    assert (pooled[["p", "p_holm", "p_paired", "p_paired_holm"]] == 1).all(axis=None)
    assert (pooled[["difference", "difference_paired"]] == 0).all(axis=None)
    assert not pooled[[name for name in pooled if name.startswith("significant")]].any(axis=None)
    assert of_model(tests, "k").p.notna().all()


def test_sets_whose_accuracies_do_not_vary_are_tested():
    """He is always right and the others never are: the largest difference that there can be."""
    tests = compare([("m", name, f"o{o}", float(name == "he")) for o in range(33) for name in FOUR], least=8)
    of_he = (tests.pronoun_a == "he").to_numpy()
    assert tests.loc[of_he, "p"].tolist() == pytest.approx([2 / math.comb(66, 33)] * 6)
    assert tests.loc[of_he, "p_paired"].tolist() == pytest.approx([2 / 2**33] * 6)
    assert tests.loc[of_he, ["significant_holm", "significant_paired_holm"]].all(axis=None)
    assert (tests.loc[~of_he, ["p", "p_paired", "p_holm", "p_paired_holm"]] == 1).all(axis=None)


@pytest.mark.parametrize(("he", "she"), [(7, 7), (8, 7), (8, 8)])
def test_samples_that_cannot_carry_a_test_are_not_tested_and_told_what_would(he, she):
    rows = [("m", "he", f"o{o}", 1.0) for o in range(he)] + [("m", "she", f"o{o}", float(o == 0)) for o in range(she)]
    tests = compare(rows, least=8)
    assert (tests.needed == 8).all() and tests.difference.notna().all()
    assert tests.p.notna().all() == tests.p_paired.notna().all() == (min(he, she) >= 8)
    assert not tests.significant[tests.p.isna()].any()
