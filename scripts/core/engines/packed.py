"""The packed engine: every distinct computation once, the output layer only where it is read.

Decoders share what texts have in common at their beginning (:mod:`scripts.core.engines.prefix_tree`); those that cannot
take explicit positions and a mask of their own (linear biases but BLOOM's, recurrent layers, custom code) run in
batches of equal length.
Encoders compute identical masked inputs once, in batches of equal length. Encoder-decoders encode an instance once for
all its options. Which of these ways a model can take is found out before the job starts
(:mod:`scripts.core.engines.structure`).
"""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from scripts.core.engines import memory, prefix_tree, structure
from scripts.core.engines.batches import BATCH_TOKENS, Batch, TextReader, context_length
from scripts.core.engines.output_layer import SelectiveModel, log_sum_exp_
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

log = logging.getLogger("pronouns")

# Tokens of a packed sequence. Longer ones share more and attend to more: attention costs grow with the square.
PACK_TOKENS = {"cpu": 256, "cuda": 1024}

# What a forward pass costs besides its tokens, in parts of the tokens that one may have: reading the weights, launching
# kernels. Packed sequences of different lengths are padded up to that.
PASS_PART = 32

# Below it, every forward pass has one packed sequence or masked text already.
SMALLEST_BUDGET = 16


class PackedEngine(TextReader):
    """Score options fast and exactly; see the module's docstring.

    Args:
        model, tokenizer, architecture, device, tokens_per_batch, instances: As for
            :func:`scripts.core.engines.scoring.make_engine`. A single packed sequence or masked text may exceed
            ``tokens_per_batch``, which is halved whenever memory runs out.

    Raises:
        UserError: As :class:`scripts.core.engines.batches.TextReader` and :func:`scripts.core.engines.structure.check`.
    """

    name = "packed"

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        architecture: str,
        device: str,
        tokens_per_batch: int | str,
        instances: "pd.DataFrame",
    ):
        super().__init__(tokenizer, architecture)
        self.network: Any = model
        self.model = SelectiveModel(model)
        self.device = model.device
        kind = "cpu" if device == "cpu" else "cuda"
        self.budget: Any = BATCH_TOKENS[kind] if tokens_per_batch == "auto" else tokens_per_batch
        limit = context_length(model)
        # Masks of some models end with their positions, also for a packed sequence of shorter texts.
        self.limit = limit
        self.pack_tokens = min(PACK_TOKENS[kind], max(self.budget, 64), limit or PACK_TOKENS[kind])
        self.sharing = architecture == "decoder" and self._takes_positions()
        # Labels of several lengths in one forward pass: what is added behind a label, it does not see.
        self.padding = architecture == "encoder-decoder"
        # A sliding window is not in the mask of a packed sequence; a text that fits into it does not need it.
        self.window = getattr(model.config.get_text_config(), "sliding_window", None)
        self.longest = None
        self.longest = structure.check(self, instances, limit, self.pack_tokens if self.sharing else 0)

    @property
    def description(self) -> dict[str, str]:
        """How this engine runs the model: facts for the metadata of a score file."""
        ways = {
            "decoder": "prefix tree" if self.sharing else "equal length",
            "encoder": "distinct masked inputs of equal length",
            "encoder-decoder": "one encoding for all options" if self.padding else "equal length",
        }
        return {
            "batching": ways[self.architecture],
            "output_layer": "all positions" if self.model.whole else "chosen positions",
            "last_layer": "chosen positions" if self.model.narrow and not self.model.whole else "all positions",
        }

    def _takes_positions(self):
        alibi = getattr(self.network.config, "alibi", False)
        return structure.accepts(self.network, "position_ids") and not alibi

    def ways(self) -> Iterator[None]:
        """Set one way of running the model after another, from fast to plain."""
        # (all logits, last layer restricted)
        restrictions = [(False, True)] * self.model.narrow + [(False, False), (True, False)]
        sharing, padding = self.sharing, self.padding
        for together, (whole, narrow) in product([True, False] if sharing or padding else [False], restrictions):
            self.sharing, self.padding = sharing and together, padding and together
            self.model.whole, self.model.narrow = whole, narrow
            yield

    def score_probes(self, probes: structure.Probes, exchanged: bool = False) -> dict[int, np.ndarray]:
        """Return the scores of probes by their rows, of float64; see :class:`structure.Probes`."""
        if self.architecture == "encoder":
            plan = self._plan_encoder(probes.rows, probes.picks)
        elif self.architecture == "encoder-decoder":
            plan = self._plan_encoder_decoder(probes.rows)
        else:
            plan = self._plan_decoder(probes.exchanged if exchanged else probes.sequences, probes.packs)
        return {int(row): values for batch in plan for row, values in zip(batch.rows, self.score(batch), strict=True)}

    def plan(self, rows: "pd.DataFrame") -> list[Batch]:
        """Divide rows into batches, the most demanding first.

        Args:
            rows: As returned by :func:`scripts.core.data.options.option_texts`.

        Returns:
            Every position of ``rows`` is in exactly one; the same rows give the same batches.
        """
        if self.architecture == "encoder":
            return self._plan_encoder(rows)
        if self.architecture == "encoder-decoder":
            return self._plan_encoder_decoder(rows)
        return self._plan_decoder([np.array(ids) for ids in self.tokenizer(rows.text.tolist())["input_ids"]])

    def score(self, batch: Batch) -> list[np.ndarray]:
        """Score a batch of :meth:`plan`.

        Returns:
            For each of ``batch.rows``, the log-probabilities of its scored tokens, in nats. Of float64.

        Raises:
            UserError: If memory runs out with the smallest forward pass.
        """
        run = {
            "encoder": self._score_masked,
            "encoder-decoder": self._score_encoder_decoder,
            "decoder": self._score_trees if isinstance(batch.payload, tuple) else self._score_texts,
        }[self.architecture]
        while True:
            try:
                return run(batch)
            except (torch.OutOfMemoryError, RuntimeError) as error:
                if not memory.ran_out(error):
                    raise
                if self.budget < SMALLEST_BUDGET:
                    raise UserError(
                        "memory runs out with the smallest forward pass; give the model more GPUs or a narrower "
                        "precision in config/models.yaml"
                    ) from error
                self.budget //= 2
                log.info("out of memory; going on with at most %d tokens in a forward pass", self.budget)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()

    def _slices(self, sizes: Sequence[int], width: int):
        """Yield ranges of items so that each range's longest item times its number stays within the budget.

        ``sizes`` come longest first; ``width`` rows are added for each item.
        """
        start = 0
        while start < len(sizes):
            count = max(1, self.budget // (sizes[start] * width))
            yield range(start, min(start + count, len(sizes)))
            start += count

    # Decoders. A text's last token is predicted and predicts nothing: in a tree it is a target and never an input.

    def _plan_decoder(self, sequences: Sequence[np.ndarray], whole: Sequence[Sequence[int]] = ()):
        """Divide texts into batches; those of each group of ``whole`` stand in one packed sequence, if any do."""
        # What is longer than a window, or than anything that packed sequences were tried with, is run by itself.
        longest = min(bound for bound in (self.window, self.longest, np.inf) if bound) if self.sharing else 0
        alone = [row for row, ids in enumerate(sequences) if len(ids) > longest]
        whole = whole if self.sharing else ()
        elsewhere = {*alone, *chain(*whole)}
        together = [row for row in range(len(sequences)) if row not in elsewhere]
        packs = self._packs(sequences, together, self.pack_tokens, self.limit)
        for group in whole:
            packs += self._packs(sequences, group, sys.maxsize, None)
        return self._plan_texts(sequences, alone) + self._plan_trees(sequences, packs)

    def _packs(self, sequences: Sequence[np.ndarray], members: Sequence[int], size: int, limit: int | None):
        inputs = [sequences[row][:-1] if len(sequences[row]) > 1 else sequences[row] for row in members]
        return [
            replace(pack, paths={members[name]: path for name, path in pack.paths.items()})
            for pack in prefix_tree.pack(inputs, size, limit)
        ]

    def _plan_trees(self, sequences: Sequence[np.ndarray], packs: list[prefix_tree.Pack]):
        packs.sort(key=len, reverse=True)
        batches = []
        for part in plan_passes([len(pack) for pack in packs], self.budget):
            chosen = [packs[i] for i in part]
            rows = [row for pack in chosen for row in pack.paths]
            targets = {row: sequences[row][1:] for row in rows}
            batches.append(Batch(np.array(rows), sum(map(len, chosen)), (chosen, targets)))
        return batches

    def _score_trees(self, batch: Any):
        packs, targets = batch.payload
        results = []
        for part in self._slices([len(pack) for pack in packs], 1):
            results += self._forward_trees([packs[i] for i in part], targets)
        return results

    def _forward_trees(self, packs: Sequence[prefix_tree.Pack], targets: Mapping[int, np.ndarray]):
        length = len(packs[0])
        ids = np.zeros((len(packs), length), dtype=np.int64)
        depths = np.zeros_like(ids)
        # A padded position sees itself: a row that sees nothing would turn into NaN.
        visible = np.zeros((len(packs), length, length), dtype=bool)
        visible[:, np.arange(length), np.arange(length)] = True
        for row, pack in enumerate(packs):
            n = len(pack)
            ids[row, :n], depths[row, :n], visible[row, :n, :n] = pack.tokens, pack.depths, pack.visible()
        dtype = self.network.get_input_embeddings().weight.dtype
        # A byte for each pair of tokens goes to the device, and the mask is made there.
        hidden = ~torch.from_numpy(visible)[:, None].to(self.device)
        mask = torch.zeros(hidden.shape, dtype=dtype, device=self.device)
        mask.masked_fill_(hidden, torch.finfo(dtype).min)
        inputs = {
            "input_ids": torch.from_numpy(ids).to(self.device),
            "position_ids": torch.from_numpy(depths).to(self.device),
            "attention_mask": mask,
            "use_cache": False,
        }
        wanted = [targets[name] for pack in packs for name in pack.paths]
        positions = [
            path[: len(targets[name])] + row * length
            for row, pack in enumerate(packs)
            for name, path in pack.paths.items()
        ]
        with self._biases_of(inputs["position_ids"]):
            values = self._log_probabilities(inputs, np.concatenate(positions), np.concatenate(wanted))
        return np.split(values, np.cumsum([len(ids) for ids in wanted])[:-1])

    @contextlib.contextmanager
    def _biases_of(self, depths: torch.Tensor):
        """Let a model with linear biases of BLOOM's kind take those of ``depths`` inside the block.

        They depend on the position of what is attended to alone, which it would count along the packed sequence.
        """
        base = self.network.base_model
        build = getattr(base, "build_alibi_tensor", None)
        if build is None:
            yield
            return

        def by_depth(mask: torch.Tensor, heads: int, dtype: torch.dtype):
            counted = torch.ones((1, int(depths.max()) + 1), device=mask.device)
            biases = build(counted, heads, dtype)[:, 0, depths.to(mask.device)]
            return biases.transpose(0, 1).reshape(-1, 1, depths.shape[1])

        base.build_alibi_tensor = by_depth
        try:
            yield
        finally:
            del base.build_alibi_tensor

    def _plan_texts(self, sequences: Sequence[np.ndarray], members: Iterable[int]):
        order = sorted(members, key=lambda i: (-len(sequences[i]), sequences[i].tolist()))
        batches = []
        for group in _runs(order, lambda i: len(sequences[i])):
            for part in self._slices([len(sequences[i]) for i in group], 1):
                rows = np.array([group[i] for i in part])
                ids = np.stack([sequences[i] for i in rows])
                batches.append(Batch(rows, ids.size, ids))
        return batches

    def _score_texts(self, batch: Any):
        ids = batch.payload
        results = []
        length = ids.shape[1]
        if length < 2:
            return list(np.zeros((len(ids), 0)))
        # The last token is read as well: some models scale positions by the length of what they read.
        places = np.arange(length - 1)
        for part in self._slices([length] * len(ids), 1):
            chosen = ids[part.start : part.stop]
            inputs = structure.text_inputs(self.network, chosen)
            positions = (np.arange(len(chosen))[:, None] * length + places).reshape(-1)
            values = self._log_probabilities(inputs, positions, chosen[:, 1:].reshape(-1))
            results += list(values.reshape(len(chosen), length - 1))
        return results

    # Encoders

    def _plan_encoder(self, rows: "pd.DataFrame", picks: Mapping[int, np.ndarray] | None = None):
        """Divide rows into batches; ``picks`` says for each row which of its masked copies to take, if not all."""
        ids, words = self.read_words(rows.text.tolist())
        order = sorted(range(len(rows)), key=lambda i: -len(ids[i]))
        batches = []
        for group in _runs(order, lambda i: len(ids[i])):
            # Whole rows until the budget is full; a long row alone exceeds it, and its copies are divided when run.
            part, copies = [], 0
            for row in group:
                if part and (copies + len(ids[row])) * len(ids[row]) > self.budget:
                    batches.append(self._masked_batch(part, ids, words, picks))
                    part, copies = [], 0
                part.append(row)
                copies += len(ids[row])
            batches.append(self._masked_batch(part, ids, words, picks))
        return batches

    def _masked_batch(self, rows: Sequence[int], ids: list, words: list, picks: Mapping[int, np.ndarray] | None):
        distinct, inputs, positions, targets, places_of_rows = {}, [], [], [], []
        for row in rows:
            places = []
            copies = list(self.masked_copies(ids[row], words[row]))
            for copy, position, target in copies if picks is None else [copies[i] for i in picks[row]]:
                key = (position, copy.tobytes())
                if key not in distinct:
                    distinct[key] = len(inputs)
                    inputs.append(copy)
                    positions.append(position)
                places.append(distinct[key])
                targets.append(target)
            places_of_rows.append(np.array(places, dtype=np.int64))
        width = len(ids[rows[0]])
        stacked = np.stack(inputs) if inputs else np.zeros((0, width), dtype=np.int64)
        return Batch(
            np.array(rows),
            stacked.size,
            (stacked, np.array(positions, dtype=np.int64), places_of_rows, np.array(targets)),
        )

    def _score_masked(self, batch: Any):
        inputs, positions, places_of_rows, targets = batch.payload
        places = np.concatenate(places_of_rows) if places_of_rows else np.zeros(0, dtype=np.int64)
        order = np.argsort(places, kind="stable")
        values = np.zeros(len(places))
        width = inputs.shape[1]
        for part in self._slices([width] * len(inputs), 1):
            mine = order[np.searchsorted(places[order], part.start) : np.searchsorted(places[order], part.stop)]
            chosen = inputs[part.start : part.stop]
            flat = (places[mine] - part.start) * width + positions[places[mine]]
            values[mine] = self._log_probabilities(structure.text_inputs(self.network, chosen), flat, targets[mine])
        return np.split(values, np.cumsum([*map(len, places_of_rows)])[:-1])

    # Encoder-decoders

    def _plan_encoder_decoder(self, rows: "pd.DataFrame"):
        masked = rows.masked.tolist()
        sources = {text: self.source(text) for text in dict.fromkeys(masked)}
        number = {text: i for i, text in enumerate(sources)}
        labels = [self.labels(*row) for row in zip(rows.filled, rows.text, strict=True)]

        def shape(row: int):
            return len(sources[masked[row]]), 0 if self.padding else len(labels[row])

        # Options of an instance stand together, so that one encoding serves them all.
        order = sorted(range(len(rows)), key=lambda i: (*(-n for n in shape(i)), number[masked[i]], -len(labels[i])))
        batches = []
        for group in _runs(order, shape):
            width = shape(group[0])[0] + max(len(labels[i]) for i in group)
            for part in self._slices([width] * len(group), 1):
                members = [group[i] for i in part]
                distinct = list(dict.fromkeys(masked[i] for i in members))
                payload = (
                    np.array([sources[m] for m in distinct]),
                    np.array([distinct.index(masked[i]) for i in members]),
                    [np.array(labels[i]) for i in members],
                )
                batches.append(Batch(np.array(members), payload[0].size + sum(map(len, payload[2])), payload))
        return batches

    def _score_encoder_decoder(self, batch: Any):
        sources, which, labels = batch.payload
        results = []
        length = max(map(len, labels))
        for part in self._slices([sources.shape[1] + length] * len(labels), 1):
            needed, local = np.unique(which[part.start : part.stop], return_inverse=True)
            with torch.inference_mode():
                inputs = structure.text_inputs(self.network, sources[needed])
                encoded = self.network.get_encoder()(**inputs, return_dict=True)
                encoded["last_hidden_state"] = encoded.last_hidden_state[torch.from_numpy(local)]
            chosen = labels[part.start : part.stop]
            padded = np.full((len(chosen), max(map(len, chosen))), self.network.config.pad_token_id or 0)
            for row, ids in enumerate(chosen):
                padded[row, : len(ids)] = ids
            decoder = structure.decoder_inputs(self.network, torch.from_numpy(padded))
            positions = [np.arange(len(ids)) + row * padded.shape[1] for row, ids in enumerate(chosen)]
            values = self._log_probabilities(
                {
                    "encoder_outputs": encoded,
                    "attention_mask": inputs["attention_mask"][torch.from_numpy(local)],
                    "decoder_input_ids": decoder.to(self.device),
                    "use_cache": False,
                },
                np.concatenate(positions),
                np.concatenate(chosen),
            )
            results += np.split(values, np.cumsum([len(ids) for ids in chosen])[:-1])
        return results

    def _log_probabilities(self, inputs: dict[str, Any], positions: np.ndarray, targets: np.ndarray):
        """Return log P(target) at flattened positions, float64 of shape (m,); equal positions may repeat."""
        distinct, inverse = np.unique(positions, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        ranks = inverse[order]
        values = np.zeros(len(positions))
        for start, logits in self.model.logits(inputs, torch.from_numpy(distinct)):
            mine = order[np.searchsorted(ranks, start) : np.searchsorted(ranks, start + len(logits))]
            with torch.inference_mode():
                rows = torch.from_numpy(inverse[mine] - start).to(logits.device)
                tokens = torch.from_numpy(np.asarray(targets)[mine]).to(logits.device)
                chosen = logits[rows, tokens]
                log_probabilities = chosen - log_sum_exp_(logits)[rows]
            values[mine] = log_probabilities.double().cpu().numpy()
        return values


def plan_passes(sizes: Sequence[int], budget: int) -> list[range]:
    """Divide sequences into forward passes so that little is padded.

    Args:
        sizes: Tokens of each sequence, the longest first; in a pass, all are padded to its longest.
        budget: Tokens of a pass, padding included; one sequence by itself may exceed it.

    Returns:
        The sequences of each pass, in order: with the fewest tokens, padding included, where a pass itself counts as
        much as one part of the budget in :data:`PASS_PART`.
    """
    least, starts = [0.0], []
    for stop in range(1, len(sizes) + 1):
        choices = [
            (least[start] + (stop - start) * sizes[start] + budget / PASS_PART, start)
            for start in range(stop - 1, -1, -1)
            if start == stop - 1 or (stop - start) * sizes[start] <= budget
        ]
        cost, start = min(choices)
        least.append(cost)
        starts.append(start)
    found, stop = [], len(sizes)
    while stop:
        found.append(range(starts[stop - 1], stop))
        stop = starts[stop - 1]
    return found[::-1]


def _runs(order: Iterable[int], key: Callable[[int], Any]):
    """Yield runs of consecutive items with an equal key."""
    run = []
    for item in order:
        if run and key(item) != key(run[0]):
            yield run
            run = []
        run.append(item)
    if run:
        yield run
