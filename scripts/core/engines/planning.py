"""What a run will cost: tokens, operations, memory, GPUs, jobs and hours, before anything is paid for.

Tokens are counted by the engine's own packing where a model's tokenizer is at hand, and otherwise by cutting texts into
words and signs, which is close to what trained tokenizers make of English. Hours follow from floating-point operations
and a speed: measured by earlier runs on the same kind of device where there are any, otherwise as config.yaml states it
for a GPU type, otherwise from multiplying matrices on this machine for a moment. Prompts and token distributions are
estimated at their longest, as the time limits of their jobs are.
"""

import json
import re
import time
from pathlib import Path

import numpy as np

from scripts.core.engines import prefix_tree, registry
from scripts.core.engines.batches import BATCH_TOKENS
from scripts.core.options import option_texts

# Share of what a large matrix product reaches that a model's forward pass reaches on a CPU.
CPU_EFFICIENCY = 0.6
# Encoders read each text once per token, so a part of the instances tells enough.
ENCODER_SAMPLE = 300
PACK_TOKENS = 1024


def word_tokens(texts):
    """Return stand-in token ids of each text, for models whose tokenizer is not here: words and signs."""
    known = {}
    return [
        np.array([known.setdefault(piece, len(known)) for piece in re.findall(r"\w+|[^\w\s]", text)]) for text in texts
    ]


def count_tokens(architecture, instances, tokenize):
    """Count the tokens of forward passes without and with sharing.

    Parameters
    ----------
    architecture : {"encoder", "decoder", "encoder-decoder"}
    instances : DataFrame
        Columns ``instance_id``, ``text``, ``options``.
    tokenize : callable
        Texts to a list of integer arrays.

    Returns
    -------
    (int, int)
        An encoder's every scored token is a masked copy of the whole text; what its options share is nearly nothing
        and left out. A decoder's options and neighbours share their beginnings. An encoder-decoder reads an instance
        once, and each option's label.
    """
    distinct = instances.drop_duplicates("instance_id")
    if architecture == "encoder":
        some = distinct if len(distinct) <= ENCODER_SAMPLE else distinct.sample(ENCODER_SAMPLE, random_state=1)
        lengths = np.array([len(ids) for ids in tokenize(option_texts(some).text.tolist())], dtype=float)
        total = round((lengths**2).sum() * len(distinct) / len(some))
        return total, total
    rows = option_texts(distinct)
    sequences = tokenize(rows.text.tolist())
    before = int(sum(map(len, sequences)))
    if architecture == "decoder":
        return before, int(sum(len(pack) for pack in prefix_tree.pack(sequences, PACK_TOKENS)))
    first = rows.drop_duplicates("instance_id").index
    return before, int(sum(len(sequences[i]) for i in first))


def operations(entry, tokens):
    """Return the floating-point operations of forward passes: 2 x parameters used x layer_repeats for each token."""
    used = entry["parameters"] - entry.get("embedding_parameters", 0)
    return 2 * used * entry.get("layer_repeats", 1) * tokens


def measured_speeds(folder, entries):
    """Return the speeds of earlier runs.

    Parameters
    ----------
    folder : str or Path
        Where scoring jobs leave their ``speed`` files.
    entries : dict of str to dict
        The registry.

    Returns
    -------
    dict
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


def cpu_speed(threads):
    """Return about how many floating-point operations per second a forward pass reaches on this machine's CPU."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    a, b = torch.ones(512, 1024), torch.ones(1024, 1024)
    try:
        a @ b
        repeats, started = 0, time.perf_counter()
        while time.perf_counter() - started < 0.3:
            a @ b
            repeats += 1
        return CPU_EFFICIENCY * repeats * 2 * 512 * 1024 * 1024 / (time.perf_counter() - started)
    finally:
        torch.set_num_threads(before)


def gpus_needed(entry, memory_gb, tokens_per_batch=BATCH_TOKENS["cuda"]):
    """Return how many GPUs of ``memory_gb`` hold the weights, a tenth more for activations, and the logits."""
    logits = 2 * 4 * (1 << 28)
    activations = tokens_per_batch * 64 * 1024
    needed = 1.1 * registry.weights_bytes(entry) + logits + activations
    return int(np.ceil(needed / (0.92 * memory_gb * 2**30)))


def plan(name, entry, token_totals, n_instances, jobs, devices, speeds, cpu):
    """Return the plan of one model, one row for each device type.

    Parameters
    ----------
    name : str
    entry : dict
        The registry entry.
    token_totals : (int, int)
        Tokens without and with sharing.
    n_instances, jobs : int
    devices : dict of str to dict
        GPU types of the configuration: ``memory_gb``, and ``tflops`` by precision.
    speeds : dict
        As returned by :func:`measured_speeds`.
    cpu : float
        Floating-point operations per second of this machine's CPU.

    Returns
    -------
    list of dict
        ``rule``, ``model``, ``instances``, ``tokens``, ``tokens_shared``, ``operations``, ``weights_gb``, ``jobs``,
        ``device``, ``gpus``, ``hours`` (of all jobs, one after the other) and ``speed``: what the hours rest on.
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
        rows.append(_row("score", name, entry, counted, jobs, device, facts, work / speed, source))
    return rows


def plan_generation(rule, name, entry, texts, tokens, generated, jobs, devices, cpu):
    """Return the plan of one model that answers prompts or gives token distributions, one row for each device type.

    Hours are those of :func:`scripts.core.engines.registry.generation_seconds`, as long as it takes at most.

    Parameters
    ----------
    rule : str
        ``prompt`` or ``token_distributions``.
    name : str
    entry : dict
        The registry entry.
    texts, tokens, generated, jobs : int
        Prompts or texts; tokens of one of them; tokens that are generated at most, in all.
    devices, cpu
        As for :func:`plan`.

    Returns
    -------
    list of dict
        As of :func:`plan`, with the tokens read and generated.
    """
    read = texts * tokens
    total = read + generated
    counted = {"instances": texts, "tokens": total, "tokens_shared": total, "operations": operations(entry, total)}
    rows = []
    for device, facts in _devices(entry, devices):
        speed, source = _stated_speed(entry, facts, cpu)
        seconds = registry.generation_seconds(entry, read, generated, speed)
        rows.append(_row(rule, name, entry, counted, jobs, device, facts, seconds, f"{source}, at most"))
    return rows


def _devices(entry, devices):
    return devices.items() if registry.gpus(entry) else [("cpu", None)]


def _stated_speed(entry, facts, cpu):
    return (cpu, "matrix products") if facts is None else (facts["tflops"][entry["precision"]] * 1e12, "config.yaml")


def _row(rule, name, entry, counted, jobs, device, facts, seconds, source):
    loading = jobs * (20 + registry.weights_bytes(entry) / registry.LOAD_BYTES_PER_SECOND)
    return {
        "rule": rule,
        "model": name,
        **counted,
        "weights_gb": registry.weights_bytes(entry) / 1e9,
        "jobs": jobs,
        "device": device,
        "gpus": 0 if facts is None else gpus_needed(entry, facts["memory_gb"]),
        "hours": (seconds + loading) / 3600,
        "speed": source,
    }


def _is_of_type(name, device):
    """Return whether a device (``NVIDIA A100-SXM4-40GB``) is of a type of the configuration (``A100-40GB``)."""
    return all(part in name.upper() for part in device.upper().split("-"))
