"""What every job that runs a model does around it: open the model, and say in its outputs what ran and how fast."""

import importlib.metadata
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from scripts.core import files
from scripts.core.data.portable import make_portable
from scripts.core.models import loading
from scripts.core.models.entries import ProbedModel, read_job_entry
from scripts.core.provenance import closure

ROOT = Path(closure.__file__).parents[3]

log = logging.getLogger("pronouns")


@dataclass(frozen=True)
class OpenedModel:
    """A model that is ready to run.

    Attributes:
        network, tokenizer: As :func:`scripts.core.models.loading.load_model` returns them.
        device: ``cpu``, a CUDA device, or ``auto`` for a model that is spread over several GPUs.
        wanted: What the model's entry says.
        facts: What a file's metadata say of the model: name, source, revision, digest of the weights, architecture,
            precision, device, libraries, digests of the script and its modules, whether it is for demonstration.
        speed: What a file of speeds says of it: model, device, threads (CPU alone), GPUs, precision, seconds of
            loading.
    """

    network: Any
    tokenizer: Any
    device: str
    wanted: ProbedModel
    facts: dict
    speed: dict


def open_model(
    name: str,
    entry: dict,
    *,
    script: str,
    libraries: Sequence[str],
    device: str,
    threads: int,
    weights: str | None = None,
    fetched: str | None = None,
) -> OpenedModel:
    """Find and load a model of the registry.

    Args:
        name, entry: The model in the registry, as the workflow gives it to a job.
        script: The script that runs it, relative to the repository.
        libraries: Packages whose versions belong to the facts.
        device: As configured: ``auto``, ``cpu`` or a CUDA device.
        threads: For torch on a CPU.
        weights, fetched: As for :func:`scripts.core.models.loading.locate_model`.

    Raises:
        UserError: As ``locate_model`` and ``load_model`` of :mod:`scripts.core.models.loading`.
    """
    torch.set_num_threads(threads)
    wanted = read_job_entry(entry)
    location = loading.locate_model(name, wanted, weights, fetched)
    device = "auto" if device == "auto" and (wanted.gpus or 0) > 1 else loading.pick_device(device)
    log.info(
        "model %s from %s (revision %s), %s on %s",
        name, location.folder, location.revision, wanted.precision, device,
    )  # fmt: skip
    started = time.monotonic()
    network, tokenizer = loading.load_model(name, wanted, location, device)
    seconds = time.monotonic() - started
    hardware = loading.device_name(device)
    facts = {"model": name} | describe_run(
        entry,
        script,
        revision=location.revision,
        weights_sha256=loading.weights_digest(location),
        device=hardware,
        libraries={library: importlib.metadata.version(library) for library in libraries},
    )
    speed = {
        "model": name,
        "device": hardware,
        "threads": threads if device == "cpu" else None,
        "gpus": wanted.gpus,
        "precision": wanted.precision,
        "loading_seconds": round(seconds, 3),
    }
    return OpenedModel(network, tokenizer, device, wanted, facts, speed)


def describe_run(
    entry: dict, script: str, *, revision: str | None, weights_sha256: str, device: str, libraries: dict[str, str]
) -> dict[str, Any]:
    """Return what the metadata of a file say of the model or system that made it, for the audit and for who reads it.

    Args:
        entry: As the workflow gives it to a job; where an adapter, a tokenizer of its own or what begins texts is
            stated, that is told.
        script: The script that ran it, relative to the repository.
        revision: What its source was resolved to.
    """
    stated = ("source", "adapter", "tokenizer", "bos_token", "encoder")
    return {
        **make_portable({part: entry[part] for part in stated if part in entry}, ROOT),
        "revision": revision,
        "weights_sha256": weights_sha256,
        "architecture": entry["architecture"],
        "precision": entry["precision"],
        "device": device,
        "libraries": libraries,
        "code": closure.digest_modules(script, str(ROOT)),
        "demonstration": entry["demonstration"],
    }


def write_speed(path: str | Path, opened: OpenedModel, seconds: float, **amounts: Any) -> None:
    """Write a file of speeds (JSON), for paper and card: what ran, how long, and ``amounts`` of what was done.

    ``seconds`` must belong to ``amounts``: what an earlier try left finished amounts in neither.
    """
    files.write_text(path, json.dumps({**opened.speed, "seconds": round(seconds, 3), **amounts}, indent=1) + "\n")


def clear_leftovers(*outputs: str | Path) -> None:
    """Remove what earlier tries of a job that were killed left half written beside ``outputs``."""
    for output in map(Path, outputs):
        for leftover in output.parent.glob(f".{output.name}.*"):
            leftover.unlink()
