"""Entries of the numbers that the paper's prose uses, which say how a number is printed and where it comes from."""

from collections.abc import Mapping
from typing import Any, SupportsInt

import numpy as np
import pandas as pd

from scripts.core.paper.formats import MISSING_MARK, format_number


def make_entry(value: float | str | None, text: str, source: str, **cell: Any) -> dict:
    """Return the entry of one number.

    Args:
        value: None and NaN are missing: the entry's value is None and it is printed as
            :data:`MISSING_MARK`.
        text: How it is printed.
        source: The table, or other file, that it comes from.
        **cell: The key of its cell there; the key that all cells have in common where it comes from several.

    Returns:
        ``value``, ``text``, ``source``, ``cell``.
    """
    missing = value is None or pd.isna(value)
    # JSON holds no numbers of numpy.
    value = value.item() if isinstance(value, np.generic) else value
    return {
        "value": None if missing else value,
        "text": MISSING_MARK if missing else text,
        "source": source,
        "cell": cell,
    }


def make_count(value: SupportsInt, source: str, **cell: Any) -> dict:
    """Return the entry of a count, printed with commas between thousands."""
    return make_entry(int(value), format_number(int(value), 0), source, **cell)


def of_settings(values: Mapping[str, float], keys: Mapping[str, str]) -> dict[str, dict]:
    """Return ``setting.<name>`` for settings (name to number), ``keys`` being name to key in config.yaml."""
    return {
        f"setting.{name}": make_entry(value, f"{value:,}", "config.yaml", key=keys[name])
        for name, value in values.items()
    }
