"""Resolve documents with a system of a package, which runs in a process of its own with another Python."""

import collections
import json
import logging
import os
import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scripts.core.coreference_systems.packages import worker
from scripts.core.data.coreference import Document
from scripts.core.errors import UserError

log = logging.getLogger("pronouns")

ROOT = Path(worker.__file__).resolve().parents[4]
# Documents that are under way at a time, so that neither process waits for the other.
AHEAD = 16


class Client:
    """A system of a package that is ready to resolve documents.

    Args:
        python: The interpreter of the environment.
        settings: As the first line of :mod:`scripts.core.coreference_systems.packages.worker`.

    Attributes:
        facts (dict): ``libraries`` and ``device``.

    Raises:
        UserError: If the environment is not there, or as the system itself.
    """

    def __init__(self, python: str, settings: dict):
        self.name = settings["name"]
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            # Checkpoints are folders here; nothing is asked of a hub.
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
            "OMP_NUM_THREADS": str(settings["threads"]),
        }
        environment.pop("PYTHONHOME", None)
        try:
            self.process = subprocess.Popen(
                [python, "-m", worker.__spec__.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise UserError(
                f"system {self.name}: {python} cannot be started ({error.strerror}); make its environment again: "
                "snakemake --cores 1 -R coreference_environment results/environments/coreference.json"
            ) from error
        self._said = collections.deque(maxlen=50)
        threading.Thread(target=self._listen, daemon=True).start()
        self._send(settings)
        self.facts = self._receive()

    def _listen(self):
        assert self.process.stderr is not None, "it is a pipe"
        for line in self.process.stderr:
            self._said.append(line.rstrip())
            log.info("%s: %s", self.name, line.rstrip())

    def _send(self, line: dict[str, Any]):
        assert self.process.stdin is not None, "it is a pipe"
        try:
            self.process.stdin.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            # Why it ended is in what it wrote before.
            pass

    def _receive(self):
        assert self.process.stdout is not None, "it is a pipe"
        line = self.process.stdout.readline()
        answer = json.loads(line) if line.endswith("\n") else {}
        if "error" in answer:
            raise UserError(answer["error"])
        if not answer:
            status = self.process.wait()
            last = next((text for text in reversed(self._said) if text.strip()), "it said nothing")
            raise RuntimeError(f"system {self.name} ended with status {status}: {last}")
        return answer

    def resolve(self, texts: Iterable[tuple[str, str]]) -> Iterator[Document]:
        """Yield a :class:`~scripts.core.data.coreference.Document` for each of ``texts``, pairs of name and text."""
        waiting = 0
        for name, text in texts:
            self._send({"document": name, "text": text})
            waiting += 1
            if waiting > AHEAD:
                yield self._document()
                waiting -= 1
        for _ in range(waiting):
            yield self._document()

    def _document(self):
        answer = self._receive()
        return Document(
            answer["document"],
            answer["text_sha256"],
            tuple(map(tuple, answer["tokens"])),
            tuple(tuple(map(tuple, cluster)) for cluster in answer["clusters"]),
        )

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None, "it is a pipe"
        self.process.stdin.close()
        self.process.wait()
