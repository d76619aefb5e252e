"""How often systems are right: accuracy, precision, recall and F1 as the authors count (section 4 and Appendix E).

All functions take *answers*: instances (:mod:`scripts.winopron.lib.instances`) with a column ``prediction``
(occupation, participant or nothing), a row for each instance and, for prompted models, for each prompt.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.errors import UserError
from scripts.core.statistics import procedures

METRICS = ("accuracy", "precision", "recall", "f1")
SPLITS = ((), ("case",), ("pronoun_set",), ("case", "pronoun_set"))
"""What answers are divided by (Figure 3 of the paper)."""
PART = dict.fromkeys(("case", "pronoun_set"), "all")
"""What names a part of the answers, and its level of all answers together."""
COLUMNS = [*PART, "pairing", "metric", "value", "ci_low", "ci_high"]
"""Columns of tidy tables: what is not pooled in a part of the answers, and ``pairing``, what is compared or grouped
within it, if anything."""
_OTHER = {"occupation": "participant", "participant": "occupation"}


def join_instances(predictions: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Return answers: ``predictions`` (``instance_id``, ``prediction``, …) with what is known of their instances.

    Raises:
        UserError: If a prediction is about an unknown instance, or an instance has none.
    """
    known = set(instances.instance_id)
    strange = next((name for name in predictions.instance_id if name not in known), None)
    if strange is not None:
        raise UserError(f"the answer to '{strange}' is to none of the instances; make both from the same templates")
    missing = known - set(predictions.instance_id)
    if missing:
        raise UserError(f"{len(missing)} of {len(known)} instances have no answer; run the system on all of them")
    return predictions.merge(instances, on="instance_id", how="left", validate="many_to_one")


def asked_instances(predictions: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Return the instances of the pairs of people that a system was asked about: all, or those of a sample of pairs.

    Of a pair that it was asked about in part :func:`join_instances` names what is missing.
    """
    pairs = instances[instances.instance_id.isin(predictions.instance_id)].pair
    # Of a prediction about no instance at all :func:`join_instances` says so.
    return instances[instances.pair.isin(pairs)] if len(pairs) else instances


def majority_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Return one answer for each instance of a prompted system: whom most ways of asking name.

    Returns:
        Answers without ``prompt`` and ``variant``, in the order in which instances come first. The prediction is that
        person whom more answers name than the other one and than nobody; without one it is None.
    """
    named = [(answers.prediction == who).groupby(answers.instance_id).sum() for who in _OTHER]
    nobody = answers.groupby("instance_id").size() - named[0] - named[1]
    picked = {}
    for who, own, other in zip(_OTHER, named, named[::-1], strict=True):
        picked |= dict.fromkeys(own.index[(own > other) & (own > nobody)], who)
    once = answers.drop_duplicates("instance_id").drop(columns=["prompt", "variant"]).reset_index(drop=True)
    return once.assign(prediction=pd.Series([picked.get(name) for name in once.instance_id], dtype=object))


def confusion(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the four counts of each answer, as the authors define them.

    Returns:
        ``tp``: the prediction is the person meant. ``fp``: it is the other person. ``fn``: it is not the person meant,
        so nobody or the other one. ``tn``: it is not the other one. Of a row two hold: its sum over ``tp`` and ``fn``
        is one, and over ``fp`` and ``tn``.
    """
    right = answers.prediction == answers.answer
    other = answers.prediction == answers.answer.map(_OTHER)
    return pd.DataFrame({"tp": right, "fp": other, "fn": ~right, "tn": ~other})


def parts(counts: Any) -> dict[str, tuple[Any, Any]]:
    """Return numerator and denominator of each metric.

    Args:
        counts: Sums of :func:`confusion`.

    Returns:
        By name. *Accuracy* is the share of answers that are right, and so the same as recall:
        everything not right is a false negative.
    """
    answered = counts.tp + counts.fn
    return {
        "accuracy": (counts.tp, answered),
        "precision": (counts.tp, counts.tp + counts.fp),
        "recall": (counts.tp, answered),
        "f1": (2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn),
    }


def values(counts: Any) -> dict[str, float]:
    """Return the metrics of some answers by name; precision is 1 where no person is named at all.

    Args:
        counts: Sums of :func:`confusion` over the answers.
    """
    # Of the denominators only that of precision can be nothing.
    return {name: above / below if below else 1.0 for name, (above, below) in parts(counts).items()}


def evaluate(answers: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return every metric of every part of the answers, with an interval.

    Args:
        draws, seed: Of the bootstrap over pairs of people. A part with a single pair has no interval.

    Returns:
        :data:`COLUMNS`.
    """
    rows = []
    answers = answers.reset_index(drop=True)
    pairs, _ = pd.factorize(answers.pair, sort=True)
    counts = {str(name): count.to_numpy() for name, count in confusion(answers).items()}
    for names, part in split_answers(answers):
        place = pairs[part.index]
        there = np.bincount(place) > 0
        by_pair = {name: np.bincount(place, weights=count[part.index])[there] for name, count in counts.items()}
        found = values(SimpleNamespace(**{name: count.sum() for name, count in by_pair.items()}))
        for metric, (above, below) in parts(SimpleNamespace(**by_pair)).items():
            interval = procedures.cluster_bootstrap(above, below, draws, seed)
            rows.append((*names.values(), "", metric, found[metric], *interval))
    return pd.DataFrame(rows, columns=COLUMNS)


def by_prompt(answers: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the accuracy of each prompt, over its variants, with an interval.

    Returns:
        ``prompt``, ``value``, ``ci_low``, ``ci_high``.
    """
    rows = []
    for prompt, part in answers.groupby("prompt", sort=False):
        by_pair = (part.prediction == part.answer).groupby(part.pair).agg(["sum", "size"])
        interval = procedures.cluster_bootstrap(by_pair["sum"], by_pair["size"], draws, seed)
        rows.append((prompt, by_pair["sum"].sum() / by_pair["size"].sum(), *interval))
    return pd.DataFrame(rows, columns=["prompt", "value", "ci_low", "ci_high"])


def split_answers(answers: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield what names every part of the answers (:data:`PART`, :data:`SPLITS`), and its rows."""
    for split in SPLITS:
        for key, part in answers.groupby(list(split), sort=False) if split else [((), answers)]:
            yield PART | dict(zip(split, key, strict=True)), part
