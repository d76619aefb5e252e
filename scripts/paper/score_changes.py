"""What changes when only the score changes: accuracies of the same model on the same instances by several scores.

The first score of a study is its own; the others are compared with it. An accuracy *moves* if the intervals of both
scores are disjoint. The score decides whom a model misgenders where the accuracy on some pronouns rises and on others
falls.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import FULL, PARTIAL
from scripts.paper import front
from scripts.paper.summary import describe_levels

SCORES = {
    "sum": "sum", "tokens": "mean over tokens", "bytes": "mean over bytes", "context_free": "minus context-free",
    FULL: "full likelihood", PARTIAL: "partial likelihood",
}  # fmt: skip
"""Scores, and the two likelihoods by which a sentence about two people is resolved, as legend and table call them."""
COLUMNS = ["study_label", "label", "level", "score", "accuracy", "low", "high", "n", "n_unit", "chance"]
"""What is told of a row of the summary, besides its identity."""
POOLED = "all"
"""What the level over all instances is called."""
PRONOUNS = ("pronoun", "pronoun_type")
"""Factors whose levels say whose pronoun it is."""
MODEL = ["study", "part", "model"]


def select_accuracies(summary: pd.DataFrame, studies: list[dict]) -> pd.DataFrame:
    """Return the accuracies of every study by each score, with the index of the summary: identity and :data:`COLUMNS`.

    Demonstration models are left out where a study has others, and levels with one score.

    Args:
        summary: The summary over all studies.
        studies: ``key``, ``label`` and ``chances`` (metric to chance).
    """
    identity, found, places = estimate_rows.identity(summary), [], []
    for study in studies:
        rows = front.subject_rows(summary[(summary.study == study["key"]) & (summary.metric == "accuracy")])
        rows = rows[rows.value.notna()]
        for place, row in zip(rows.index, rows.to_dict("records"), strict=True):
            score = row.get("normalisation") or row["scoring"]
            if score not in SCORES:
                continue
            level = describe_levels(row | {"normalisation": "", "scoring": ""})
            level = POOLED if level == "as trained" else level
            value = [row[name] for name in ("value", "low", "high", "n", "n_unit")]
            told = [study["label"], row["label"], level, score, *value, study["chances"].get("accuracy")]
            found.append([*(row[name] for name in identity), *told])
            places.append(place)
    table = pd.DataFrame(found, columns=[*identity, *COLUMNS], index=places)
    return table[table.groupby([*MODEL, "level"]).score.transform("size") > 1]


def select_drawn(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return what is drawn: of each study its official part, or else its first, single pronouns and all together."""
    kept = []
    for _, rows in accuracies.groupby("study", sort=False):
        rows = rows[rows.part == ("official" if "official" in set(rows.part) else rows.part.iloc[0])]
        # A run of one study may have no column of pronouns.
        single = (rows[rows.columns.intersection(list(PRONOUNS))] != "").any(axis=1)
        if single.any():
            kept.append(rows[single | (rows.level == POOLED)])
    return pd.concat(kept, ignore_index=True) if kept else accuracies.iloc[:0]


def compare_scores(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model, level and score other than the study's own.

    Returns:
        ``study``, ``part``, ``model``, ``level``, ``score``; ``own`` and ``other``, the indices of both accuracies;
        ``change`` (of the accuracy); ``direction`` (1 or -1 where it moves, else 0); ``pronoun``, whether the level is
        one of pronouns.
    """
    found = []
    for keys, rows in accuracies.groupby([*MODEL, "level"], sort=False):
        own, *others = files.iterate_rows(rows, index=True)
        pronoun = any(getattr(own, name, "") for name in PRONOUNS)
        for other in others:
            direction = int(other.low > own.high) - int(other.high < own.low)
            change = other.accuracy - own.accuracy
            found.append([*keys, other.score, own.Index, other.Index, change, direction, pronoun])
    columns = [*MODEL, "level", "score", "own", "other", "change", "direction", "pronoun"]
    return pd.DataFrame(found, columns=columns)


@dataclass(frozen=True)
class Thesis:
    """What the comparisons of a run support.

    Attributes:
        models: How many models were compared on single pronouns.
        decided: How many of them have a pronoun that rises and one that falls between two scores.
        moved: How many of them have a pronoun whose accuracy moves.
        studies: The studies whose accuracies are compared, to whether any of them moves.
        example: The largest such pair of moves: ``study``, ``score`` (the other one), ``up`` and ``down``, rows of
            :func:`compare_scores`, and ``levels``, those of all levels of the same model by the same score; empty
            without any.
    """

    models: int
    decided: int
    moved: int
    studies: dict[str, bool]
    example: dict[str, Any]

    @property
    def title(self) -> str:
        """The title of the paper, or nothing where the score changes nothing beyond the intervals."""
        if not self.moved:
            return ""
        if not self.decided:
            return "The score changes how often a language model misgenders"
        if self.models > self.decided:
            return "The score can decide whom a language model misgenders"
        whom = "a language model misgenders" if self.models == 1 else "language models misgender"
        return f"The score decides whom {whom}"


def find_thesis(accuracies: pd.DataFrame) -> Thesis:
    """Return what accuracies by several scores support; demonstration models say nothing."""
    accuracies = accuracies[~accuracies.label.str.contains("(demonstration)", regex=False)]
    every = compare_scores(accuracies)
    studies = {str(study): bool(rows.direction.any()) for study, rows in every.groupby("study", sort=False)}
    changes = every[every.pronoun.astype(bool)]
    opposite = []
    for (*_, model, _), rows in changes[changes.direction != 0].groupby([*MODEL, "score"], sort=False):
        if rows.direction.nunique() == 2:
            up, down = rows.iloc[rows.change.argmax()], rows.iloc[rows.change.argmin()]
            opposite.append((up.change - down.change, model, up, down))
    example = {}
    if opposite:
        _, _, up, down = max(opposite, key=lambda one: one[0])
        same = (every[[*MODEL, "score"]] == up[[*MODEL, "score"]]).all(axis=1)
        example = {"study": up.study, "score": up.score, "up": up, "down": down, "levels": every[same]}
    moved = changes[changes.direction != 0].model.nunique()
    return Thesis(changes.model.nunique(), len({model for _, model, *_ in opposite}), moved, studies, example)
