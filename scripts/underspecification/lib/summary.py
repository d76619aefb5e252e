"""Underspecification's rows of the summary over all studies: slopes of Method 1, detection by Method 2."""

from typing import Any

import pandas as pd

from scripts.core.data.estimate_rows import DISTRIBUTION, MODEL, RELEASED_OUTPUTS
from scripts.underspecification.lib.study import FILE_PROMPTS
from scripts.underspecification.lib.study import RUN as RUN_SOURCE

DIFFERENCE = "female minus male"
GENDERS = ("female", "male", "neutral")
PROMPTS = tuple(FILE_PROMPTS.values())


def rows(slopes: pd.DataFrame, detection: pd.DataFrame, models: dict[str, dict]) -> list[dict]:
    """Return rows as :func:`scripts.core.data.estimate_rows.write` takes them; slopes are percentage points a step.

    The headline is how the difference between the slopes of feminine and masculine pronouns depends on dates and on
    places, and how well feminine pronouns tell Winogender's unspecified sentences from the others.

    Args:
        slopes: ``release``, ``model``, ``prompt``, ``variable``, ``gender``, ``accumulation``, ``metric``, ``value``,
            ``ci_low``, ``ci_high``, ``sentences``.
        detection: The same without ``variable``, with ``evaluation_set``, ``templates``, ``dates`` and ``occupations``,
            over which its intervals are.
        models: The run's models.
    """
    found = []
    shown = (slopes.metric == "slope") & (slopes.accumulation == "top") & slopes.gender.isin([DIFFERENCE, *GENDERS])
    # Means over prompts are of several prompts, which stand here each.
    for row in slopes[shown & slopes.prompt.isin(PROMPTS)].itertuples():
        found.append(
            _row(row, models)
            | {
                "metric": "slope" if row.gender != DIFFERENCE else f"slope, {DIFFERENCE}",
                "evaluation_set": "mgc",
                "variable": row.variable,
                "gender": row.gender if row.gender != DIFFERENCE else "",
                "unit": "percentage points a step",
                "headline": row.gender == DIFFERENCE,
            }
        )
    shown = (detection.accumulation == "top") & detection.gender.isin(GENDERS) & (detection.dates == 1)
    shown &= (detection.metric == "AUC") | ((detection.metric == "balanced accuracy") & (detection.choice == "fixed"))
    for row in detection[shown].itertuples():
        found.append(
            _row(row, models)
            | {
                "metric": row.metric,
                "evaluation_set": row.evaluation_set,
                "templates": row.templates,
                "gender": row.gender,
                "n": row.occupations,
                "n_unit": "occupations",
                "headline": (row.metric, row.evaluation_set, row.gender) == ("AUC", "winogender", "female"),
            }
        )
    return sorted(found, key=lambda row: not row["headline"])


def _row(row: Any, models: dict[str, dict]):
    released = row.release != RUN_SOURCE
    names = {facts["label"]: name for name, facts in models.items()}
    shown = not released and models[names[row.model]]["demonstration"]
    return {
        "part": row.release,
        "model": row.model if released else names[row.model],
        "kind": RELEASED_OUTPUTS if released else MODEL,
        "scoring": "" if released else DISTRIBUTION,
        "prompt": "" if pd.isna(row.prompt) or row.prompt == "mask" else row.prompt,
        "value": row.value,
        "low": row.ci_low,
        "high": row.ci_high,
        "n": row.sentences,
        "n_unit": "sentences",
        "label": row.model,
        "demonstration": shown,
    }
