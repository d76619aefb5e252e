"""The c2f model against a plain implementation in loops, which was written from the papers (plain_c2f.py)."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.configuration import DEFAULT_GENRE, GENRES, Configuration
from scripts.core.coreference_systems.c2f.outcomes import link_mentions
from scripts.core.coreference_systems.c2f.resolve import split_sentences, split_words
from scripts.core.coreference_systems.c2f.windows import Splitter
from scripts.core.coreference_systems.documents import AnnotatedDocument
from scripts.core.coreference_systems.training import cut_document
from scripts.core.models.weights import read_tensors
from tests import zoo
from tests.core.coreference_systems.plain_c2f import Options, resolve

TEXT = (
    "Alice met Bob at the market. She asked him about the old house, and he told Alice that “the house” was sold. "
    "Mr. Smith and his sister Carol Smith came to the office. Carol greeted the manager; the manager was not there! "
    "They said that NATO had called them twice. Did Carol Smith know her? Bob's mother, who had never liked the market "
    "near the river because it was loud and because the people there never spoke with her or with anybody whom she "
    "knew from the days when she had lived in the old house on the hill, went home. The customer paid Bob and left."
)

PUBLISHED = Configuration(
    max_segment_pieces=48, max_span_width=6, max_antecedents=9, ffnn_size=12, feature_size=5, segment_distances=3
)
DEMONSTRATION = Configuration(
    unit="word", max_segment_pieces=48, max_span_width=5, top_span_ratio=0.3, max_antecedents=11, ffnn_size=12,
    feature_size=5, coref_depth=1, width_prior=False, speaker_and_genre=False, segment_distances=0,
    projection_size=16, case_features=True, string_features=True, plain_marks=True, log_sigmoid_scores=True,
    singletons=True, top_span_multiple=8,
)  # fmt: skip
SETTINGS = {
    "published": PUBLISHED,
    "one pass, few spans": replace(PUBLISHED, coref_depth=1, max_top_spans=20),
    "three passes, no metadata": replace(PUBLISHED, coref_depth=3, speaker_and_genre=False, segment_distances=0),
    "demonstration": DEMONSTRATION,
    "words, published otherwise": replace(PUBLISHED, unit="word"),
    "demonstration, two passes": replace(DEMONSTRATION, coref_depth=2, width_prior=True),
}  # fmt: skip


TABLES = {
    "width": "width_embedding", "width_prior": "width_prior_embedding", "case": "case_embedding",
    "distance_prior": "distance_prior_embedding", "speaker": "speaker_embedding", "genre": "genre_embedding",
    "segment": "segment_embedding", "distance": "distance_embedding", "string": "string_embedding",
    "string_prior": "string_prior",
}  # fmt: skip
LAYERS = {
    "head": "head_attention", "mention": "mention_ffnn", "width_prior": "width_prior_ffnn", "coarse": "coarse",
    "distance_prior": "distance_prior", "projection": "projection", "antecedent": "antecedent_ffnn", "gate": "gate",
}  # fmt: skip


class Weights:
    """This project's names of variables."""

    def __init__(self, state):
        self.state = {name: value.double().numpy() for name, value in state.items()}
        self.bert = Bert(self.state, "encoder.")

    def table(self, name):
        return self.state.get(f"{TABLES[name]}.weight")

    def layers(self, name):
        name = LAYERS[name]
        single = f"{name}.weight" in self.state
        numbered = {int(key.split(".")[1]) for key in self.state if key.startswith(f"{name}.") and not single}
        names = [name] if single else [f"{name}.{number}" for number in sorted(numbered)]
        return [(self.state[f"{name}.weight"].T, self.state[f"{name}.bias"]) for name in names]


class Bert:
    """The encoder's variables as transformers names them, asked for by the last words of BERT's own code."""

    def __init__(self, state, prefix):
        self.state, self.prefix = state, prefix
        self.layers = 1 + max(int(name.split("layer.")[1].split(".")[0]) for name in state if "encoder.layer." in name)

    def __call__(self, name):
        stem, _, last = name.rpartition(".")
        ending = {"kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}.get(last, f"{last}.weight")
        value = self.state[f"{self.prefix}{stem}.{ending}"]
        return value.T if last == "kernel" else value


def plain_options(c, heads=4):
    names = {
        "speaker": c.speaker_and_genre, "genre": c.speaker_and_genre, "segment": c.segment_distances > 0,
        "distance": True, "string": c.string_features,
    }  # fmt: skip
    return Options(
        segment_pieces=c.max_segment_pieces, span_width=c.max_span_width, ratio=c.top_span_ratio,
        most_spans=c.max_top_spans, antecedents=c.max_antecedents, depth=c.coref_depth, heads=heads,
        features=tuple(name for name, used in names.items() if used), genre=GENRES.index(DEFAULT_GENRE),
        segment_distances=c.segment_distances, by_word=c.unit == "word", cases=c.case_features,
        strings=c.string_features, plain_marks=c.plain_marks, log_sigmoid=c.log_sigmoid_scores,
        singletons=c.singletons, projected=c.projection_size > 0, multiple=c.top_span_multiple,
    )  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A folder with a tiny random BERT and a cased tokenizer."""
    folder = tmp_path_factory.mktemp("encoder")
    torch.manual_seed(1)
    tokenizer = zoo.make_tokenizer("cased-wordpiece")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def document():
    tokens = split_words(TEXT)
    words = tuple(TEXT[first:last] for first, last in tokens)
    speakers = tuple("Ann" if number % 30 < 17 else "Ben" for number in range(len(words)))
    return AnnotatedDocument("text", words, split_sentences(TEXT, tokens), (), speakers=speakers)


def shake(model, seed):
    """Give every variable of a model random values that are large enough for scores to differ."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            centre = 1.0 if "LayerNorm.weight" in name else 0.0
            deviation = 0.1 if name.startswith("encoder.") else 0.25
            value.copy_(centre + deviation * torch.randn(value.shape, generator=generator))
    return model.eval()


def compare(scores, found, expected):
    """Hold a model's scores and clusters of a window against the plain implementation's."""
    rows, widths = scores.candidates.nonzero(as_tuple=True)
    spans = list(zip(rows.tolist(), (rows + widths).tolist(), strict=True))
    assert set(spans) == expected.candidates.keys()
    mine = scores.candidate_scores[rows, widths].tolist()
    np.testing.assert_allclose(mine, [expected.candidates[span] for span in spans], atol=1e-4, rtol=0)
    assert list(zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)) == expected.spans
    kept = [expected.candidates[span] for span in expected.spans]
    np.testing.assert_allclose(scores.mention_scores.tolist(), kept, atol=1e-4, rtol=0)
    pairs = {
        (span, antecedent): score
        for span, row in enumerate(scores.antecedents.tolist())
        for antecedent, score, valid in zip(
            row, scores.scores[span, 1:].tolist(), scores.valid[span].tolist(), strict=True
        )
        if valid
    }
    assert pairs.keys() == expected.pairs.keys()
    np.testing.assert_allclose(list(pairs.values()), [expected.pairs[pair] for pair in pairs], atol=1e-4, rtol=0)
    assert (scores.scores[:, 0] == 0).all()
    assert found == expected.clusters


@pytest.mark.parametrize("name", SETTINGS)
def test_scores_and_clusters_are_those_of_a_plain_implementation(encoder, tmp_path, name):
    configuration = SETTINGS[name]
    model, tokenizer = checkpoints.build_model(encoder, configuration)
    checkpoints.write_folder(tmp_path / "system", shake(model, 3), tokenizer, {})
    tensors, _ = read_tensors(tmp_path / "system/model.safetensors")
    model, tokenizer = checkpoints.load_system(tmp_path / "system")
    text, splitter, weights = document(), Splitter(tokenizer, configuration), Weights(tensors)
    cuts = [0, *(first for first, _ in text.sentences[3::3]), len(text.words)]
    clustered, segments = 0, []
    for start, end in [(0, len(text.words)), *pairwise(cuts)]:
        part = cut_document(text, start, end)
        window = splitter.window(part)
        with torch.no_grad():
            scores = model(window)
        found = link_mentions(scores, window, configuration.singletons)
        compare(scores, found, resolve(part, tokenizer, weights, plain_options(configuration)))
        clustered += sum(len(cluster) > 1 for cluster in found)
        segments.append(len(window.input_ids))
    # The whole text has sentences that fit into a segment and one that does not.
    assert segments[0] > 4 and len(segments) > 2
    assert clustered


def test_a_difference_is_seen(encoder, tmp_path):
    """The comparison itself: one weight that is a hundredth other."""
    model, tokenizer = checkpoints.build_model(encoder, PUBLISHED)
    shake(model, 3)
    text, state = document(), {name: value.clone() for name, value in model.state_dict().items()}
    state["segment_embedding.weight"][1, 2] += 0.01
    window = Splitter(tokenizer, PUBLISHED).window(text)
    with torch.no_grad():
        scores = model(window)
    expected = resolve(text, tokenizer, Weights(state), plain_options(PUBLISHED))
    with pytest.raises(AssertionError):
        compare(scores, link_mentions(scores, window, False), expected)
