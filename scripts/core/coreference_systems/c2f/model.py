"""The coarse-to-fine model: spans, their mention scores, a coarse and a fine score of each pair (Lee et al. 2018).

With the defaults of :class:`Configuration` this is the ``independent`` variant of Joshi et al. (2019, 2020): every
segment is encoded alone, and the spans of all segments are compared. Layers have the published sizes, so that
published weights fit; the first layer of a feed-forward network is applied part by part of its input, which is the
same product.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from torch.nn import functional

from scripts.core.coreference_systems.c2f import features
from scripts.core.coreference_systems.c2f.configuration import GENRES, Configuration
from scripts.core.coreference_systems.c2f.windows import UNITS_MULTIPLE, Window, rounded_up

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DISTANCES = 10


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
    string_prior: Any
    speaker_embedding: Any
    genre_embedding: Any
    segment_embedding: Any
    string_embedding: Any
    gate: Any

    def __init__(self, encoder: "PreTrainedModel", configuration: Configuration):
        super().__init__()
        c = self.configuration = configuration
        self.encoder = encoder
        hidden = encoder.config.hidden_size
        self.unit_size = hidden + (c.feature_size if c.case_features else 0)
        span = 3 * self.unit_size + c.feature_size
        pair = c.projection_size or span
        self.dropout = nn.Dropout(c.dropout)

        def ffnn(inputs: int) -> nn.Sequential:
            return nn.Sequential(_linear(inputs, c.ffnn_size), nn.ReLU(), self.dropout, _linear(c.ffnn_size, 1))

        def embedding(size: int) -> nn.Embedding:
            return _embedding(size, c.feature_size)

        self.case_embedding = embedding(features.CASES) if c.case_features else None
        self.width_embedding = embedding(c.max_span_width)
        self.head_attention = _linear(self.unit_size, 1)
        self.mention_ffnn = ffnn(span)
        self.width_prior_embedding = embedding(c.max_span_width) if c.width_prior else None
        self.width_prior_ffnn = ffnn(c.feature_size) if c.width_prior else None
        self.projection = _linear(span, c.projection_size) if c.projection_size else None
        self.coarse = _linear(pair, pair)
        self.distance_prior_embedding = embedding(DISTANCES)
        self.distance_prior = _linear(c.feature_size, 1)
        self.string_prior = _embedding(features.PAIRS, 1) if c.string_features else None
        # In the order of their features in the input of the pairs' network, after the three parts of the spans.
        self.speaker_embedding = embedding(2) if c.speaker_and_genre else None
        self.genre_embedding = embedding(len(GENRES)) if c.speaker_and_genre else None
        self.segment_embedding = embedding(c.segment_distances) if c.segment_distances else None
        self.distance_embedding = embedding(DISTANCES)
        self.string_embedding = embedding(features.PAIRS) if c.string_features else None
        count = 2 * c.speaker_and_genre + bool(c.segment_distances) + 1 + c.string_features
        self.antecedent_ffnn = ffnn(3 * pair + count * c.feature_size)
        self.gate = _linear(2 * pair, pair) if c.coref_depth > 1 else None

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
        flat = encoded.reshape(-1, encoded.shape[-1])
        if self.configuration.unit == "word":
            counts = torch.bincount(window.unit_of_piece).unsqueeze(1)
            sums = flat.new_zeros(window.units, flat.shape[1]).index_add(0, window.unit_of_piece, flat[window.pieces])
            vectors = (flat[window.first], flat[window.last], sums / counts)
        else:
            vectors = (flat[window.first],) * 3
        case = None if self.case_embedding is None else self.case_embedding(window.case)
        padding = rounded_up(window.units, UNITS_MULTIPLE) - window.units
        if case is not None:
            vectors = [torch.cat([vector, case], 1) for vector in vectors]
        return [functional.pad(vector, (0, 0, 0, padding)) for vector in vectors]

    def _candidates(
        self, window: Window, first: torch.Tensor, last: torch.Tensor, mean: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return mention scores and which spans there are, both ``(units, widths)``, and the logits of the heads."""
        c, size = self.configuration, window.units
        rows = torch.arange(size, device=first.device).unsqueeze(1)
        columns = rows + torch.arange(c.max_span_width, device=first.device)
        candidates = columns < size
        candidates &= window.sentence[columns.clamp(max=size - 1)] == window.sentence[rows]
        logits = self.head_attention(mean).squeeze(1)
        padded = functional.pad(logits, (0, c.max_span_width))
        steps = padded.unfold(0, c.max_span_width, 1)[: len(logits)]
        totals = torch.logcumsumexp(steps, 1)
        layer = cast(nn.Linear, self.mention_ffnn[0])
        parts = layer.weight.split([self.unit_size, self.unit_size, c.feature_size, self.unit_size], 1)
        start = functional.linear(first, parts[0], layer.bias)
        end = functional.linear(last, parts[1])
        width = functional.linear(self.dropout(self.width_embedding.weight), parts[2])
        word = functional.linear(mean, parts[3])
        head, scores = word, []
        for wide in range(c.max_span_width):
            if wide:
                # The mean over one unit more, from the mean before: weights are the softmax over the span.
                before = torch.exp(totals[:, wide - 1] - totals[:, wide]).unsqueeze(1)
                new = torch.exp(steps[:, wide] - totals[:, wide]).unsqueeze(1)
                head = head * before + _ahead(word, wide) * new
            scores.append(self.mention_ffnn[1:](start + _ahead(end, wide) + width[wide] + head))
        grid = torch.cat(scores, 1)[:size]
        if c.width_prior:
            grid = grid + self.width_prior_ffnn(self.width_prior_embedding.weight).squeeze(1)
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
        heads = torch.bmm(weights.unsqueeze(1), mean[places]).squeeze(1)
        widths = self.dropout(self.width_embedding(ends - starts))
        spans = torch.cat([first[starts], last[ends], widths, heads], 1)
        return spans if self.projection is None else self.dropout(self.projection(spans))

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
        source, target = self.coarse(spans), spans
        if self.projection is None:
            source, target = self.dropout(source), self.dropout(target)
        coarse = source @ target.T
        if self.projection is not None:
            coarse = coarse / math.sqrt(spans.shape[1])
        coarse = coarse + mentions.unsqueeze(1) + mentions
        prior = self.distance_prior(self.dropout(self.distance_prior_embedding.weight)).squeeze(1)
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
                gate = torch.sigmoid(self.gate(torch.cat([spans, attended], 1)))
                spans = gate * attended + (1 - gate) * spans
        return antecedents, valid, scores

    def _pair_features(
        self, window: Window, starts: torch.Tensor, antecedents: torch.Tensor, strings: Any
    ) -> torch.Tensor:
        """Return the embedded features of pairs, shape ``(spans, antecedents, size)``."""
        c, parts = self.configuration, []
        if c.speaker_and_genre:
            speaker = window.speaker[starts]
            parts.append(self.speaker_embedding((speaker.unsqueeze(1) == speaker[antecedents]).long()))
            parts.append(self.genre_embedding.weight[window.genre].expand_as(parts[0]))
        if c.segment_distances:
            segment = window.segment[starts]
            apart = (segment.unsqueeze(1) - segment[antecedents]).clamp(0, c.segment_distances - 1)
            parts.append(self.segment_embedding(apart))
        numbers = torch.arange(len(starts), device=starts.device)
        parts.append(self.distance_embedding(distance_classes(numbers.unsqueeze(1) - antecedents)))
        if c.string_features:
            parts.append(self.string_embedding(strings.gather(1, antecedents)))
        return torch.cat(parts, 2)

    def _fine(self, spans: torch.Tensor, antecedents: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        """Return the fine scores of pairs, shape ``(spans, antecedents)``."""
        layer, size = cast(nn.Linear, self.antecedent_ffnn[0]), spans.shape[1]
        parts = layer.weight.split([size] * 3 + [layer.in_features - 3 * size], 1)
        here = functional.linear(spans, parts[0], layer.bias)
        there = functional.linear(spans, parts[1])
        hidden = functional.linear(spans.unsqueeze(1) * spans[antecedents], parts[2])
        hidden = hidden + here.unsqueeze(1) + there[antecedents]
        hidden = hidden + functional.linear(self.dropout(known), parts[3])
        return self.antecedent_ffnn[1:](hidden).squeeze(2)


def _ahead(values: torch.Tensor, steps: int) -> torch.Tensor:
    """Return rows shifted up by ``steps``, with zeros after the last."""
    return functional.pad(values[steps:], (0, 0, 0, steps)) if steps else values


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


def _embedding(size: int, width: int) -> nn.Embedding:
    table = nn.Embedding(size, width)
    nn.init.normal_(table.weight, std=0.02)
    return table
