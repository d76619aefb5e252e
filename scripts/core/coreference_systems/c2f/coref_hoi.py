"""Checkpoints of coref-hoi (Xu and Choi 2020), which ``torch.save`` wrote: names of settings and variables.

The public code is github.com/lxucs/coref-hoi; its layers lie in the same order as this project's, so that only names
differ. Of its ways of higher-order inference this project has the attended antecedent (Lee et al. 2018).
"""

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems.c2f import foreign
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from scripts.core.coreference_systems.c2f.model import C2F, Configuration

NAMES = {
    **foreign.NAMES,
    "feature_emb_size": "feature_size",
    "max_num_extracted_spans": "max_top_spans",
    "use_width_prior": "width_prior",
    "use_distance_prior": "distance_prior",
}
FIXED_SETTINGS = {**foreign.FIXED_SETTINGS, "higher_order": "attended_antecedent"}
# Ours, theirs.
MODULES = {
    "encoder": "bert",
    "width_embedding": "emb_span_width",
    "width_prior_embedding": "emb_span_width_prior",
    "distance_prior_embedding": "emb_antecedent_distance_prior",
    "genre_embedding": "emb_genre",
    "speaker_embedding": "emb_same_speaker",
    "segment_embedding": "emb_segment_distance",
    "distance_embedding": "emb_top_antecedent_distance",
    "head_attention": "mention_token_attn",
    "mention_ffnn": "span_emb_score_ffnn",
    "width_prior_ffnn": "span_width_score_ffnn",
    "coarse": "coarse_bilinear",
    "distance_prior": "antecedent_distance_score_ffnn",
    "antecedent_ffnn": "coref_score_ffnn",
    "gate": "gate_ffnn",
}
# The encoder's output layer, the numbers of positions, and the genres that a system without metadata has all the same.
UNUSED = {"bert.pooler.dense.weight", "bert.pooler.dense.bias", "bert.embeddings.position_ids"}
GENRES = "emb_genre.weight"


def convert_settings(settings: dict[str, Any], where: str) -> "Configuration":
    """Return this project's configuration for coref-hoi's settings; see :func:`foreign.convert_settings`."""
    return foreign.convert_settings(settings, NAMES, FIXED_SETTINGS, where)


def foreign_weight_name(name: str) -> str:
    """Return coref-hoi's name of one of our variables."""
    module, _, rest = name.partition(".")
    return f"{MODULES[module]}.{rest}"


def read(path: str | Path) -> dict[str, torch.Tensor]:
    """Return the variables of a checkpoint by coref-hoi's names.

    Raises:
        UserError: If there is no such file or it holds no variables by name.
    """
    try:
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; name a checkpoint of coref-hoi") from error
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{path}: cannot be read as a PyTorch checkpoint ({reason}); get the file again") from error
    if not isinstance(tensors, dict) or not all(isinstance(value, torch.Tensor) for value in tensors.values()):
        raise UserError(f"{path}: holds no variables by name; name a checkpoint of coref-hoi (model_*.bin)")
    return tensors


def fill(model: "C2F", tensors: dict[str, torch.Tensor], where: str | Path) -> None:
    """Put the variables of a checkpoint into a model of its configuration.

    Args:
        tensors: By coref-hoi's names.
        where: How messages begin.

    Raises:
        UserError: Naming a variable that is missing, too many or of another shape, or that holds no finite numbers.
    """
    unused = UNUSED if model.configuration.speaker_and_genre else UNUSED | {GENRES}
    foreign.fill(model, tensors, {name: foreign_weight_name(name) for name in model.state_dict()}, unused, where)
