"""What a c2f system is made of: settings that cannot be used are refused by name."""

import pytest

from scripts.core.coreference_systems.c2f.configuration import Configuration
from tests.refusals import refused

SETTINGS = {
    "unknown": ({"units": 1}, ["'units'", "remove"]),
    "unit": ({"unit": "letter"}, ["'letter'", "piece", "word"]),
    "fraction": ({"ffnn_size": 1.5}, ["ffnn_size", "1.5", "whole number"]),
    "truth": ({"ffnn_size": True}, ["ffnn_size", "True", "whole number"]),
    "text": ({"dropout": "1"}, ["dropout", "'1'", "a number"]),
    "not a number": ({"dropout": float("nan")}, ["dropout", "nan", "a number"]),
    "a number for a truth": ({"width_prior": 1}, ["width_prior", "1", "true or false"]),
    "all dropped": ({"dropout": 1.0}, ["dropout", "below 1"]),
    "too small": ({"max_span_width": 0}, ["max_span_width", "at least 1"]),
    "too large": ({"top_span_ratio": 6}, ["top_span_ratio", "at most 5"]),
    "nothing kept": ({"top_span_ratio": 0}, ["top_span_ratio", "above 0"]),
    "genre": ({"genre": "xx"}, ["genre", "'xx'", "bc"]),
}


@pytest.mark.parametrize(("values", "named"), SETTINGS.values(), ids=SETTINGS)
def test_settings_that_cannot_be_used_are_refused(values, named):
    with refused("here", *named):
        Configuration.parse(values, "here")
