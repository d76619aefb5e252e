"""Resolve documents with a system of a package, which runs in a process of its own with another Python."""

from collections.abc import Iterable, Iterator
from typing import Any

from scripts.core.coreference_systems.packages import worker
from scripts.core.coreference_systems.packages.process import Process
from scripts.core.data.coreference import Document


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

    def __init__(self, python: str, settings: dict[str, Any]):
        module = worker.__spec__.name
        self.process = Process(f"system {settings['name']}", python, module, threads=settings["threads"])
        self.process.send([settings])
        self.facts = self.process.receive()

    def resolve(self, texts: Iterable[tuple[str, str]]) -> Iterator[Document]:
        """Yield a :class:`~scripts.core.data.coreference.Document` for each of ``texts``, pairs of name and text."""
        texts = list(texts)
        self.process.send([{"document": name, "text": text} for name, text in texts])
        for _ in texts:
            answer = self.process.receive()
            yield Document(
                answer["document"],
                answer["text_sha256"],
                tuple(map(tuple, answer["tokens"])),
                tuple(tuple(map(tuple, cluster)) for cluster in answer["clusters"]),
            )
