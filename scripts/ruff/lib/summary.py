"""RUFF's rows of the summary over all studies: accuracies, and what the analyses of the same scores say of them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.data.estimate_rows import MODEL, PROBABILITY, PROMPTED
from scripts.core.paper.summary import secondary_row
from scripts.ruff.lib.analyses.normalisation import DESIGN

if TYPE_CHECKING:
    import pandas as pd

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


def of_scores(table: "pd.DataFrame", models: dict, data: str) -> list[dict]:
    """Return the accuracies under every score, and how many picks are others than under the study's; no headlines.

    Args:
        table: ``normalisation.csv`` of the template set ``data``.
        models: Name to facts (``label``, ``demonstration``).
    """
    found = []
    for row in files.rows(table[table.factor.isin(["all", "pronoun"])]):
        usual = {
            "part": data, "scoring": PROBABILITY, "setting": "fidelity", "n": row.n, "n_unit": "instances",
            "pronoun": POOLED.get(row.level, row.level), "normalisation": row.normalisation,
        }  # fmt: skip
        accuracy = {"metric": "accuracy", "value": row.accuracy, "low": row.ci_low, "high": row.ci_high}
        flipped = {"metric": "other pick", "value": row.flipped, "low": None, "high": None}
        # The study's own score is what the others are compared with.
        told = [accuracy] if row.normalisation == DESIGN.scores[0] else [accuracy, flipped]
        found += [secondary_row(row.model, models, **usual | cells) for cells in told]
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
