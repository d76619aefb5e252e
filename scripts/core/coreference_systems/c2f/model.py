"""The coarse-to-fine model: spans, their mention scores, a coarse and a fine score of each pair (Lee et al. 2018).

With the defaults of :class:`Configuration` this is the ``independent`` variant of Joshi et al. (2019, 2020): every
segment is encoded alone, and the spans of all segments are compared. Layers have the published sizes, so that
published weights fit; the first layer of a feed-forward network is applied part by part of its input, which is the
same product.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from torch.nn import functional

from scripts.core.coreference_systems.c2f import features
from scripts.core.coreference_systems.c2f.windows import UNITS_MULTIPLE, Window, rounded_up
from scripts.core.errors import UserError
from scripts.core.models.low_rank import add_low_rank

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DISTANCES = 10
UNITS = ("piece", "word")


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
        """Return the configuration of a mapping of names to values.

        Raises:
            UserError: If a name is unknown or a value is of another kind; ``where`` starts the message.
        """
        known = {field.name: field for field in fields(cls)}
        for name, value in values.items():
            if name not in known:
                raise UserError(f"{where}: the setting '{name}' is unknown; remove it")
            kind = type(known[name].default)
            if kind is tuple:
                fits = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
            elif kind is float:
                fits = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            else:
                fits = type(value) is kind
            if not fits:
                raise UserError(f"{where}: {name} is {value!r}, which is not {_KINDS[kind]}; correct it")
        settings: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        configuration = cls(**settings)
        configuration.check(where)
        return configuration

    def check(self, where: str | Path) -> None:
        """Refuse values that no model can have, as a :class:`UserError` whose message begins with ``where``."""
        if self.unit not in UNITS:
            raise UserError(f"{where}: unit is '{self.unit}'; choose one of {', '.join(UNITS)}")
        least = {
            "max_segment_pieces": 3, "max_span_width": 1, "max_top_spans": 1, "max_antecedents": 1, "feature_size": 1,
            "ffnn_size": 1, "ffnn_depth": 1, "coref_depth": 1, "segment_distances": 0, "lora_rank": 0,
            "projection_size": 0, "top_span_multiple": 1,
        }  # fmt: skip
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise UserError(f"{where}: {name} is {getattr(self, name)}; at least {bound} is needed")
        if not 0 < self.top_span_ratio <= 5:
            raise UserError(f"{where}: top_span_ratio is {self.top_span_ratio}; choose one above 0 and up to 5")
        for name in ("dropout", "unit_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{where}: {name} is {getattr(self, name)}; choose one from 0 to below 1")
        if self.speaker_and_genre and self.genre not in self.genres:
            raise UserError(f"{where}: genre is '{self.genre}', which is none of {', '.join(self.genres)}")


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", tuple: "a list of texts"}


@dataclass
class Scores:
    """What the model says of a window.

    Attributes:
        candidate_scores: Mention scores, shape ``(units, widths)``: of the span that begins at a unit and ends 0, 1, …
            units after it.
        candidates: Which of these are spans, same shape.
        starts, ends: First and last units of the spans that are kept, in the order of the text, shape ``(spans,)``.
        mention_scores: Of the spans that are kept, shape ``(spans,)``.
        antecedents: Numbers of spans, shape ``(spans, antecedents)``.
        valid: Which of these lie before their span, same shape.
        scores: Shape ``(spans, 1 + antecedents)``: 0 for no antecedent, and the score of each pair; minus infinity if
            invalid.
    """

    candidate_scores: torch.Tensor
    candidates: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor
    mention_scores: torch.Tensor
    antecedents: torch.Tensor
    valid: torch.Tensor
    scores: torch.Tensor


class SharedDropout(nn.Module):
    """Dropout with one mask for all rows of the last but one dimension: much faster on a CPU."""

    def __init__(self, share: float):
        super().__init__()
        self.p = share

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return ``values`` with entries of the last dimension set to zero, others scaled up; in training alone."""
        if not self.training or not self.p:
            return values
        shape = (*values.shape[:-2], 1, values.shape[-1])
        kept = torch.rand(shape, device=values.device) >= self.p
        return values * (kept.to(values.dtype) / (1 - self.p))


def distance_classes(distance: torch.Tensor) -> torch.Tensor:
    """Return classes of distances: 0 to 4 each alone, then 5-7, 8-15, 16-31, 32-63, and 64 or more."""
    logarithm = torch.floor(torch.log2(distance.clamp(min=1).float())).long() + 3
    return torch.where(distance <= 4, distance, logarithm).clamp(0, DISTANCES - 1)


class C2F(nn.Module):
    """The model.

    Args:
        encoder: Any encoder whose output has ``last_hidden_state``.
    """

    # The configuration says which of these there are; the others are None.
    width_prior_embedding: Any
    width_prior_ffnn: Any
    distance_prior_embedding: Any
    distance_prior: Any
    string_prior: Any
    speaker_embedding: Any
    genre_embedding: Any
    segment_embedding: Any
    distance_embedding: Any
    string_embedding: Any
    gate: Any

    def __init__(self, encoder: "PreTrainedModel", configuration: Configuration):
        super().__init__()
        c = self.configuration = configuration
        c.check("the model's configuration")
        self.encoder = encoder
        if c.lora_rank:
            update_encoder(encoder, c.lora_rank)
        hidden = encoder.config.hidden_size
        self.unit_size = hidden + (c.feature_size if c.case_features else 0)
        span = 3 * self.unit_size + c.feature_size
        pair = c.projection_size or span
        self.dropout = nn.Dropout(c.dropout)
        self.unit_dropout = nn.Dropout(c.unit_dropout)
        hidden_dropout = (SharedDropout if c.shared_dropout else nn.Dropout)(c.dropout)
        self.row_dropout = hidden_dropout

        def ffnn(inputs: int) -> nn.Sequential:
            layers = []
            for depth in range(c.ffnn_depth):
                layers += [_linear(c.ffnn_size if depth else inputs, c.ffnn_size), nn.ReLU(), hidden_dropout]
            return nn.Sequential(*layers, _linear(c.ffnn_size, 1))

        def embedding(size: int) -> nn.Embedding:
            return _embedding(size, c.feature_size, c.embedding_deviation)

        self.case_embedding = embedding(features.CASES) if c.case_features else None
        self.width_embedding = embedding(c.max_span_width)
        self.head_attention = _linear(self.unit_size, 1)
        self.mention_ffnn = ffnn(span)
        self.width_prior_embedding = embedding(c.max_span_width) if c.width_prior else None
        self.width_prior_ffnn = ffnn(c.feature_size) if c.width_prior else None
        self.projection = _linear(span, c.projection_size) if c.projection_size else None
        self.coarse = _linear(pair, pair)
        self.distance_prior_embedding = embedding(DISTANCES) if c.distance_prior else None
        self.distance_prior = _linear(c.feature_size, 1) if c.distance_prior else None
        self.string_prior = _embedding(features.PAIRS, 1, 0.0) if c.string_features else None
        # In the order of their features in the input of the pairs' network, after the three parts of the spans.
        self.speaker_embedding = embedding(2) if c.speaker_and_genre else None
        self.genre_embedding = embedding(len(c.genres)) if c.speaker_and_genre else None
        self.segment_embedding = embedding(c.segment_distances) if c.segment_distances else None
        self.distance_embedding = embedding(DISTANCES) if c.distance_feature else None
        self.string_embedding = embedding(features.PAIRS) if c.string_features else None
        count = 2 * c.speaker_and_genre + bool(c.segment_distances) + c.distance_feature + c.string_features
        self.antecedent_ffnn = ffnn(3 * pair + count * c.feature_size)
        self.gate = _linear(2 * pair, pair) if c.coref_depth > 1 else None
        if c.singletons:
            # Few spans are mentions.
            nn.init.constant_(cast(nn.Linear, self.mention_ffnn[-1]).bias, -2.0)

    def forward(self, window: Window, encoded: torch.Tensor | None = None) -> Scores:
        """Return the scores of a window; ``encoded`` is what :meth:`encode` returned for it, if it was called."""
        first, last, mean = self._units(window, self.encode([window])[0] if encoded is None else encoded)
        grid, candidates, attention = self._candidates(window, first, last, mean)
        starts, ends = self._top_spans(grid, candidates, window.units)
        mention_scores = grid[starts, ends - starts]
        spans = self._spans(first, last, mean, attention, starts, ends)
        return Scores(grid, candidates, starts, ends, mention_scores, *self._pairs(window, spans, starts, ends, grid))

    def encode(self, windows: Sequence[Window]) -> tuple[torch.Tensor, ...]:
        """Return the encoder's vectors for windows of one shape, for each ``(segments, pieces, size)``."""
        output = self.encoder(
            input_ids=torch.cat([window.input_ids for window in windows]),
            attention_mask=torch.cat([window.attention_mask for window in windows]),
        )
        return output.last_hidden_state.split(len(windows[0].input_ids))

    def _units(self, window: Window, encoded: torch.Tensor) -> list[torch.Tensor]:
        """Return each unit's vectors: of its first piece, its last piece, and the mean of its pieces."""
        flat = encoded.reshape(-1, encoded.shape[-1]).float()
        if self.configuration.unit == "word":
            counts = torch.bincount(window.unit_of_piece).unsqueeze(1)
            sums = flat.new_zeros(window.units, flat.shape[1]).index_add(0, window.unit_of_piece, flat[window.pieces])
            vectors = (flat[window.first], flat[window.last], sums / counts)
        else:
            vectors = (flat[window.first],) * 3
        case = None if self.case_embedding is None else self.case_embedding(window.case)
        padding = rounded_up(window.units, UNITS_MULTIPLE, not self.training) - window.units
        made = []
        for number, vector in enumerate(vectors):
            if number and vector is vectors[0]:
                made.append(made[0])
                continue
            whole = vector if case is None else torch.cat([vector, case], 1)
            made.append(functional.pad(self.unit_dropout(whole), (0, 0, 0, padding)))
        return made

    def _candidates(
        self, window: Window, first: torch.Tensor, last: torch.Tensor, mean: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return mention scores and which spans there are, both ``(units, widths)``, and the logits of the heads."""
        c, size = self.configuration, window.units
        rows = torch.arange(size, device=first.device).unsqueeze(1)
        columns = rows + torch.arange(c.max_span_width, device=first.device)
        candidates = columns < size
        candidates &= window.sentence[columns.clamp(max=size - 1)] == window.sentence[rows]
        logits = self.head_attention(mean).float().squeeze(1)
        padded = functional.pad(logits, (0, c.max_span_width))
        steps = padded.unfold(0, c.max_span_width, 1)[: len(logits)]
        totals = torch.logcumsumexp(steps, 1)
        layer = cast(nn.Linear, self.mention_ffnn[0])
        parts = layer.weight.split([self.unit_size, self.unit_size, c.feature_size, self.unit_size], 1)
        start = functional.linear(first, parts[0], layer.bias).float()
        end = functional.linear(last, parts[1]).float()
        width = functional.linear(self.dropout(self.width_embedding.weight), parts[2]).float()
        word = functional.linear(mean, parts[3]).float()
        head, scores = word, []
        for wide in range(c.max_span_width):
            if wide:
                # The mean over one unit more, from the mean before: weights are the softmax over the span.
                before = torch.exp(totals[:, wide - 1] - totals[:, wide]).unsqueeze(1)
                new = torch.exp(steps[:, wide] - totals[:, wide]).unsqueeze(1)
                head = head * before + _ahead(word, wide) * new
            scores.append(self.mention_ffnn[1:](start + _ahead(end, wide) + width[wide] + head).float())
        grid = torch.cat(scores, 1)[:size]
        if c.width_prior:
            grid = grid + self.width_prior_ffnn(self.width_prior_embedding.weight).float().squeeze(1)
        return grid, candidates, logits

    @torch.no_grad()
    def _top_spans(self, grid: torch.Tensor, candidates: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return first and last units of the best spans, none of which cross, in the order of the text."""
        c = self.configuration
        rows, wide = candidates.nonzero(as_tuple=True)
        order = torch.argsort(grid[rows, wide], descending=True, stable=True)
        firsts, lasts = rows[order].tolist(), (rows + wide)[order].tolist()
        limit = max(1, int(min(c.max_top_spans, c.top_span_ratio * size)))
        limit = -(-limit // c.top_span_multiple) * c.top_span_multiple
        last_from, first_to, kept = {}, {}, []
        for first, last in zip(firsts, lasts, strict=True):
            if len(kept) >= limit:
                break
            if any(last_from.get(unit, -1) > last for unit in range(first + 1, last + 1)):
                continue
            if any(first_to.get(unit, size) < first for unit in range(first, last)):
                continue
            kept.append((first, last))
            last_from[first] = max(last_from.get(first, -1), last)
            first_to[last] = min(first_to.get(last, size), first)
        starts, ends = torch.tensor(sorted(kept), device=grid.device).T
        return starts, ends

    def _spans(
        self,
        first: torch.Tensor,
        last: torch.Tensor,
        mean: torch.Tensor,
        attention: torch.Tensor,
        starts: torch.Tensor,
        ends: torch.Tensor,
    ) -> torch.Tensor:
        """Return the representations of spans, shape ``(spans, size)``: start, end, width, attended units."""
        offsets = torch.arange(self.configuration.max_span_width, device=starts.device)
        places = starts.unsqueeze(1) + offsets
        inside = places <= ends.unsqueeze(1)
        places = places.clamp(max=len(mean) - 1)
        weights = torch.softmax(attention[places].masked_fill(~inside, -math.inf), 1)
        heads = torch.bmm(weights.unsqueeze(1), mean[places]).float().squeeze(1)
        widths = self.dropout(self.width_embedding(ends - starts))
        spans = torch.cat([first[starts], last[ends], widths, heads], 1)
        return spans if self.projection is None else self.dropout(self.projection(spans).float())

    def _pairs(
        self, window: Window, spans: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor, grid: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return antecedents, which of them are valid, and the pairs' scores."""
        c = self.configuration
        mentions = grid[starts, ends - starts]
        if c.log_sigmoid_scores:
            mentions = functional.logsigmoid(mentions)
        numbers = torch.arange(len(starts), device=starts.device)
        distance = numbers.unsqueeze(1) - numbers
        source, target = self.coarse(spans).float(), spans
        if self.projection is None:
            source, target = self.dropout(source), self.dropout(target)
        coarse = (source @ target.T).float()
        if self.projection is not None:
            coarse = coarse / math.sqrt(spans.shape[1])
        coarse = coarse + mentions.unsqueeze(1) + mentions
        if c.distance_prior:
            prior = self.distance_prior(self.dropout(self.distance_prior_embedding.weight)).float().squeeze(1)
            coarse = coarse + prior[distance_classes(distance)]
        strings = None
        if c.string_features:
            words = [(window.word[s], window.word[e]) for s, e in zip(starts.tolist(), ends.tolist(), strict=True)]
            strings = features.pair_classes(window.words, window.cases, words).to(starts.device)
            coarse = coarse + self.string_prior(strings).squeeze(2)
        coarse = coarse.masked_fill(distance <= 0, -math.inf)
        best, antecedents = coarse.topk(min(c.max_antecedents, len(starts)), dim=1)
        valid = best > -math.inf
        known = self._pair_features(window, starts, antecedents, strings)
        for depth in range(c.coref_depth):
            fine = self._fine(spans, antecedents, known)
            scores = (best + fine).masked_fill(~valid, -math.inf)
            scores = torch.cat([scores.new_zeros(len(starts), 1), scores], 1)
            if depth < c.coref_depth - 1:
                weights = torch.softmax(scores, 1)
                attended = weights[:, :1] * spans + torch.einsum("sa,sad->sd", weights[:, 1:], spans[antecedents])
                gate = torch.sigmoid(self.gate(torch.cat([spans, attended], 1)).float())
                spans = gate * attended + (1 - gate) * spans
        return antecedents, valid, scores

    def _pair_features(
        self, window: Window, starts: torch.Tensor, antecedents: torch.Tensor, strings: Any
    ) -> torch.Tensor | None:
        """Return the embedded features of pairs, shape ``(spans, antecedents, size)``, or None without any."""
        c, parts = self.configuration, []
        if c.speaker_and_genre:
            speaker = window.speaker[starts]
            parts.append(self.speaker_embedding((speaker.unsqueeze(1) == speaker[antecedents]).long()))
            parts.append(self.genre_embedding.weight[window.genre].expand_as(parts[0]))
        if c.segment_distances:
            segment = window.segment[starts]
            apart = (segment.unsqueeze(1) - segment[antecedents]).clamp(0, c.segment_distances - 1)
            parts.append(self.segment_embedding(apart))
        if c.distance_feature:
            numbers = torch.arange(len(starts), device=starts.device)
            parts.append(self.distance_embedding(distance_classes(numbers.unsqueeze(1) - antecedents)))
        if c.string_features:
            parts.append(self.string_embedding(strings.gather(1, antecedents)))
        return torch.cat(parts, 2) if parts else None

    def _fine(self, spans: torch.Tensor, antecedents: torch.Tensor, known: torch.Tensor | None) -> torch.Tensor:
        """Return the fine scores of pairs, shape ``(spans, antecedents)``."""
        layer, size = cast(nn.Linear, self.antecedent_ffnn[0]), spans.shape[1]
        parts = layer.weight.split([size] * 3 + [layer.in_features - 3 * size], 1)
        here = functional.linear(spans, parts[0], layer.bias)
        there = functional.linear(spans, parts[1])
        # In the precision of the products, which under autocast is lower than that of the spans.
        spans = spans.to(here.dtype)
        hidden = functional.linear(spans.unsqueeze(1) * spans[antecedents], parts[2])
        hidden = hidden + here.unsqueeze(1) + there[antecedents]
        if known is not None:
            hidden = hidden + functional.linear(self.row_dropout(known), parts[3])
        return self.antecedent_ffnn[1:](hidden).float().squeeze(2)


def losses(scores: Scores, window: Window) -> tuple[torch.Tensor, ...]:
    """Return the two losses of a window, summed.

    Returns:
        Negative log-likelihood of all right antecedents of each span, in nats (Lee et al. 2017, section 5): a gold
        mention's are the mentions of its cluster before it, every other span's is none. And the cross-entropy of all
        candidate spans being mentions.
    """
    device = scores.starts.device
    gold = torch.zeros_like(scores.candidate_scores)
    within = [(first, last - first) for first, last in window.clusters if last - first < gold.shape[1]]
    if within:
        gold[tuple(torch.tensor(within, device=gold.device).T)] = 1
    entropies = functional.binary_cross_entropy_with_logits(scores.candidate_scores, gold, reduction="none")
    spans = zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)
    cluster = torch.tensor([window.clusters.get(span, 0) for span in spans], device=device)
    right = (cluster.unsqueeze(1) == cluster[scores.antecedents]) & (cluster.unsqueeze(1) > 0) & scores.valid
    right = torch.cat([~right.any(1, keepdim=True), right], 1)
    likelihood = torch.logsumexp(scores.scores.masked_fill(~right, -math.inf), 1)
    return (torch.logsumexp(scores.scores, 1) - likelihood).sum(), entropies[scores.candidates].sum()


def clusters(scores: Scores, window: Window, singletons: bool) -> list[list[tuple[int, int]]]:
    """Return the clusters that the scores say, as mentions of words.

    Each span is joined with its best antecedent, if that has a positive score; of equal scores the first counts.

    Args:
        singletons: Whether a span with a positive mention score that is joined with none is a cluster of its own.

    Returns:
        First and last word of each mention, in the order of the text.
    """
    best = scores.scores.argmax(1).tolist()
    antecedents, is_mention = scores.antecedents.tolist(), (scores.mention_scores > 0).tolist()
    cluster_of, found = {}, []
    for span, choice in enumerate(best):
        if choice:
            antecedent = antecedents[span][choice - 1]
            if antecedent not in cluster_of:
                cluster_of[antecedent] = len(found)
                found.append([antecedent])
            cluster_of[span] = cluster_of[antecedent]
            found[cluster_of[span]].append(span)
    if singletons:
        found += [[span] for span in range(len(best)) if span not in cluster_of and is_mention[span]]
    starts, ends = scores.starts.tolist(), scores.ends.tolist()
    seen, made = set(), []
    for cluster in found:
        # Pieces of one word can give two spans of the same words; the first in the text is the mention.
        mentions = []
        for span in sorted(cluster):
            mention = (window.word[starts[span]], window.word[ends[span]])
            if mention not in seen:
                seen.add(mention)
                mentions.append(mention)
        if mentions and (len(mentions) > 1 or singletons):
            made.append(mentions)
    return sorted(made)


def update_encoder(encoder: Any, rank: int) -> None:
    """Replace the linear layers of an encoder's layers by frozen ones with low-rank updates; freeze all but norms."""
    for parameter in encoder.parameters():
        parameter.requires_grad_(False)
    add_low_rank(encoder.encoder, rank)
    for name, parameter in encoder.encoder.named_parameters():
        if "LayerNorm" in name:
            parameter.requires_grad_(True)


class PlainAttention(nn.Module):
    """BERT's attention in the precision of its products throughout, without dropout of the weights.

    Equal to the library's but for rounding. The library's adds the mask and takes the softmax in float32, which takes a
    CPU about twice as long.
    """

    def __init__(self, base: Any):
        super().__init__()
        self.query, self.key, self.value = base.query, base.key, base.value
        self.heads = base.num_attention_heads

    def forward(
        self, hidden_states: torch.Tensor, attention_mask: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None]:
        """Return what each piece attends to, shape ``(segments, pieces, size)``, and None for the weights."""
        segments, pieces, size = hidden_states.shape
        width = size // self.heads

        def divided(layer: nn.Module) -> torch.Tensor:
            values = layer(hidden_states).view(segments, pieces, self.heads, width)
            return values.transpose(1, 2).reshape(segments * self.heads, pieces, width)

        query, key, value = divided(self.query), divided(self.key), divided(self.value)
        # The library's mask, (segments, 1, pieces, pieces) with one row for all, has the least number there is, which
        # lower precisions lack.
        bias = attention_mask[:, 0, :1].clamp(min=-1e4).to(query.dtype)
        bias = bias.repeat_interleave(self.heads, 0)
        weights = torch.softmax(torch.baddbmm(bias, query, key.transpose(1, 2), alpha=width**-0.5), -1)
        attended = torch.bmm(weights, value).view(segments, self.heads, pieces, width)
        return attended.transpose(1, 2).reshape(segments, pieces, size), None


def simplify(encoder: nn.Module, dropout: float) -> None:
    """Make the training of an encoder fast on a CPU: plain attention, and dropout with one mask for a segment.

    Args:
        encoder: Of the library, loaded with ``attention="eager"``.
        dropout: Of the layers' outputs.
    """
    for module in list(encoder.modules()):
        for name, child in list(module.named_children()):
            if type(child).__name__ == "BertSelfAttention":
                setattr(module, name, PlainAttention(child))
            elif isinstance(child, nn.Dropout):
                setattr(module, name, SharedDropout(dropout))


def _ahead(values: torch.Tensor, steps: int) -> torch.Tensor:
    """Return rows shifted up by ``steps``, with zeros after the last."""
    return functional.pad(values[steps:], (0, 0, 0, steps)) if steps else values


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


def _embedding(size: int, width: int, deviation: float) -> nn.Embedding:
    table = nn.Embedding(size, width)
    nn.init.normal_(table.weight, std=deviation)
    return table
