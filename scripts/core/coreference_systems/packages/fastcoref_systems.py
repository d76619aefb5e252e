"""LingMess (Otmazgin et al. 2023) and F-coref (Otmazgin et al. 2022) as the package fastcoref has them."""

import contextlib
import functools
from pathlib import Path
from typing import Any

from scripts.core.coreference_systems.packages.words import WordSplitter, drop_duplicates, package_versions
from scripts.core.data.coreference import Document, digest_text
from scripts.core.errors import UserError

CLASSES = {"lingmess": "LingMessCoref", "f-coref": "FCoref"}
"""Architectures of the registry to classes of the package."""


class FastCoref:
    """A checkpoint that is ready to resolve documents.

    Args:
        name, architecture: Of the registry.
        folder: The checkpoint, as ``save_pretrained`` writes it.
        device: A torch device.

    Raises:
        UserError: If the checkpoint does not fit the architecture; names what is missing, surplus or of another size.
    """

    def __init__(self, name: str, architecture: str, folder: str, device: str):
        import fastcoref  # pyright: ignore[reportMissingImports]

        self.name = name
        self.words = WordSplitter()
        where = f"system {name}: the checkpoint"
        stored = _stored(folder, where)
        try:
            with _eager():
                self.system = getattr(fastcoref, CLASSES[architecture])(
                    folder, device=device, nlp=self.words.pipeline, enable_progress_bar=False
                )
        # What does not fit raises whatever the code happens to stumble over.
        except Exception as error:
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise UserError(
                f"{where} cannot be loaded as {architecture} ({type(error).__name__}: {reason[:200]}); use one of this "
                "architecture"
            ) from error
        expected = self.system.model.state_dict()
        for words, names in (("lacks", expected.keys() - stored.keys()), ("has", stored.keys() - expected.keys())):
            # Numbers of places, which older versions of transformers kept.
            names = {key for key in names if not key.endswith("position_ids")}
            if names:
                extra = "" if words == "lacks" else f", which {architecture} has not"
                raise UserError(f"{where} {words} {min(names)}{extra}; use one of this architecture")
        for key in expected.keys() & stored.keys():
            if tuple(expected[key].shape) != stored[key]:
                raise UserError(
                    f"{where} has {key} of size {stored[key]} where {tuple(expected[key].shape)} was expected; use one "
                    "of this architecture"
                )
        self.system.model.eval()
        self.facts: dict[str, Any] = {"libraries": package_versions("fastcoref")}

    def resolve(self, name: str, text: str) -> Document:
        """Return the :class:`~scripts.core.data.coreference.Document` of a text, as the package's ``predict`` has it.

        Raises:
            UserError: If the text is longer than the checkpoint takes; the package itself would leave it out.
        """
        from fastcoref.utilities.util import encode  # pyright: ignore[reportMissingImports]

        tokens = self.words.words(text)
        encoded = encode({"text": [text]}, self.system.tokenizer, self.words.pipeline)
        example = {key: values[0] for key, values in encoded.items()} | {"text": text, "idx": 0}
        longest = self.system.max_doc_len
        if longest is not None and example["length"] > longest:
            raise UserError(
                f"document '{name}' has {example['length']} tokens and system {self.name} takes {longest}; leave this "
                "system or this document out"
            )
        pieces = example["subtoken_map"]
        # A document by itself: results do not depend on what it is resolved with.
        (result,) = self.system._batch_inference(self.system.collator([example]))
        clusters = []
        for cluster in result.clusters:
            mentions = [(pieces[start], pieces[end]) for start, end in cluster if max(start, end) < len(pieces)]
            # Places of tokens that mark the ends of a text are no words.
            clusters.append([(a, b) for a, b in mentions if a is not None and b is not None and a <= b])
        return Document(name, digest_text(text), tokens, drop_duplicates(clusters, fewest=2))


@contextlib.contextmanager
def _eager():
    """Let the package build its transformer with plain attention, the only one that its classes are written for."""
    from transformers import AutoModel

    original = AutoModel.from_config
    AutoModel.from_config = functools.partial(original, attn_implementation="eager")
    try:
        yield
    finally:
        AutoModel.from_config = original


def _stored(folder: str | Path, where: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights in a folder, by name."""
    from transformers.utils import SAFE_WEIGHTS_NAME, WEIGHTS_NAME

    folder = Path(folder)
    if (folder / SAFE_WEIGHTS_NAME).is_file():
        from safetensors import safe_open

        with safe_open(folder / SAFE_WEIGHTS_NAME, "pt") as weights:
            return {key: tuple(weights.get_slice(key).get_shape()) for key in weights.keys()}  # noqa: SIM118
    if (folder / WEIGHTS_NAME).is_file():
        import torch

        stored = torch.load(folder / WEIGHTS_NAME, map_location="cpu", weights_only=True, mmap=True)
        return {key: tuple(value.shape) for key, value in stored.items()}
    raise UserError(f"{where} has neither {SAFE_WEIGHTS_NAME} nor {WEIGHTS_NAME}; fetch it again")
