"""RUFF's rows of the summary over all studies: accuracies, and what the analyses of the same scores say of them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.data.estimate_rows import MODEL, PROBABILITY, PROMPTED
from scripts.core.paper.summary import secondary_row
from scripts.ruff.lib.analyses.normalisation import STUDY

if TYPE_CHECKING:
    import pandas as pd

ABOUT = {"right": "being right", "pick": "the set that is picked"}
"""What probability and generation agree on."""
POOLED = {"all": ""}
"""What tables call the level of a factor that is pooled, to what the summary calls it."""


def rows(accuracy: "pd.DataFrame", prompted: "pd.DataFrame | None", models: dict, data: str, most: int) -> list[dict]:
    """Return rows as :func:`scripts.core.data.estimate_rows.write` takes them.

    The headline is the accuracy without distractors and with the most.

    Args:
        accuracy: ``model``, ``n_distractors``, ``factor`` (``all``, ``pronoun``, ...), ``level``, ``n``, ``accuracy``,
            ``ci_low``, ``ci_high``.
        prompted: ``model``, ``method``, ``answer``, ``n_distractors``, ``kind``, ``n``, ``accuracy`` of prompted
            models, if there are any.
        models: Name to facts (``label``, ``demonstration``) of all of them.
        data: The template set.
        most: The largest number of distractors.
    """
    order = list(models)
    parts = accuracy[accuracy.factor.isin(["all", "pronoun"])].assign(part=lambda rows: rows.factor != "all")
    found = [
        _row(models, row, data)
        | {
            "scoring": PROBABILITY,
            "pronoun": POOLED.get(row.level, row.level),
            "low": row.ci_low,
            "high": row.ci_high,
            "headline": row.factor == "all" and row.n_distractors in (0, most),
        }
        for row in _sorted(parts, order, ["part", "n_distractors", "model", "level"])
    ]
    if prompted is not None:
        # Means over prompts, which have no interval over instances.
        plain = prompted[(prompted.method == "vanilla") & (prompted.answer == "final") & (prompted.kind == "all")]
        found += [
            _row(models, row, data)
            | {"scoring": PROMPTED, "method": row.method, "order": "published", "n_unit": "answers"}
            for row in _sorted(plain, order, ["n_distractors", "model"])
        ]
    return found


def of_analyses(tables: "dict[str, pd.DataFrame]", models: dict, data: str) -> list[dict]:
    """Return the rows of what the analyses of the same scores say, none of which is a headline.

    Args:
        tables: ``normalisation``, ``calibration``, ``fertility_correlations``, ``model_pairs``, ``power``,
            ``mixed_model`` and, where prompted models are compared with scored ones, ``scored_agreement``; where
            answers were drawn, ``sampled_agreement``.
        models: Name to facts (``label``, ``demonstration``).
        data: The template set.
    """
    found = []

    def add(
        names: list[str],
        metric: str,
        level: str,
        value: float,
        n: int,
        low: float | None = None,
        high: float | None = None,
        **given: Any,
    ):
        usual = {"part": data, "scoring": PROBABILITY, "setting": "fidelity", "n_unit": "instances"}
        factors = {"pronoun": POOLED.get(level, level)}
        cells = {"metric": metric, "value": value, "n": n, "low": low, "high": high}
        found.append(secondary_row(names, models, **usual | cells | factors | given))

    parts = tables["normalisation"]
    for row in files.rows(parts[parts.factor.isin(["all", "pronoun"]) & (parts.normalisation != STUDY)]):
        way = {"normalisation": row.normalisation}
        add([row.model], "accuracy", row.level, row.accuracy, row.n, row.ci_low, row.ci_high, **way)
        add([row.model], "other pick", row.level, row.flipped, row.n, **way)
    parts = tables["calibration"]
    for row in files.rows(parts[parts.factor.isin(["all", "pronoun"]) & (parts.normalisation == STUDY)]):
        add([row.model], "calibration error", row.level, row.ece, row.n, row.ci_low, row.ci_high)
    parts = tables["fertility_correlations"]
    for row in files.rows(parts[parts.normalisation == STUDY]):
        metric = "accuracy and tokens of a form, rank correlation"
        add([row.model], metric, "all", row.spearman, row.forms, unit="correlation", n_unit="forms")
    for row in files.rows(tables["model_pairs"]):
        if row.n_distractors == "all":
            pair = [row.model_a, row.model_b]
            ends = row.ci_low, row.ci_high
            add(pair, "accuracy, difference", "all", row.difference, row.n_clusters, *ends, n_unit="clusters")
    for row in files.rows(tables["power"]):
        if row.n_distractors == "all":
            metric = "smallest difference from another model found with 80 % power"
            add([row.model], metric, "all", row.detectable_pair, row.n)
    parts = tables["mixed_model"]
    for row in files.rows(parts[parts.converged.astype(bool) & parts.factor.isin(["n_distractors", "pronoun"])]):
        # A coefficient is one of all instances, not of those with its level.
        fitted: dict[str, Any] = {"coefficient": f"{row.factor} {row.level}", "unit": "log odds", "n_unit": "decisions"}
        add([], "log odds of being right", "all", row.estimate, row.n, row.ci_low, row.ci_high, **fitted)
    for row in () if "scored_agreement" not in tables else files.rows(tables["scored_agreement"]):
        # A pronoun set that was never picked has no instances.
        if row.factor not in ("all", "pronoun") or not row.instances:
            continue
        model = list(dict.fromkeys([row.prompted, row.scored]))
        about = f"probability and generation, {ABOUT[row.question]}"
        for name in ("agreement", "kappa", "matthews"):
            ends = (getattr(row, f"{name}_{end}") for end in ("low", "high"))
            unit = "share" if name == "agreement" else "correlation"
            # Which set is picked can only be said of outputs that name one.
            given: dict[str, Any]
            given = {"unit": unit, "setting": "", "n_unit": "instances" if row.question == "right" else "decisions"}
            value = getattr(row, name)
            add(model, f"{about}: {name}", row.level, value, row.instances, *ends, scoring=PROMPTED, **given)
    for row in () if "sampled_agreement" not in tables else files.rows(tables["sampled_agreement"]):
        if row.factor in ("all", "pronoun") and row.n:
            drawn: dict[str, Any] = {"scoring": PROMPTED, "setting": "", "n_unit": "answers"}
            add([row.model], "accuracy of drawn answers", row.level, row.accuracy, row.n, **drawn)
            ends = row.repeated_low, row.repeated_high
            add([row.model], "two draws are both right or both not", row.level, row.repeated, row.n, *ends, **drawn)
    return found


def _sorted(rows: "pd.DataFrame", models: list[str], columns: list[str]) -> Iterable[Any]:
    """Return rows in the order of ``columns``, models in that of ``models``."""
    return rows.sort_values(
        columns, key=lambda column: column.map(models.index) if column.name == "model" else column
    ).itertuples()


def _row(models: dict[str, dict], row: Any, data: str):
    facts = models[row.model]
    return {
        "part": data, "model": row.model, "kind": MODEL, "metric": "accuracy", "n_distractors": row.n_distractors,
        "value": row.accuracy, "n": row.n, "n_unit": "instances", "label": facts["label"],
        "demonstration": facts["demonstration"],
    }  # fmt: skip
