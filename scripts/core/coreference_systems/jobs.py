"""What every job that runs a coreference system does: read the texts, and open the system."""

import hashlib
import importlib.metadata
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from scripts.core import files
from scripts.core.coreference_systems import sources
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.coreference_systems.packages.client import Client
from scripts.core.coreference_systems.packages.process import read_interpreter
from scripts.core.errors import UserError
from scripts.core.models import loading, model_jobs
from scripts.core.models.entries import read_job_system
from scripts.core.workflow.parts import Batch

log = logging.getLogger("pronouns")

LIBRARIES = ("torch", "transformers", "tokenizers")
"""What c2f systems run on; those of packages name theirs."""
GROUP_CHARACTERS = 20_000
"""A few seconds' work; a system reads short texts ahead and runs them together."""


@dataclass(frozen=True)
class OpenedSystem:
    """A system that is ready to run.

    Attributes:
        resolver: With ``resolve``: pairs of name and text to documents
            (:class:`scripts.core.data.coreference.Document`), in order.
        facts: What the metadata of clusters say of the system: name, source, revision, digest of the weights,
            architecture, precision, engine, device, libraries, digests of the script and its modules, whether it is for
            demonstration.
    """

    resolver: Any
    facts: dict


def open_system(
    name: str,
    entry: dict,
    *,
    script: str,
    device: str,
    threads: int,
    delta: str | None = None,
    fetched: str | None = None,
    trained: str | None = None,
    environment: str | None = None,
) -> OpenedSystem:
    """Find and load a system of the registry.

    Args:
        name, entry: Of the registry.
        script: The script that runs it, relative to the repository.
        device: As configured: ``auto``, ``cpu`` or a CUDA device.
        threads: For torch on a CPU.
        delta, fetched, trained: As for :func:`scripts.core.coreference_systems.sources.locate_system`.
        environment: The file of the rule ``coreference_environment``, for systems of packages.

    Raises:
        UserError: If the weights are not there or do not fit, or a GPU is asked for and absent.
    """
    wanted = read_job_system(entry)
    found = sources.locate_system(name, wanted, delta, fetched, trained)
    if wanted.environment == "main":
        torch.set_num_threads(threads)
        chosen = loading.pick_device(device)
        resolver = Resolver.load(found.checkpoint, chosen)
        hardware, engine = loading.device_name(chosen), "c2f"
        libraries = {library: importlib.metadata.version(library) for library in LIBRARIES}
    else:
        assert environment is not None, "the rule has it as an input"
        settings = {
            "name": name,
            "architecture": wanted.architecture,
            "checkpoint": str(found.checkpoint),
            "encoder": found.encoder and str(found.encoder),
            "device": device,
            "threads": threads,
        }
        resolver = Client(read_interpreter(environment), settings)
        engine = "stanza" if wanted.architecture == "caw" else "fastcoref"
        hardware, libraries = resolver.facts["device"], resolver.facts["libraries"]
    run = model_jobs.describe_run(
        entry, script, revision=found.revision, weights_sha256=found.weights_sha256, device=hardware,
        libraries=libraries,
    )  # fmt: skip
    log.info("system %s (revision %s) on %s", name, found.revision, hardware)
    return OpenedSystem(resolver, {"system": name, "engine": engine} | run)


def read_texts(path: str | Path, identifier: str) -> dict[str, str]:
    """Return the texts of a table of documents, by name, in its order.

    Args:
        path: Parquet file with a column ``text``.
        identifier: The column with the names.

    Raises:
        UserError: If there is no document, one has no text, or two have the same name.
    """
    table = files.read_parquet(path, [identifier, "text"])
    texts = {}
    for name, text in zip(table[identifier], table["text"], strict=True):
        if not isinstance(text, str) or not text.strip():
            raise UserError(f"{path}: the document '{name}' has no text; leave it out")
        if texts.setdefault(name, text) is not text:
            raise UserError(f"{path}: two documents are called '{name}'; name each once")
    if not texts:
        raise UserError(f"{path}: no documents; delete the file and run the workflow again")
    return texts


def digest_texts(texts: Mapping[str, str]) -> str:
    """Return one digest of names and texts in their order."""
    return hashlib.sha256(json.dumps(list(texts.items()), ensure_ascii=False).encode()).hexdigest()


def group_documents(texts: Mapping[str, str]) -> list[Batch]:
    """Return names and texts in their order, in groups that are resolved and kept together."""
    groups, characters = [[]], 0
    for name, text in texts.items():
        if characters >= GROUP_CHARACTERS:
            groups.append([])
            characters = 0
        groups[-1].append((name, text))
        characters += len(text)
    return [Batch([], len(group), group) for group in groups]
