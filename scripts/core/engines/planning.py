"""What a run will cost: tokens, operations, memory, GPUs, jobs, hours and downloads, before anything is paid for.

Everything follows from what studies declare of their instances, prompts and texts, so that a plan needs none of them.
Hours follow from floating-point operations and a speed: measured by earlier runs on the same kind of device where there
are any, otherwise as config.yaml states it for a GPU type, otherwise from multiplying matrices on this machine for a
moment. Prompts and token distributions are estimated at their longest, as the time limits of their jobs are.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.engines import registry
from scripts.core.engines.batches import BATCH_TOKENS

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "instances_of", "rule", "model", "instances", "tokens", "tokens_shared", "operations", "weights_gb", "jobs",
    "device", "gpus", "hours", "hours_unshared", "speed",
]  # fmt: skip
"""Columns of the plan."""

# Share of what a large matrix product reaches that a model's forward pass reaches on a CPU.
CPU_EFFICIENCY = 0.6
# Labels of a span: two sentinels, the end of the sequence, and an option of two tokens.
SPAN_TOKENS = 5


def count_tokens(
    architecture: str, options: int, lengths: Sequence[tuple[int, float]], shared: float, labels: str = "text"
) -> tuple[int, int]:
    """Count the tokens of forward passes without and with sharing.

    Args:
        architecture: One of "encoder", "decoder", "encoder-decoder".
        options: Options of an instance.
        lengths: How many instances have texts of how many tokens.
        shared: Tokens that a decoder reads of all options of an instance together, in texts.
        labels: What an encoder-decoder is to predict. One of "text", "span".

    Returns:
        An encoder's every token is a masked copy of the whole text; what its options share is nearly nothing and left
        out. A decoder's options and neighbours share their beginnings. An encoder-decoder reads an instance once, and
        each option's label.
    """
    if architecture == "encoder":
        total = round(sum(count * options * tokens**2 for count, tokens in lengths))
        return total, total
    read = sum(count * tokens for count, tokens in lengths)
    if architecture == "decoder":
        return round(options * read), round(read * min(shared, options))
    predicted = options * (SPAN_TOKENS * sum(count for count, _ in lengths) if labels == "span" else read)
    return round(options * read + predicted), round(read + predicted)


def rows(
    scored: dict[str, dict],
    prompted: dict[str, dict],
    texts: dict[str, dict],
    resolved: dict[str, dict],
    trained: dict[str, dict],
    entries: dict[str, dict],
    devices: dict[str, dict],
    measured: dict,
    cpu: float,
) -> list[dict]:
    """Return the plan of a run, one row for each set, model and device type.

    Args:
        scored: ``study/set`` to ``options``, ``shared``, ``score`` (what options are compared by, if it is not
            log-likelihood), and ``lengths`` (:func:`count_tokens`) and ``jobs`` of each model.
        prompted: ``study/set`` and model to ``prompts``, ``tokens`` (of a typical one), ``generated`` (tokens of all
            answers) and ``jobs``.
        texts: ``study/set`` to ``counts`` of texts by method, ``tokens`` (of a typical one), ``new_tokens`` that
            continue it, and ``methods``: model to the methods by which it reads them.
        resolved: ``study/set`` to ``documents`` (how many), ``tokens`` (of a typical one) and ``jobs`` of each system.
        trained: Systems that are trained to what :func:`scripts.core.coreference_systems.entries.training_tokens`
            returns.
        entries: The registry entries of models and systems.
        devices: GPU types (:func:`plan`).
        measured: As returned by :func:`measured_speeds`.
        cpu: Floating-point operations per second of this machine's CPU.

    Returns:
        With the keys of :data:`COLUMNS`.
    """
    found = []
    for name, asked in scored.items():
        for model, jobs in asked["jobs"].items():
            entry, lengths = entries[model], asked["lengths"][model]
            count = sum(instances for instances, _ in lengths)
            shared = asked["options"] if entry.get("recurrent") else asked["shared"]
            counts = count_tokens(entry["architecture"], asked["options"], lengths, shared, entry.get("labels", "text"))
            planned = plan(model, entry, counts, count, jobs, devices, measured, cpu)
            found += [{"instances_of": name, **row} for row in planned]
    for name, models in prompted.items():
        for model, job in models.items():
            planned = plan_generation(
                "prompt", model, entries[model], job["prompts"], job["tokens"], job["generated"], job["jobs"], devices,
                cpu,
            )  # fmt: skip
            found += [{"instances_of": name, **row} for row in planned]
    for name, text in texts.items():
        for model, methods in text["methods"].items():
            read = sum(text["counts"][method] for method in methods)
            generated = text["counts"]["generate"] * text["new_tokens"] if "generate" in methods else 0
            planned = plan_generation(
                "token_distributions", model, entries[model], read, text["tokens"], generated, 1, devices, cpu
            )
            found += [{"instances_of": name, **row} for row in planned]
    for name, asked in resolved.items():
        for system, jobs in asked["jobs"].items():
            planned = plan_coreference(system, entries[system], asked["documents"], asked["tokens"], jobs, devices, cpu)
            found += [{"instances_of": name, **row} for row in planned]
    for name, job in trained.items():
        planned = plan_training(name, entries[name], job, devices, cpu)
        found += [{"instances_of": "ontonotes", **row} for row in planned]
    return found


def totals(frame: "pd.DataFrame", entries: dict[str, dict]) -> dict:
    """Return what a plan comes to.

    Args:
        frame: Of :func:`rows`.

    Returns:
        ``hours``: device to hours times GPUs, on ``cpu`` hours; ``most_gpus``: device to the most that one model needs;
        ``download_gb``: weights that the hub has, in the precision of the run, and so the least that is fetched.
    """
    spent = frame.hours * frame.gpus.clip(lower=1)
    # Systems that are trained share encoders.
    fetched = {str(entries[name]["source"]): name for name in frame.model if registry.uses_hub(entries[name])}.values()
    return {
        "hours": spent.groupby(frame.device, sort=False).sum().to_dict(),
        "most_gpus": frame.groupby("device", sort=False).gpus.max().to_dict(),
        "download_gb": sum(registry.weights_bytes(entries[name]) for name in fetched) / 1e9,
    }


def plan_report(summary: dict[str, Any]) -> str:
    """Return :func:`totals` in words, one line."""
    each = {
        device: f"{two_digits(value)} GPU hours on {device}"
        + (f" (up to {summary['most_gpus'][device]} GPUs)" if summary["most_gpus"][device] > 1 else "")
        for device, value in summary["hours"].items()
        if device != "cpu"
    }
    here = summary["hours"].get("cpu")
    parts = [
        *([f"{two_digits(here)} hours on this CPU"] if here else []),
        *([" or ".join(each.values())] if each else []),
    ]
    fetched = f"{two_digits(summary['download_gb'])} GB of weights" if summary["download_gb"] else "no weights"
    return f"In all: {', and '.join(parts)}; {fetched} to download at least."


def two_digits(value: float) -> str:
    """Return a positive number with two digits, as text.

    Examples:
        >>> [two_digits(x) for x in (0.0123, 4.56, 78.9, 1234)]
        ['0.012', '4.6', '79', '1200']
    """
    return np.format_float_positional(float(f"{value:.1e}"), trim="-")


def operations(entry: dict[str, Any], tokens: float) -> float:
    """Return the floating-point operations of forward passes: 2 x parameters used x layer_repeats for each token.

    A token of an encoder-decoder is read by about half of its parameters.
    """
    used = entry["parameters"] - entry.get("embedding_parameters", 0)
    share = 0.5 if entry["architecture"] == "encoder-decoder" else 1
    return 2 * used * share * entry.get("layer_repeats", 1) * tokens


def measured_speeds(folder: str | Path, entries: dict[str, dict]) -> dict:
    """Return the speeds of earlier runs.

    Args:
        folder: Where scoring jobs leave their ``speed`` files.
        entries: The registry.

    Returns:
        ``(device, precision, model)`` and ``(device, precision, architecture)`` to floating-point operations per
        second: totals of operations over totals of seconds, jobs that were resumed included with what they did.
    """
    sums = {}
    for path in sorted(Path(folder).rglob("*.json")):
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        entry = entries.get(facts.get("model"))
        if entry is None or not facts.get("scored_tokens") or facts.get("engine") != "packed":
            continue
        done = operations(entry, facts["scored_tokens"])
        for key in (facts["model"], entry["architecture"]):
            total = sums.setdefault((facts["device"], facts["precision"], key), [0, 0])
            total[0] += done
            total[1] += facts["seconds"]
    return {key: work / seconds for key, (work, seconds) in sums.items() if seconds > 0}


def cpu_speed(threads: int) -> float:
    """Return about how many floating-point operations per second a forward pass reaches on this machine's CPU."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    a, b = torch.ones(512, 1024), torch.ones(1024, 1024)
    try:
        torch.matmul(a, b)
        repeats, started = 0, time.perf_counter()
        while time.perf_counter() - started < 0.3:
            torch.matmul(a, b)
            repeats += 1
        return CPU_EFFICIENCY * repeats * 2 * 512 * 1024 * 1024 / (time.perf_counter() - started)
    finally:
        torch.set_num_threads(before)


def gpus_needed(entry: dict[str, Any], memory_gb: float, tokens_per_batch: int = BATCH_TOKENS["cuda"]) -> int:
    """Return how many GPUs of ``memory_gb`` hold the weights, a tenth more for activations, and the logits."""
    activations = tokens_per_batch * registry.ACTIVATION_BYTES
    needed = 1.1 * registry.weights_bytes(entry) + registry.LOGITS_BYTES + activations
    return int(np.ceil(needed / (registry.USABLE_MEMORY * memory_gb * 2**30)))


def plan(
    name: str,
    entry: dict,
    token_totals: tuple[int, int],
    n_instances: int,
    jobs: int,
    devices: dict[str, dict],
    speeds: dict,
    cpu: float,
) -> list[dict]:
    """Return the plan of one model, one row for each device type.

    Args:
        entry: The registry entry.
        token_totals: Tokens without and with sharing.
        devices: GPU types of the configuration: ``memory_gb``, and ``tflops`` by precision.
        speeds: As returned by :func:`measured_speeds`.
        cpu: Floating-point operations per second of this machine's CPU.

    Returns:
        ``rule``, ``model``, ``instances``, ``tokens``, ``tokens_shared``, ``operations``, ``weights_gb``, ``jobs``,
        ``device``, ``gpus``, ``hours`` (of all jobs, one after the other), ``hours_unshared`` (what they would be if
        nothing were shared) and ``speed``: what the hours rest on.
    """
    work = operations(entry, token_totals[1])
    rows = []
    for device, facts in _devices(entry, devices):
        speed, source = None, "measured on this model"
        for key, label in ((name, source), (entry["architecture"], "measured on models of its kind")):
            measured = [
                s for (d, p, k), s in speeds.items() if _is_of_type(d, device) and p == entry["precision"] and k == key
            ]
            if measured:
                speed, source = sum(measured) / len(measured), label
                break
        if speed is None:
            speed, source = _stated_speed(entry, facts, cpu)
        counted = {
            "instances": n_instances,
            "tokens": token_totals[0],
            "tokens_shared": token_totals[1],
            "operations": work,
        }
        seconds = [operations(entry, total) / speed for total in reversed(token_totals)]
        rows.append(_row("score", name, entry, counted, jobs, device, facts, seconds, source))
    return rows


def plan_generation(
    rule: str,
    name: str,
    entry: dict,
    texts: int,
    tokens: int,
    generated: int,
    jobs: int,
    devices: dict[str, dict],
    cpu: float,
) -> list[dict]:
    """Return the plan of one model that answers prompts or gives token distributions, one row for each device type.

    Hours are those of :func:`scripts.core.engines.registry.generation_seconds`, as long as it takes at most.

    Args:
        rule: ``prompt`` or ``token_distributions``.
        entry: The registry entry.
        texts, tokens, generated, jobs: Prompts or texts; tokens of one of them; tokens that are generated at most, in
            all.
        devices, cpu: As for :func:`plan`.

    Returns:
        As of :func:`plan`, with the tokens read and generated.
    """
    read = texts * tokens
    total = read + generated
    counted = {"instances": texts, "tokens": total, "tokens_shared": total, "operations": operations(entry, total)}
    rows = []
    for device, facts in _devices(entry, devices):
        speed, source = _stated_speed(entry, facts, cpu)
        memory = 0 if facts is None else facts["memory_gb"] * gpus_needed(entry, facts["memory_gb"])
        seconds = registry.generation_seconds(entry, texts, read, generated, speed, memory)
        rows.append(_row(rule, name, entry, counted, jobs, device, facts, [seconds, seconds], f"{source}, at most"))
    return rows


def plan_coreference(
    name: str, entry: dict, documents: int, tokens: float, jobs: int, devices: dict[str, dict], cpu: float
) -> list[dict]:
    """Return the plan of one coreference system, one row for each device type.

    Hours are those of :func:`scripts.core.engines.registry.document_seconds`, as long as it takes at most.

    Args:
        entry: The registry entry.
        tokens: Of a typical document.
        devices, cpu: As for :func:`plan`.

    Returns:
        As of :func:`plan`.
    """
    read = round(documents * tokens)
    work = registry.document_operations(entry, read)
    counted = {"instances": documents, "tokens": read, "tokens_shared": read, "operations": work}
    rows = []
    for device, facts in _devices(entry, devices):
        speed, source = _stated_speed(entry, facts, cpu)
        seconds = work / speed + documents * registry.SECONDS_PER_DOCUMENT
        rows.append(
            _row("coreference", name, entry, counted, jobs, device, facts, [seconds, seconds], f"{source}, at most")
        )
    return rows


def plan_training(name: str, entry: dict, job: dict, devices: dict[str, dict], cpu: float) -> list[dict]:
    """Return the plan of training one coreference system, one row for each device type.

    Hours are those of :func:`scripts.core.engines.registry.training_operations`, as long as it takes at most.

    Args:
        entry: The registry entry of the system.
        job: ``trained``, ``trained_tokens``, ``resolved``, ``resolved_tokens``: documents and tokens of all epochs.
        devices, cpu: As for :func:`plan`.

    Returns:
        As of :func:`plan`; instances are documents, counted in every epoch.
    """
    documents, read = job["trained"] + job["resolved"], job["trained_tokens"] + job["resolved_tokens"]
    work = registry.training_operations(entry, job["trained_tokens"], job["resolved_tokens"])
    counted = {"instances": documents, "tokens": read, "tokens_shared": read, "operations": work}
    rows = []
    for device, facts in _devices(entry, devices):
        speed, source = _stated_speed(entry, facts, cpu)
        passes = registry.TRAINING_PASSES * job["trained"] + job["resolved"]
        seconds = work / speed + passes * registry.SECONDS_PER_DOCUMENT
        rows.append(
            _row("train_coreference", name, entry, counted, 1, device, facts, [seconds, seconds], f"{source}, at most")
        )
    return rows


def _devices(entry: dict[str, Any], devices: dict[str, dict]):
    return devices.items() if registry.gpus(entry) else [("cpu", None)]


def _stated_speed(entry: dict[str, Any], facts: dict[str, Any] | None, cpu: float):
    """Return a speed and what it rests on."""
    return (cpu, "matrix products") if facts is None else (facts["tflops"][entry["precision"]] * 1e12, "config.yaml")


def _row(
    rule: str,
    name: str,
    entry: dict[str, Any],
    counted: dict[str, Any],
    jobs: int,
    device: str,
    facts: dict[str, Any] | None,
    seconds: Sequence[float],
    source: str,
):
    loading = jobs * (20 + registry.weights_bytes(entry) / registry.LOAD_BYTES_PER_SECOND)
    return {
        "rule": rule,
        "model": name,
        **counted,
        "weights_gb": registry.weights_bytes(entry) / 1e9,
        "jobs": jobs,
        "device": device,
        "gpus": 0 if facts is None else gpus_needed(entry, facts["memory_gb"]),
        "hours": (seconds[0] + loading) / 3600,
        "hours_unshared": (seconds[1] + loading) / 3600,
        "speed": source,
    }


def _is_of_type(name: str, device: str):
    """Return whether a device (``NVIDIA A100-SXM4-40GB``) is of a type of the configuration (``A100-40GB``)."""
    return all(part in name.upper() for part in device.upper().split("-"))
