"""What a run will cost, before it is paid for: tokens, memory, GPUs, jobs and hours of each model.

Everything follows from parameters and from the sizes that studies declare; neither instances nor models are needed.
Prompts and token distributions are planned at their longest, as the time limits of their jobs are.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.models import costs

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "model", "study", "set", "rule", "items", "tokens", "jobs", "memory_gb", "weights_gb", "device", "gpus", "hours",
]  # fmt: skip
"""Columns of the plan."""
SPAN_TOKENS = 5
"""Labels of a span: two sentinels, the end of the sequence, and an option of two tokens."""
BATCH_TOKENS = 32768
"""Tokens of a forward pass on a GPU, as ``scoring.tokens_per_batch: auto``."""


def scored_tokens(entry: dict[str, Any], options: int, lengths: Sequence[tuple[int, float]], shared: float) -> int:
    """Return the tokens of the forward passes that score instances.

    An encoder masks every token of every option in turn. A decoder reads what options and neighbours share once, unless
    its layers carry a state. An encoder-decoder reads an instance once, and the label of each option.

    Args:
        options: Options of an instance.
        lengths: How many instances have texts of how many tokens.
        shared: Texts' worth of tokens that a decoder reads for all options of an instance together.
    """
    read = sum(count * tokens for count, tokens in lengths)
    if entry["architecture"] == "encoder":
        return round(sum(count * options * tokens**2 for count, tokens in lengths))
    if entry["architecture"] == "decoder":
        return round(read * (options if entry.get("recurrent") else min(shared, options)))
    labels = SPAN_TOKENS * sum(count for count, _ in lengths) if entry.get("labels") == "span" else read
    return round(read + options * labels)


def plan(work: Sequence[dict[str, Any]], entries: dict[str, dict], devices: dict[str, dict]) -> list[dict[str, Any]]:
    """Return a row for each piece of work and GPU type, with the keys of :data:`COLUMNS`.

    Args:
        work: ``model``, ``study``, ``set``, ``rule``, ``items`` (instances, prompts, texts or documents), ``read`` and
            ``generated`` (tokens of all of them) and ``jobs``.
        entries: Registry entries of models and coreference systems.
        devices: GPU types of the configuration: ``memory_gb``, and ``tflops`` by precision. A model that needs no GPU
            has one row, for a core of the CPU.
    """
    rows = []
    for part in work:
        entry = entries[part["model"]]
        for device, facts in devices.items() if entry["gpus"] else [("cpu", None)]:
            needed = gpus_needed(entry, facts["memory_gb"]) if facts else 0
            flops = facts["tflops"][entry["precision"]] * 1e12 if facts else costs.CPU_FLOPS
            rows.append(
                {key: part[key] for key in ("model", "study", "set", "rule", "items", "jobs")}
                | {
                    "tokens": part["read"] + part["generated"],
                    "memory_gb": costs.memory_mb(entry) / 1024,
                    "weights_gb": costs.weights_bytes(entry) / 1e9,
                    "device": device,
                    "gpus": needed,
                    "hours": hours(part, entry, flops, needed * facts["memory_gb"] if facts else 0),
                }
            )
    return rows


def hours(part: dict[str, Any], entry: dict[str, Any], flops: float, memory_gb: float) -> float:
    """Return how long all jobs of a piece of work take, one after the other, loading the model included."""
    read, generated = part["read"], part["generated"]
    if part["rule"] == "score":
        # A token of an encoder-decoder is read by about half of its parameters.
        share = 0.5 if entry["architecture"] == "encoder-decoder" else 1
        seconds = 2 * share * costs.work_parameters(entry) * read / flops
    elif part["rule"] in ("prompt", "token_distributions"):
        seconds = costs.generation_seconds(entry, part["items"], read, generated, flops, memory_gb)
    else:
        seconds = costs.document_operations(entry, read) / flops + part["items"] * costs.SECONDS_PER_DOCUMENT
    loading = 20 + costs.weights_bytes(entry) / costs.LOAD_BYTES_PER_SECOND
    return (seconds + part["jobs"] * loading) / 3600


def gpus_needed(entry: dict[str, Any], memory_gb: float) -> int:
    """Return how many GPUs of ``memory_gb`` hold the weights, a tenth more for activations, and the logits."""
    needed = 1.1 * costs.weights_bytes(entry) + costs.LOGITS_BYTES + BATCH_TOKENS * costs.ACTIVATION_BYTES
    return int(np.ceil(needed / (costs.USABLE_MEMORY * memory_gb * 2**30)))


def describe_totals(frame: "pd.DataFrame", entries: dict[str, dict]) -> str:
    """Return what a plan comes to, in a sentence: hours times GPUs by device, jobs, and the least that is fetched."""
    spent = (frame.hours * frame.gpus.clip(lower=1)).groupby(frame.device, sort=False).sum()
    most: Any = frame.groupby("device", sort=False).gpus.max()
    each = [
        f"{two_digits(value)} GPU hours on {device}" + (f" (up to {most[device]} GPUs)" if most[device] > 1 else "")
        for device, value in spent.items()
        if device != "cpu"
    ]
    here = [f"{two_digits(spent['cpu'])} hours on one CPU core"] if "cpu" in spent else []
    # Systems that are trained share encoders.
    fetched = {str(entries[name]["source"]): name for name in frame.model if "hub" in entries[name]["source"]}.values()
    size = sum(costs.weights_bytes(entries[name]) for name in fetched) / 1e9
    download = f"{two_digits(size)} GB of weights" if size else "no weights"
    return f"{', and '.join([*here, *filter(None, [' or '.join(each)])])}; {download} to download at least"


def report(frame: "pd.DataFrame", entries: dict[str, dict]) -> str:
    """Return a plan as text: the totals, then a line for each model and study with GPU hours by device."""
    keys, order = ["model", "study"], list(dict.fromkeys(frame.model))
    frame = frame.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
    once = frame.drop_duplicates([*keys, "set", "rule"]).groupby(keys, sort=False)
    sizes = once.agg(jobs=("jobs", "sum"), tokens=("tokens", "sum"), memory=("memory_gb", "max"))
    spent = frame.assign(spent=frame.hours * frame.gpus.clip(lower=1))
    by_device = spent.pivot_table(index=keys, columns="device", values="spent", aggfunc="sum", sort=False)
    table = sizes.join(by_device.map(lambda value: two_digits(value) if value == value else "-")).assign(
        tokens=[f"{value:.1e}" for value in sizes.tokens], memory=[f"{value:.0f} GB" for value in sizes.memory]
    )
    return (
        f"In all: {describe_totals(frame, entries)}; {sizes.jobs.sum():,} jobs.\n"
        f"Hours by device, times GPUs:\n{table.reset_index().to_string(index=False)}"
    )


def two_digits(value: float) -> str:
    """Return a positive number with two digits, as text.

    Examples:
        >>> [two_digits(x) for x in (0.0123, 4.56, 78.9, 1234)]
        ['0.012', '4.6', '79', '1200']
    """
    return np.format_float_positional(float(f"{value:.1e}"), trim="-")
