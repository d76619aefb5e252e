"""Scorers of coreference: by hand, beside another implementation, and beside the official one where it is at hand."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scorch import scores as scorch

from scripts.core.coreference_systems import documents, metrics
from tests.core.coreference_systems import conll2012
from tests.refusals import refused

# The official scorer (scorer.pl of github.com/conll/reference-coreference-scorers), where a user has it.
SCORER = "PRONOUN_COREFERENCE_SCORER"
LARGEST_DIFFERENCE = 1e-12

# Pradhan et al. (2014), Section 4: gold {a, b, c} {d, e, f, g}, predicted {a, b} {c, d} {f, g, h, i}.
GOLD, PREDICTED = (("a", "b", "c"), ("d", "e", "f", "g")), (("a", "b"), ("c", "d"), ("f", "g", "h", "i"))


def evaluate(gold, predicted, singletons=True):
    """Return recall, precision and F1 of each metric over documents, by its name."""
    sums = metrics.count_matches(gold, predicted, singletons).sum(axis=0)
    return dict(zip(metrics.NAMES, metrics.recall_precision_f1(sums).tolist(), strict=True))


def conll(gold, predicted, singletons=True):
    return metrics.conll_f1(metrics.count_matches(gold, predicted, singletons).sum(axis=0))


def test_the_worked_example_of_pradhan_et_al():
    scores = evaluate([GOLD], [PREDICTED])
    # MUC: of the links of the gold, (3 - 2) + (4 - 3) of 2 + 3; of the predicted, 1 + 0 + 1 of 1 + 1 + 3.
    assert scores["muc"] == pytest.approx([2 / 5, 2 / 5, 2 / 5])
    # B-cubed: (4 + 1) / 3 + (1 + 4) / 4 of 7 mentions; 4 / 2 + (1 + 1) / 2 + 4 / 4 of 8.
    assert scores["b_cubed"][:2] == pytest.approx([35 / 12 / 7, 4 / 8])
    # CEAF-e: {a, b, c} goes with {a, b}, 2 * 2 / 5, and {d, e, f, g} with {f, g, h, i}, 2 * 2 / 8.
    assert scores["ceaf_e"][:2] == pytest.approx([1.3 / 2, 1.3 / 3])
    assert scores["mentions"][:2] == pytest.approx([6 / 7, 6 / 8])
    # The paper prints two digits.
    printed = {"muc": [0.40, 0.40], "b_cubed": [0.42, 0.50], "ceaf_e": [0.65, 0.43]}
    for name, values in printed.items():
        assert [round(value, 2) for value in scores[name][:2]] == values
    assert conll([GOLD], [PREDICTED]) == pytest.approx(np.mean([scores[name][2] for name in metrics.METRICS]))


def clustering(rng, mentions):
    """Return random clusters of a random part of the mentions; about a third are singletons."""
    kept = [mention for mention in mentions if rng.random() < 0.8]
    labels = rng.integers(0, max(1, len(kept) // 2), len(kept))
    return [
        tuple(mention for mention, other in zip(kept, labels, strict=True) if other == label)
        for label in np.unique(labels)
    ]


def without_singletons(clusters):
    return [cluster for cluster in clusters if len(cluster) > 1]


def random_pair(seed):
    rng = np.random.default_rng(seed)
    mentions = [(int(first), int(first) + int(seed) % 3) for first in range(0, 4 * rng.integers(3, 16), 4)]
    return clustering(rng, mentions), clustering(rng, mentions)


@pytest.mark.parametrize("singletons", [True, False])
def test_random_clusterings_score_as_by_scorch(singletons):
    for seed in range(30):
        gold, predicted = random_pair(seed)
        scores = evaluate([gold], [predicted], singletons)
        if not singletons:
            gold, predicted = without_singletons(gold), without_singletons(predicted)
        sets = [[set(cluster) for cluster in clusters] for clusters in (gold, predicted)]
        for name in metrics.METRICS:
            theirs = getattr(scorch, name)(*sets)
            assert scores[name] == pytest.approx(list(theirs), abs=LARGEST_DIFFERENCE), (seed, name)


@pytest.mark.parametrize("singletons", [True, False])
def test_documents_count_together_as_by_scorch(singletons):
    """Sums over documents are those of one document that has all mentions, and no mean of documents."""
    pairs = [random_pair(seed) for seed in range(30)]
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    scores = evaluate(gold, predicted, singletons)
    sets = [
        [
            {(number, mention) for mention in cluster}
            for number, clusters in enumerate(side)
            for cluster in clusters
            if singletons or len(cluster) > 1
        ]
        for side in (gold, predicted)
    ]
    for name in metrics.METRICS:
        assert scores[name] == pytest.approx(list(getattr(scorch, name)(*sets)), abs=LARGEST_DIFFERENCE), name
    single = [conll([g], [p], singletons) for g, p in zip(gold, predicted, strict=True)]
    assert abs(conll(gold, predicted, singletons) - np.mean(single)) > 1e-3
    # Of sums over documents, for several sets of weights at once.
    sums = metrics.count_matches(gold, predicted, singletons).sum(axis=0)
    assert metrics.conll_f1(np.stack([sums, 2 * sums])) == pytest.approx([conll(gold, predicted, singletons)] * 2)


def test_scores_are_with_and_without_singletons():
    gold, predicted = [GOLD, (("y",), ("z",))], [PREDICTED, (("z",),)]
    scores, plain = metrics.score_clusters(gold, predicted), evaluate(gold, predicted, singletons=False)
    assert scores == {
        "conll": conll(gold, predicted, singletons=False),
        **{name: plain[name][2] for name in metrics.METRICS},
        "conll_singletons": conll(gold, predicted),
        "mentions": evaluate(gold, predicted)["mentions"][2],
    }
    assert len(set(scores.values())) == len(scores)


@pytest.mark.parametrize("gold, predicted", [((), GOLD), (GOLD, ()), ((), ())])
def test_nothing_gold_or_predicted_scores_nothing(gold, predicted):
    assert conll([gold], [predicted]) == 0
    assert set(map(tuple, evaluate([gold], [predicted]).values())) == {(0, 0, 0)}


def test_singletons_have_no_links_and_can_be_left_out():
    clusters = (("a",), ("b",), ("c",))
    scores = evaluate([clusters], [clusters])
    assert scores["muc"] == [0, 0, 0]
    assert scores["b_cubed"] == scores["ceaf_e"] == [1, 1, 1]
    assert conll([clusters], [clusters]) == pytest.approx(2 / 3)
    assert conll([clusters], [clusters], singletons=False) == 0
    # Left out on both sides, a predicted singleton costs no precision.
    assert conll([GOLD], [(*GOLD, ("z",))], singletons=False) == pytest.approx(1)
    assert evaluate([GOLD], [(*GOLD, ("z",))])["ceaf_e"][1] == pytest.approx(2 / 3)


def test_the_order_of_clusters_and_mentions_does_not_matter():
    turned = [tuple(reversed(cluster)) for cluster in reversed(PREDICTED)]
    ours, theirs = evaluate([GOLD], [turned]), evaluate([GOLD], [PREDICTED])
    assert all(ours[name] == pytest.approx(theirs[name]) for name in metrics.METRICS)


NO_CLUSTERING = {
    "documents missing": ([GOLD], [], ["0 predicted", "1 gold"]),
    "an empty cluster": ([GOLD], [[[]]], ["predicted", "document 1", "empty"]),
    "two clusters": ([GOLD, [("a", "b"), ("b", "c")]], [GOLD, GOLD], ["gold", "document 2", "mention b", "twice"]),
    "twice in one": ([GOLD], [[("a", "a")]], ["predicted", "document 1", "mention a", "twice"]),
}


@pytest.mark.parametrize(("gold", "predicted", "named"), NO_CLUSTERING.values(), ids=NO_CLUSTERING)
def test_what_is_no_clustering_is_refused(gold, predicted, named):
    with refused(*named):
        metrics.count_matches(gold, predicted)


def official(scorer, metric, gold, predicted):
    """Return recall and precision of the official scorer, from the counts that it prints; its per cents are cut."""
    command = ["perl", scorer, metric, gold, predicted, "none"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in reversed(printed.splitlines()) if line.startswith("Coreference:"))
    return [float(numerator) / float(of) for numerator, of in re.findall(r"\(([\d.]+) / ([\d.]+)\)", line)]


@pytest.mark.parametrize("singletons", [True, False])
def test_random_clusterings_score_as_by_the_official_scorer(tmp_path, singletons):
    scorer = os.environ.get(SCORER)
    if not scorer:
        pytest.skip(f"{SCORER} is not set: the official scorer of coreference (scorer.pl) is not at hand")
    assert Path(scorer).is_file(), f"{SCORER} names {scorer}, where there is no file"
    pairs = [random_pair(seed) for seed in range(30)]
    for side, name in enumerate(("gold", "predicted")):
        conll2012.write(
            tmp_path / name,
            [
                documents.AnnotatedDocument(
                    name=f"document_{number}",
                    words=tuple(f"w{word}" for word in range(80)),
                    sentences=((0, 80),),
                    clusters=documents.order_clusters(pair[side] if singletons else without_singletons(pair[side])),
                )
                for number, pair in enumerate(pairs)
            ],
        )
    ours = evaluate(*([pair[side] for pair in pairs] for side in (0, 1)), singletons)
    for name, metric in {"muc": "muc", "b_cubed": "bcub", "ceaf_e": "ceafe"}.items():
        theirs = official(scorer, metric, tmp_path / "gold", tmp_path / "predicted")
        assert ours[name][:2] == pytest.approx(list(theirs), abs=LARGEST_DIFFERENCE), name
