"""Tiny random checkpoints in the formats of other implementations, with all the variables that theirs have.

Names and shapes are those of the public code (coref-hoi: model.py; the published TensorFlow systems: independent.py,
util.py and bert/modeling.py), written down here a second time: nothing is imported from the conversion.
"""

import json
from dataclasses import dataclass, field

import numpy as np

from tests import zoo

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 16, 2, 4, 24, 64
FEATURE, FFNN, WIDTH = 4, 10, 5
SPAN = 3 * HIDDEN + FEATURE
GENRES = ["bc", "bn", "mz", "nw", "pt", "tc", "wb"]


def hoi_settings(**others):
    return {
        "max_segment_len": 48, "max_training_sentences": 3, "max_top_antecedents": 8, "max_num_extracted_spans": 3900,
        "max_span_width": WIDTH, "top_span_ratio": 0.4, "ffnn_size": FFNN, "ffnn_depth": 1,
        "feature_emb_size": FEATURE, "coref_depth": 2, "higher_order": "attended_antecedent", "dropout_rate": 0.3,
        "use_metadata": True, "use_features": True, "use_segment_distance": True, "use_width_prior": True,
        "use_distance_prior": True, "model_heads": True, "fine_grained": True, "genres": GENRES, **others,
    }  # fmt: skip


def tensorflow_settings(**others):
    return {
        "model_type": "independent", "max_segment_len": 48, "max_training_sentences": 3, "max_top_antecedents": 8,
        "max_span_width": WIDTH, "top_span_ratio": 0.4, "ffnn_size": FFNN, "ffnn_depth": 1, "feature_size": FEATURE,
        "coref_depth": 2, "dropout_rate": 0.3, "use_metadata": True, "use_features": True,
        "use_segment_distance": True, "use_prior": True, "model_heads": True, "fine_grained": True, "genres": GENRES,
        **others,
    }  # fmt: skip


def write_encoder(folder, name):
    """Write vocabulary and configuration of a tiny BERT; return the size of the vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    size = len(zoo._cased_wordpiece(folder))
    sizes = {
        "vocab_size": size, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "initializer_range": 0.02,
        "directionality": "bidi", "pooler_type": "first_token_transform",
    }  # fmt: skip
    (folder / name).write_text(json.dumps(sizes), encoding="utf-8")
    return size


def pair_size(settings, feature):
    count = 2 * settings["use_metadata"] + settings["use_segment_distance"] + 1
    return 3 * SPAN + count * settings[feature]


def hoi_shapes(vocabulary, settings):
    """Return the shapes of the variables of coref-hoi's model by name."""
    shapes = {
        "bert.embeddings.position_ids": (1, POSITIONS),
        "bert.embeddings.word_embeddings.weight": (vocabulary, HIDDEN),
        "bert.embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "bert.embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "bert.embeddings.LayerNorm.weight": (HIDDEN,),
        "bert.embeddings.LayerNorm.bias": (HIDDEN,),
        "bert.pooler.dense.weight": (HIDDEN, HIDDEN),
        "bert.pooler.dense.bias": (HIDDEN,),
    }
    for number in range(LAYERS):
        layer = f"bert.encoder.layer.{number}"
        for name, outputs, inputs in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ):
            shapes |= {f"{layer}.{name}.weight": (outputs, inputs), f"{layer}.{name}.bias": (outputs,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}.{name}.weight": (HIDDEN,), f"{layer}.{name}.bias": (HIDDEN,)}

    def linear(name, outputs, inputs):
        shapes.update({f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)})

    def network(name, inputs):
        for number in range(settings["ffnn_depth"]):
            linear(f"{name}.{3 * number}", FFNN, FFNN if number else inputs)
        linear(f"{name}.{3 * settings['ffnn_depth']}", 1, FFNN)

    shapes["emb_span_width.weight"] = (WIDTH, FEATURE)
    shapes["emb_genre.weight"] = (len(GENRES), FEATURE)
    shapes["emb_top_antecedent_distance.weight"] = (10, FEATURE)
    linear("mention_token_attn", 1, HIDDEN)
    network("span_emb_score_ffnn", SPAN)
    linear("coarse_bilinear", SPAN, SPAN)
    network("coref_score_ffnn", pair_size(settings, "feature_emb_size"))
    if settings["use_width_prior"]:
        shapes["emb_span_width_prior.weight"] = (WIDTH, FEATURE)
        network("span_width_score_ffnn", FEATURE)
    if settings["use_distance_prior"]:
        shapes["emb_antecedent_distance_prior.weight"] = (10, FEATURE)
        linear("antecedent_distance_score_ffnn", 1, FEATURE)
    if settings["use_metadata"]:
        shapes["emb_same_speaker.weight"] = (2, FEATURE)
    if settings["use_segment_distance"]:
        shapes["emb_segment_distance.weight"] = (settings["max_training_sentences"], FEATURE)
    if settings["coref_depth"] > 1:
        linear("gate_ffnn", SPAN, 2 * SPAN)
    return shapes


def tensorflow_shapes(vocabulary, settings):
    """Return the shapes of the variables of the published TensorFlow model by name, without those of optimisers."""
    shapes = {
        "bert/embeddings/word_embeddings": (vocabulary, HIDDEN),
        "bert/embeddings/token_type_embeddings": (2, HIDDEN),
        "bert/embeddings/position_embeddings": (POSITIONS, HIDDEN),
        "bert/embeddings/LayerNorm/beta": (HIDDEN,),
        "bert/embeddings/LayerNorm/gamma": (HIDDEN,),
        "bert/pooler/dense/kernel": (HIDDEN, HIDDEN),
        "bert/pooler/dense/bias": (HIDDEN,),
    }
    for number in range(LAYERS):
        layer = f"bert/encoder/layer_{number}"
        for name, inputs, outputs in (
            ("attention/self/query", HIDDEN, HIDDEN),
            ("attention/self/key", HIDDEN, HIDDEN),
            ("attention/self/value", HIDDEN, HIDDEN),
            ("attention/output/dense", HIDDEN, HIDDEN),
            ("intermediate/dense", HIDDEN, INNER),
            ("output/dense", INNER, HIDDEN),
        ):
            shapes |= {f"{layer}/{name}/kernel": (inputs, outputs), f"{layer}/{name}/bias": (outputs,)}
        for name in ("attention/output/LayerNorm", "output/LayerNorm"):
            shapes |= {f"{layer}/{name}/beta": (HIDDEN,), f"{layer}/{name}/gamma": (HIDDEN,)}

    def network(scope, inputs, outputs, depth=0):
        for number in range(depth):
            shapes[f"{scope}hidden_weights_{number}"] = (FFNN if number else inputs, FFNN)
            shapes[f"{scope}hidden_bias_{number}"] = (FFNN,)
        shapes[f"{scope}output_weights"] = (FFNN if depth else inputs, outputs)
        shapes[f"{scope}output_bias"] = (outputs,)

    depth = settings["ffnn_depth"]
    shapes["span_width_embeddings"] = (WIDTH, FEATURE)
    shapes["genre_embeddings"] = (len(GENRES), FEATURE)
    network("mention_word_attn/", HIDDEN, 1)
    network("mention_scores/", SPAN, 1, depth)
    network("src_projection/", SPAN, SPAN)
    if settings["use_prior"]:
        shapes["span_width_prior_embeddings"] = (WIDTH, FEATURE)
        network("width_scores/", FEATURE, 1, depth)
        shapes["antecedent_distance_emb"] = (10, FEATURE)
        network("", FEATURE, 1)
    if settings["use_metadata"]:
        shapes["coref_layer/same_speaker_emb"] = (2, FEATURE)
    shapes["coref_layer/antecedent_distance_emb"] = (10, FEATURE)
    if settings["use_segment_distance"]:
        rows = settings["max_training_sentences"]
        shapes["coref_layer/segment_distance/segment_distance_embeddings"] = (rows, FEATURE)
    network("coref_layer/slow_antecedent_scores/", pair_size(settings, "feature_size"), 1, depth)
    network("coref_layer/f/", 2 * SPAN, SPAN)
    return shapes


def optimiser_shapes(shapes):
    """Return what the two optimisers of the published TensorFlow systems keep beside the variables."""
    kept = {"global_step": (), "beta1_power": (), "beta2_power": ()}
    for name, shape in shapes.items():
        for moment in ("adam_m", "adam_v") if name.startswith("bert/") else ("Adam", "Adam_1"):
            kept[f"{name}/{moment}"] = shape
    return kept


def values(shapes, seed=5):
    """Return random arrays, float32, large enough for scores to differ."""
    generator = np.random.default_rng(seed)
    made = {}
    for name, shape in shapes.items():
        centre = 1.0 if name.endswith(("LayerNorm.weight", "/gamma")) else 0.0
        deviation = 0.1 if name.startswith("bert") else 0.25
        made[name] = np.asarray(centre + deviation * generator.standard_normal(shape), dtype=np.float32)
    return made


@dataclass
class View:
    """Weights for the plain implementation, by what they are for."""

    state: dict
    tables: dict
    networks: dict
    transposed: bool
    bert: object = field(default=None)

    def table(self, name):
        return self.state.get(self.tables[name])

    def layers(self, name):
        pairs = [(self.state[kernel], self.state[bias]) for kernel, bias in self.networks[name]]
        return [(kernel.T if self.transposed else kernel, bias) for kernel, bias in pairs]


def hoi_view(state, bert, depth):
    def network(name, hidden):
        return [(f"{name}.{3 * n}.weight", f"{name}.{3 * n}.bias") for n in range(hidden + 1)]

    def linear(name):
        return [(f"{name}.weight", f"{name}.bias")]

    tables = {
        "width": "emb_span_width.weight", "width_prior": "emb_span_width_prior.weight",
        "distance_prior": "emb_antecedent_distance_prior.weight", "speaker": "emb_same_speaker.weight",
        "genre": "emb_genre.weight", "segment": "emb_segment_distance.weight",
        "distance": "emb_top_antecedent_distance.weight",
    }  # fmt: skip
    networks = {
        "head": linear("mention_token_attn"), "mention": network("span_emb_score_ffnn", depth),
        "width_prior": network("span_width_score_ffnn", depth), "coarse": linear("coarse_bilinear"),
        "distance_prior": linear("antecedent_distance_score_ffnn"), "antecedent": network("coref_score_ffnn", depth),
        "gate": linear("gate_ffnn"),
    }  # fmt: skip
    state = {name: value.astype(np.float64) for name, value in state.items()}
    return View(state, tables, networks, True, bert(state, "bert."))


class TensorFlowBert:
    """The encoder's variables under TensorFlow's names."""

    layers = LAYERS

    def __init__(self, state):
        self.state = state

    def __call__(self, name):
        return self.state["bert/" + name.replace(".layer.", ".layer_").replace(".", "/")]


def tensorflow_view(state, depth):
    def network(scope, hidden=0):
        inner = [(f"{scope}hidden_weights_{n}", f"{scope}hidden_bias_{n}") for n in range(hidden)]
        return [*inner, (f"{scope}output_weights", f"{scope}output_bias")]

    tables = {
        "width": "span_width_embeddings", "width_prior": "span_width_prior_embeddings",
        "distance_prior": "antecedent_distance_emb", "speaker": "coref_layer/same_speaker_emb",
        "genre": "genre_embeddings", "distance": "coref_layer/antecedent_distance_emb",
        "segment": "coref_layer/segment_distance/segment_distance_embeddings",
    }  # fmt: skip
    networks = {
        "head": network("mention_word_attn/"), "mention": network("mention_scores/", depth),
        "width_prior": network("width_scores/", depth), "coarse": network("src_projection/"),
        "distance_prior": network(""), "antecedent": network("coref_layer/slow_antecedent_scores/", depth),
        "gate": network("coref_layer/f/"),
    }  # fmt: skip
    state = {name: value.astype(np.float64) for name, value in state.items()}
    return View(state, tables, networks, False, TensorFlowBert(state))
