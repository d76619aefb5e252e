"""Decisions under every normalisation of the scores, counted, and what a study's choice of one of them decides.

A run can have sixty million decisions. They are counted where they share everything that tables split by and that
intervals resample, and all results are made from these cells.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data import options
from scripts.core.statistics import calibration, method_agreement, normalisation, paired, procedures

CHANGES = ("flipped", "gained", "lost")
OF_CELL = ["model", "normalisation"]


class Clusters:
    """Intervals of cells (:func:`count_decisions`) that resample one kind of clusters.

    Args:
        cells: Where all cells come from.
        draws, seed: Of the bootstrap.
    """

    def __init__(self, cells: pd.DataFrame, draws: int, seed: int):
        self.draws, self.seed = draws, seed

    def accuracy(self, part: pd.DataFrame) -> tuple[float, ...]:
        """Return both ends of the 95 % interval of the accuracy of some cells."""
        correct, sizes = cluster_sums(part, "correct", "n")
        return procedures.cluster_bootstrap(correct, sizes, self.draws, self.seed)

    def difference(self, part: pd.DataFrame, base: pd.DataFrame) -> tuple[float, ...]:
        """Return both ends of the 95 % interval of a difference of accuracies on the same instances."""
        (sizes,) = cluster_sums(part, "n")
        return procedures.cluster_bootstrap(_moved(part, base), sizes, self.draws, self.seed, share=False)


def cluster_sums(part: pd.DataFrame, *columns: str) -> list[np.ndarray]:
    """Return counts of cells summed in each cluster that they come from, in the order of the clusters.

    Args:
        part: Cells whose clusters are numbered (:func:`normalisations`).
        columns: Names of whole numbers in ``part``.
    """
    clusters = part.cluster.to_numpy()
    there = np.bincount(clusters) > 0
    return [np.bincount(clusters, weights=part[column].to_numpy())[there] for column in columns]


@dataclass(frozen=True)
class Design:
    """How a study's decisions are split and resampled.

    Attributes:
        study: The study's own normalisation, which the others are compared with.
        instance: Columns that tell a model's decisions under one normalisation apart.
        picked: The column of what was picked.
        factors: Columns that rows of tables split by.
        resampled: Columns whose values intervals resample.
        clusters: Those of them that name a cluster of the permutation test and of calibration errors.
        levels: Returns, of a table with the ``factors``, what names each level in the tables, and its rows.
        models: Returns what a row's ``model`` can be and the models that it pools.
        bootstrap: What makes intervals of cells: :class:`Clusters`, or one with its arguments and methods.
    """

    study: str
    instance: Sequence[str]
    picked: str
    factors: Sequence[str]
    resampled: Sequence[str]
    clusters: Sequence[str]
    levels: Callable[[pd.DataFrame], Iterable[tuple[dict, pd.DataFrame]]]
    models: Callable[[Iterable[str]], dict[str, list[str]]] = lambda models: {model: [model] for model in models}
    bootstrap: type = Clusters

    def parts(self, cells: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
        """Yield what names each row of a table, ``model`` and ``normalisation`` first, and the cells behind it."""
        for model, members in self.models(cells.model.unique()).items():
            for name, of_both in cells[cells.model.isin(members)].groupby("normalisation", sort=False):
                for level, part in self.levels(of_both):
                    yield {"model": model, "normalisation": name} | level, part


def decide_instances(
    instances: pd.DataFrame, scores: pd.DataFrame, kept: Sequence[str], model: str, names: Iterable[str]
) -> pd.DataFrame:
    """Return what a model picks for every instance under every normalisation, and how sure it is.

    Args:
        instances: ``instance_id``, ``options``, ``gold`` and the columns ``kept``.
        scores: Of the options of each, with the columns that the normalisations need.
        model: Its name.
        names: Normalisations (:data:`scripts.core.statistics.normalisation.COLUMNS`).

    Returns:
        ``model``, ``kept``, ``normalisation``, ``option_index`` and ``picked`` (the form), ``correct``, ``tie`` and
        ``confidence`` (:func:`scripts.core.statistics.calibration.confidences`).

    Raises:
        UserError: If an instance lacks the score of an option.
    """
    offers = options.option_counts(instances)
    parts = []
    for name in names:
        picks = normalisation.favoured_options(scores, name, offers)
        sure = calibration.confidences(scores, normalisation.normalise_scores(scores, name))
        part = instances[list(kept)].reset_index(drop=True)
        part.insert(0, "model", model)
        part["normalisation"] = name
        part["option_index"] = picks.option_index.reindex(part.instance_id).to_numpy(dtype=int)
        part["picked"] = options.predicted_form(instances, picks)
        part["correct"] = (part.picked == instances.gold.to_numpy(dtype=object)).astype(bool)
        part["tie"] = picks.tie.reindex(part.instance_id).to_numpy()
        part["confidence"] = sure.reindex(part.instance_id).to_numpy()
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def count_decisions(table: pd.DataFrame, design: Design) -> tuple[pd.DataFrame, ...]:
    """Return decisions counted.

    Args:
        table: Of one model or several: ``model``, ``normalisation``, the columns of the ``design``, ``correct``,
            ``tie`` and ``confidence``.

    Returns:
        Three tables, each with ``model``, ``normalisation`` and the factors.

        1. By what is resampled too and its ``cluster``, the sums ``n``, ``correct``, ``tie`` and, against the study's
           normalisation, :data:`CHANGES`: another pick, and right under one of both alone.
        2. By ``study`` and ``other``, what either picks, their number ``n``.
        3. By ``cluster``, the columns of :func:`scripts.core.statistics.calibration.bin_sums`.
    """
    picked = design.picked
    keys = ["model", *design.instance]
    study = table.loc[table.normalisation == design.study, [*keys, picked, "correct"]]
    study = study.rename(columns={picked: "study", "correct": "right_before"})
    both = table.merge(study, on=keys, how="left", validate="many_to_one")
    both["cluster"] = paired.cluster_names(both, design.clusters)
    flags = {
        "n": True, "correct": both.correct, "tie": both.tie, "flipped": both[picked] != both.study,
        "gained": both.correct & ~both.right_before, "lost": ~both.correct & both.right_before,
    }  # fmt: skip
    level = [*OF_CELL, *design.factors]
    cell = [*level, *design.resampled, "cluster"]
    cells = both[cell].assign(**{name: np.asarray(flag, dtype=int) for name, flag in flags.items()})
    pairs = both.rename(columns={picked: "other"}).groupby([*level, "study", "other"], sort=False).size()
    return (
        cells.groupby(cell, sort=False).sum().reset_index(),
        pairs.rename("n").reset_index(),
        calibration.bin_sums(both.confidence, both.correct, both[[*level, "cluster"]]),
    )


def decision_tables(
    counts: Iterable[tuple[pd.DataFrame, ...]], design: Design, draws: int, seed: int
) -> tuple[pd.DataFrame, ...]:
    """Return what all tables about decisions are made from.

    Args:
        counts: What :func:`count_decisions` returned for each part of the decisions.
        draws, seed: Of bootstrap and permutations.

    Returns:
        :func:`normalisations`, :func:`calibration_errors` and :func:`calibration_bins`.
    """
    cells, pairs, sums = (pd.concat(tables, ignore_index=True) for tables in zip(*counts, strict=True))
    return (
        normalisations(cells, pairs, design, draws, seed),
        calibration_errors(sums, design, draws, seed),
        calibration_bins(sums, design),
    )


def normalisations(cells: pd.DataFrame, pairs: pd.DataFrame, design: Design, draws: int, seed: int) -> pd.DataFrame:
    """Return accuracies under every normalisation, and how each differs from the study's.

    Args:
        cells, pairs: The first two tables of :func:`count_decisions`, of all models; the rows of ``cells`` are
            numbered.
        draws, seed: Of bootstrap and permutations.

    Returns:
        ``model``, the columns that name a level, ``normalisation``, ``n``, ``accuracy`` with ``ci_low`` and ``ci_high``
        (95 %), ``rank`` (among the single models that score as many instances) and ``ties``; of all but the study's
        normalisation ``difference`` (of its accuracy from the study's) with ``difference_low`` and ``difference_high``,
        ``p`` (:func:`scripts.core.statistics.paired.sign_flip_p`), the shares ``flipped``, ``gained`` and ``lost``
        (:data:`CHANGES`) and ``kappa`` of both picks (:func:`scripts.core.statistics.method_agreement.agreement`).
    """
    bootstrap = design.bootstrap(cells, draws, seed)
    # To sum by names again for each row takes most of the time.
    cells = cells.assign(cluster=pd.factorize(cells.cluster, sort=True)[0])
    rows = []
    for model, members in design.models(cells.model.unique()).items():
        of_model = pairs[pairs.model.isin(members)]
        picks = {tuple(level.values()): part for level, part in design.levels(of_model)}
        for level, of_level in design.levels(cells[cells.model.isin(members)]):
            parts = dict(list(of_level.groupby("normalisation", sort=False)))
            for name, part in parts.items():
                row = {"model": model} | level | {"normalisation": name} | _accuracy(part, bootstrap)
                if name != design.study:
                    both = picks[tuple(level.values())]
                    row |= _change(part, parts[design.study], bootstrap, draws, seed)
                    row |= {"kappa": _kappa(both[both.normalisation == name])}
                rows.append(row)
    frame = pd.DataFrame(rows)
    names = list(frame)[: list(frame).index("n") + 1]
    alike = frame[frame.model.isin(cells.model)].groupby(names[1:], sort=False).accuracy
    rank = alike.transform(normalisation.ranks).reindex(frame.index).astype("Int64")
    frame.insert(len(names) + 3, "rank", rank)
    return frame


def _accuracy(part: pd.DataFrame, bootstrap: Clusters) -> dict[str, Any]:
    size = int(part.n.sum())
    low, high = bootstrap.accuracy(part)
    return {
        "n": size, "accuracy": float(part.correct.sum() / size), "ci_low": low, "ci_high": high,
        "ties": int(part.tie.sum()),
    }  # fmt: skip


def _change(part: pd.DataFrame, base: pd.DataFrame, bootstrap: Clusters, draws: int, seed: int) -> dict[str, Any]:
    moved, size = _moved(part, base), part.n.sum()
    low, high = bootstrap.difference(part, base)
    return {
        "difference": float(moved.sum() / size), "difference_low": low, "difference_high": high,
        "p": paired.sign_flip_p(moved, draws, seed), **{key: float(part[key].sum() / size) for key in CHANGES},
    }  # fmt: skip


def _kappa(pairs: pd.DataFrame) -> float:
    return method_agreement.agreement(pairs.study, pairs.other, pairs.n)["kappa"]


def _moved(part: pd.DataFrame, base: pd.DataFrame) -> np.ndarray:
    """Return by how many right decisions each cluster differs; both are of the same instances."""
    return cluster_sums(part, "correct")[0] - cluster_sums(base, "correct")[0]


def calibration_bins(cells: pd.DataFrame, design: Design) -> pd.DataFrame:
    """Return accuracy and confidence in each bin of confidence.

    Args:
        cells: The third table of :func:`count_decisions`, of all models.

    Returns:
        ``model``, ``normalisation``, the columns that name a level, and those of
        :func:`scripts.core.statistics.calibration.reliability`, without empty bins.
    """
    rows, parts = [], []
    for row, part in design.parts(cells):
        rows.append(row)
        parts.append(calibration.reliability(part))
    named = pd.DataFrame(rows).loc[np.repeat(np.arange(len(rows)), calibration.BINS)].reset_index(drop=True)
    frame = pd.concat([named, pd.concat(parts, ignore_index=True)], axis=1)
    return frame[frame.n > 0].reset_index(drop=True)


def calibration_errors(cells: pd.DataFrame, design: Design, draws: int, seed: int) -> pd.DataFrame:
    """Return how far confidences miss the accuracy.

    Args:
        cells: As for :func:`calibration_bins`.
        draws, seed: Of the bootstrap over clusters.

    Returns:
        ``model``, ``normalisation``, the columns that name a level, and those of
        :func:`scripts.core.statistics.calibration.errors`.
    """
    return pd.DataFrame([row | calibration.errors(part, draws, seed) for row, part in design.parts(cells)])
