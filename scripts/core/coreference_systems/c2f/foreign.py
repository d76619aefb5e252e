"""What conversions of other implementations' c2f checkpoints share: settings, variables and where they come from.

Both families (Joshi et al. 2019, in TensorFlow; Xu and Choi 2020, in PyTorch) descend from the system of Lee et al.
(2018) and name their settings alike, in a file ``experiments.conf``. A setting that this project's model has no part
for is refused; every variable is compared by name and shape.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core import files
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.model import C2F, Configuration
from scripts.core.errors import UserError, count_noun, did_you_mean

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Their names of settings, and ours.
NAMES = {
    "max_segment_len": "max_segment_pieces",
    "max_span_width": "max_span_width",
    "top_span_ratio": "top_span_ratio",
    "max_top_antecedents": "max_antecedents",
    "ffnn_size": "ffnn_size",
    "ffnn_depth": "ffnn_depth",
    "coref_depth": "coref_depth",
    "use_metadata": "speaker_and_genre",
    "genres": "genres",
    "dropout_rate": "dropout",
}
# What this project's model always has.
FIXED_SETTINGS = {"use_features": True, "model_heads": True, "fine_grained": True}
# What decides how many segments' distances are told apart.
DISTANCES = ("use_segment_distance", "max_training_sentences")
# Of the encoder's configuration; the number of heads is in no variable's shape.
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")


def convert_settings(
    settings: dict, names: Mapping[str, str | tuple[str, ...]], always: dict, where: str
) -> Configuration:
    """Return this project's configuration for another implementation's settings.

    Args:
        settings: Their names and values, of ``names``, ``always`` and :data:`DISTANCES`, no more and no fewer.
        names: Their names, and ours for the same value.
        always: Settings that must have these values.
        where: How messages begin.

    Raises:
        UserError: Naming the setting that is missing, unknown, or has a value which this project's model has no part
            for.
    """
    known = [*names, *always, *DISTANCES]
    for name in known:
        if name not in settings:
            raise UserError(f"{where}: the setting '{name}' is missing; take it from the system's experiments.conf")
    for name, value in settings.items():
        if name not in known:
            raise UserError(f"{where}: the setting '{name}' is unknown{did_you_mean(name, known)}; remove it")
        if name in always and value != always[name]:
            raise UserError(
                f"{where}: {name} is {json.dumps(value)}; only systems with {json.dumps(always[name])} can be converted"
            )
    values = {}
    for name, ours in names.items():
        values |= dict.fromkeys((ours,) if isinstance(ours, str) else ours, settings[name])
    used, count = (settings[name] for name in DISTANCES)
    values["segment_distances"] = count if used else 0
    genres = values["genres"]
    if isinstance(genres, list) and genres and Configuration.genre not in genres:
        # Theirs is the first where a text has none of the known ones.
        values["genre"] = genres[0]
    return Configuration.parse(values, where)


def build(encoder: str | Path, vocabulary: str | Path, made: Configuration) -> "tuple[C2F, PreTrainedTokenizerBase]":
    """Return a model with random weights and its tokenizer, cased as in both families.

    Args:
        encoder: BERT's configuration (JSON).
        vocabulary: Word pieces, one a line.

    Raises:
        UserError: If a file cannot be read, a size is missing, or the vocabulary is not the encoder's.
    """
    from transformers import BertConfig, BertTokenizerFast  # pyright: ignore[reportAttributeAccessIssue]

    try:
        sizes = json.loads(Path(encoder).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{encoder}: cannot be read as JSON ({error}); name BERT's configuration") from error
    for name in SIZES:
        if not isinstance(sizes, dict) or type(sizes.get(name)) is not int:
            raise UserError(f"{encoder}: has no '{name}'; name BERT's configuration")
    # It decides which class reads the folder again.
    sizes.pop("model_type", None)
    sizes.pop("architectures", None)
    if not Path(vocabulary).is_file():
        raise UserError(f"{vocabulary}: no such file; name the encoder's vocabulary")
    tokenizer = BertTokenizerFast(vocab=str(vocabulary), do_lower_case=False)
    if len(tokenizer) != sizes["vocab_size"]:
        raise UserError(
            f"{vocabulary}: has {len(tokenizer)} word pieces, the encoder {sizes['vocab_size']}; name its vocabulary"
        )
    with tempfile.TemporaryDirectory() as folder:
        BertConfig(**sizes).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        model, tokenizer = checkpoints.build(folder, made, pretrained=False)
    return model, tokenizer


def check(
    tensors: dict[str, torch.Tensor], shapes: dict[str, tuple[int, ...]], unused: set[str], where: str | Path
) -> None:
    """Refuse variables that are not those of a system.

    Args:
        shapes: What there must be.
        unused: What there may be besides.
        where: How messages begin.

    Raises:
        UserError: Naming a variable that is missing, one too many, or one of another shape.
    """
    remedy = "name the checkpoint of these settings"
    for words, names in (
        ("lacks the variable", shapes.keys() - tensors.keys()),
        ("has a variable too many,", tensors.keys() - shapes.keys() - unused),
    ):
        if names:
            others = f" and {count_noun(len(names) - 1, 'other')}" if len(names) > 1 else ""
            raise UserError(f"{where}: {words} {min(names)}{others}; {remedy}")
    for name, shape in shapes.items():
        if tuple(tensors[name].shape) != shape:
            raise UserError(
                f"{where}: {name} has the shape {tuple(tensors[name].shape)}, by the settings {shape}; {remedy}"
            )


def fill(
    model: C2F,
    tensors: dict[str, torch.Tensor],
    renamed: dict[str, str],
    unused: set[str],
    where: str | Path,
    to_theirs: Callable | None = None,
    to_ours: Callable | None = None,
) -> None:
    """Put another implementation's variables into a model.

    Args:
        tensors: By their names.
        renamed: For each name of ours, theirs.
        unused: Variables of theirs that no score depends on.
        where: How messages begin.
        to_theirs, to_ours: Given our name and shape, their shape; given our name and their tensor, ours.

    Raises:
        UserError: As :func:`check`, and for values that are not finite numbers.
    """
    state = dict(model.state_dict())
    shapes = {}
    for name, value in state.items():
        shape = tuple(value.shape)
        shapes[renamed[name]] = to_theirs(name, shape) if to_theirs else shape
    check(tensors, shapes, unused, where)
    ours = {name: tensors[theirs] for name, theirs in renamed.items()}
    if to_ours:
        ours = {name: to_ours(name, value) for name, value in ours.items()}
    checkpoints.copy_tensors(state, {name: torch.as_tensor(value).float() for name, value in ours.items()}, where)
    model.eval()


def recipe(kind: str, settings: dict[str, Any], sources: Iterable[str | Path]) -> dict[str, Any]:
    """Return what a converted system says of where it comes from: files by name and digest, and its settings."""
    return {
        "converted_from": kind,
        "settings": settings,
        "files_sha256": {Path(path).name: files.sha256(path) for path in sources},
    }
