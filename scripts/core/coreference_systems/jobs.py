"""What every job that runs a coreference system does: open the system, and keep what is finished until all is."""

import hashlib
import importlib.metadata
import json
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core import files
from scripts.core.coreference_systems import sources
from scripts.core.coreference_systems.c2f.resolve import Resolver
from scripts.core.coreference_systems.packages.client import Client
from scripts.core.data import coreference
from scripts.core.data.portable import portable
from scripts.core.errors import UserError, count_noun
from scripts.core.models import loading
from scripts.core.provenance import closure

if TYPE_CHECKING:
    from tqdm import tqdm

ROOT = Path(closure.__file__).parents[3]

log = logging.getLogger("pronouns")

LIBRARIES = ("torch", "transformers", "tokenizers")
"""What c2f systems run on; those of packages name theirs."""


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


class FinishedDocuments:
    """Documents that a job has resolved, kept in a folder until all are.

    A job that is killed loses those since its last save and nothing else. Documents are resolved in their order, and
    none depends on others, so that what is kept is a beginning of them, and the whole is the same however often it was
    interrupted.

    Args:
        folder: Made when the first part is saved. Parts of anything else than ``facts`` are thrown away.
        facts: Everything that the clusters depend on besides the texts (JSON).
        save_seconds: How often :meth:`work` saves.
    """

    def __init__(self, folder: str | Path, facts: dict, save_seconds: float):
        self.folder = Path(folder)
        self.key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
        self.save_seconds = save_seconds

    def finished(self, texts: Mapping[str, str]) -> list[coreference.Document]:
        """Return the documents that are kept: the first ones of ``texts``, which are by name."""
        names, done = list(texts), []
        for path in files.complete_files(self.folder, ".jsonl"):
            key, first, count = path.stem.split("-")
            part = names[int(first) : int(first) + int(count)]
            try:
                if key != self.key or int(first) != len(done):
                    raise UserError("of another job")
                done += coreference.read(path, {name: texts[name] for name in part}).values()
            # Cut off, or of other texts.
            except UserError:
                path.unlink()
        if done:
            log.info("%s: %s found", self.folder, count_noun(len(done), "finished document"))
        return done

    def work(self, texts: dict[str, str], resolve: Callable) -> Iterator[tuple[coreference.Document, bool]]:
        """Yield the document of each of ``texts``, and whether it was resolved now; save what is finished.

        Args:
            resolve: As of :class:`OpenedSystem`.
        """
        done = self.finished(texts)
        for document in done:
            yield document, False
        saved, waiting, moment = len(done), [], time.monotonic()
        for document in resolve(list(texts.items())[saved:]):
            waiting.append(document)
            yield document, True
            if time.monotonic() - moment >= self.save_seconds:
                coreference.write(self.folder / f"{self.key}-{saved:08d}-{len(waiting)}.jsonl", waiting)
                saved, waiting, moment = saved + len(waiting), [], time.monotonic()

    def remove(self) -> None:
        """Remove the folder: the whole is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)


def progress_bar(label: str, total: int) -> "tqdm":
    """Return a bar of documents on standard error with documents per second and the time left."""
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    return tqdm(total=total, desc=label, unit="doc", file=sys.stderr, mininterval=0.5 if terminal else 15)
