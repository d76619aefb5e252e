"""Printed cells of Tables 2 and 3 beside those from the released files, and how many agree."""

import numpy as np
import pandas as pd

from scripts.underspecification import detection, study

SETS = {"Winogender": "winogender", "Simplified": "simplified"}
RATES = {"TPR": "TPR", "TNR": "TNR", "BA": "balanced accuracy"}
GENDERS = ("female", "male", "neutral")
CLOSE = {"Table 2": 0.3, "Table 3": 0.02}
"""What is called close. Released probabilities are rounded to 0.1 points, which shifts a share of two of them."""


def printed_rates(printed):
    """Return Table 3: ``evaluation_set``, ``model`` (as files name it), ``rate``, ``printed`` (text)."""
    names = {shown: model for model, shown in study.PRINTED_AS.items()}
    rows = []
    for row in printed[printed.source == "Table 3"].itertuples():
        evaluation_set, model = row.row.split(" | ")
        rows.append((SETS[evaluation_set], names.get(model, model), RATES[row.column], row.value))
    return pd.DataFrame(rows, columns=["evaluation_set", "model", "rate", "printed"])


def printed_metrics(printed):
    """Return Table 2: ``model``, ``item`` (of the sentences about a doctor), ``printed`` (text)."""
    rows = []
    for row in printed[printed.source == "Table 2"].itertuples():
        _, coreferent, participant, _ = row.row.split(" | ")
        participant = "other" if participant == "patient" else participant
        code = ("professional", "participant").index(coreferent)
        rows.append((row.column, f"doctor_{participant}_{code}", row.value))
    return pd.DataFrame(rows, columns=["model", "item", "printed"])


def method2(frame):
    """Return which rows are of Method 2 as the study did it: its prompt, the most probable tokens, its sentences."""
    return (
        frame.prompt.isin(["mask", study.DETECTION_PROMPT])
        & (frame.accumulation == "top")
        & (frame.templates == "official")
    )


def beside_printed(rates, orders, printed, dates=1):
    """Return every cell of Table 3 beside the released files.

    Parameters
    ----------
    rates, orders : DataFrame
        From :func:`scripts.underspecification.detection.evaluate` and
        :func:`scripts.underspecification.overwriting.spread`.
    printed : DataFrame
        From :func:`scripts.core.published.read_published`.
    dates : int

    Returns
    -------
    DataFrame
        ``evaluation_set``, ``model``, ``rate``, ``printed``, ``female``, ``male``, ``neutral`` (rates of each
        gender's files alone), and of all orders of files ``mean``, ``low``, ``high``, ``lowest``, ``highest``,
        ``alphabetical``. Cells of models that the release does not have are left out.
    """
    fixed = rates[method2(rates) & (rates.dates == dates) & (rates.choice == "fixed")]
    wide = fixed[fixed.gender.isin(GENDERS)].pivot(
        index=["evaluation_set", "model", "metric"], columns="gender", values="value"
    )
    spread = orders[method2(orders) & (orders.dates == dates)]
    spread = spread.set_index(["evaluation_set", "model", "rate"])
    spread = spread[["mean", "low", "high", "lowest", "highest", "alphabetical"]]
    keys = ["evaluation_set", "model", "rate"]
    table = printed_rates(printed).astype({"printed": float})
    joined = table.join(wide, on=keys, how="inner").join(spread, on=keys, how="inner")
    return joined.reset_index(drop=True)


def counts(metric, rates, orders, printed):
    """Return how many printed cells agree with what was computed from a release.

    Parameters
    ----------
    metric, rates, orders : DataFrame
        The tables of Method 2.
    printed : DataFrame

    Returns
    -------
    DataFrame
        ``table``, ``dates``, ``variant`` (a gender; the female share of both; ``file orders`` for the range that 95
        percent of the orders give), ``cells``, ``agree`` (as printed, to the last digit; within the range),
        ``close`` (within :data:`CLOSE`), ``largest_difference``.
    """
    rows = []
    for dates in sorted(set(orders.dates)):
        table = beside_printed(rates, orders, printed, dates)
        if table.empty:
            continue
        for gender in GENDERS:
            rows.append(_row("Table 3", dates, gender, table.printed, table[gender], 3))
        inside = (table.low - 5e-4 <= table.printed) & (table.printed <= table.high + 5e-4)
        gap = (table.printed - table["mean"]).abs()
        rows.append(
            {"table": "Table 3", "dates": dates, "variant": "file orders", "cells": len(table),
             "agree": int(inside.sum()), "close": int((gap <= CLOSE["Table 3"]).sum()),
             "largest_difference": float(gap.max())}
        )  # fmt: skip
    wanted = printed_metrics(printed).astype({"printed": float})
    own = metric[method2(metric) & (metric.evaluation_set == "winogender")]
    for dates in (1, 2):
        for variant in ("female", detection.OF_BOTH):
            part = own[(own.dates == dates) & (own.gender == variant)].set_index(["model", "item"]).metric
            joined = wanted.join(part, on=["model", "item"], how="inner")
            if not joined.empty:
                rows.append(_row("Table 2", dates, variant, joined.printed, joined.metric, 1))
    return pd.DataFrame(rows)


def _row(table, dates, variant, printed, ours, decimals):
    gap = (printed - ours).abs()
    # A number stands for all that rounds to it; halves may fall either way.
    agree = gap <= 0.5 * 10.0**-decimals + 1e-9
    return {
        "table": table,
        "dates": dates,
        "variant": variant,
        "cells": len(printed),
        "agree": int(agree.sum()),
        "close": int((gap <= CLOSE[table] + 1e-9).sum()),
        "largest_difference": float(np.max(gap)),
    }
