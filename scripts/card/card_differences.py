"""The further models of a card against the first, on the instances that both read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper.finding_verdicts import ALPHA
from scripts.core.paper.formats import format_number, p_text
from scripts.core.statistics import outcomes
from scripts.paper.summary import describe_levels

COLUMNS = [
    "study", "part", "estimate", "unit", "first", "other", "difference", "low", "high", "p", "n", "n_clusters", "note",
]  # fmt: skip


def compare_models(frame: pd.DataFrame, models: list[str], declared: Mapping[str, dict]) -> pd.DataFrame:
    """Return the differences of headline estimates, other minus first model, with ``p_holm``; none for one model.

    Args:
        frame: Estimates of all studies.
        models: Names; the first is what the others are compared with.
        declared: Study to ``outcomes`` and ``paired`` of its declaration.
    """
    frame = frame[frame.headline & frame.value.notna()]
    same = ["study", "part", "scoring", "debiasing", "metric", *estimate_rows.factor_columns(frame)]
    rows = {model: frame[frame.model == model].to_dict("records") for model in models}
    sides = {model: {tuple(row[name] for name in same): row for row in rows[model]} for model in models}
    found = []
    for other in models[1:]:
        for key, one in sides[models[0]].items():
            if (two := sides[other].get(key)) is not None:
                told, _ = outcomes.compare_rows(one, two, (Path(), Path()), declared.get(one["study"], {}))
                levels = {name: one[name] for name in same[2:] if one[name] and name != "metric"}
                named = {"estimate": f"{one['metric']}, {describe_levels({'metric': one['metric']} | levels)}"}
                place = {name: one[name] for name in ("study", "part", "unit")}
                found.append(place | named | {"first": models[0], "other": other} | told)
    return outcomes.add_holm(pd.DataFrame(found, columns=COLUMNS))


def describe(frame: pd.DataFrame, labels: Mapping[str, str], called: Mapping[str, str]) -> dict[str, Any]:
    """Return a sentence for each difference that a test supports, and how many others there are.

    Args:
        frame: Of :func:`compare_models`.
        labels: Studies to their labels.
        called: Models to theirs.
    """
    clear = frame.p_holm < ALPHA
    sentences = []
    for row in files.iterate_rows(frame[clear]):
        # Of a difference downwards both ends are turned round.
        factor = (100 if row.unit == "share" else 1) * (1 if row.difference > 0 else -1)
        low, high = (format_number(end, 1) for end in sorted((factor * row.low, factor * row.high)))
        points = format_number(factor * row.difference, 1)
        sentences.append(
            f"{labels[row.study]}, {row.estimate}: {called[row.other]} is {points} points "
            f"{'above' if row.difference > 0 else 'below'} {called[row.first]} ({low} to {high}; the same instances, "
            f"n = {row.n:,.0f} in {row.n_clusters:,.0f} clusters; p {p_text(row.p_holm)})."
        )
    return {
        "first": next(iter(called.values())),
        "sentences": sentences,
        "count": len(frame),
        "open": int((~clear & frame.p_holm.notna()).sum()),
        "untested": int(frame.p_holm.isna().sum()),
    }
