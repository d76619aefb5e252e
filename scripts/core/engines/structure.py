"""Whether a way of scoring is right for a model: does a score depend on anything but its own text?

A fast way of running a model is right if every text gets what it would get by itself. Some architectures break that
without a word: a window that is counted along a packed sequence, positions that are scaled by the longest text of a
batch, layers that mix neighbouring tokens, linear biases. And a log-likelihood is one only if a token's prediction
does not depend on later tokens. These are questions of structure, not of rounding, so they are asked in float32
whatever the precision of the run, of texts as long as the job's longest, in packed sequences and batches as the job's.

Before a job starts, every engine is checked (:func:`check`):

* A few short texts and the job's longest one are scored one by one, in the plainest way; a model that cannot do it
  cannot be run.
* The longest text branches off into others that fill a packed sequence to the largest size that the job may have, and
  the last of them, the furthest from the beginning that they share, is looked at. As branches differ in a later token
  only, their scores before it must be equal: otherwise the model looks ahead.
* The longest text's beginning is scored by itself. If that changes its scores, as long RoPE does beyond some length,
  texts of different lengths are not run together.
* The engine's ways of running the model are tried from fast to plain until one gives what the plainest gave. The way
  is tried in the run's precision as well, where only rounding may come in.
* In packed sequences, tokens of other texts are exchanged. As shapes stay, even rounding
  stays the same, and a score that changes shows a dependence that is too weak to be seen otherwise.

A model in half precision is run in float32 by widening its weights in place: all of them where they are small,
otherwise those of one layer at a time while it runs. The weights are put back as they were.
"""

import contextlib
import inspect
import itertools
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from scripts.core.data.options import SLOT, option_texts
from scripts.core.engines import memory, prefix_tree
from scripts.core.errors import UserError, count_noun, describe_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from transformers import PreTrainedModel

log = logging.getLogger("pronouns")

# How far two ways of scoring one text may differ in float32, in nats: by rounding, which grows with the tokens.
TOLERANCE, TOLERANCE_PER_TOKEN = 1e-3, 1e-5
# How far the score of a token may change with the tokens of other texts, shapes being the same. It does not change at
# all but for experts, which compute together what the tokens of all texts send to them.
EXCHANGED_TOLERANCE = 5e-5
# In half precision two ways round differently; structure has been checked by then.
HALF_PRECISION_TOLERANCE_PER_TOKEN = 0.1

# Weights that are widened all at once need this many bytes at most.
WHOLE_BYTES = 2 << 30

# Of this many instances with the most bytes, the one with the most tokens is the longest.
CANDIDATES = 64

PROBES = (
    f"The baker was glad because {SLOT} had slept well.",
    f"The clerk spoke to the client, who was in a hurry.  The client said that {SLOT} would come back later.",
    f"{SLOT} left early.",
)
# Two of the same length in nearly every vocabulary, so that batches of equal length hold more than one text.
PROBE_OPTIONS = ("he", "she", "themselves")

# Different tokens in what branches off a text.
BRANCH_TOKENS = 8

# Masked copies of a text that an encoder is compared at.
COPIES = 4


def accepts(model: torch.nn.Module, name: str) -> bool:
    """Return whether the model's ``forward`` takes an argument called ``name``."""
    parameters = inspect.signature(model.forward).parameters
    return name in parameters or any(p.kind == p.VAR_KEYWORD for p in parameters.values())


def text_inputs(model: "PreTrainedModel", ids: "ArrayLike | torch.Tensor") -> dict[str, torch.Tensor]:
    """Return the model's arguments for unpadded texts.

    Args:
        ids: Shape (texts, tokens), of int.

    Returns:
        ``input_ids`` and, for a model that takes one, ``attention_mask``.
    """
    ids = torch.as_tensor(ids).to(model.device)
    inputs = {"input_ids": ids}
    if accepts(model, "attention_mask"):
        inputs["attention_mask"] = torch.ones_like(ids)
    return inputs


@torch.inference_mode()
def plain_decoder(model: "PreTrainedModel", ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return the log-probabilities of a text's tokens but the first, one text in one forward pass, float64."""
    logits = model(**text_inputs(model, np.asarray(ids)[None])).logits[0, :-1]
    return _chosen(logits, torch.as_tensor(ids)[1:])


@torch.inference_mode()
def plain_encoder(model: "PreTrainedModel", copies: Iterable[tuple[np.ndarray, int, int | np.integer]]) -> np.ndarray:
    """Return the log-probabilities of masked tokens, one masked copy in each forward pass, float64.

    Args:
        copies: Of each its token ids, shape (tokens,), the masked position and the token that was there.
    """
    values = []
    for ids, position, target in copies:
        logits = model(**text_inputs(model, ids[None])).logits[0, position : position + 1]
        values.append(_chosen(logits, torch.tensor([int(target)])))
    return np.concatenate([np.zeros(0), *values])


@torch.inference_mode()
def plain_encoder_decoder(
    model: "PreTrainedModel",
    source: Sequence[int] | np.ndarray,
    labels: Sequence[int] | np.ndarray | torch.Tensor,
) -> np.ndarray:
    """Return the log-probabilities of labels, one text in one forward pass, float64."""
    labels = torch.as_tensor(labels)
    logits = model(**text_inputs(model, np.asarray(source)[None]), labels=labels[None].to(model.device)).logits[0]
    return _chosen(logits, labels)


def decoder_inputs(model: Any, labels: torch.Tensor) -> torch.Tensor:
    """Return what the decoder reads where ``labels`` are to be predicted, as the model makes it of them itself.

    Args:
        model: A ``transformers.PreTrainedModel``, of some class that has labels.
        labels: Shape (rows, length), of int.

    Raises:
        UserError: If transformers says in no way how the model shifts its labels.
    """
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        return model.prepare_decoder_input_ids_from_labels(labels)
    # BART's later kin have it as a function of their module.
    shift = getattr(sys.modules[type(model).__module__], "shift_tokens_right", None)
    if shift is None:
        raise UserError(f"{type(model).__name__} does not say how it shifts labels to the right; leave this model out")
    return shift(labels, model.config.pad_token_id, model.config.decoder_start_token_id)


def _chosen(logits: torch.Tensor, targets: torch.Tensor):
    logits, targets = logits.float(), targets.to(logits.device)
    return (logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)).double().cpu().numpy()


class Probes:
    """What an engine is checked with.

    Args:
        engine: With ``network``, ``tokenizer``, ``architecture``, ``lengths(rows)`` and, for an encoder,
            ``masked_copies(ids, words)``.
        instances: Of the job, as for :func:`scripts.core.data.options.option_texts`; those with the longest texts
            suffice.
        limit: The model's context length; a longer text is refused elsewhere.
        size: Tokens of the job's packed sequences of short texts; 0 if texts are not packed.

    Attributes:
        rows (DataFrame): Texts, as of :func:`scripts.core.data.options.option_texts`, built-in ones and the job's
            longest, which comes last.
        sequences (list of ndarray of int64): For a decoder, the token ids of ``rows`` and of the branches of the
            longest that fill a packed sequence.
        packs (list of list of int): For a decoder whose texts are packed, which sequences fill one packed sequence.
        exchanged (list of ndarray of int64): For a decoder, the same with other tokens at the end of all but those of
            ``watched``.
        watched (list of int): Which sequences' scores must stay when those of others are exchanged.
        picks (dict of int to ndarray of int64): For an encoder, which masked copies of each row are looked at.
        compared (list of int): Which rows (or sequences) are scored in the plainest way, too.
        longest (int): Tokens of the longest text.
    """

    def __init__(self, engine: Any, instances: pd.DataFrame, limit: int | None, size: int):
        self.network, self.architecture = engine.network, engine.architecture
        self.engine = engine
        built_in = [(f"probe {i}", text, list(PROBE_OPTIONS)) for i, text in enumerate(PROBES)]
        rows = option_texts(pd.DataFrame(built_in, columns=["instance_id", "text", "options"]))
        longest = _longest(engine, instances, limit)
        self.rows = rows if longest is None else pd.concat([rows, longest], ignore_index=True)
        lengths = np.asarray(engine.lengths(self.rows))
        self.longest = int(lengths.max())
        last = int(lengths.argmax())
        # One option of each built-in text, and the longest text.
        self.compared = sorted({*range(1, len(rows), len(PROBE_OPTIONS)), last})
        self.sequences, self.exchanged, self.watched, self.packs, self.picks = [], [], [], [], {}
        if self.architecture == "encoder":
            self.read = engine.read_words(self.rows.text.tolist())
            for row in range(len(self.rows)):
                count = len(self._copies(row))
                self.picks[row] = np.unique(np.linspace(0, count - 1, min(COPIES, count)).round().astype(int))
        elif self.architecture == "decoder":
            self.sequences = [np.array(ids) for ids in engine.tokenizer(self.rows.text.tolist())["input_ids"]]
            self._branch(last, size, limit)

    def _copies(self, row: int):
        ids, words = self.read
        return list(self.engine.masked_copies(ids[row], words[row]))

    def _branch(self, last: int, size: int, limit: int | None):
        """Add branches of the longest text, and of its beginning where a window is shorter, until a pack is full."""
        window = self.engine.window
        bases = [last]
        if window and window < self.longest:
            self.sequences.append(self.sequences[last][:window])
            bases.append(len(self.sequences) - 1)
        watched = set(self.compared) - {last}
        for base in bases:
            ids, first = self.sequences[base], len(self.sequences)
            largest = size and prefix_tree.largest_pack(len(ids), size, limit)
            self.sequences += branches(ids, largest)
            # Sorted as they are packed, the last of them is the furthest from what it shares with the first.
            for some in (range(first, first + 2), range(first + 2, len(self.sequences))):
                order = sorted((i for i in some if i < len(self.sequences)), key=lambda i: self.sequences[i].tolist())
                watched.update(order[-1:])
            self.compared += order[-1:]
            if largest and not (window and len(ids) > window):
                watched |= self._fill(base, first, largest)
        self.exchanged = [ids if i in watched else with_changed_end(ids) for i, ids in enumerate(self.sequences)]
        self.watched = sorted(watched)

    def _fill(self, base: int, first: int, size: int) -> set[int]:
        """Make a pack of exactly ``size`` tokens of a text and its branches, the last of which is cut to fit.

        A job divides what exceeds a pack, so branches that it packs may end far below the size of its largest pack.

        Args:
            base: The text; its branches begin at ``first``.

        Returns:
            The last sequence of the pack and the one that was cut, whose tokens must not be exchanged.
        """
        ids, group = self.sequences[base], [base]
        # A text's last token is predicted and not read.
        room = size - (len(ids) - 1)
        for number in range(first, len(self.sequences)):
            branch = self.sequences[number]
            place = changed_at(ids, branch)
            if len(branch) - 1 - place > room:
                if room > 0:
                    self.sequences.append(branch[: place + room + 1])
                    group.append(len(self.sequences) - 1)
                break
            group.append(number)
            room -= len(branch) - 1 - place
        self.packs.append(group)
        furthest = max(group, key=lambda i: self.sequences[i].tolist())
        self.compared = sorted({*self.compared, furthest})
        return {furthest, group[-1]}

    def first(self) -> np.ndarray:
        """Return the scores of the first compared text, in the plainest way."""
        return self._plain(self.compared[0])

    def plain(self) -> dict[int, np.ndarray]:
        """Return the scores of what is compared, in the plainest way, of float64."""
        return {row: self._plain(row) for row in self.compared}

    def _plain(self, row: int):
        if self.architecture == "decoder":
            return plain_decoder(self.network, self.sequences[row])
        if self.architecture == "encoder":
            copies = self._copies(row)
            return plain_encoder(self.network, [copies[i] for i in self.picks[row]])
        return plain_encoder_decoder(self.network, *self._pair(row))

    def _pair(self, row: Any):
        row = self.rows.iloc[row]
        return self.engine.source(row.masked), np.array(self.engine.labels(row.filled, row.text))

    def lookahead(self, expected: dict[int, np.ndarray]) -> float:
        """Return how far an earlier score changes, in nats, when a later token does: 0 if only by rounding.

        ``expected`` is as returned by :meth:`plain`.
        """
        if self.architecture == "encoder":
            return 0.0
        if self.architecture == "decoder":
            pairs = [
                (values, other, changed_at(self.sequences[row], self.sequences[partner]) - 1)
                for (row, values), (partner, other) in itertools.combinations(expected.items(), 2)
                if len(self.sequences[row]) == len(self.sequences[partner])
            ]
        else:
            row = self.compared[-1]
            source, labels = self._pair(row)
            changed = labels.copy()
            place = len(labels) // 2
            changed[place] = labels[0] if labels[place] != labels[0] else labels[-1]
            pairs = [(expected[row], plain_encoder_decoder(self.network, source, changed), place)]
        changes = [(abs(a[:n] - b[:n]).sum(), n) for a, b, n in pairs if n > 0]
        return max((change for change, n in changes if change > rounding_bound(n)), default=0.0)

    def stretch(self, expected: dict[int, np.ndarray]) -> float:
        """Return how far scores change, in nats, with the length of what a decoder reads: 0 if only by rounding.

        The longest text's beginning, of as many tokens as the shortest, is read by itself. Positions that are scaled
        beyond some length, as by long RoPE, give it other scores if that length lies between the two.

        Args:
            expected: As returned by :meth:`plain`.
        """
        last = max(expected, key=lambda row: len(expected[row]))
        alone = plain_decoder(self.network, self.sequences[last][: min(map(len, self.sequences))])
        change = float(abs(alone - expected[last][: len(alone)]).sum())
        return change if change > rounding_bound(len(alone)) else 0.0


def _longest(engine: Any, instances: pd.DataFrame, limit: int | None) -> pd.DataFrame | None:
    """Return the rows of the first and the last option of the longest instance within ``limit``, or None."""
    texts: Any = instances.text.str.encode("utf-8")
    sizes = texts.str.len()
    chosen = option_texts(instances.loc[sizes.nlargest(CANDIDATES, keep="first").index])
    if not len(chosen):
        return None
    lengths = pd.Series(np.asarray(engine.lengths(chosen))).groupby(chosen.instance_id.to_numpy(), sort=False).max()
    fitting = lengths[lengths <= limit] if limit else lengths
    if not len(fitting):
        return None
    rows = chosen[chosen.instance_id == fitting.idxmax()]
    return rows.iloc[[0, -1]] if len(rows) > 1 else rows


def branches(ids: np.ndarray, size: int) -> list[np.ndarray]:
    """Return sequences that begin like ``ids`` and with it fill a packed sequence.

    Args:
        ids: Shape (tokens,), of int.
        size: Tokens of the packed sequence.

    Returns:
        Each of shape (tokens,), of int, and equal to ``ids`` up to some token. From there on they repeat a few tokens
        of the text, others for each branch. The first two branch off near the end, as the options of a text do; the
        others at a quarter of the text or behind it. At least one of these, and enough to have ``size`` tokens in the
        tree of all; fewer only where a text has not enough different tokens.
    """
    words = list(dict.fromkeys(ids[1:].tolist()))
    late, early = max(1, len(ids) - max(3, len(ids) // 8)), max(1, len(ids) // 4)
    places = [(place, number) for place in range(early, len(ids) - 1) for number in range(len(words))]
    sequences, total = [], len(ids)
    for place, number in [*((late, number) for number in range(len(words))), *places]:
        if words[number] == ids[place] or (place == late and len(sequences) == 2):
            continue
        few = np.roll(words, -number - 1)[:BRANCH_TOKENS]
        sequences.append(
            np.concatenate([ids[:place], words[number : number + 1], np.resize(few, len(ids) - place - 1)])
        )
        total += len(ids) - place
        if total > size and len(sequences) > 2:
            break
    return sequences


def with_changed_end(ids: np.ndarray) -> np.ndarray:
    """Return a text with other tokens of it at its end, where no other text shares any with it."""
    words = list(dict.fromkeys(ids[1:].tolist()))
    count = min(max(2, len(ids) // 16), len(ids) - 1)
    changed = ids.copy()
    for place in range(len(ids) - count, len(ids)):
        changed[place] = words[(words.index(int(ids[place])) + 1) % len(words)]
    return changed


def changed_at(first: np.ndarray, second: np.ndarray) -> int:
    """Return the first position at which two arrays of one length differ, or their length."""
    places = np.flatnonzero(first != second)
    return int(places[0]) if len(places) else len(first)


def check(engine: Any, instances: pd.DataFrame, limit: int | None, size: int = 0) -> int:
    """Choose how an engine runs its model, or refuse the model; see the module's docstring.

    Args:
        engine: As for :class:`Probes`; besides ``ways()``, a generator that sets one way of running after another, from
            fast to plain; ``sharing``, whether it packs texts into sequences; ``score_probes(probes)``, which returns a
            dict from rows to their scores, where it packs them :func:`with_changed_end` as well; and ``description``.
        instances, limit, size: As for :class:`Probes`.

    Returns:
        Tokens of the longest text that was tried.

    Raises:
        UserError: If the model cannot be run, looks ahead, or no way of running it agrees with the plainest.
    """
    probes = Probes(engine, instances, limit, size)
    network = probes.network
    name = type(network).__name__
    half = network.dtype != torch.float32
    rounding = half_precision_allowed if half else rounding_bound
    native = run_or_refuse(probes.first, name, "a short text")
    _refuse_unless_finite({0: native}, network, str(network.dtype).removeprefix("torch."))
    _refuse_unless_repeated(probes, native, rounding)
    with in_float32(network), exact_kernels():
        expected = run_or_refuse(probes.plain, name, f"texts of up to {probes.longest} tokens")
        _refuse_unless_finite(expected, network, "float32")
        ahead = probes.lookahead(expected)
        # In a packed sequence, a text is read at the length of the longest beside it.
        stretched = engine.sharing and probes.stretch(expected)
    if ahead:
        raise UserError(
            f"{name}: a later token changes the score of an earlier one (by {ahead:.2g} nats): this model has no "
            "log-likelihood to score; leave it out, or correct its architecture in config/models.yaml"
        )
    if stretched:
        log.info("self-check: a token's score depends on the length of its text (%.2g nats)", stretched)
        engine.sharing = False
    if half:
        _refuse_unless_repeated(probes, native, rounding)
        rounded = probes.plain()
        _refuse_unless_finite(rounded, network, str(network.dtype).removeprefix("torch."))
    for _ in engine.ways():
        with in_float32(network), exact_kernels():
            reason = disagreement(engine, probes, expected, rounding_bound, exchange=engine.sharing)
        if reason is None and half:
            reason = disagreement(engine, probes, rounded, half_precision_allowed)
        facts = ", ".join(f"{key} {value}" for key, value in engine.description.items())
        if reason is None:
            log.info("self-check passed with texts of up to %d tokens: %s", probes.longest, facts)
            return probes.longest
        log.info("self-check: %s: %s", facts, reason)
    raise UserError(
        f"{name}: scores in batches are not those of single texts ({reason}): a score would depend on more than its "
        "text; leave this model out"
    )


def rounding_bound(tokens: int) -> float:
    """Return by how many nats two float32 scores of a text with this many tokens may differ: by rounding."""
    return max(TOLERANCE, TOLERANCE_PER_TOKEN * tokens)


def half_precision_allowed(tokens: int) -> float:
    """Return by how many nats two scores in half precision of a text with this many tokens may differ."""
    return HALF_PRECISION_TOLERANCE_PER_TOKEN * tokens


def _refuse_unless_repeated(probes: Probes, before: np.ndarray, bound: Callable[[int], float]):
    if not abs(probes.first().sum() - before.sum()) <= bound(len(before)):
        name = type(probes.network).__name__
        raise UserError(f"{name}: a text gets another score when it is scored again; leave this model out")


def disagreement(
    engine: Any, probes: Probes, expected: dict[int, np.ndarray], bound: Callable, exchange: bool = False
) -> str | None:
    """Return why the way that ``engine`` runs its model is unfit, or None.

    Args:
        engine, probes: As for :func:`check`.
        expected: As returned by :meth:`Probes.plain`. Of float64.
        bound: Says for a number of tokens by how many nats scores may differ.
        exchange: Whether to exchange tokens of other texts, too.
    """
    try:
        scores = engine.score_probes(probes)
        after = engine.score_probes(probes, exchanged=True) if exchange else scores
    # Whatever a model's code raises, it says that the model cannot be run like this.
    except Exception as error:
        return describe_error(error)
    largest = 0.0
    for row in scores.keys() & expected.keys():
        values = expected[row]
        if len(values) != len(scores[row]):
            return f"{count_noun(len(scores[row]), 'token')} scored instead of {len(values)}"
        difference = abs(values.sum() - scores[row].sum())
        if not difference <= bound(len(values)):
            return f"a score differs by {difference:.2g} nats"
        largest = max(largest, difference)
    changes = [abs(after[row] - scores[row]).max(initial=0.0) for row in probes.watched] if exchange else []
    if not max(changes, default=0.0) <= EXCHANGED_TOLERANCE:
        return f"the score of a token changes by {max(changes):.2g} nats with the tokens of other texts"
    log.info("self-check: largest difference %.1e nats", largest)
    return None


def run_or_refuse(run: Callable, name: str, what: str) -> Any:
    """Return what ``run`` returns; whatever it raises says that a model cannot be run.

    Args:
        run: Without arguments.
        name, what: The model and what it is run on, for the message.

    Raises:
        UserError: In one line.
    """
    try:
        return run()
    except UserError:
        raise
    except Exception as error:
        if memory.ran_out(error):
            raise UserError(f"{name}: memory runs out with {what}; give the model more GPUs or memory") from error
        raise UserError(f"{name}: the model cannot be run on {what} ({describe_error(error)}); leave it out") from error


def nonfinite_remedy(network: "PreTrainedModel", precision: str | None = None) -> str:
    """Return what to do about numbers of a model that are not finite; its weights may be the reason."""
    broken = next((name for name, weights in network.named_parameters() if not torch.isfinite(weights).all()), None)
    if broken:
        return f"the weights {broken} of its checkpoint are not finite: fetch it again, or leave this model out"
    if (precision or str(network.dtype)).removeprefix("torch.") == "float32":
        return "leave this model out"
    return "use a wider precision for this model in config/models.yaml"


def _refuse_unless_finite(scores: dict[int, np.ndarray], network: "PreTrainedModel", precision: str):
    if not all(np.isfinite(values).all() for values in scores.values()):
        raise UserError(
            f"{type(network).__name__}: scores in {precision} are not finite; {nonfinite_remedy(network, precision)}"
        )


@contextlib.contextmanager
def exact_kernels() -> Iterator[None]:
    """Let GPUs compute float32 as float32, not in a shorter format, inside the block."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled, allow_tf32=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextlib.contextmanager
def in_float32(model: torch.nn.Module) -> Iterator[None]:
    """Let ``model`` compute in float32 inside the block; its weights are the same afterwards, bit for bit.

    Widening is exact, so this is what the model would compute if it had been loaded in float32. Where all weights need
    more than :data:`WHOLE_BYTES`, those of each layer (of the items of a ``ModuleList``) are widened while it runs.
    """
    tensors = list(_narrow_tensors(model))
    blocks = list(_blocks(model)) if sum(tensor.numel() * 4 for tensor in tensors) > WHOLE_BYTES else []
    inside = {id(tensor) for block in blocks for tensor in _narrow_tensors(block)}
    hooks = []
    for block in blocks:
        held = contextlib.ExitStack()

        def widen(module: torch.nn.Module, _arguments: tuple, held: contextlib.ExitStack = held):
            held.enter_context(_widened(list(_narrow_tensors(module))))

        def restore(_module: torch.nn.Module, _arguments: tuple, _output: Any, held: contextlib.ExitStack = held):
            held.close()

        hooks += [
            block.register_forward_pre_hook(widen),
            block.register_forward_hook(restore, always_call=True),
        ]
    try:
        with _widened([tensor for tensor in tensors if id(tensor) not in inside]):
            yield
    finally:
        for hook in hooks:
            hook.remove()


def _narrow_tensors(module: torch.nn.Module):
    """Yield each distinct parameter and buffer in half precision."""
    for tensor in itertools.chain(module.parameters(), module.buffers()):
        if tensor.dtype in (torch.bfloat16, torch.float16):
            yield tensor


def _blocks(model: torch.nn.Module):
    """Yield the items of each ``ModuleList`` that is in no other: the layers."""
    waiting = [model]
    while waiting:
        module = waiting.pop()
        if isinstance(module, torch.nn.ModuleList):
            yield from module
        else:
            waiting.extend(module.children())


@contextlib.contextmanager
def _widened(tensors: Iterable[torch.Tensor]):
    """Give parameters and buffers in half precision float32 values inside the block."""
    kept = [(tensor, tensor.data) for tensor in tensors]
    try:
        for tensor, narrow in kept:
            tensor.data = narrow.float()
        yield
    finally:
        for tensor, narrow in kept:
            tensor.data = narrow
