"""How the printed Table 3 came about: one cell for each sentence, filled by whichever file is listed last.

The authors' analysis goes through the folder of raw files and keeps, for each occupation and kind of sentence, the
metric of the file that it read last, be it that of female, male or neutral probabilities; for models that fill masks
also files that trials left behind (``testTrue``). A folder's order is that of the file system. If every order is
equally likely, which file a sentence keeps is a fair draw among its files, independently of other sentences, so that
the counts of detected sentences follow exact distributions (sums of independent Bernoulli variables).
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from scripts.underspecification.lib import study
from scripts.underspecification.lib.analyses.detection import change
from scripts.underspecification.lib.templates import GENDERS

DECIMALS = 3
"""Of the printed rates, which the authors round before they average them."""
KEYS = ["release", "model", "prompt", "evaluation_set", "templates", "accumulation", "dates"]
DATES = (1, 2)
"""Dates at either end: one as the paper says, two as in the processed files in the authors' repository."""


def candidates(probabilities: pd.DataFrame) -> pd.DataFrame:
    """Return the metric of every file that may fill a sentence's cell.

    Args:
        probabilities: Of Winogender and the simplified set, with debris. Of the study's prompts only Method 2's is
            read.

    Returns:
        :data:`KEYS`, ``item``, ``well_specified``, ``gender``, ``debris``, ``metric`` (percentage points).
    """
    kept = probabilities[
        probabilities.gender.isin(GENDERS)
        & (
            (probabilities.prompt == "mask")
            | ((probabilities.prompt == study.DETECTION_PROMPT) & ~probabilities.debris)
        )
    ]
    keys = [*KEYS[:-1], "item", "well_specified", "gender", "debris"]
    ordered = kept.sort_values("position", kind="stable")
    of_files = ordered.groupby(keys, sort=False, observed=True).probability.agg(list).reset_index(name="values")
    # A file with fewer dates than are averaged is averaged over those it has, as slices are.
    frames = [
        of_files.assign(dates=count, metric=[_metric(values, count) for values in of_files["values"]])
        for count in DATES
        if of_files["values"].map(len).max() >= 2 * count
    ]
    return pd.concat(frames, ignore_index=True)[[*KEYS, "item", "well_specified", "gender", "debris", "metric"]]


def _metric(values: Sequence[float], count: int):
    return abs(float(change(np.array(values[:count]), np.array(values[-count:]))))


def distribution_of_successes(chances: Iterable[float]) -> np.ndarray:
    """Return the distribution of the number of successes of independent trials with the given chances."""
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return distribution


def _quantiles(values: np.ndarray, chances: np.ndarray, levels: Iterable[float] = (0.025, 0.975)):
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(chances[order])
    # What rounding took from the sum must not hide the last value.
    return [float(values[order][min(np.searchsorted(reached, level), len(order) - 1)]) for level in levels]


def rates_over_orders(metrics: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return rates over all orders of files.

    Args:
        metrics: From :func:`candidates`.
        threshold: In percentage points.

    Returns:
        :data:`KEYS`, ``rate`` (TPR, TNR, balanced accuracy), ``mean``, ``low`` and ``high`` (95 percent of the orders),
        ``lowest`` and ``highest`` (of all orders), ``alphabetical`` (the listing by name, which ends with the neutral
        files), ``sd`` and ``beyond`` (over all orders: the standard deviation, and the chance of a rate outside ``low``
        to ``high``), ``files`` (mean number of files for a sentence).
    """
    rows = []
    for key, of_set in metrics.groupby(KEYS, sort=False, observed=True):
        of_set = of_set.assign(detected=of_set.metric > threshold)
        ordered = of_set.sort_values(["gender", "debris"], kind="stable")
        cells = ordered.groupby(["item", "well_specified"], observed=True).detected
        cells = cells.agg(["mean", "min", "max", "last", "size"]).reset_index()
        rates = {}
        for name, part in (("TPR", cells[~cells.well_specified]), ("TNR", cells[cells.well_specified])):
            share = part[["mean", "min", "max", "last"]].astype(float)
            if name == "TNR":
                share = 1 - share.rename(columns={"min": "max", "max": "min"})
            values = np.round(np.arange(len(part) + 1) / len(part), DECIMALS)
            rates[name] = (share, values, distribution_of_successes(share["mean"]))
        values = np.add.outer(rates["TPR"][1], rates["TNR"][1]).ravel() / 2
        chances = np.multiply.outer(rates["TPR"][2], rates["TNR"][2]).ravel()
        both = (rates["TPR"][0].mean() + rates["TNR"][0].mean()) / 2
        for name, share, printable, odds in (
            *((name, part.mean(), *rest) for name, (part, *rest) in rates.items()),
            ("balanced accuracy", both, values, chances),
        ):
            low, high = _quantiles(printable, odds)
            outside = (printable < low - 1e-9) | (printable > high + 1e-9)
            centre = float(odds @ printable)
            rows.append(
                {**dict(zip(KEYS, key, strict=True)), "rate": name, "mean": share["mean"], "low": low, "high": high,
                 "lowest": share["min"], "highest": share["max"], "alphabetical": share["last"],
                 "sd": float(np.sqrt(odds @ (printable - centre) ** 2)), "beyond": float(odds[outside].sum()),
                 "files": cells["size"].mean()}
            )  # fmt: skip
    return pd.DataFrame(rows)
