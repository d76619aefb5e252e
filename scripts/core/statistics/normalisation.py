"""The same options compared by other scores, and what a study's choice of one score decides.

Options are compared by the score of the whole text with the option in its slot. Options of several tokens are at a
disadvantage in a sum of log-probabilities, and options that are frequent anywhere have an advantage in all that leaves
out how probable they are without the context. Studies differ in what they take.

A run can have sixty million decisions. They are counted where they share everything that tables split by and that
intervals resample, and all results are made from these cells.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.statistics import paired, procedures

COLUMNS = {
    "sum": ("log_probability",),
    "tokens": ("log_probability", "scored_tokens"),
    "bytes": ("log_probability", "text_bytes"),
    "context_free": ("log_probability", "context_free_log_probability"),
}
"""Normalisations to the columns that they need (:func:`normalise_scores`)."""
LABELS = {
    "sum": "sum",
    "tokens": "mean over tokens",
    "bytes": "mean over bytes",
    "context_free": "difference to the score without context",
}
"""Normalisations as tables and figures call them."""
CHANGES = ("flipped", "gained", "lost")
"""Against the study's score: another pick, and right under one of both alone."""
COUNTS = ("n", "correct", "tie", *CHANGES)


def byte_lengths(texts: Iterable[str]) -> np.ndarray:
    """Return the length of each text in bytes of UTF-8."""
    return np.array([len(text.encode("utf-8")) for text in texts], dtype=int)


def normalise_scores(scores: pd.DataFrame, normalisation: str) -> pd.Series:
    r"""Return the score of each option under a normalisation.

    With :math:`s` the sum of the log-probabilities of a text's tokens, :math:`n` their number, :math:`b` the bytes of
    the text and :math:`s_0` the sum of the same text without its context:

    - ``sum``: :math:`s` (nats), as Gautam et al. (2024) take it
    - ``tokens``: :math:`s / n` (nats a token), as Hossain et al. (2023, section 3.2.1) do
    - ``bytes``: :math:`s / b` (nats a byte), which does not depend on the tokenizer (Gao et al. 2020, section 3.1)
    - ``context_free``: :math:`s - s_0` (nats). As the context is the same for all options, this orders them as
      :math:`\log P(\text{option} \mid \text{context}) - \log P(\text{option})`, the pointwise mutual information of
      option and context (Holtzman et al. 2021).

    Raises:
        UserError: If a column is missing or has gaps, or if a text has no token or byte that was scored.
    """
    for column in COLUMNS[normalisation]:
        if column not in scores or scores[column].isna().any():
            raise UserError(
                f"the scores lack {column} for some option, so there is no {LABELS[normalisation]}; "
                "delete the score file and run the workflow again"
            )
    total = scores.log_probability.astype(float)
    if normalisation == "sum":
        return total
    if normalisation == "context_free":
        return total - scores.context_free_log_probability
    lengths = scores[COLUMNS[normalisation][1]]
    if (lengths <= 0).any():
        raise UserError(
            f"a text without a single one of its {normalisation} scored has no {LABELS[normalisation]}; "
            "delete the score file and run the workflow again"
        )
    return total / lengths


class Clusters:
    """Intervals of cells (:func:`count_decisions`) that resample one kind of clusters."""

    def __init__(self, cells: pd.DataFrame, draws: int, seed: int):
        self.draws, self.seed = draws, seed

    def accuracy(self, part: pd.DataFrame) -> tuple[float, float]:
        """Return both ends of the 95 % interval of the accuracy of some cells."""
        correct, n = cluster_sums(part, "correct", "n")
        return procedures.cluster_bootstrap(correct, n, self.draws, self.seed)

    def difference(self, part: pd.DataFrame, base: pd.DataFrame) -> tuple[float, float]:
        """Return both ends of the 95 % interval of a difference of accuracies on the same instances."""
        (sizes,) = cluster_sums(part, "n")
        return procedures.cluster_bootstrap(_moved(part, base), sizes, self.draws, self.seed, least=-1.0)


@dataclass(frozen=True)
class Design:
    """How a study's decisions are split and resampled.

    Attributes:
        scores: The study's own normalisation, and those that it is compared with.
        kept: Columns of instances that levels and intervals need.
        clusters: Those of them that name a cluster of the permutation test.
        levels: Returns, of a table with the columns ``kept``, what names each level, and its rows.
        models: Returns what a row's ``model`` can be and the models that it pools.
        bootstrap: What makes intervals of cells: :class:`Clusters`, or one with its arguments and methods.
        by_option: Whether decisions for different options (``option_index``) are counted in different cells.
    """

    scores: Sequence[str]
    kept: Sequence[str]
    clusters: Sequence[str]
    levels: Callable[[pd.DataFrame], Iterable[tuple[dict, pd.DataFrame]]]
    models: Callable[[Iterable[str]], dict[str, list[str]]] = lambda models: {model: [model] for model in models}
    bootstrap: type = Clusters
    by_option: bool = False


def count_decisions(instances: pd.DataFrame, scores: pd.DataFrame, model: str, design: Design) -> pd.DataFrame:
    """Decide every instance under every normalisation, and count; equal scores go to the option that comes first.

    Args:
        instances: ``instance_id``, ``options``, ``gold`` and the columns that the design keeps.
        scores: Of the options of each, with the columns that the normalisations need.

    Returns:
        ``model``, ``normalisation``, the columns that the design keeps, and the sums :data:`COUNTS`.
    """
    offers, gold = options.option_counts(instances), instances.gold.to_numpy(dtype=object)
    parts: list[pd.DataFrame] = []
    own: Any = None
    own_right: Any = None
    for name in design.scores:
        picks = options.pick_best(scores.assign(log_probability=normalise_scores(scores, name)), offers)
        lacking = instances.instance_id[~instances.instance_id.isin(picks.index)]
        if len(lacking):
            raise UserError(
                f"scores of {model}: instance {lacking.iloc[0]} is not scored; delete the score file and run the "
                "workflow again"
            )
        picked = np.array(options.predicted_form(instances, picks), dtype=object)
        right = picked == gold
        own, own_right = (picked, right) if own is None else (own, own_right)
        flags = {
            "n": True, "correct": right, "tie": picks.tie.reindex(instances.instance_id).to_numpy(dtype=bool),
            "flipped": picked != own, "gained": right & ~own_right, "lost": ~right & own_right,
        }  # fmt: skip
        part = instances[list(design.kept)].assign(model=model, normalisation=name, **flags)
        if design.by_option:
            part["option_index"] = picks.option_index.reindex(instances.instance_id).to_numpy(dtype=int)
        parts.append(part.astype(dict.fromkeys(COUNTS, int)))
    keys = ["model", "normalisation", *design.kept] + ["option_index"] * design.by_option
    return pd.concat(parts).groupby(keys, sort=False, observed=True)[list(COUNTS)].sum().reset_index()


def compare_scores(cells: pd.DataFrame, design: Design, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies under every normalisation, and how each differs from the study's.

    Returns:
        ``model``, the columns that name a level, ``normalisation``, ``n``, ``accuracy`` with ``low`` and ``high``
        (95 %) and ``ties``; of all but the study's normalisation ``difference`` (of its accuracy from the study's) with
        ``difference_low`` and ``difference_high``, ``p`` (:func:`scripts.core.statistics.paired.sign_flip_p`) and the
        shares :data:`CHANGES`.
    """
    cells = cells.reset_index(drop=True)
    # To sum by names again for each row takes most of the time.
    cells["cluster"] = pd.factorize(paired.cluster_names(cells, design.clusters), sort=True)[0]
    bootstrap = design.bootstrap(cells, draws, seed)
    rows = []
    for model, members in design.models(cells.model.unique()).items():
        for level, of_level in design.levels(cells[cells.model.isin(members)]):
            parts = dict(list(of_level.groupby("normalisation", sort=False)))
            for name in design.scores:
                part, base = parts[name], parts[design.scores[0]]
                row = {"model": model} | level | {"normalisation": name} | _accuracy(part, bootstrap)
                rows.append(row if part is base else row | _change(part, base, bootstrap, draws, seed))
    return pd.DataFrame(rows)


def cluster_sums(part: pd.DataFrame, *columns: str) -> list[np.ndarray]:
    """Return counts of cells summed in each cluster that they come from, in the order of the clusters."""
    clusters = part.cluster.to_numpy()
    there = np.bincount(clusters) > 0
    return [np.bincount(clusters, weights=part[column].to_numpy())[there] for column in columns]


def _accuracy(part: pd.DataFrame, bootstrap: Any) -> dict[str, Any]:
    size = int(part.n.sum())
    low, high = bootstrap.accuracy(part)
    accuracy = float(part.correct.sum() / size)
    return {"n": size, "accuracy": accuracy, "low": low, "high": high, "ties": int(part.tie.sum())}


def _change(part: pd.DataFrame, base: pd.DataFrame, bootstrap: Any, draws: int, seed: int) -> dict[str, Any]:
    moved, size = _moved(part, base), part.n.sum()
    low, high = bootstrap.difference(part, base)
    return {
        "difference": float(moved.sum() / size), "difference_low": low, "difference_high": high,
        "p": paired.sign_flip_p(moved, draws, seed), **{key: float(part[key].sum() / size) for key in CHANGES},
    }  # fmt: skip


def _moved(part: pd.DataFrame, base: pd.DataFrame) -> np.ndarray:
    """Return by how many right decisions each cluster differs; both are of the same instances."""
    return cluster_sums(part, "correct")[0] - cluster_sums(base, "correct")[0]
