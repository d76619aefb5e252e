"""Ratios of sums with bootstrap intervals over clusters: shares, precision, F1, consistency, bias."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

POOLED = ""
"""A factor's level in rows that pool it."""
MEASURES = ["value", "low", "high", "above", "below", "clusters"]


def pool_levels(items: pd.DataFrame, *factors: str) -> pd.DataFrame:
    """Return the items with these factors pooled."""
    return items.assign(**dict.fromkeys(factors, POOLED))


def estimate_ratios(
    items: pd.DataFrame,
    keys: list[str],
    cluster: str,
    draws: int,
    seed: int,
    undefined: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return the sum of ``above`` over the sum of ``below``, with an interval, for each combination of keys.

    Args:
        items: Columns ``metric``, ``above``, ``below``, the keys and the cluster.
        cluster: What is resampled, in the order of its names.
        undefined: Metrics to their value where the denominator is zero; otherwise it is missing.

    Returns:
        The keys, ``metric`` and :data:`MEASURES`, in the order in which the items come: ``above`` and ``below`` are
        sums, ``clusters`` counts those with items.
    """
    # Rules files read this module, and scipy takes a while.
    from scripts.core.statistics import procedures

    keys = [*keys, "metric"]
    sums = items.groupby([*keys, cluster], sort=False)[["above", "below"]].sum().astype(float)
    rows = []
    for key, part in sums.groupby(level=keys, sort=False):
        part = part.sort_index(level=cluster)
        above, below = part.sum()
        value = above / below if below else (undefined or {}).get(str(key[-1]), np.nan)
        ends = procedures.cluster_bootstrap(part.above, part.below, draws, seed)
        rows.append((*key, value, *ends, above, below, len(part)))
    return pd.DataFrame(rows, columns=[*keys, *MEASURES])


def select_rows(table: pd.DataFrame, factors: Sequence[str], **levels: Any) -> pd.DataFrame:
    """Return the estimates with these levels: one, some, or ``...`` for any; factors that are not named are pooled."""
    for column, level in (dict.fromkeys(table.columns.intersection(list(factors)), POOLED) | levels).items():
        if level is not ...:
            table = table[table[column].isin([level] if isinstance(level, str) else level)]
    return table
