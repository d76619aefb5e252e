"""How numbers are printed."""

import math

import pytest

from scripts.core.paper import formats


@pytest.mark.parametrize(
    ("value", "decimals", "signed", "text"),
    [
        (0.126, 2, False, "0.13"),
        (-0.126, 2, False, "−0.13"),
        (0.126, 2, True, "+0.13"),
        # What rounds to zero has no sign.
        (-0.004, 2, False, "0.00"),
        (-0.004, 2, True, "0.00"),
        (0.004, 2, True, "0.00"),
        (-0.0, 0, True, "0"),
        (-0.4, 0, True, "0"),
        (-1234567.25, 1, False, "−1,234,567.2"),
        (100.0, 0, True, "+100"),
        (None, 2, True, "–"),
        (math.nan, 2, False, "–"),
    ],
)
def test_numbers(value, decimals, signed, text):
    assert formats.number(value, decimals, signed) == text


def test_percent():
    assert formats.percent(0.12345) == "12.35"
    assert formats.percent(-0.12345, 0, signed=True) == "−12"
    assert formats.percent(-0.00001, signed=True) == "0.00"
    assert formats.percent(None) == formats.percent(math.nan) == "–"


def test_intervals_lack_both_ends_or_none():
    assert formats.interval(-0.126, 0.5, 2) == "−0.13 to 0.50"
    assert formats.interval(-0.126, 0.001, 2, signed=True) == "−0.13 to 0.00"
    assert formats.interval(0.1, 0.25, 2, between="–") == "0.10–0.25"
    assert formats.interval(math.nan, math.nan, 2, between="–") == formats.interval(0.1, None, 2) == "–"


def test_deviations_stand_where_there_are_some():
    assert formats.with_sd(0.5, 0.126) == "0.50 ± 0.13"
    assert formats.with_sd(0.5, math.nan) == "0.50"
    assert formats.with_sd(math.nan, math.nan) == "–"


@pytest.mark.parametrize(
    ("p", "options", "text"),
    [
        (0.0075, {}, "= 0.0075"),
        (0.001, {}, "= 0.0010"),
        (2.1e-6, {}, "= 2.1e-06"),
        (1e-11, {}, "< 1e-10"),
        (0.00023, {}, "= 2.3e-04"),
        (1.1e-10, {}, "= 1.1e-10"),
        (0.0, {}, "< 1e-10"),
        (0.0004, {"smallest": 0.001, "decimals": 3}, "< 0.001"),
        (0.001, {"smallest": 0.001, "decimals": 3}, "= 0.001"),
        (0.04, {"smallest": 0.001, "decimals": 3}, "= 0.040"),
    ],
)
def test_p_values_say_no_more_than_their_bound(p, options, text):
    assert formats.p_text(p, **options) == text
