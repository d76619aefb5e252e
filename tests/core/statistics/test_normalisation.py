"""Normalisations, the decisions under each, and what flips: values worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.statistics import normalisation

# One instance with a short option (a), one of two tokens and more bytes (b), and one that is frequent anywhere (c).
SCORES = pd.DataFrame(
    {
        "instance_id": "x",
        "option_index": [0, 1, 2],
        "log_probability": [-12.0, -12.5, -11.0],
        "scored_tokens": [4, 5, 4],
        "text_bytes": [20, 25, 10],
        "context_free_log_probability": [-10.0, -11.0, -6.0],
    }
)


@pytest.mark.parametrize(
    ("kind", "expected", "picked"),
    [
        ("sum", [-12, -12.5, -11], 2),
        ("tokens", [-3, -2.5, -2.75], 1),
        ("bytes", [-0.6, -0.5, -1.1], 1),
        ("context_free", [-2, -1.5, -5], 1),
    ],
)
def test_each_normalisation_has_its_formula(kind, expected, picked):
    assert normalisation.normalise_scores(SCORES, kind).tolist() == pytest.approx(expected)
    assert normalisation.favoured_options(SCORES, kind).option_index.tolist() == [picked]


def test_every_normalisation_has_a_label_and_columns():
    assert set(normalisation.LABELS) == set(normalisation.COLUMNS)


def test_bytes_are_those_of_utf_8():
    assert normalisation.byte_lengths(["she", "čov", "ﬁ"]).tolist() == [3, 4, 3]


@pytest.mark.parametrize("kind", normalisation.COLUMNS)
def test_ties_go_to_the_first_option(kind):
    equal = SCORES.assign(
        log_probability=-8.0, scored_tokens=4, text_bytes=20, context_free_log_probability=-6.0, instance_id="y"
    )
    made = normalisation.favoured_options(equal[::-1], kind)
    assert made.option_index.tolist() == [0]
    assert made.tie.tolist() == [True]


def test_the_sum_decides_as_scores_do_everywhere_else():
    random = np.random.default_rng(5)
    scores = pd.DataFrame(
        {
            "instance_id": np.repeat([f"i{i:03}" for i in range(200)], 4),
            "option_index": np.tile(np.arange(4), 200),
            "log_probability": -random.integers(40, 44, 800).astype(float),
        }
    )
    pd.testing.assert_frame_equal(normalisation.favoured_options(scores, "sum"), options.predict(scores))


def test_a_constant_of_an_instance_changes_no_difference():
    """The log-probability of the context is the same for every option, so that the difference is about the option."""
    moved = SCORES.assign(log_probability=SCORES.log_probability - 100)
    assert normalisation.favoured_options(moved, "context_free").option_index.tolist() == [1]


@pytest.mark.parametrize("kind", ["tokens", "bytes", "context_free"])
def test_what_a_normalisation_needs_has_to_be_there(kind):
    column = normalisation.COLUMNS[kind][1]
    with pytest.raises(UserError, match=column):
        normalisation.normalise_scores(SCORES.drop(columns=column), kind)
    with pytest.raises(UserError, match=column):
        normalisation.normalise_scores(SCORES.assign(**{column: [4, np.nan, 4]}), kind)


@pytest.mark.parametrize("kind", ["tokens", "bytes"])
def test_a_text_without_length_has_no_mean(kind):
    with pytest.raises(UserError, match=normalisation.LABELS[kind]):
        normalisation.normalise_scores(SCORES.assign(**{normalisation.COLUMNS[kind][1]: [4, 0, 4]}), kind)


def test_an_unknown_normalisation_is_refused():
    with pytest.raises(ValueError, match="'words' is no normalisation"):
        normalisation.normalise_scores(SCORES, "words")


def test_equal_values_share_the_best_rank():
    assert normalisation.ranks(pd.Series([0.2, 0.5, 0.5, np.nan, 0.1])).tolist() == [3, 1, 1, pd.NA, 4]


def test_orders_of_models_are_compared_by_tau_b():
    assert normalisation.rank_agreement([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert normalisation.rank_agreement([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Of six pairs four agree, one does not and one is tied on the right alone: (4 - 1) / sqrt(6 * 5).
    assert normalisation.rank_agreement([1, 2, 3, 4], [1, 3, 2, 3]) == pytest.approx(3 / np.sqrt(30))
    assert np.isnan(normalisation.rank_agreement([1], [2]))
    assert np.isnan(normalisation.rank_agreement([1, 1], [2, 3]))
