"""The packed engine: every distinct computation once, the output layer only where it is read.

Decoders share what texts have in common at their beginning (:mod:`scripts.core.prefix_tree`); those that cannot take
explicit positions and a mask of their own (ALiBi, recurrent layers, custom code) run in batches of equal length.
Encoders compute identical masked inputs once, in batches of equal length. Encoder-decoders encode an instance once for
all its options. Which of these ways a model can take is found out when it is loaded, by scoring a few texts that way
and in the plainest one.
"""

import inspect
import logging
from itertools import product

import numpy as np
import torch

from scripts.core import memory, prefix_tree
from scripts.core.errors import UserError
from scripts.core.options import SLOT, option_texts
from scripts.core.output_layer import SelectiveModel
from scripts.core.scoring import BATCH_TOKENS, Batch

log = logging.getLogger("pronouns")

# Tokens of a packed sequence. Longer ones share more and attend to more: attention costs grow with the square.
PACK_TOKENS = {"cpu": 256, "cuda": 1024}

# Below it, every forward pass has one packed sequence or masked text already.
SMALLEST_BUDGET = 16

# How far two ways of scoring one text may differ, in nats: by rounding, in the weights' precision.
TOLERANCE = {torch.float32: 1e-3}
HALF_PRECISION_TOLERANCE_PER_TOKEN = 0.1

_PROBES = (
    f"The baker was glad because {SLOT} had slept well.",
    f"The clerk spoke to the client, who was in a hurry.  The client said that {SLOT} would come back later.",
    f"{SLOT} left early.",
)
_PROBE_OPTIONS = ("he", "they", "xe", "themselves")


class PackedEngine:
    """Score options fast and exactly; see the module's docstring.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerFast
    architecture : {"encoder", "decoder", "encoder-decoder"}
    device : str
        A torch device, or ``"auto"`` for a model spread over several GPUs.
    tokens_per_batch : int or "auto"
        Upper bound of the tokens of one forward pass; a single packed sequence or masked text may exceed it. Halved
        whenever memory runs out.

    Raises
    ------
    UserError
        If the tokenizer does not tell which tokens make a word, or no way of scoring the probes agrees with the
        plain one.
    """

    name = "packed"

    def __init__(self, model, tokenizer, architecture, device, tokens_per_batch):
        self.model = SelectiveModel(model)
        self.tokenizer = tokenizer
        self.architecture = architecture
        self.device = model.device
        kind = "cpu" if device == "cpu" else "cuda"
        self.budget = BATCH_TOKENS[kind] if tokens_per_batch == "auto" else tokens_per_batch
        self.pack_tokens = min(PACK_TOKENS[kind], max(self.budget, 64))
        self.dtype = model.dtype
        self.special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
        if architecture == "encoder" and not tokenizer.is_fast:
            raise UserError(
                f"{type(tokenizer).__name__} does not tell which tokens make a word; "
                "use a checkpoint with a fast tokenizer"
            )
        self.sharing = architecture == "decoder" and self._takes_positions()
        self._check()

    @property
    def description(self):
        """How this engine runs the model: facts for the metadata of a score file."""
        ways = {
            "decoder": "prefix tree" if self.sharing else "equal length",
            "encoder": "distinct masked inputs of equal length",
            "encoder-decoder": "one encoding for all options",
        }
        return {
            "batching": ways[self.architecture],
            "output_layer": "all positions" if self.model.whole else "chosen positions",
            "last_layer": "chosen positions" if self.model.narrow and not self.model.whole else "all positions",
        }

    def _takes_positions(self):
        config = self.model.model.config
        accepted = inspect.signature(self.model.model.forward).parameters
        return "position_ids" in accepted and not getattr(config, "alibi", False)

    def _check(self):
        """Choose how to run the model: the first way, from fast to plain, that agrees with the plainest."""
        import pandas as pd

        probes = pd.DataFrame(
            {
                "instance_id": [str(i) for i in range(len(_PROBES))],
                "text": _PROBES,
                "options": [list(_PROBE_OPTIONS)] * len(_PROBES),
            }
        )
        rows = option_texts(probes)
        expected = [self._plain(row) for row in rows.itertuples()]
        tolerance = TOLERANCE.get(self.dtype)
        allowed = [tolerance or HALF_PRECISION_TOLERANCE_PER_TOKEN * len(values) for values in expected]
        # (all logits, last layer restricted), from fast to plain.
        restrictions = [(False, True)] * self.model.narrow + [(False, False), (True, False)]
        for sharing, (whole, narrow) in product([True, False] if self.sharing else [False], restrictions):
            self.sharing, self.model.whole, self.model.narrow = sharing, whole, narrow
            reason = self._disagreement(rows, expected, allowed)
            if reason is None:
                log.info("self-check passed: %s", ", ".join(f"{k} {v}" for k, v in self.description.items()))
                return
            log.info("self-check: %s: %s", ", ".join(f"{k} {v}" for k, v in self.description.items()), reason)
        raise UserError(
            f"{type(self.model.model).__name__}: scores in batches do not agree with those of single texts ({reason}); "
            "set scoring.engine to minicons for this model"
        )

    def _disagreement(self, rows, expected, allowed):
        """Return why the current way of running is unfit, or None."""
        try:
            largest = 0.0
            for batch in self.plan(rows):
                for row, values in zip(batch.rows, self.score(batch), strict=True):
                    if len(values) != len(expected[row]):
                        return f"{len(values)} tokens scored instead of {len(expected[row])}"
                    difference = abs(values.sum() - expected[row].sum())
                    if not difference <= allowed[row]:
                        return f"a score differs by {difference:.2g} nats"
                    largest = max(largest, difference)
            log.info("self-check: largest difference %.1e nats", largest)
        # Whatever a model's code raises, it says that the model cannot be run like this.
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
        return None

    def _plain(self, row):
        """Return the token log-probabilities of one row, computed in the plainest way: for the self-check alone."""
        with torch.inference_mode():
            if self.architecture == "encoder":
                encoding = self.tokenizer(row.text)
                values = []
                for ids, position, target in self.masked_copies(encoding["input_ids"], encoding.word_ids()):
                    logits = self.model.model(**self._inputs(ids[None])).logits[0, position].float()
                    values.append((logits[target] - logits.logsumexp(0)).item())
                return np.array(values)
            if self.architecture == "decoder":
                ids = torch.tensor([self.tokenizer(row.text)["input_ids"]])
                logits, targets = self.model.model(**self._inputs(ids)).logits[0, :-1].float(), ids[0, 1:]
            else:
                source, labels = self._source(row.masked), torch.tensor(self._labels(row.filled, row.text))
                inputs = {**self._inputs(torch.tensor([source])), "labels": labels[None].to(self.device)}
                logits, targets = self.model.model(**inputs).logits[0].float(), labels
            targets = targets.to(logits.device)
            values = logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)
            return values.double().cpu().numpy()

    def _inputs(self, ids):
        ids = torch.as_tensor(ids)
        return {"input_ids": ids.to(self.device), "attention_mask": torch.ones_like(ids).to(self.device)}

    def lengths(self, rows):
        """Return the number of tokens that the model must take for each row, an array of int."""
        if self.architecture != "encoder-decoder":
            return np.array([len(ids) for ids in self.tokenizer(rows.text.tolist())["input_ids"]])
        sources = [len(self._source(masked)) for masked in rows.masked]
        labels = [len(self._labels(*row)) for row in zip(rows.filled, rows.text, strict=True)]
        return np.maximum(sources, labels)

    def plan(self, rows):
        """Divide rows into batches, the most demanding first.

        Parameters
        ----------
        rows : DataFrame
            As returned by :func:`scripts.core.options.option_texts`.

        Returns
        -------
        list of Batch
            Every position of ``rows`` is in exactly one; the same rows give the same batches.
        """
        if self.architecture == "encoder":
            return self._plan_encoder(rows)
        if self.architecture == "encoder-decoder":
            return self._plan_encoder_decoder(rows)
        sequences = [np.array(ids) for ids in self.tokenizer(rows.text.tolist())["input_ids"]]
        # A sliding window is not in the mask of a packed sequence; a text that fits into it does not need it.
        window = getattr(self.model.model.config.get_text_config(), "sliding_window", None)
        if self.sharing and not (window and max(map(len, sequences), default=0) > window):
            return self._plan_trees(sequences)
        return self._plan_texts(sequences)

    def score(self, batch):
        """Score a batch of :meth:`plan`.

        Returns
        -------
        list of ndarray of float64
            For each of ``batch.rows``, the log-probabilities of its scored tokens, in nats.

        Raises
        ------
        UserError
            If memory runs out with the smallest forward pass.
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

    def _slices(self, sizes, width):
        """Yield ranges of items so that each range's longest item times its number stays within the budget.

        ``sizes`` come longest first; ``width`` rows are added for each item.
        """
        start = 0
        while start < len(sizes):
            count = max(1, self.budget // (sizes[start] * width))
            yield range(start, min(start + count, len(sizes)))
            start += count

    # Decoders. A text's last token is predicted and predicts nothing: it is a target and never an input.

    def _plan_trees(self, sequences):
        packs = prefix_tree.pack([ids[:-1] if len(ids) > 1 else ids for ids in sequences], self.pack_tokens)
        packs.sort(key=len, reverse=True)
        batches = []
        for part in self._slices([len(pack) for pack in packs], 1):
            chosen = [packs[i] for i in part]
            rows = [row for pack in chosen for row in pack.paths]
            targets = {row: sequences[row][1:] for row in rows}
            batches.append(Batch(np.array(rows), sum(map(len, chosen)), (chosen, targets)))
        return batches

    def _score_trees(self, batch):
        packs, targets = batch.payload
        results = []
        for part in self._slices([len(pack) for pack in packs], 1):
            results += self._forward_trees([packs[i] for i in part], targets)
        return results

    def _forward_trees(self, packs, targets):
        length = len(packs[0])
        ids = np.zeros((len(packs), length), dtype=np.int64)
        depths = np.zeros_like(ids)
        # A padded position sees itself: a row that sees nothing would turn into NaN.
        visible = np.broadcast_to(np.eye(length, dtype=bool), (len(packs), length, length)).copy()
        for row, pack in enumerate(packs):
            n = len(pack)
            ids[row, :n], depths[row, :n], visible[row, :n, :n] = pack.tokens, pack.depths, pack.visible()
        mask = torch.zeros((len(packs), 1, length, length), dtype=self.dtype)
        mask.masked_fill_(~torch.from_numpy(visible)[:, None], torch.finfo(self.dtype).min)
        inputs = {
            "input_ids": torch.from_numpy(ids).to(self.device),
            "position_ids": torch.from_numpy(depths).to(self.device),
            "attention_mask": mask.to(self.device),
            "use_cache": False,
        }
        wanted = [targets[name] for pack in packs for name in pack.paths]
        positions = [
            path[: len(targets[name])] + row * length
            for row, pack in enumerate(packs)
            for name, path in pack.paths.items()
        ]
        values = self._log_probabilities(inputs, np.concatenate(positions), np.concatenate(wanted))
        return np.split(values, np.cumsum([len(ids) for ids in wanted])[:-1])

    def _plan_texts(self, sequences):
        order = sorted(range(len(sequences)), key=lambda i: (-len(sequences[i]), sequences[i].tolist()))
        batches = []
        for group in _runs(order, lambda i: len(sequences[i])):
            for part in self._slices([len(sequences[i]) for i in group], 1):
                rows = np.array([group[i] for i in part])
                ids = np.stack([sequences[i] for i in rows])
                batches.append(Batch(rows, len(rows) * max(1, ids.shape[1] - 1), ids))
        return batches

    def _score_texts(self, batch):
        ids = batch.payload
        results = []
        length = ids.shape[1] - 1
        if not length:
            return list(np.zeros((len(ids), 0)))
        for part in self._slices([length] * len(ids), 1):
            chosen = ids[part.start : part.stop]
            inputs = self._inputs(chosen[:, :-1])
            values = self._log_probabilities(inputs, np.arange(len(chosen) * length), chosen[:, 1:].reshape(-1))
            results += list(values.reshape(len(chosen), length))
        return results

    # Encoders

    def masked_copies(self, ids, words):
        """Yield the masked inputs of a text, as (ids, masked position, target), one for each scored token.

        A token is masked together with the rest of its word to the right (Kauf and Ivanova 2023, section 4).
        """
        ids = np.array(ids)
        ends = {}
        for position, word in enumerate(words):
            if word is not None:
                ends[word] = position
        for position, word in enumerate(words):
            if word is None or int(ids[position]) in self.special:
                continue
            copy = ids.copy()
            rest = np.arange(position, ends[word] + 1)
            copy[[p for p in rest if words[p] == word]] = self.tokenizer.mask_token_id
            yield copy, position, ids[position]

    def _plan_encoder(self, rows):
        encoding = self.tokenizer(rows.text.tolist())
        ids = encoding["input_ids"]
        order = sorted(range(len(rows)), key=lambda i: -len(ids[i]))
        batches = []
        for group in _runs(order, lambda i: len(ids[i])):
            # Whole rows until the budget is full; a long row alone exceeds it, and its copies are divided when run.
            part, copies = [], 0
            for row in group:
                if part and (copies + len(ids[row])) * len(ids[row]) > self.budget:
                    batches.append(self._masked_batch(part, encoding))
                    part, copies = [], 0
                part.append(row)
                copies += len(ids[row])
            batches.append(self._masked_batch(part, encoding))
        return batches

    def _masked_batch(self, rows, encoding):
        distinct, inputs, positions, targets, found = {}, [], [], [], []
        for row in rows:
            places = []
            for copy, position, target in self.masked_copies(encoding["input_ids"][row], encoding.word_ids(row)):
                key = (position, copy.tobytes())
                if key not in distinct:
                    distinct[key] = len(inputs)
                    inputs.append(copy)
                    positions.append(position)
                places.append(distinct[key])
                targets.append(target)
            found.append(np.array(places, dtype=np.int64))
        width = len(encoding["input_ids"][rows[0]])
        stacked = np.stack(inputs) if inputs else np.zeros((0, width), dtype=np.int64)
        return Batch(
            np.array(rows), stacked.size, (stacked, np.array(positions, dtype=np.int64), found, np.array(targets))
        )

    def _score_masked(self, batch):
        inputs, positions, found, targets = batch.payload
        places = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        order = np.argsort(places, kind="stable")
        values = np.zeros(len(places))
        width = inputs.shape[1]
        for part in self._slices([width] * len(inputs), 1):
            mine = order[np.searchsorted(places[order], part.start) : np.searchsorted(places[order], part.stop)]
            chosen = inputs[part.start : part.stop]
            flat = (places[mine] - part.start) * width + positions[places[mine]]
            values[mine] = self._log_probabilities(self._inputs(chosen), flat, targets[mine])
        return np.split(values, np.cumsum([len(f) for f in found])[:-1])

    # Encoder-decoders

    def _source(self, masked):
        """Return the token ids of an instance with its slot masked."""
        blank = self.tokenizer.mask_token or "<extra_id_0>"
        return self.tokenizer(masked.replace(SLOT, blank))["input_ids"]

    def _labels(self, filled, text):
        """Return the token ids whose loss is the score: the span for T5's kind, the whole text for BART's.

        MISGENDERED's released code scores both so (see the section on scoring of the paper).
        """
        return self.tokenizer(text if self.tokenizer.mask_token else f"<extra_id_0> {filled} <extra_id_1>")["input_ids"]

    def _plan_encoder_decoder(self, rows):
        sources = {masked: self._source(masked) for masked in dict.fromkeys(rows.masked)}
        labels = [self._labels(*row) for row in zip(rows.filled, rows.text, strict=True)]
        masked = rows.masked.tolist()
        order = sorted(range(len(rows)), key=lambda i: (-len(sources[masked[i]]), -len(labels[i])))
        batches = []
        for group in _runs(order, lambda i: (len(sources[masked[i]]), len(labels[i]))):
            width = len(sources[masked[group[0]]]) + len(labels[group[0]])
            for part in self._slices([width] * len(group), 1):
                members = [group[i] for i in part]
                distinct = list(dict.fromkeys(masked[i] for i in members))
                payload = (
                    np.array([sources[m] for m in distinct]),
                    np.array([distinct.index(masked[i]) for i in members]),
                    np.array([labels[i] for i in members]),
                )
                batches.append(Batch(np.array(members), payload[0].size + payload[2].size, payload))
        return batches

    def _score_encoder_decoder(self, batch):
        sources, which, labels = batch.payload
        results = []
        length = labels.shape[1]
        for part in self._slices([sources.shape[1] + length] * len(labels), 1):
            mine = which[part.start : part.stop]
            needed, local = np.unique(mine, return_inverse=True)
            with torch.inference_mode():
                inputs = self._inputs(sources[needed])
                encoded = self.model.model.get_encoder()(**inputs, return_dict=True)
                encoded["last_hidden_state"] = encoded.last_hidden_state[torch.from_numpy(local)]
            chosen = labels[part.start : part.stop]
            decoder = self.model.model.prepare_decoder_input_ids_from_labels(torch.from_numpy(chosen))
            values = self._log_probabilities(
                {
                    "encoder_outputs": encoded,
                    "attention_mask": inputs["attention_mask"][torch.from_numpy(local)],
                    "decoder_input_ids": decoder.to(self.device),
                    "use_cache": False,
                },
                np.arange(chosen.size),
                chosen.reshape(-1),
            )
            results += list(values.reshape(chosen.shape))
        return results

    def _log_probabilities(self, inputs, positions, targets):
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
                found = logits[rows, tokens] - logits.logsumexp(1)[rows]
            values[mine] = found.double().cpu().numpy()
        return values


def _runs(order, key):
    """Yield runs of consecutive items with an equal key."""
    run = []
    for item in order:
        if run and key(item) != key(run[0]):
            yield run
            run = []
        run.append(item)
    if run:
        yield run
