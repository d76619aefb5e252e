"""How a c2f system is trained, and which parts of its documents each epoch reads."""

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from scripts.core.coreference_systems.c2f.configuration import read_settings
from scripts.core.coreference_systems.c2f.resolve import PRECISIONS
from scripts.core.coreference_systems.rewriting import Shares
from scripts.core.errors import UserError

if TYPE_CHECKING:
    from scripts.core.coreference_systems.documents import AnnotatedDocument


@dataclass(frozen=True)
class Settings:
    """How a system is trained; the defaults are those of c2f-coref on BERT-base (Joshi et al. 2019).

    Attributes:
        encoder_learning_rate, task_learning_rate: Of the encoder and of everything on top of it
            (``bert_learning_rate``, ``task_learning_rate``).
        warm_up_share, task_warm_up_share: Share of the steps in which the rates rise to these, of the encoder and of
            the rest; afterwards they fall linearly to 0. As published, only the encoder's rate rises.
        weight_decay, task_weight_decay: Of AdamW, for the encoder and for the rest.
        decay_norms: Whether weight decay applies to the encoder's biases and layer norms too.
        second_moment_decay, epsilon: Of AdamW (beta 2, epsilon).
        clip: Largest norm of the gradient, of the encoder and of the rest each.
        accumulation: Windows for each step.
        max_training_segments: Each epoch sees this many segments on end of each document (``max_training_sentences``),
            drawn at random; 0 for whole documents. Ignored with ``parts``.
        parts: If given, each epoch sees each document whole, in a number of windows drawn from these.
        mention_loss: Weight of the cross-entropy of candidate spans being mentions.
        loss_per_word: If above 0, a window's loss is divided by this times its words.
        encoder_dropout: With shared dropout, the encoder's.
        precision: Of the products: float32 or bfloat16.
    """

    epochs: int = 20
    encoder_learning_rate: float = 1e-5
    task_learning_rate: float = 2e-4
    warm_up_share: float = 0.1
    task_warm_up_share: float = 0.0
    weight_decay: float = 0.01
    task_weight_decay: float = 0.0
    decay_norms: bool = False
    second_moment_decay: float = 0.999
    epsilon: float = 1e-6
    clip: float = 1.0
    accumulation: int = 1
    max_training_segments: int = 11
    parts: tuple = ()
    mention_loss: float = 0.0
    loss_per_word: float = 0.0
    encoder_dropout: float = 0.1
    precision: str = "float32"
    seed: int = 0
    rewriting: Shares = field(default_factory=Shares)

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str) -> "Settings":
        """Return the settings of a mapping of names to values.

        Raises:
            UserError: If a name is unknown or a value cannot be used; ``where`` starts the message.
        """
        shares = [field.name for field in fields(Shares)]
        rewriting = read_settings(
            Shares, values.get("rewriting", {}), f"{where}: rewriting", None, dict.fromkeys(shares, 1)
        )
        least, most = {"epochs": 1, "accumulation": 1}, {"warm_up_share": 1, "task_warm_up_share": 1}
        settings = read_settings(cls, {**values, "rewriting": rewriting}, where, least, most)
        if settings.precision not in PRECISIONS:
            raise UserError(
                f"{where}: precision is {settings.precision!r}, none of {', '.join(PRECISIONS)}; correct it"
            )
        if not all(type(part) is int and part > 0 for part in settings.parts):
            raise UserError(f"{where}: parts is {settings.parts}; list whole numbers above 0")
        return settings


@dataclass(frozen=True)
class Piece:
    """A part of a training document that a step reads: words from ``start`` to ``end``, half open."""

    document: int
    start: int
    end: int


def plan_epochs(documents: "Sequence[AnnotatedDocument]", settings: Settings, segments: Callable) -> list[list[Piece]]:
    """Return which parts of the documents each epoch reads, in order.

    Args:
        segments: Gives a document's segments as half-open ranges of words.

    Returns:
        One list for each epoch. It depends on the documents and the settings alone.
    """
    epochs = []
    for epoch in range(settings.epochs):
        draw = random.Random(f"plan {settings.seed} {epoch}")
        pieces = []
        for number, document in enumerate(documents):
            if settings.parts:
                pieces += _parts(number, document, draw.choice(settings.parts), draw)
                continue
            ranges = segments(document)
            count = settings.max_training_segments or len(ranges)
            first = draw.randrange(max(1, len(ranges) - count + 1))
            chosen = ranges[first : first + count]
            pieces.append(Piece(number, chosen[0][0], chosen[-1][1]))
        draw.shuffle(pieces)
        epochs.append(pieces)
    return epochs


def _parts(number: int, document: "AnnotatedDocument", count: int, draw: random.Random) -> list[Piece]:
    """Return a document in about equal parts that begin with sentences; where they begin varies."""
    size, starts = len(document.words), [start for start, _ in document.sentences]
    cuts = {0, size}
    for part in range(1, count):
        wanted = size * (part + draw.uniform(-0.35, 0.35)) / count
        cuts.add(min(starts, key=lambda start: abs(start - wanted)))
    cuts = sorted(cuts)
    return [Piece(number, start, end) for start, end in itertools.pairwise(cuts)]


def cut_document(document: "AnnotatedDocument", start: int, end: int) -> "AnnotatedDocument":
    """Return the part of a document from a word to another, half open, with the mentions that lie within."""
    inner = [(max(first, start), min(last, end)) for first, last in document.sentences]
    clusters_within = [
        tuple((first - start, last - start) for first, last in cluster if start <= first and last < end)
        for cluster in document.clusters
    ]
    return replace(
        document,
        words=document.words[start:end],
        sentences=tuple((first - start, last - start) for first, last in inner if first < last),
        clusters=tuple(cluster for cluster in clusters_within if cluster),
        speakers=document.speakers and document.speakers[start:end],
        tags=document.tags and document.tags[start:end],
    )


def rate_factor(step: int, steps: int, warm_up_share: float) -> float:
    """Return what the learning rates are multiplied with in a step, counted from 0: a rise, then a fall to 0."""
    warm_up = max(1, round(warm_up_share * steps))
    return min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up), 1.0)
