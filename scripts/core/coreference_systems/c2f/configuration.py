"""What a c2f system is made of, and settings that are read from a mapping of names to values."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from scripts.core.errors import UserError

UNITS = ("piece", "word")
KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", tuple: "a list"}

Settings = TypeVar("Settings")


def read_settings(
    kind: type[Settings],
    values: Mapping[str, Any],
    where: str | Path,
    least: Mapping[str, float] | None = None,
    most: Mapping[str, float] | None = None,
) -> Settings:
    """Return settings of a dataclass, each of the kind of its default; those without a default are taken as they are.

    Args:
        where: What messages begin with.
        least, most: Of numbers, by name; of others 0 and no bound.

    Raises:
        UserError: If a name is unknown or a value is of another kind or size.
    """
    described: Any = kind
    known = {field.name: None if field.default is MISSING else type(field.default) for field in fields(described)}
    for name, value in values.items():
        if name not in known:
            raise UserError(f"{where}: the setting '{name}' is unknown; remove it")
        of_kind = known[name]
        if of_kind in (int, float):
            if isinstance(value, bool) or not isinstance(value, (int, of_kind)) or not math.isfinite(value):
                raise UserError(f"{where}: {name} is {value!r}, which is not {KINDS[of_kind]}; correct it")
            low, high = (least or {}).get(name, 0), (most or {}).get(name, math.inf)
            if not low <= value <= high:
                limit = f"at least {low}" if value < low else f"at most {high}"
                raise UserError(f"{where}: {name} is {value}; {limit} is needed")
        elif of_kind is not None and type(value) is not (list if of_kind is tuple else of_kind):
            raise UserError(f"{where}: {name} is {value!r}, which is not {KINDS[of_kind]}; correct it")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


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
        feature_size, ffnn_size, ffnn_depth: Sizes of embedded features and of the hidden layers, and the number of
            these.
        coref_depth: How often pairs are scored; before each time but the first, spans take in their antecedents.
        width_prior, distance_prior: Whether the width of a span adds to its mention score, and the distance of two to
            their coarse score.
        distance_feature: Whether the fine score knows how many spans lie between.
        speaker_and_genre: Whether the fine score knows if two spans have one speaker, and the document's genre.
        segment_distances: How many distances in segments the fine score tells apart (``max_training_sentences``); 0 for
            none.
        genre: That of a text which comes without one.
        lora_rank: Rank of the low-rank updates of the encoder's linear layers, which is then frozen but for its layer
            norms; 0 trains the encoder itself.
        projection_size: Size to which a span's representation is reduced before pairs are scored; 0 leaves it as it is.
        case_features, string_features: See :mod:`scripts.core.coreference_systems.c2f.features`.
        plain_marks: Whether typographic quotation marks are made plain before the tokenizer sees them.
        log_sigmoid_scores: Whether pairs count the logarithm of a mention's probability in place of its score.
        singletons: Whether spans with a positive mention score are mentions, even if nothing corefers with them.
        unit_dropout: Of the encoder's output.
        shared_dropout: Whether dropout in hidden layers and in the encoder has one mask for a whole row of spans or
            pieces.
        top_span_multiple: The number of spans that are kept is rounded up to a multiple of it.
        embedding_deviation: Standard deviation of the features' first embeddings.
    """

    unit: str = "piece"
    max_segment_pieces: int = 128
    max_span_width: int = 30
    top_span_ratio: float = 0.4
    max_top_spans: int = 3900
    max_antecedents: int = 50
    feature_size: int = 20
    ffnn_size: int = 3000
    ffnn_depth: int = 1
    coref_depth: int = 2
    width_prior: bool = True
    distance_prior: bool = True
    distance_feature: bool = True
    speaker_and_genre: bool = True
    segment_distances: int = 11
    genres: tuple = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
    genre: str = "nw"
    dropout: float = 0.3
    lora_rank: int = 0
    projection_size: int = 0
    case_features: bool = False
    string_features: bool = False
    plain_marks: bool = False
    log_sigmoid_scores: bool = False
    singletons: bool = False
    unit_dropout: float = 0.0
    shared_dropout: bool = False
    top_span_multiple: int = 1
    embedding_deviation: float = 0.02

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str | Path) -> "Configuration":
        """Return the configuration of a mapping of names to values; refuses as :func:`read_settings`."""
        counts = ("max_span_width", "max_top_spans", "max_antecedents", "feature_size", "ffnn_size", "ffnn_depth")
        least = dict.fromkeys((*counts, "coref_depth", "top_span_multiple"), 1) | {"max_segment_pieces": 3}
        configuration = read_settings(cls, values, where, least, {"top_span_ratio": 5})
        if configuration.unit not in UNITS:
            raise UserError(f"{where}: unit is '{configuration.unit}'; choose one of {', '.join(UNITS)}")
        if not configuration.top_span_ratio:
            raise UserError(f"{where}: top_span_ratio is 0; choose one above 0")
        for name in ("dropout", "unit_dropout"):
            if getattr(configuration, name) >= 1:
                raise UserError(f"{where}: {name} is {getattr(configuration, name)}; choose one below 1")
        genre, genres = configuration.genre, configuration.genres
        if not all(isinstance(one, str) for one in genres) or (configuration.speaker_and_genre and genre not in genres):
            raise UserError(f"{where}: genre is '{genre}', which is none of {', '.join(map(str, genres))}")
        return configuration
