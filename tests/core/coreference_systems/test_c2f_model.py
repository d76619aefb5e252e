"""Parts of the coarse-to-fine model; its scores stand against a plain implementation in test_c2f_plain.py."""

import math
from dataclasses import replace

import pytest
import torch

from scripts.core.coreference_systems.c2f import checkpoints, model, outcomes
from scripts.core.coreference_systems.c2f.windows import Splitter
from tests.core.coreference_systems import tiny

DEMONSTRATION = tiny.DEPARTURES | {"coref_depth": 1, "speaker_and_genre": False, "segment_distances": 0}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny.encoder(tmp_path_factory.mktemp("encoder") / "e")


def system(encoder, **changes):
    """Return a window of a document, and the scores of a system whose weights are far from zero."""
    configuration = tiny.configuration(**changes)
    torch.manual_seed(5)
    built, tokenizer = checkpoints.build_model(encoder, configuration)
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if not name.startswith("encoder."):
                parameter.copy_(0.3 * torch.randn_like(parameter))
    window = Splitter(tokenizer, configuration).window(tiny.documents()[1])
    with torch.no_grad():
        return window, built.eval()(window)


@pytest.mark.parametrize("one_cluster", [False, True], ids=["clusters", "one cluster"])
@pytest.mark.parametrize("changes", [{"coref_depth": 1}, DEMONSTRATION], ids=["published", "demonstration"])
def test_the_loss_is_a_sum_over_spans(encoder, changes, one_cluster):
    window, scores = system(encoder, **changes)
    spans = list(zip(scores.starts.tolist(), scores.ends.tolist(), strict=True))
    if one_cluster:
        # A span has several right antecedents.
        window = replace(window, clusters=dict.fromkeys(spans, 1))
    antecedents = 0.0
    for i, span in enumerate(spans):
        row = scores.scores[i].double().exp()
        cluster = window.clusters.get(span)
        right = [
            place + 1
            for place, j in enumerate(scores.antecedents[i].tolist())
            if j < i and cluster and window.clusters.get(spans[j]) == cluster
        ] or [0]
        antecedents -= math.log(sum(row[place] for place in right) / row.sum())
    assert outcomes.compute_loss(scores, window).item() == pytest.approx(antecedents, rel=1e-4)


def test_distances_fall_into_ten_classes():
    beginnings = [0, 1, 2, 3, 4, 5, 8, 16, 32, 64]
    classes = [max(number for number, least in enumerate(beginnings) if least <= distance) for distance in range(200)]
    assert model.distance_classes(torch.arange(200)).tolist() == classes


def handmade(spans, choices, mention_scores):
    """Return scores in which each span takes the antecedent that it is given, or none."""
    size = len(spans)
    antecedents = torch.arange(size).repeat(size, 1)
    scores = torch.full((size, size + 1), -5.0)
    scores[:, 0] = 0
    for span, choice in enumerate(choices):
        if choice is not None:
            scores[span, choice + 1] = 1.0
    starts, ends = torch.tensor(spans).T
    return model.Scores(None, None, starts, ends, torch.tensor(mention_scores), antecedents, None, scores)


def test_clusters_of_scores(encoder):
    window, _ = system(encoder, **DEMONSTRATION)
    spans = [(0, 0), (2, 2), (5, 6), (7, 7), (9, 9), (12, 13)]
    scores = handmade(spans, [None, None, 0, 1, 2, None], [1.0, -1.0, 1.0, -1.0, 1.0, 0.5])
    linked = [[(0, 0), (5, 6), (9, 9)], [(2, 2), (7, 7)]]
    assert outcomes.link_mentions(scores, window, singletons=False) == linked
    assert outcomes.link_mentions(scores, window, singletons=True) == [*linked, [(12, 13)]]
    # A pair with a score of exactly 0 is no pair: of equal scores the first counts.
    scores.scores[2, 1] = 0.0
    assert outcomes.link_mentions(scores, window, singletons=False) == [[(2, 2), (7, 7)], [(5, 6), (9, 9)]]


def test_pieces_of_one_word_are_one_mention(encoder):
    window, _ = system(encoder)
    twice = next(unit for unit in range(window.units - 1) if window.word[unit] == window.word[unit + 1])
    other = window.units - 4
    scores = handmade([(twice, twice), (twice, twice + 1), (other, other)], [None, 0, 1], [1.0] * 3)
    word, last = window.word[twice], window.word[other]
    assert outcomes.link_mentions(scores, window, singletons=False) == [[(word, word), (last, last)]]
    alone = handmade([(twice, twice), (twice, twice + 1)], [None, 0], [1.0] * 2)
    assert outcomes.link_mentions(alone, window, singletons=False) == []
