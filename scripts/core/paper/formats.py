"""How numbers are printed in tables and prose: signs, percent, intervals, p values, and what is missing.

A minus is a minus sign, not a hyphen, and what rounds to zero has no sign.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

MISSING_MARK = "–"
"""Stands for a number that is not defined."""
FEWEST = 10
"""A share of fewer instances is not drawn: one instance alone would move it by more than ten percentage points."""
NOT_RUN, NOT_RELEASED = "not run", "not released"
"""Stand for numbers that exist elsewhere: what this run lacks, and what a study's authors did not publish."""


def have_sizes(models: dict[str, dict]) -> bool:
    """Tell whether models differ in their number of parameters: without, a figure by size shows nothing."""
    return len({facts["parameters"] for facts in models.values()}) > 1


def format_number(value: float | None, decimals: int, signed: bool = False) -> str:
    """Return a number with ``decimals`` and commas between thousands; :data:`MISSING_MARK` for None and NaN.

    Args:
        signed: Print the sign of a positive number too.

    Examples:
        >>> format_number(1234.5, 2), format_number(-0.004, 2), format_number(0.25, 1, signed=True)
        ('1,234.50', '0.00', '+0.2')
    """
    if value is None or pd.isna(value):
        return MISSING_MARK
    text = f"{value:{'+' if signed else ''},.{decimals}f}"
    if not text.strip("+-0.,"):
        text = text.lstrip("+-")
    return text.replace("-", "−")


def with_sign(value: float | None, decimals: int) -> str:
    """Return a difference or a coefficient with its sign, as :func:`format_number`."""
    return format_number(value, decimals, signed=True)


def format_percent(share: float | None, decimals: int = 2, signed: bool = False) -> str:
    """Return a share between 0 and 1 in percent, without the percent sign; as :func:`format_number`."""
    return format_number(None if share is None else 100 * share, decimals, signed)


def format_interval(
    low: float | None, high: float | None, decimals: int, signed: bool = False, between: str = " to "
) -> str:
    """Return both ends of an interval; :data:`MISSING_MARK` alone if either end is missing."""
    if any(end is None or pd.isna(end) for end in (low, high)):
        return MISSING_MARK
    return between.join(format_number(end, decimals, signed) for end in (low, high))


def with_sd(mean: float | None, sd: float | None, decimals: int = 2) -> str:
    """Return a mean with its standard deviation behind ±, or alone where there is none."""
    return (
        format_number(mean, decimals)
        if pd.isna(sd)
        else f"{format_number(mean, decimals)} ± {format_number(sd, decimals)}"
    )


def p_text(p: float, smallest: float = 1e-10, decimals: int = 4) -> str:
    """Return a p value as it is printed after the letter: ``= 0.0075``, ``= 2.1e-06``, or ``< 1e-10``.

    Args:
        smallest: A smaller p value says no more than that it is small: its bound is printed instead.
        decimals: Of p values from 0.001 up; smaller ones have two digits.
    """
    if p < smallest:
        return f"< {smallest:g}"
    return f"= {p:.{decimals}f}" if p >= 1e-3 else f"= {p:.1e}"


def count_parameters(count: float | None) -> str:
    """Return a number of parameters as it is usually printed: 11M, 1.3B; a dash where it is not known."""
    if count is None or count != count:
        return MISSING_MARK
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            value = count / size
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.3g}{unit}"
    return str(count)


def shorten_list(words: Iterable[str], most: int = 3, separator: str = ", ") -> str:
    """Return words as a short list: the first ``most`` and how many more there are."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return separator.join(words[:most]) + more


MANY_UNITS = 1000
"""From so many units on an estimate is printed with one more decimal."""


def format_estimate(
    value: float, low: float, high: float, n: float, n_unit: str = "instances", style: str = "percent",
    whose: str = "", sized: bool = True,
) -> str:  # fmt: skip
    """Return an estimate as sentences about all studies print it: value, unit, interval, n.

    Args:
        value, low, high: ``low`` and ``high`` are missing where there is no interval.
        n_unit: What ``n`` counts; instances are not named.
        style: ``percent`` and ``points`` for shares and their differences, ``plain`` for what is printed as it is.
        whose: Of which model, where a sentence has several.
        sized: Whether n is printed; where it is not, the sentence says it once for several estimates.

    Examples:
        >>> format_estimate(0.5666, 0.494, 0.633, 180)
        '57% (49 to 63; n = 180)'
        >>> format_estimate(0.0479, 0.0304, 0.0659, 1002, "quadruples", "points")
        '+4.8 points (+3.0 to +6.6; n = 1,002 quadruples)'
        >>> format_estimate(0.591, None, None, 96, "sentences", "plain")
        '0.59 (no interval; n = 96 sentences)'
    """
    factor, decimals, word = {"percent": (100, 0, "%"), "points": (100, 0, " points"), "plain": (1, 2, "")}[style]
    decimals += n >= MANY_UNITS
    start, stop = (None if pd.isna(end) else factor * end for end in (low, high))
    signed = style == "points"
    spread = "no interval" if start is None or stop is None else format_interval(start, stop, decimals, signed)
    count = f"n = {format_number(n, 0)}" + ("" if n_unit == "instances" else f" {n_unit}")
    facts = "; ".join(filter(None, [spread, count if sized else "", whose]))
    return f"{format_number(factor * value, decimals, signed)}{word} ({facts})"


def describe_precision(precision: str, source: Mapping[str, Any]) -> str:
    """Return the precision that a model ran in and, if its file is quantised, that of the stored weights.

    Examples:
        >>> describe_precision("float32", {"package": "a", "file": "a/SmolLM2-135M-Instruct.Q4_1.gguf"})
        'float32, from 4-bit weights'
    """
    quantised = re.search(r"\.I?Q(\d)\w*\.gguf$", source.get("file", ""))
    return f"{precision}, from {quantised[1]}-bit weights" if quantised else precision
