"""MISGENDERED's rows of the summary over all studies: accuracies, and what analyses of the same scores say of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.data.estimate_rows import MODEL, PROBABILITY
from scripts.core.paper.summary import secondary_row
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.normalisation import STUDY
from scripts.misgendered.lib.labels import ALL, TYPES

if TYPE_CHECKING:
    import pandas as pd

SUBSETS = {"all groups": "", "neo-pronouns": "neo"}
"""Groups of pronouns that regressions are over, to the type of pronoun that they have."""


def rows(frame: "pd.DataFrame", models: dict, template_sets: list[str]) -> list[dict]:
    """Return rows as :func:`scripts.core.data.estimate_rows.write` takes them, all values being shares.

    Args:
        frame: All accuracies of the run (:func:`scripts.misgendered.analyses.accuracies`).
    """
    found = []
    for templates in template_sets:
        split = figures.pooled_rows(frame, templates, {"pronoun_type"}, shots=None)
        for kind in TYPES:
            for row in split[split.model.isin(models) & (split.pronoun_type == kind)].itertuples():
                found.append(
                    {
                        "part": templates,
                        "model": row.model,
                        "kind": MODEL,
                        "scoring": PROBABILITY,
                        "metric": "accuracy",
                        "shots": row.shots,
                        "pronoun_type": kind,
                        "value": row.accuracy,
                        "low": row.ci_low,
                        "high": row.ci_high,
                        "n": row.n,
                        "n_unit": "instances",
                        "label": models[row.model]["label"],
                        "demonstration": models[row.model]["demonstration"],
                        "headline": not row.shots,
                    }
                )
    return found


def of_analyses(tables: "Mapping[str, pd.DataFrame]", models: dict, data: str) -> list[dict]:
    """Return the rows of what the analyses of the same scores say, none of which is a headline.

    Args:
        tables: ``normalisation``, ``calibration``, ``regressions``, ``model_pairs``, ``power`` and ``mixed_model``.
        models: Name to facts (``label``, ``demonstration``).
        data: The template set.
    """
    found = []

    def add(
        names: list[str],
        metric: str,
        kind: str,
        value: float,
        n: int,
        low: float | None = None,
        high: float | None = None,
        **given: Any,
    ):
        usual = {"part": data, "scoring": PROBABILITY, "shots": 0, "n_unit": "instances"}
        cells = {"metric": metric, "value": value, "n": n, "low": low, "high": high}
        cells["pronoun_type"] = "" if kind == ALL else kind
        found.append(secondary_row(names, models, **usual | cells | given))

    parts = tables["normalisation"]
    for row in files.rows(parts[parts.model.isin(models) & (parts.group == ALL) & (parts.normalisation != STUDY)]):
        kind, way = row.pronoun_type, {"normalisation": row.normalisation}
        add([row.model], "accuracy", kind, row.accuracy, row.n, row.ci_low, row.ci_high, **way)
        add([row.model], "other pick", kind, row.flipped, row.n, **way)
    parts = tables["calibration"]
    for row in files.rows(parts[parts.model.isin(models) & (parts.group == ALL) & (parts.normalisation == "sum")]):
        ends = row.ci_low, row.ci_high
        add([row.model], "calibration error", row.pronoun_type, row.ece, row.n, *ends, normalisation="sum")
    for row in files.rows(tables["regressions"]):
        metric = "change of accuracy with a token of the form"
        if row.model in models:
            cells = SUBSETS[row.subset], row.slope, row.forms, row.ci_low, row.ci_high
            add([row.model], metric, *cells, unit="share a token", n_unit="forms")
    for row in files.rows(tables["model_pairs"]):
        pair, cells = [row.model_a, row.model_b], (row.difference, row.n_clusters, row.ci_low, row.ci_high)
        add(pair, "accuracy, difference", row.pronoun_type, *cells, n_unit="clusters")
    for row in files.rows(tables["power"]):
        metric = "smallest difference from another model found with 80 % power"
        add([row.model], metric, row.pronoun_type, row.detectable_pair, row.n)
    parts = tables["mixed_model"]
    for row in files.rows(parts[parts.converged.astype(bool) & (parts.factor == "pronoun_type")]):
        # A coefficient is one of all instances, not of those with its level.
        fitted = {"coefficient": f"{row.factor} {row.level}", "unit": "log odds", "n_unit": "decisions"}
        add([], "log odds of being right", ALL, row.estimate, row.n, row.ci_low, row.ci_high, **fitted)
    return found
