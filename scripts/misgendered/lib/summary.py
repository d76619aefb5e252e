"""MISGENDERED's rows of the summary over all studies: accuracies, also under other scores than the study's."""

from typing import TYPE_CHECKING

from scripts.core import files
from scripts.core.data.estimate_rows import MODEL, PROBABILITY
from scripts.core.paper.summary import secondary_row
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.normalisation import DESIGN
from scripts.misgendered.lib.labels import ALL, TYPES

if TYPE_CHECKING:
    import pandas as pd


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


def of_scores(table: "pd.DataFrame", models: dict, data: str) -> list[dict]:
    """Return the accuracies under every score, and how many picks are others than under the study's; no headlines.

    Args:
        table: ``normalisation.csv`` of the template set ``data``.
        models: Name to facts (``label``, ``demonstration``).
    """
    found = []
    for row in files.rows(table[table.model.isin(models) & (table.group == ALL)]):
        usual = {
            "part": data, "scoring": PROBABILITY, "shots": 0, "n": row.n, "n_unit": "instances",
            "pronoun_type": "" if row.pronoun_type == ALL else row.pronoun_type, "normalisation": row.normalisation,
        }  # fmt: skip
        accuracy = {"metric": "accuracy", "value": row.accuracy, "low": row.ci_low, "high": row.ci_high}
        flipped = {"metric": "other pick", "value": row.flipped, "low": None, "high": None}
        # The study's own score is what the others are compared with.
        told = [accuracy] if row.normalisation == DESIGN.scores[0] else [accuracy, flipped]
        found += [secondary_row(row.model, models, **usual | cells) for cells in told]
    return found
