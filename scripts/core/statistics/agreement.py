"""What the answers of several people come to: how far they agree, how often they are right, and what they reject.

All functions take the table of :func:`scripts.core.data.annotation.answers`.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from scripts.core.statistics import procedures

ANNOTATED = ("annotator", "item_id", "group", "sentence", "question", "answer", "label", "wanted", "right", "row")
"""The columns of answers."""


def alpha(labels: Iterable[Sequence[str]]) -> float:
    """Krippendorff's alpha for nominal labels, with missing data (Krippendorff 2011, "Computing ... reliability").

    Args:
        labels: For each item the labels that it got; items with fewer than two are left out.

    Returns:
        1 minus observed over expected disagreement; NaN if no item has two labels, or if only one label occurs.

    Examples:
        >>> alpha([["yes", "yes"], ["no", "no"], ["yes", "no"]])
        0.4444444444444444
    """
    units = [list(unit) for unit in labels if len(unit) > 1]
    given = pd.Series([label for unit in units for label in unit], dtype=object).value_counts()
    total = given.sum()
    if len(given) < 2:
        return np.nan
    observed = 0.0
    for unit in units:
        counts = pd.Series(unit).value_counts()
        observed += (len(unit) ** 2 - (counts**2).sum()) / (len(unit) - 1)
    expected = (total**2 - (given**2).sum()) / (total - 1)
    return float(1 - observed / expected)


def agreement(answers: pd.DataFrame) -> pd.DataFrame:
    """Return how far annotators agree, for each question.

    Returns:
        ``question``, ``measure``, ``value``, ``annotators``, ``items`` (those that two annotators or more answered).
        The measures are ``same`` (share of items on which all say the same), ``agreed`` (mean share of an item's
        answers that are its most frequent one: Counter-GAP's inter-annotator agreement, footnote 8), ``alpha``
        (:func:`alpha`) and, if every item has as many answers, ``kappa`` (Fleiss 1971). No row where no two annotators
        answered an item.
    """
    rows = []
    for question, table in answers[answers.label != ""].groupby("question", sort=False):
        labels = [list(labels) for _, labels in table.groupby("item_id", sort=False).label]
        labels = [unit for unit in labels if len(unit) > 1]
        if not labels:
            continue
        most = [pd.Series(unit).value_counts().iloc[0] / len(unit) for unit in labels]
        measures = {"same": np.mean(np.equal(most, 1)), "agreed": np.mean(most), "alpha": alpha(labels)}
        if len({len(unit) for unit in labels}) == 1:
            measures["kappa"] = _kappa(labels)
        of_all = (table.annotator.nunique(), len(labels))
        rows += [(question, measure, float(value), *of_all) for measure, value in measures.items()]
    return pd.DataFrame(rows, columns=["question", "measure", "value", "annotators", "items"])


def _kappa(labels: Sequence[Sequence[str]]) -> float:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    counts, categories = aggregate_raters(np.array(labels, dtype=str))
    return float(fleiss_kappa(counts, method="fleiss")) if len(categories) > 1 else np.nan


def accuracy(answers: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return how often people give the wanted answer.

    A group of items (such as the two questions about a sentence) is right if all its answers are.

    Args:
        draws, seed: Of the bootstrap over groups, from which the interval over all annotators comes.

    Returns:
        ``question``, ``annotator`` (empty: all together), ``n`` (groups that were answered, those of all annotators
        summed), ``right``, ``accuracy``, ``ci_low``, ``ci_high``: Wilson's interval for one annotator. Of several the
        interval resamples groups, because their answers to one group are not independent; it is missing where they do
        not differ. Empty if no answer is wanted.
    """
    rows = []
    for question, table in answers[answers.wanted != ""].groupby("question", sort=False):
        groups = table.groupby(["annotator", "group"], sort=False).right.agg(all).astype(int)
        for annotator, right in groups.groupby(level=0, sort=False):
            rows.append((question, annotator, len(right), right.sum(), *procedures.wilson(right.sum(), len(right))))
        if answers.annotator.nunique() > 1:
            by_group = groups.groupby(level=1, sort=False).agg(["sum", "count"])
            ends = np.nan, np.nan
            if 0 < groups.sum() < len(groups):
                ends = procedures.cluster_bootstrap(by_group["sum"], by_group["count"], draws, seed)
            rows.append((question, "", len(groups), groups.sum(), *ends))
    table = pd.DataFrame(rows, columns=["question", "annotator", "n", "right", "ci_low", "ci_high"])
    table.insert(4, "accuracy", table.right / table.n)
    return table


def rejected_items(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the items that an annotator rejected, by an answer other than the wanted one.

    Returns:
        ``annotator``, ``item_id``, ``group``, ``sentence``, ``row``, ``reason``; an item with two reasons comes once.
    """
    wrong = answers[(answers.wanted != "") & (answers.label != answers.wanted)]
    wrong = wrong.assign(reason=wrong.question + ": " + wrong.label + " where " + wrong.wanted + " is expected")
    keys = ["annotator", "item_id", "group", "sentence", "row"]
    return wrong.groupby(keys, sort=False).reason.agg("; ".join).reset_index()[[*keys, "reason"]]
