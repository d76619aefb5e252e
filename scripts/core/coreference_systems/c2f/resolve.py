"""Plain texts resolved by a c2f system: tokens, sentences and clusters by character offsets."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.model import C2F
from scripts.core.coreference_systems.c2f.outcomes import link_mentions
from scripts.core.coreference_systems.c2f.windows import Splitter
from scripts.core.coreference_systems.documents import AnnotatedDocument
from scripts.core.data import coreference
from scripts.core.errors import UserError
from scripts.core.models import loading

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Longest text, in words and marks: the pairs of spans grow with the square of a document's length.
MAX_WORDS = 20_000
# Texts are read ahead up to so many words, and those of one shape encoded together up to so many pieces: short texts
# one at a time take half as long again, most of it for reading the weights from memory.
READ_AHEAD, PASS_PIECES = 2048, 512

# An abbreviated title or initial with its full stop; quotation marks of two characters and an ellipsis; what follows an
# apostrophe; a word up to "n't"; a word; any other mark.
_TOKEN = re.compile(
    r"(?:Mrs?|Ms|Dr|St|Messrs|Capt|Rev|Prof|Sr|Jr|Col|Gen|Lt|Sgt|Mt)\.|\b[A-Z]\.(?=\s)|``|''|\.\.\."
    r"|['\u2019](?:s|re|ve|ll|d|m)\b|n['\u2019]t\b|\w+?(?=n['\u2019]t\b)|\w+|[^\w\s]",
)
_ENDS = frozenset(".!?")
_CLOSING = frozenset(('"', "''", "\u201d", ")", "'", "\u2019"))


def split_words(text: str) -> tuple[tuple[int, int], ...]:
    """Return half-open character ranges of the words and marks of a text, as annotated corpora divide it."""
    return tuple(match.span() for match in _TOKEN.finditer(text))


def split_sentences(text: str, tokens: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Divide a text into sentences: one ends with a full stop, question or exclamation mark that is a token.

    Further such marks, and closing quotation marks and brackets, belong to it where no space comes before them. The
    full stop of an abbreviated title or of an initial is part of a longer token and ends none.

    Args:
        tokens: As from :func:`split_words`.

    Returns:
        Half-open ranges of tokens, without gaps.
    """
    found, first, ended = [], 0, False
    for index, (start, end) in enumerate(tokens):
        word = text[start:end]
        follows = ended and start == tokens[index - 1][1] and (word in _ENDS or word in _CLOSING)
        if ended and not follows:
            found.append((first, index))
            first = index
        ended = word in _ENDS or follows
    if tokens:
        found.append((first, len(tokens)))
    return tuple(found)


class Resolver:
    """A c2f system that resolves texts, in their order: the result for one does not depend on the others."""

    def __init__(self, model: C2F, tokenizer: "PreTrainedTokenizerBase", device: str = "cpu"):
        device = loading.pick_device(device)
        self.model = model.to(device).eval()
        self.splitter = Splitter(tokenizer, model.configuration)
        self.device = torch.device(device)

    @classmethod
    def load(cls, source: str | Path, device: str = "cpu") -> "Resolver":
        """Return the resolver of a folder or a delta."""
        return cls(*checkpoints.load_system(source), device)

    def resolve(self, texts: Iterable[tuple[str, str]]) -> Iterator[coreference.Document]:
        """Resolve texts.

        Args:
            texts: Names and texts.

        Raises:
            UserError: For a text that is too long; the message names it.
        """
        ahead = []
        for name, text in texts:
            tokens = split_words(text)
            if len(tokens) > MAX_WORDS:
                raise UserError(
                    f"the document '{name}' has {len(tokens)} words and marks, more than {MAX_WORDS}; divide it"
                )
            words = tuple(text[start:end] for start, end in tokens)
            ahead.append((text, tokens, AnnotatedDocument(name, words, split_sentences(text, tokens), ())))
            if sum(len(document.words) for *_, document in ahead) >= READ_AHEAD:
                yield from self._resolve(ahead)
                ahead = []
        yield from self._resolve(ahead)

    def _resolve(self, ahead: Sequence[tuple]) -> Iterator[coreference.Document]:
        """Yield what is found in documents; of each its text, its tokens and their words."""
        found = self.clusters([document for *_, document in ahead])
        for (text, tokens, document), clusters_of_one in zip(ahead, found, strict=True):
            digest = coreference.digest_text(text)
            yield coreference.Document(document.name, digest, tokens, tuple(map(tuple, clusters_of_one)))

    def clusters(self, documents: Sequence[AnnotatedDocument]) -> list[list[list[tuple[int, int]]]]:
        """Return the clusters of documents whose words are known (:func:`find_clusters`)."""
        return find_clusters(self.model, self.splitter, documents, self.device)


@torch.no_grad()
def find_clusters(
    model: C2F,
    splitter: Splitter,
    documents: Sequence[AnnotatedDocument],
    device: torch.device | str,
) -> list[list[list[tuple[int, int]]]]:
    """Return the clusters of documents whose words are known: mentions as first and last word, in order."""
    model.eval()
    found: list[list[list[tuple[int, int]]]] = [[] for _ in documents]
    windows = {
        place: splitter.window(document).to(device) for place, document in enumerate(documents) if document.words
    }
    shapes = {place: tuple(window.input_ids.shape) for place, window in windows.items()}
    for shape, places in itertools.groupby(sorted(shapes, key=shapes.__getitem__), key=shapes.__getitem__):
        while together := list(itertools.islice(places, max(1, PASS_PIECES // math.prod(shape)))):
            encoded = model.encode([windows[place] for place in together])
            for place, vectors in zip(together, encoded, strict=True):
                scores = model(windows[place], vectors)
                found[place] = link_mentions(scores, windows[place], model.configuration.singletons)
    return found
