"""What every job that runs a coreference system does: read the texts, and open the system."""

import hashlib
import importlib.metadata
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core import files
from scripts.core.coreference_systems import sources
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.coreference_systems.packages.client import Client
from scripts.core.data.portable import portable
from scripts.core.errors import UserError
from scripts.core.models import loading
from scripts.core.provenance import closure

if TYPE_CHECKING:
    pass

ROOT = Path(closure.__file__).parents[3]

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
        delta, fetched, trained: As for :func:`scripts.core.coreference_systems.sources.locate`.
        environment: The file of the rule ``coreference_environment``, for systems of packages.

    Raises:
        UserError: If the weights are not there or do not fit, or a GPU is asked for and absent.
    """
    found = sources.locate(name, entry, delta, fetched, trained)
    if entry["environment"] == "main":
        torch.set_num_threads(threads)
        chosen = loading.pick_device(device)
        resolver = Resolver.load(found.checkpoint, chosen, entry["precision"])
        engine = "c2f"
        running = {
            "device": loading.device_name(chosen),
            "libraries": {library: importlib.metadata.version(library) for library in LIBRARIES},
        }
    else:
        assert environment is not None, "the rule has it as an input"
        python = json.loads(Path(environment).read_text(encoding="utf-8"))["python"]
        resolver = Client(
            python,
            {
                "name": name,
                "architecture": entry["architecture"],
                "checkpoint": str(found.checkpoint),
                "encoder": found.encoder and str(found.encoder),
                "device": device,
                "threads": threads,
            },
        )
        engine = "stanza" if entry["architecture"] == "caw" else "fastcoref"
        running = resolver.facts
    facts = {
        "system": name,
        **portable({part: entry[part] for part in ("source", "encoder") if part in entry}, ROOT),
        "revision": found.revision,
        "weights_sha256": found.weights_sha256,
        "architecture": entry["architecture"],
        "precision": entry["precision"],
        "engine": engine,
        "device": running["device"],
        "libraries": running["libraries"],
        "code": closure.digests(script, str(ROOT)),
        "demonstration": entry["demonstration"],
    }
    log.info("system %s (revision %s), %s on %s", name, found.revision, entry["precision"], running["device"])
    return OpenedSystem(resolver, facts)


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


def group_documents(texts: Mapping[str, str]) -> list[list[tuple[str, str]]]:
    """Return names and texts in their order, in groups that are resolved and kept together."""
    groups, characters = [[]], 0
    for name, text in texts.items():
        if characters >= GROUP_CHARACTERS:
            groups.append([])
            characters = 0
        groups[-1].append((name, text))
        characters += len(text)
    return groups
