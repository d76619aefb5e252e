"""The coarse-to-fine model against its formulas, written out for single spans and pairs."""

import math
from dataclasses import replace

import pytest
import torch

from scripts.core.coreference_systems.c2f import checkpoints, encoders, features, model, outcomes
from scripts.core.coreference_systems.c2f.windows import Splitter
from tests.core.coreference_systems import tiny

SYSTEMS = {
    "published": {"coref_depth": 1},
    "no features": {
        "coref_depth": 1, "width_prior": False, "distance_prior": False, "distance_feature": False,
        "speaker_and_genre": False, "segment_distances": 0,
    },
    "two hidden layers": {"coref_depth": 1, "ffnn_depth": 2},
    "refined": {"coref_depth": 3},
    "demonstration": tiny.DEPARTURES | {"coref_depth": 1, "speaker_and_genre": False, "segment_distances": 0},
    "words, refined": tiny.DEPARTURES,
}  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny.encoder(tmp_path_factory.mktemp("encoder") / "e")


@pytest.fixture(params=SYSTEMS)
def made(request, encoder):
    """A system with weights far from zero, a window of a document with speakers, and its scores."""
    return system(encoder, **SYSTEMS[request.param])


def system(encoder, **changes):
    configuration = tiny.configuration(**changes)
    torch.manual_seed(5)
    built, tokenizer = checkpoints.build(encoder, configuration)
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if not name.startswith("encoder."):
                parameter.copy_(0.3 * torch.randn_like(parameter))
    document = replace(tiny.documents()[1], speakers=tuple("a" * 7 + "b" * 10 + "a" * 11))
    window = Splitter(tokenizer, configuration).window(document, genre="mz")
    built.eval()
    with torch.no_grad():
        return built, window, built(window)


def representation(built, window, first, last):
    """Return a span's representation, before any projection."""
    output = built.encoder(input_ids=window.input_ids, attention_mask=window.attention_mask).last_hidden_state
    flat = output.reshape(-1, output.shape[-1])

    def unit(number, vector):
        case = [] if built.case_embedding is None else [built.case_embedding.weight[window.case[number]]]
        return torch.cat([vector, *case])

    def mean(number):
        return unit(number, flat[window.pieces[window.unit_of_piece == number]].mean(0))

    means = torch.stack([mean(number) for number in range(first, last + 1)])
    weights = torch.softmax(built.head_attention(means).squeeze(1), 0)
    return torch.cat(
        [
            unit(first, flat[window.first[first]]),
            unit(last, flat[window.last[last]]),
            built.width_embedding.weight[last - first],
            weights @ means,
        ]
    )


@torch.no_grad()
def test_mention_scores(made):
    built, window, scores = made
    checked = 0
    for first, width in scores.candidates.nonzero().tolist():
        expected = built.mention_ffnn(representation(built, window, first, first + width))
        if built.width_prior_embedding is not None:
            expected = expected + built.width_prior_ffnn(built.width_prior_embedding.weight[width])
        assert scores.candidate_scores[first, width].item() == pytest.approx(expected.item(), abs=1e-4)
        checked += 1
    assert checked > 60


def test_candidates_lie_within_a_sentence(made):
    _, window, scores = made
    size, widths = scores.candidates.shape
    assert size == window.units
    for first in range(size):
        for width in range(widths):
            last = first + width
            inside = last < size and window.sentence[first] == window.sentence[last]
            assert bool(scores.candidates[first, width]) == bool(inside)


def test_the_best_spans_that_do_not_cross_are_kept(made):
    built, window, scores = made
    spans = list(zip(scores.starts.tolist(), scores.ends.tolist(), strict=True))
    assert spans == sorted(set(spans))
    wanted = max(1, int(built.configuration.top_span_ratio * window.units))
    multiple = built.configuration.top_span_multiple
    assert len(spans) == -(-wanted // multiple) * multiple
    kept = []
    order = sorted(
        scores.candidates.nonzero().tolist(), key=lambda place: -scores.candidate_scores[tuple(place)].item()
    )
    for first, width in order:
        span = (first, first + width)
        crosses = any(a < span[0] <= b < span[1] or span[0] < a <= span[1] < b for a, b in kept)
        if not crosses and len(kept) < len(spans):
            kept.append(span)
    assert sorted(kept) == spans


@torch.no_grad()
def test_pair_scores(made):
    built, window, scores = made
    c = built.configuration
    spans = list(zip(scores.starts.tolist(), scores.ends.tolist(), strict=True))
    vectors = torch.stack([representation(built, window, *span) for span in spans])
    if built.projection is not None:
        vectors = built.projection(vectors)
    mentions = scores.mention_scores
    if c.log_sigmoid_scores:
        mentions = torch.log(torch.sigmoid(mentions))
    words = [(window.word[first], window.word[last]) for first, last in spans]
    strings = features.pair_classes(window.words, window.cases, words)
    size = len(spans)
    coarse = torch.full((size, size), -math.inf)
    for i in range(size):
        for j in range(i):
            value = built.coarse(vectors[i]) @ vectors[j]
            if built.projection is not None:
                value = value / math.sqrt(vectors.shape[1])
            value = value + mentions[i] + mentions[j]
            if c.distance_prior:
                value = value + built.distance_prior(built.distance_prior_embedding.weight[bucket(i - j)])[0]
            if c.string_features:
                value = value + built.string_prior.weight[strings[i, j]][0]
            coarse[i, j] = value
    width = min(c.max_antecedents, size)
    assert scores.antecedents.shape == (size, width)
    for i in range(size):
        chosen = set(scores.antecedents[i][scores.valid[i]].tolist())
        best = sorted(range(i), key=lambda j: -coarse[i, j].item())[:width]
        assert chosen == set(best)
    for depth in range(c.coref_depth):
        final = torch.full((size, width + 1), -math.inf)
        final[:, 0] = 0
        for i in range(size):
            for place, j in enumerate(scores.antecedents[i].tolist()):
                if j < i:
                    final[i, place + 1] = coarse[i, j] + fine(built, window, vectors, spans, strings, i, j)
        if depth < c.coref_depth - 1:
            weights = torch.softmax(final, 1)
            attended = torch.stack(
                [
                    weights[i, 0] * vectors[i]
                    + sum(weights[i, p + 1] * vectors[j] for p, j in enumerate(scores.antecedents[i].tolist()))
                    for i in range(size)
                ]
            )
            gate = torch.sigmoid(built.gate(torch.cat([vectors, attended], 1)))
            vectors = gate * attended + (1 - gate) * vectors
    torch.testing.assert_close(scores.scores, final, atol=1e-4, rtol=1e-4)


def bucket(distance):
    return distance if distance <= 4 else min(9, int(math.log2(distance)) + 3)


def fine(built, window, vectors, spans, strings, i, j):
    c, parts = built.configuration, [vectors[i], vectors[j], vectors[i] * vectors[j]]
    first, other = spans[i][0], spans[j][0]
    if c.speaker_and_genre:
        parts.append(built.speaker_embedding.weight[int(window.speaker[first] == window.speaker[other])])
        parts.append(built.genre_embedding.weight[c.genres.index("mz")])
    if c.segment_distances:
        apart = min(int(window.segment[first] - window.segment[other]), c.segment_distances - 1)
        parts.append(built.segment_embedding.weight[apart])
    if c.distance_feature:
        parts.append(built.distance_embedding.weight[bucket(i - j)])
    if c.string_features:
        parts.append(built.string_embedding.weight[strings[i, j]])
    return built.antecedent_ffnn(torch.cat(parts))[0]


def test_losses(made):
    _, window, scores = made
    spans = list(zip(scores.starts.tolist(), scores.ends.tolist(), strict=True))
    antecedents = entropy = 0.0
    for i, span in enumerate(spans):
        row = scores.scores[i].double().exp()
        cluster = window.clusters.get(span)
        right = [
            place + 1
            for place, j in enumerate(scores.antecedents[i].tolist())
            if j < i and cluster and window.clusters.get(spans[j]) == cluster
        ] or [0]
        antecedents -= math.log(sum(row[place] for place in right) / row.sum())
    for first, width in scores.candidates.nonzero().tolist():
        share = 1 / (1 + math.exp(-scores.candidate_scores[first, width].item()))
        entropy -= math.log(share if (first, first + width) in window.clusters else 1 - share)
    found = outcomes.losses(scores, window)
    assert found[0].item() == pytest.approx(antecedents, rel=1e-4)
    assert found[1].item() == pytest.approx(entropy, rel=1e-4)


def test_distances():
    distances = torch.arange(0, 200)
    assert model.distance_classes(distances)[1:].tolist() == [bucket(d) for d in range(1, 200)]


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
    _, window, _ = system(encoder, **SYSTEMS["demonstration"])
    spans = [(0, 0), (2, 2), (5, 6), (7, 7), (9, 9), (12, 13)]
    scores = handmade(spans, [None, None, 0, 1, 2, None], [1.0, -1.0, 1.0, -1.0, 1.0, 0.5])
    linked = [[(0, 0), (5, 6), (9, 9)], [(2, 2), (7, 7)]]
    assert outcomes.clusters(scores, window, singletons=False) == linked
    assert outcomes.clusters(scores, window, singletons=True) == [*linked, [(12, 13)]]
    # A pair with a score of exactly 0 is no pair: of equal scores the first counts.
    scores.scores[2, 1] = 0.0
    assert outcomes.clusters(scores, window, singletons=False) == [[(2, 2), (7, 7)], [(5, 6), (9, 9)]]


def test_pieces_of_one_word_are_one_mention(encoder):
    _, window, _ = system(encoder)
    twice = next(unit for unit in range(window.units - 1) if window.word[unit] == window.word[unit + 1])
    other = window.units - 4
    scores = handmade([(twice, twice), (twice, twice + 1), (other, other)], [None, 0, 1], [1.0] * 3)
    word, last = window.word[twice], window.word[other]
    assert outcomes.clusters(scores, window, singletons=False) == [[(word, word), (last, last)]]
    alone = handmade([(twice, twice), (twice, twice + 1)], [None, 0], [1.0] * 2)
    assert outcomes.clusters(alone, window, singletons=False) == []


def test_plain_attention_is_the_librarys(encoder):
    from transformers import AutoModel

    ids = torch.randint(5, 60, (3, 20))
    mask = (torch.arange(20) < torch.tensor([[20], [13], [7]])).long()
    outputs = []
    for plain in (False, True):
        bert = AutoModel.from_pretrained(encoder, attn_implementation="eager")
        if plain:
            encoders.simplify(bert, 0.1)
            assert any(isinstance(module, encoders.PlainAttention) for module in bert.modules())
            assert not any(isinstance(module, torch.nn.Dropout) for module in bert.modules())
        with torch.no_grad():
            outputs.append(bert.eval()(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()])
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)


def test_shared_dropout_has_one_mask_for_a_row():
    dropout = encoders.SharedDropout(0.5)
    values = torch.ones(4, 6, 50)
    torch.manual_seed(0)
    dropped = dropout(values)
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(dropout.eval()(values), values)


def test_low_rank_updates_and_norms_alone_are_trained(encoder):
    built, *_ = system(encoder, lora_rank=2, **SYSTEMS["demonstration"])
    inside = [name for name in checkpoints.trained_parameters(built) if name.startswith("encoder.")]
    assert inside
    assert all(name.endswith((".up", ".down")) or "LayerNorm" in name for name in inside)
    assert not any("embeddings" in name for name in inside)
