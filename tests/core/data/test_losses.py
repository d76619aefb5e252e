"""Which columns of a file with losses decide, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.data import losses
from tests.refusals import refused


def table():
    """Two options: one of T5's kind that starts a sentence, and one of a decoder in the middle of one."""
    frame = pd.DataFrame(
        {
            "log_probability": [-12.0, -8.0], "scored_tokens": [4, 8],
            "option_log_probability": [-6.0, -2.0], "option_tokens": [2, 1],
            "sentinel_log_probability": [-5.0, 0.0], "sentinel_tokens": [1, 0],
            "end_log_probability": [-1.0, 0.0], "end_tokens": [1, 0],
            "uncapitalised_log_probability": [-20.0, np.nan], "uncapitalised_scored_tokens": [5, np.nan],
            "uncapitalised_option_log_probability": [-9.0, np.nan], "uncapitalised_option_tokens": [3, np.nan],
        }
    )  # fmt: skip
    return frame.astype({"scored_tokens": "int32", "option_tokens": "int32"})


@pytest.mark.parametrize(
    ("choices", "expected", "tokens"),
    [
        ({}, [-6 / 2, -8 / 8], [2, 8]),
        ({"labels": "faithful"}, [-12 / 4, -8 / 8], [4, 8]),
        ({"statistic": "sum"}, [-6, -8], [2, 8]),
        ({"statistic": "sum", "labels": "faithful"}, [-12, -8], [4, 8]),
        ({"capitals": "faithful"}, [-9 / 3, -8 / 8], [3, 8]),
        ({"statistic": "sum", "labels": "faithful", "capitals": "faithful"}, [-20, -8], [5, 8]),
    ],
    ids=lambda value: "-".join(value.values()) or "corrected" if isinstance(value, dict) else "",
)
def test_choices_decide_which_labels_count(choices, expected, tokens):
    made = losses.comparable_scores(table(), **choices)
    assert made.log_probability.tolist() == expected
    assert made.scored_tokens.tolist() == tokens
    assert made.scored_tokens.dtype == made.option_tokens.dtype == np.int32


def test_what_cannot_be_chosen_is_refused():
    with refused("mine", "option_tokens", "delete the file"):
        losses.comparable_scores(table().drop(columns="option_tokens"), where="mine")
    with pytest.raises(ValueError, match="statistic is 'median'"):
        losses.comparable_scores(table(), statistic="median")
