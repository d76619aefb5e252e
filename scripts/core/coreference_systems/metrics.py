"""Scorers of coreference: MUC, B-cubed, CEAF-e and their mean, as the official scorer of CoNLL-2012 counts them.

Every metric is a quotient of sums over all documents, not a mean of documents. Mentions of the gold clusters that the
prediction lacks, and the other way round, stay as they are: nothing is added to either side (Pradhan et al. 2014, the
reading of the official scorer's version 8).

A clustering is a collection of clusters, a cluster a collection of mentions; a mention is anything that can be hashed,
such as the first and the last word of it.

References
----------
Vilain et al. (1995), MUC. Bagga and Baldwin (1998), B-cubed. Luo (2005), CEAF. Pradhan et al. (2014), "Scoring
Coreference Partitions of Predicted Mentions: A Reference Implementation".
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from scripts.core.errors import UserError

Clusters = Collection[Collection[Hashable]]
METRICS = ("muc", "b_cubed", "ceaf_e")
NAMES = ("mentions", *METRICS)
"""What :func:`count_matches` counts: the identification of mentions, then the metrics."""


def score_clusters(gold: Sequence[Clusters], predicted: Sequence[Clusters]) -> dict[str, float]:
    """Return the scores of predicted clusterings of documents, in the order of ``gold``.

    Returns:
        ``conll``, the mean F1 of :data:`METRICS`, and the F1 of each of them, without singletons, of which OntoNotes
        annotates none; ``conll_singletons`` and ``mentions`` (the identification of mentions) with them.

    Raises:
        UserError: As :func:`count_matches`.
    """
    plain, whole = (count_matches(gold, predicted, singletons).sum(axis=0) for singletons in (False, True))
    return {
        "conll": float(conll_f1(plain)),
        **dict(zip(METRICS, map(float, recall_precision_f1(plain)[1:, 2]), strict=True)),
        "conll_singletons": float(conll_f1(whole)),
        "mentions": float(recall_precision_f1(whole)[0, 2]),
    }


def conll_f1(sums: np.ndarray) -> np.ndarray:
    """Return the mean F1 of :data:`METRICS` of sums over documents; shapes (..., 4, 4) and (...)."""
    return recall_precision_f1(sums)[..., 1:, 2].mean(axis=-1)


def recall_precision_f1(sums: np.ndarray) -> np.ndarray:
    """Return recall, precision and F1 of sums over documents; shapes (..., 4) and (..., 3). A quotient by 0 is 0."""
    recall, recall_all, precision, precision_all = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, precision = np.nan_to_num([recall / recall_all, precision / precision_all])
        return np.stack([recall, precision, np.nan_to_num(2 * recall * precision / (recall + precision))], axis=-1)


def count_matches(gold: Sequence[Clusters], predicted: Sequence[Clusters], singletons: bool = True) -> np.ndarray:
    """Count what scores are quotients of, document by document.

    Args:
        gold, predicted: The clusterings of the same documents in the same order.
        singletons: Whether clusters of one mention count, on both sides.

    Returns:
        For each of :data:`NAMES` the numerator and the denominator of recall, then of precision. Shape (documents, 4,
        4).

    Raises:
        UserError: If the numbers of documents differ, a cluster is empty, or a mention occurs twice in a clustering.
    """
    if len(gold) != len(predicted):
        raise UserError(
            f"{len(predicted)} predicted clusterings for {len(gold)} gold documents; predict every document"
        )
    counts = np.zeros((len(gold), len(NAMES), 4))
    for number, pair in enumerate(zip(gold, predicted, strict=True), 1):
        key, response = (
            _checked(clusters, f"{side} clusters of document {number}", singletons)
            for side, clusters in zip(("gold", "predicted"), pair, strict=True)
        )
        counts[number - 1] = [counted(key, response) for counted in (_mentions, _muc, _b_cubed, _ceaf_e)]
    return counts


def _checked(clusters: Iterable[Iterable[Hashable]], what: str, singletons: bool) -> list[list[Hashable]]:
    clusters = [list(cluster) for cluster in clusters]
    seen = set()
    for cluster in clusters:
        if not cluster:
            raise UserError(f"the {what}: one is empty; leave it out")
        for mention in cluster:
            if mention in seen:
                raise UserError(f"the {what}: the mention {mention} occurs twice; leave it in one cluster, once")
            seen.add(mention)
    return [cluster for cluster in clusters if singletons or len(cluster) > 1]


def _cluster_of(clusters: Iterable[Iterable[Hashable]]) -> dict[Hashable, int]:
    return {mention: number for number, cluster in enumerate(clusters) for mention in cluster}


def _mentions(key: list[list[Hashable]], response: list[list[Hashable]]) -> tuple[int, int, int, int]:
    gold, predicted = _cluster_of(key), _cluster_of(response)
    shared = len(gold.keys() & predicted.keys())
    return shared, len(gold), shared, len(predicted)


def _muc(key: list[list[Hashable]], response: list[list[Hashable]]) -> tuple[int, int, int, int]:
    return *_links(key, response), *_links(response, key)


def _links(clusters: list[list[Hashable]], others: list[list[Hashable]]) -> tuple[int, int]:
    """Return how many links of ``clusters`` the others keep, and of how many: a cluster of n mentions has n - 1."""
    other = _cluster_of(others)
    kept = total = 0
    for cluster in clusters:
        # A mention that the others lack is a part by itself.
        parts = {other.get(mention, ("alone", mention)) for mention in cluster}
        kept += len(cluster) - len(parts)
        total += len(cluster) - 1
    return kept, total


def _b_cubed(key: list[list[Hashable]], response: list[list[Hashable]]) -> tuple[float, int, float, int]:
    shared = _overlaps(key, response)
    gold = sum(size**2 / len(key[k]) for (k, _), size in shared.items())
    predicted = sum(size**2 / len(response[r]) for (_, r), size in shared.items())
    return gold, sum(map(len, key)), predicted, sum(map(len, response))


def _overlaps(key: list[list[Hashable]], response: list[list[Hashable]]) -> Counter[tuple[int, int]]:
    """Return how many mentions clusters share, by the numbers of both; pairs that share none are left out."""
    other = _cluster_of(response)
    return Counter(
        (number, other[mention]) for number, cluster in enumerate(key) for mention in cluster if mention in other
    )


def _ceaf_e(key: list[list[Hashable]], response: list[list[Hashable]]) -> tuple[float, int, float, int]:
    """The best one-to-one alignment of clusters by phi 4 of Luo (2005), the Dice coefficient of their mentions."""
    similarity = np.zeros((len(key), len(response)))
    for (k, r), size in _overlaps(key, response).items():
        similarity[k, r] = 2 * size / (len(key[k]) + len(response[r]))
    best = similarity[linear_sum_assignment(similarity, maximize=True)].sum()
    return best, len(key), best, len(response)
