"""Printed cells of Tables 2 and 3 beside those from the released files, and how many agree."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from scripts.core import files
from scripts.underspecification.lib import study
from scripts.underspecification.lib.analyses import detection, overwriting

SETS = {"Winogender": "winogender", "Simplified": "simplified"}
RATES = {"TPR": "TPR", "TNR": "TNR", "BA": "balanced accuracy"}
GENDERS = ("female", "male", "neutral")
COLUMNS = ("release", "table", "dates", "variant", "cells", "agree", "close", "largest_difference")
CLOSE = 0.02
"""How far from the mean over all orders a printed rate is called close."""


def printed_rates(printed: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3: ``evaluation_set``, ``model`` (as files name it), ``rate``, ``printed`` (text)."""
    names = {shown: model for model, shown in study.PRINTED_AS.items()}
    rows = []
    for row in files.rows(printed[printed.source == "Table 3"]):
        evaluation_set, model = row.row.split(" | ")
        rows.append((SETS[evaluation_set], names.get(model, model), RATES[row.column], row.value))
    return pd.DataFrame(rows, columns=["evaluation_set", "model", "rate", "printed"])


def printed_metrics(printed: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2: ``model``, ``item`` (of the sentences about a doctor), ``printed`` (text)."""
    rows = []
    for row in files.rows(printed[printed.source == "Table 2"]):
        _, coreferent, participant, _ = row.row.split(" | ")
        participant = "other" if participant == "patient" else participant
        code = ("professional", "participant").index(coreferent)
        rows.append((row.column, f"doctor_{participant}_{code}", row.value))
    return pd.DataFrame(rows, columns=["model", "item", "printed"])


def is_of_method2(frame: pd.DataFrame) -> pd.Series:
    """Tell which rows are of Method 2 as the study did it: its prompt, the most probable tokens, its sentences."""
    return (
        frame.prompt.isin(["mask", study.DETECTION_PROMPT])
        & (frame.accumulation == "top")
        & (frame.templates == "official")
    )


def beside_printed(rates: pd.DataFrame, orders: pd.DataFrame, printed: pd.DataFrame, dates: int = 1) -> pd.DataFrame:
    """Return every cell of Table 3 beside the released files.

    Args:
        rates, orders: From :func:`scripts.underspecification.lib.analyses.detection.evaluate` and
            :func:`scripts.underspecification.lib.analyses.overwriting.rates_over_orders`.
        printed: From :func:`scripts.core.paper.published.read_published`.

    Returns:
        ``evaluation_set``, ``model``, ``rate``, ``printed``, ``female``, ``male``, ``neutral`` (rates of each gender's
        files alone), and of all orders of files ``mean``, ``sd``, ``low``, ``high``, ``beyond``, ``lowest``,
        ``highest``, ``alphabetical``. Cells of models that the release does not have are left out.
    """
    fixed = rates[is_of_method2(rates) & (rates.dates == dates) & (rates.choice == "fixed")]
    wide = fixed[fixed.gender.isin(GENDERS)].pivot(
        index=["evaluation_set", "model", "metric"], columns="gender", values="value"
    )
    spread = orders[is_of_method2(orders) & (orders.dates == dates)]
    spread = spread.set_index(["evaluation_set", "model", "rate"])
    spread = spread[["mean", "sd", "low", "high", "beyond", "lowest", "highest", "alphabetical"]]
    keys = ["evaluation_set", "model", "rate"]
    table = printed_rates(printed).astype({"printed": float})
    joined = table.join(wide, on=keys, how="inner").join(spread, on=keys, how="inner")
    return joined.reset_index(drop=True)


def agreeing_cells(
    metric: pd.DataFrame, rates: pd.DataFrame, orders: pd.DataFrame, printed: pd.DataFrame
) -> pd.DataFrame:
    """Return how many printed cells agree with what was computed from a release.

    Args:
        metric, rates, orders: The tables of Method 2.

    Returns:
        ``table``, ``dates``, ``variant`` (a gender; the female share of both; ``file orders`` for the range that 95
        percent of the orders give), ``cells``, ``agree`` (as printed, to the last digit; within the range), ``close``
        (of Table 3, within :data:`CLOSE` of the file orders' mean; of Table 2, those that the rounding of the released
        probabilities allows), ``largest_difference``.
    """
    rows = []
    for dates in sorted(set(orders.dates)):
        table = beside_printed(rates, orders, printed, dates)
        if table.empty:
            continue
        for gender in GENDERS:
            gap = (table.printed - table[gender]).abs()
            rows.append(_row("Table 3", dates, gender, gap, 3, gap <= CLOSE + 1e-9))
        inside = ~is_outside(table)
        gap = (table.printed - table["mean"]).abs()
        rows.append(
            {"table": "Table 3", "dates": dates, "variant": "file orders", "cells": len(table),
             "agree": int(inside.sum()), "close": int((gap <= CLOSE + 1e-9).sum()),
             "largest_difference": float(gap.max())}
        )  # fmt: skip
    wanted = printed_metrics(printed).astype({"printed": float})
    winogender = metric[is_of_method2(metric) & (metric.evaluation_set == "winogender")]
    for dates in (1, 2):
        for variant in ("female", detection.OF_BOTH):
            part = winogender[(winogender.dates == dates) & (winogender.gender == variant)].set_index(["model", "item"])
            joined = wanted.join(part[["metric", "metric_low", "metric_high"]], on=["model", "item"], how="inner")
            if not joined.empty:
                gap = (joined.printed - joined.metric).abs()
                allowed = (joined.metric_low - 0.05 - 1e-9 <= joined.printed) & (
                    joined.printed <= joined.metric_high + 0.05 + 1e-9
                )
                rows.append(_row("Table 2", dates, variant, gap, 1, allowed))
    return pd.DataFrame(rows)


def over_releases(tables: dict[str, Sequence[pd.DataFrame]], printed: pd.DataFrame) -> pd.DataFrame:
    """Return :func:`agreeing_cells` of several releases.

    Args:
        tables: Of each release the metric, the rates and the rates over orders of files.
        printed: As for :func:`agreeing_cells`.

    Returns:
        :data:`COLUMNS`; no row without a release.
    """
    frames = [
        agreeing_cells(metric, rates, orders, printed).assign(release=release)
        for release, (metric, rates, orders) in tables.items()
    ]
    return pd.concat([pd.DataFrame(columns=COLUMNS), *frames], ignore_index=True)[list(COLUMNS)]


def is_outside(table: pd.DataFrame) -> pd.Series:
    """Tell which printed rates lie outside the central 95 percent of all orders of files.

    ``table`` is from :func:`beside_printed`; a printed number stands for all that rounds to it.
    """
    return (table.printed < table.low - 5e-4) | (table.printed > table.high + 5e-4)


def equally_likely(table: pd.DataFrame) -> dict:
    """Test whether the printed Table 3 looks like one in which every order of files was equally likely.

    Only TPR and TNR are looked at, since balanced accuracy follows from them, and only cells in which the order can
    change the rate. Different cells come from different files, so that they are independent.

    Args:
        table: From :func:`beside_printed`.

    Returns:
        ``cells``; ``towards_neutral`` (how many lie on that side of the mean over all orders where the neutral files
        alone are); ``z`` (the distances from the mean in standard deviations, positive towards the neutral files,
        summed and divided by the root of their number: Stouffer's, standard normal if orders are equally likely);
        ``outside`` (the central 95 percent), how many are ``expected`` there, and the chance of as many or more, ``p``
        (exact) and ``p_bound`` (if each cell had the full chance of a twentieth); ``possible`` (cells that some order
        gives) among ``all`` cells, with those of balanced accuracy.
    """
    cells = table[(table.rate != "balanced accuracy") & (table.sd > 0)]
    side = np.sign(cells.neutral - cells["mean"])
    distance = side * (cells.printed - cells["mean"]) / cells.sd
    count = int(is_outside(cells).sum())
    chances = overwriting.distribution_of_successes(cells.beyond)
    possible = (table.lowest - 5e-4 <= table.printed) & (table.printed <= table.highest + 5e-4)
    return {
        "cells": len(cells),
        "towards_neutral": int((distance > 0).sum()),
        "z": float(distance.sum() / np.sqrt(max(len(cells), 1))),
        "outside": count,
        "expected": float(cells.beyond.sum()),
        "p": float(chances[count:].sum()),
        "p_bound": float(scipy.stats.binom.sf(count - 1, len(cells), 0.05)),
        "possible": int(possible.sum()),
        "all": len(table),
    }


def _row(table: str, dates: int, variant: str, gap: pd.Series, decimals: int, close: pd.Series):
    # A number stands for all that rounds to it; halves may fall either way.
    agree = gap <= 0.5 * 10.0**-decimals + 1e-9
    return {
        "table": table,
        "dates": dates,
        "variant": variant,
        "cells": len(gap),
        "agree": int(agree.sum()),
        "close": int(close.sum()),
        "largest_difference": float(np.max(gap)),
    }
