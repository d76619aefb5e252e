"""Underspecification's rows of the summary over all studies: slopes of Method 1, detection by Method 2."""

import pandas as pd

from scripts.core.paper.summary import DEMONSTRATION, RELEASED, RUN
from scripts.underspecification.lib.study import FILE_PROMPTS
from scripts.underspecification.lib.study import RUN as RUN_SOURCE

DIFFERENCE = "female minus male"
GENDERS = ("female", "male", "neutral")
SETS = {"winogender": "Winogender", "simplified": "simplified"}
"""Evaluation sets of Method 2 to what the summary calls them."""
PROMPTS = tuple(FILE_PROMPTS.values())


def rows(slopes, detection, demonstration):
    """Return rows as :func:`scripts.core.paper.summary.write` takes them; slopes are percentage points a step.

    The headline is how the difference between the slopes of feminine and masculine pronouns depends on dates and on
    places, and how well feminine pronouns tell Winogender's unspecified sentences from the others.

    Parameters
    ----------
    slopes : DataFrame
        ``release``, ``model``, ``prompt``, ``variable``, ``gender``, ``accumulation``, ``metric``, ``value``,
        ``ci_low``, ``ci_high``, ``sentences``.
    detection : DataFrame
        The same without ``variable``, with ``evaluation_set``, ``templates`` and ``dates``.
    demonstration : set of str
        Labels of demonstration models.
    """
    found = []
    shown = (slopes.metric == "slope") & (slopes.accumulation == "top") & slopes.gender.isin([DIFFERENCE, *GENDERS])
    # Means over prompts are of several prompts, which stand here each.
    for row in slopes[shown & slopes.prompt.isin(PROMPTS)].itertuples():
        found.append(
            _row(row, demonstration, "")
            | {
                "metric": f"slope over {row.variable}s",
                "group": row.gender,
                "headline": row.gender == DIFFERENCE,
            }
        )
    shown = (detection.accumulation == "top") & detection.gender.isin(GENDERS) & (detection.dates == 1)
    shown &= (detection.metric == "AUC") | ((detection.metric == "balanced accuracy") & (detection.choice == "fixed"))
    for row in detection[shown].itertuples():
        found.append(
            _row(row, demonstration, "" if row.templates == row.release else row.templates)
            | {
                "metric": f"{row.metric}, {SETS[row.evaluation_set]}",
                "group": row.gender,
                "headline": (row.metric, row.evaluation_set, row.gender) == ("AUC", "winogender", "female"),
            }
        )
    return sorted(found, key=lambda row: not row["headline"])


def _row(row, demonstration, templates):
    released = row.release != RUN_SOURCE
    status = RELEASED if released else DEMONSTRATION if row.model in demonstration else RUN
    return {
        "data": ", ".join(filter(None, [row.release if released else "", templates])),
        "model": row.model if pd.isna(row.prompt) or row.prompt == "mask" else f"{row.model}, prompt {row.prompt}",
        "value": row.value,
        "ci_low": row.ci_low,
        "ci_high": row.ci_high,
        "n": row.sentences,
        "status": status,
    }
