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
    assert formats.format_number(value, decimals, signed) == text


def test_percents_intervals_and_deviations_are_such_numbers():
    assert formats.format_percent(0.12345) == "12.35" and formats.format_percent(-0.12345, 0, signed=True) == "−12"
    assert formats.format_percent(None) == formats.format_percent(math.nan) == "–"
    assert formats.format_interval(-0.126, 0.001, 2, signed=True) == "−0.13 to 0.00"
    # Both ends are there, or none.
    assert formats.format_interval(math.nan, math.nan, 2, between="–") == formats.format_interval(0.1, None, 2) == "–"
    assert formats.with_sd(0.5, 0.126) == "0.50 ± 0.13" and formats.with_sd(0.5, math.nan) == "0.50"


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
