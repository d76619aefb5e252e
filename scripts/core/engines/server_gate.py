"""Whether a server may be trusted: a few texts scored there and here, in float32 and one at a time.

A server may read texts otherwise, round, quantise, or answer one call otherwise than the next. What it gives for a
sample of a job's texts is compared with the model's own checkpoint, and a difference beyond the bound ends the job
before anything else is asked. Answers are kept, so a job that goes on compares what the server said before; and behind
an address the model can change while a job runs. So a few of these texts are asked for anew whenever anything is sent
(:class:`Watch`), and no answer is kept before the check that follows it.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from scripts.core.data import instances, options
from scripts.core.engines import served_scores
from scripts.core.engines.scoring import result_table
from scripts.core.errors import UserError, count_noun

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

TEXTS = 50
"""Texts that are compared at least: all options of as many instances as it takes."""
BOUND_NATS = 0.1
"""The bound of a registry entry that names none."""
WINDOW = 1024
WATCHED_TEXTS = 3
"""Texts that each check asks for anew."""


def draw_instances(path: str | Path, priority: int | None = None, texts: int = TEXTS) -> pd.DataFrame:
    """Return the instances of a file whose texts are compared: those whose ids have the smallest digests.

    Args:
        priority: As for :func:`scripts.core.data.instances.shard_rows`.
        texts: How many texts they have at least, if there are so many.

    Returns:
        ``instance_id``, ``text``, ``options``; the same whatever the order of the file.
    """
    chosen = instances.shard_rows(path, 1, 1, 1, priority)
    kept = pd.DataFrame(columns=["instance_id", "text", "options"])
    for window in instances.read_batches(path, chosen, WINDOW):
        kept = pd.concat([kept, window], ignore_index=True)
        order = [hashlib.sha256(identifier.encode()).hexdigest() for identifier in kept.instance_id]
        kept = kept.iloc[np.argsort(order)]
        counts = kept.options.map(len).to_numpy()
        # As many instances as it takes to reach the number of texts.
        needed = int((counts.cumsum() - counts < texts).sum())
        kept = kept.head(needed)
    return kept.reset_index(drop=True)


def score_here(
    model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", sample: pd.DataFrame, device: str = "cpu"
) -> pd.DataFrame:
    """Return the scores of instances by a plain loop over single texts, with the log-softmax in float32.

    Args:
        model: A decoder in float32.
        sample: As :func:`draw_instances` returns it.

    Returns:
        As of :func:`scripts.core.engines.scoring.result_table`.
    """
    rows = options.option_texts(sample)
    place = "cuda" if device == "auto" else device
    return result_table(rows, [_values(model, tokenizer, text, place) for text in rows.text])


def _values(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", text: str, device: str):
    ids = torch.tensor([tokenizer(text)["input_ids"]], device=device)
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, :-1].float()
    chosen = logits.gather(1, ids[0, 1:, None].to(logits.device))[:, 0]
    return (chosen - logits.logsumexp(dim=1)).double().cpu().numpy()


def compare(here: pd.DataFrame, there: pd.DataFrame, again: pd.DataFrame) -> dict:
    """Return how scores of a server differ from those of this machine.

    Args:
        here: As :func:`score_here` returns it.
        there, again: The same texts' scores by the server, in the same order, and by a second call.

    Returns:
        ``texts``, ``instances``; ``largest_difference_nats`` and ``mean_difference_nats`` (absolute, between sums over
        a text); ``changed_decisions``, instances whose best option is another one; ``repeated_calls_agree``, whether
        the second call gave the same numbers to the last digit, and ``largest_repeat_difference_nats``.
    """
    differences = np.abs(there.log_probability.to_numpy() - here.log_probability.to_numpy())
    repeats = np.abs(there.log_probability.to_numpy() - again.log_probability.to_numpy())
    changed = options.predict(there).option_index != options.predict(here).option_index
    return {
        "texts": len(here),
        "instances": int(here.instance_id.nunique()),
        "largest_difference_nats": float(differences.max()),
        "mean_difference_nats": float(differences.mean()),
        "changed_decisions": int(changed.sum()),
        "repeated_calls_agree": bool((repeats == 0).all()),
        "largest_repeat_difference_nats": float(repeats.max()),
    }


class Watch:
    """Asks for a few texts of the gate anew; each call takes the next ones in turn.

    Args:
        texts: Of the gate, in its order.
        here, there: Their scores on this machine, and those that the gate had of the server, in nats.
        bound, drift: How far a new score may be from that of this machine, and from that of the gate.
    """

    def __init__(
        self,
        client: served_scores.LikelihoodClient,
        texts: list[str],
        here: Sequence[float],
        there: Sequence[float],
        bound: float,
        drift: float,
    ):
        self.client: Any
        known = {text: values for text, *values in zip(texts, here, there, strict=True)}
        self.client, self.texts, self.known = client, list(known), known
        self.bound, self.drift = bound, drift
        self.checks = 0

    def __call__(self) -> None:
        """Keep the answers that waited for this check if it holds.

        Raises:
            UserError: If the server gives other scores than before; what waited is dropped.
        """
        start = self.checks * WATCHED_TEXTS
        chosen = {self.texts[place % len(self.texts)] for place in range(start, start + WATCHED_TEXTS)}
        for text in sorted(chosen):
            now = sum(self.client.score_anew(text).values)
            here, there = self.known[text]
            if not (abs(now - here) <= self.bound and abs(now - there) <= self.drift):
                dropped = len(self.client.unchecked)
                self.client.unchecked = {}
                raise UserError(
                    f"model {self.client.name}: {self.client.url}: a text that scored {there:.6g} nats when the server "
                    f"was checked ({here:.6g} here) now scores {now:.6g}; another model may answer there. Of what it "
                    f"said since the last check nothing is kept ({count_noun(dropped, 'answer')}); serve what was "
                    "served before, or name another folder in completions.cache to begin anew"
                )
        self.checks += 1
        self.client.accept()


def watching_usd(client: served_scores.LikelihoodClient, texts: Iterable[str], new: int, windows: int) -> float:
    """Return what :class:`Watch` costs at most where so many new requests are sent in so many windows."""
    if not new:
        return 0.0
    dearest = max(
        sum(client.cost(client.tokens_of(asked), client.max_tokens) for asked in client.requests(text))
        for text in texts
    )
    return WATCHED_TEXTS * (2 * windows + math.ceil(new / served_scores.BETWEEN_CHECKS)) * dearest


def check_same_texts(here: pd.DataFrame, there: pd.DataFrame, where: str | Path) -> None:
    """Refuse a reference that is not of the texts that are asked for, or has other tokens.

    Raises:
        UserError
    """
    keys = ["instance_id", "option_index", "option"]
    if len(here) != len(there) or (here[keys].to_numpy() != there[keys].to_numpy()).any():
        raise UserError(f"{where}: is not of these instances; delete the file and run the workflow again")
    different = here.scored_tokens.to_numpy() != there.scored_tokens.to_numpy()
    if different.any():
        row = here[different].iloc[0]
        raise UserError(
            f"{where}: instance {row.instance_id}, option {row.option!r} has {row.scored_tokens} scored tokens here, "
            f"{there.scored_tokens[different].iloc[0]} there; name the served model's own checkpoint in "
            "api.scoring.reference"
        )


def check(name: str, url: str, compared: dict, bound: float) -> None:
    """End the job if a server differs too much.

    Args:
        name, url: The model in the registry, and the server's address.
        compared: As :func:`compare` returns it.
        bound: The largest difference allowed, in nats.

    Raises:
        UserError
    """
    largest = compared["largest_difference_nats"]
    if not (math.isfinite(largest) and largest <= bound):
        repeats = "" if compared["repeated_calls_agree"] else "; repeated calls differ too"
        raise UserError(
            f"model {name}: {url}: of {count_noun(compared['texts'], 'text')} scored there and here in float32, one "
            f"differs by {largest:.3g} nats, more than {bound:g}, and {compared['changed_decisions']} of "
            f"{count_noun(compared['instances'], 'decision')} change{repeats}; serve the same weights in float32, or "
            "raise api.scoring.bound_nats if such differences are meant"
        )
