"""The published TensorFlow checkpoints (Joshi et al. 2019, 2020): names of settings and variables.

The public code is github.com/mandarjoshi90/coref. TensorFlow keeps matrices as inputs by outputs, PyTorch the other way
round; and the network of pairs reads the distance in spans before that in segments, this project's after it.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems.c2f import checkpoints, foreign

if TYPE_CHECKING:
    from scripts.core.coreference_systems.c2f.model import C2F, Configuration

NAMES = {**foreign.NAMES, "feature_size": "feature_size", "use_prior": ("width_prior", "distance_prior")}
FIXED_SETTINGS = {**foreign.FIXED_SETTINGS, "model_type": "independent"}
# Ours, theirs; the two of the distance's coarse score lie at the top.
TABLES = {
    "width_embedding": "span_width_embeddings",
    "width_prior_embedding": "span_width_prior_embeddings",
    "distance_prior_embedding": "antecedent_distance_emb",
    "genre_embedding": "genre_embeddings",
    "speaker_embedding": "coref_layer/same_speaker_emb",
    "segment_embedding": "coref_layer/segment_distance/segment_distance_embeddings",
    "distance_embedding": "coref_layer/antecedent_distance_emb",
}
SCOPES = {
    "head_attention": "mention_word_attn/",
    "mention_ffnn": "mention_scores/",
    "width_prior_ffnn": "width_scores/",
    "coarse": "src_projection/",
    "distance_prior": "",
    "antecedent_ffnn": "coref_layer/slow_antecedent_scores/",
    "gate": "coref_layer/f/",
}
# Layers of a feed-forward network lie this far from each other in ours: linear, rectifier, dropout.
STEP = 3
# The encoder's output layer; the genres that a system without metadata has all the same, and the gate, which is made
# even where the last round of scores, after which nothing takes it, is the first.
UNUSED = {"bert/pooler/dense/kernel", "bert/pooler/dense/bias"}
GENRES = {"genre_embeddings"}
GATE = {"coref_layer/f/output_weights", "coref_layer/f/output_bias"}


def convert_settings(settings: dict[str, Any], where: str) -> "Configuration":
    """Return this project's configuration for their settings; see :func:`foreign.convert_settings`.

    They keep at most 3,900 spans, this project's default too, whatever the settings say.
    """
    return foreign.convert_settings(settings, NAMES, FIXED_SETTINGS, where)


def foreign_weight_name(name: str, depth: int) -> str:
    """Return their name of one of our variables.

    Args:
        depth: Hidden layers of the feed-forward networks.
    """
    module, _, rest = name.partition(".")
    if module == "encoder":
        rest = re.sub(r"\.layer\.(\d+)\.", r".layer_\1.", rest)
        rest = re.sub(r"LayerNorm\.weight$", "LayerNorm.gamma", rest)
        rest = re.sub(r"LayerNorm\.bias$", "LayerNorm.beta", rest)
        rest = re.sub(r"_embeddings\.weight$", "_embeddings", rest)
        rest = re.sub(r"\.weight$", ".kernel", rest)
        return f"bert/{rest.replace('.', '/')}"
    if module in TABLES:
        return TABLES[module]
    number, _, kind = rest.rpartition(".")
    kind = {"weight": "weights", "bias": "bias"}[kind]
    layer = int(number) // STEP if number else depth
    place = f"output_{kind}" if layer == depth or not number else f"hidden_{kind}_{layer}"
    return f"{SCOPES[module]}{place}"


def is_matrix(name: str, shape: Sequence[int]) -> bool:
    """Tell whether one of our variables is a matrix of products, which TensorFlow has the other way round."""
    return len(shape) == 2 and "embedding" not in name.rpartition(".")[0]


def read(path: str | Path) -> dict[str, torch.Tensor]:
    """Return the variables that ``tensorflow_reader`` wrote, by their names in the checkpoint."""
    return checkpoints.read(path)[0]


def fill(model: "C2F", tensors: dict[str, torch.Tensor], where: str | Path) -> None:
    """Put the variables of a checkpoint into a model of its configuration.

    Args:
        tensors: By their names.
        where: How messages begin.

    Raises:
        UserError: Naming a variable that is missing, too many or of another shape, or that holds no finite numbers.
    """
    made = model.configuration
    unused = UNUSED | (set() if made.speaker_and_genre else GENRES) | (GATE if made.coref_depth == 1 else set())
    size = made.feature_size

    def to_theirs(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[::-1] if is_matrix(name, shape) else shape

    def to_ours(name: str, value: torch.Tensor) -> torch.Tensor:
        value = value.T if is_matrix(name, value.shape) else value
        if name == "antecedent_ffnn.0.weight" and made.segment_distances:
            rest, distance, segment = value.split([value.shape[1] - 2 * size, size, size], 1)
            value = torch.cat([rest, segment, distance], 1)
        return value

    renamed = {name: foreign_weight_name(name, made.ffnn_depth) for name in model.state_dict()}
    foreign.fill(model, tensors, renamed, unused, where, to_theirs, to_ours)
