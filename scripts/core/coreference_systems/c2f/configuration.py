"""What a c2f system is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from scripts.core.errors import UserError

UNITS = ("piece", "word")
# The genres of OntoNotes, and that of a text which comes without one.
GENRES = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
DEFAULT_GENRE = "nw"
# Settings of earlier files: what every system has now, and what only their training used.
EVERY_SYSTEM = {
    "ffnn_depth": 1, "distance_prior": True, "distance_feature": True, "genres": list(GENRES), "genre": DEFAULT_GENRE,
}  # fmt: skip
TRAINING_ONLY = ("unit_dropout", "shared_dropout", "embedding_deviation")


@dataclass(frozen=True)
class Configuration:
    """What a system is made of. The defaults are those of c2f-coref on BERT-base; the last group departs from it.

    Attributes:
        unit: What spans are made of: ``piece`` or ``word``.
        max_segment_pieces: Of a segment, its two marks included (``max_segment_len``).
        max_span_width: Of a candidate span, in units.
        top_span_ratio: Spans that are kept for each unit.
        max_top_spans, max_antecedents: Most spans that are kept of a document, and most antecedents that each of them
            is compared with.
        feature_size, ffnn_size: Sizes of embedded features and of the hidden layers.
        coref_depth: How often pairs are scored; before each time but the first, spans take in their antecedents.
        width_prior: Whether the width of a span adds to its mention score.
        speaker_and_genre: Whether the fine score knows if two spans have one speaker, and the document's genre.
        segment_distances: How many distances in segments the fine score tells apart (``max_training_sentences``); 0 for
            none.
        lora_rank: Rank of a delta's low-rank updates of the encoder's linear layers.
        projection_size: Size to which a span's representation is reduced before pairs are scored; 0 leaves it as it is.
        case_features, string_features: See :mod:`scripts.core.coreference_systems.c2f.features`.
        plain_marks: Whether typographic quotation marks are made plain before the tokenizer sees them.
        log_sigmoid_scores: Whether pairs count the logarithm of a mention's probability in place of its score.
        singletons: Whether spans with a positive mention score are mentions, even if nothing corefers with them.
        top_span_multiple: The number of spans that are kept is rounded up to a multiple of it.
    """

    unit: str = "piece"
    max_segment_pieces: int = 128
    max_span_width: int = 30
    top_span_ratio: float = 0.4
    max_top_spans: int = 3900
    max_antecedents: int = 50
    feature_size: int = 20
    ffnn_size: int = 3000
    coref_depth: int = 2
    width_prior: bool = True
    speaker_and_genre: bool = True
    segment_distances: int = 11
    dropout: float = 0.3

    lora_rank: int = 0
    projection_size: int = 0
    case_features: bool = False
    string_features: bool = False
    plain_marks: bool = False
    log_sigmoid_scores: bool = False
    singletons: bool = False
    top_span_multiple: int = 1

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str | Path) -> "Configuration":
        """Return the configuration that a file of weights states; refuse what this code does not do."""
        known = {field.name for field in fields(cls)}
        for name, value in values.items():
            is_given = name in EVERY_SYSTEM and value == EVERY_SYSTEM[name]
            if name not in known and name not in TRAINING_ONLY and not is_given:
                raise UserError(f"{where}: the setting '{name}', {value!r}, is unknown; name weights of this project")
        configuration = cls(**{name: value for name, value in values.items() if name in known})
        if configuration.unit not in UNITS:
            raise UserError(f"{where}: unit is '{configuration.unit}'; name weights with one of {', '.join(UNITS)}")
        return configuration
