"""Long work in batches: finished parts are kept beside a job's output until all is done: a kill costs seconds."""

import hashlib
import json
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from scripts.core import files
from scripts.core.errors import UserError, count_noun

log = logging.getLogger("pronouns")


def digest_json(value: Any) -> str:
    """Return the SHA-256 of a JSON-able value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Batch:
    """What is done together: the numbers of its items, how much it is (tokens, or documents), what running it needs."""

    members: list[int]
    tokens: int
    work: Any


class Parts:
    """The folder of a job's finished parts, and, as a context, the bar and the clock of its work.

    Args:
        output: The file that the job writes.
        facts: All that results depend on besides the batches (JSON); parts of anything else are thrown away.
        save_seconds: How often :meth:`work` saves.
        label, unit: Of the bar.
        measure: How much a batch with these results is for :attr:`fresh`.

    Attributes:
        fresh: How much was done now, not by a try that was killed.
        seconds: How long the context took.
    """

    def __init__(
        self,
        output: str | Path,
        facts: dict[str, Any],
        save_seconds: float = 30,
        *,
        label: str = "",
        unit: str = "tok",
        measure: Callable[[Batch, list[Any]], int] = lambda batch, _: batch.tokens,
    ):
        self.folder, self.key, self.save_seconds = Path(output).with_suffix(".parts"), digest_json(facts), save_seconds
        self.paths: dict[str, list[Path]] = {}
        # Results of windows, by their batches, that wait for being saved.
        self.waiting: dict[str, dict[int, list[Any]]] = {}
        self.saved = time.monotonic()
        self.measure, self.fresh, self.seconds = measure, 0, 0.0
        self.bar = progress_bar(label, unit)
        others = 0
        for path in files.complete_files(self.folder, ".parquet"):
            try:
                metadata = files.parquet_metadata(path)
            except UserError:  # Half written.
                metadata = {}
            if metadata.get("key") == self.key:
                self.paths.setdefault(metadata["window"], []).append(path)
            else:
                path.unlink()
                others += bool(metadata)
        if others:
            log.info("%s: %s of other settings thrown away", self.folder, count_noun(others, "finished part"))
        if self.paths:
            log.info("%s: %s found", self.folder, count_noun(sum(map(len, self.paths.values())), "finished part"))

    def __enter__(self) -> Self:
        self.started = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self.started
        self.bar.close()

    @property
    def rate(self) -> float:
        """How much was done in a second."""
        return self.fresh / max(self.seconds, 1e-9)

    def work(
        self, window: str, batches: Sequence[Batch], run: Callable[[Batch], list[Any]]
    ) -> Iterator[tuple[Batch, list[Any]]]:
        """Yield the batches of a window of instances with their results.

        Args:
            window: Digest of the instances.
            batches: In an order that the instances determine.
            run: Returns a list of results, all arrays of numbers or all of another kind that an Arrow column can hold.
        """
        finished: dict[int, list[Any]] = {}
        for path in self.paths.get(window, []):
            table = files.read_arrow(path)
            numbers = pa.types.is_list(table.schema.field("values").type)
            for batch, value in zip(table["batch"].to_pylist(), table["values"].to_pylist(), strict=True):
                finished.setdefault(batch, []).append(np.array(value, dtype=np.float64) if numbers else value)
        for number, batch in enumerate(batches):
            results = finished.get(number)
            if results is None:
                results = self.waiting.setdefault(window, {})[number] = run(batch)
                self.fresh += self.measure(batch, results)
                if time.monotonic() - self.saved >= self.save_seconds:
                    self._save()
            yield batch, results
            self.bar.update(batch.tokens)

    def _save(self) -> None:
        for window, results in self.waiting.items():
            batches = [number for number, values in results.items() for _ in values]
            values = pa.array([value for values in results.values() for value in values])
            table = pa.table({"batch": pa.array(batches, pa.int32()), "values": values})
            name = f"{window[:16]}-{min(results):06d}-{max(results):06d}.parquet"
            files.write_parquet(self.folder / name, table, {"key": self.key, "window": window})
        self.waiting, self.saved = {}, time.monotonic()

    def remove(self) -> None:
        """Remove the folder: the job is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)


def progress_bar(label: str, unit: str) -> tqdm:
    """Return a bar on standard error with units (tokens of forward passes) per second and the time left."""
    return tqdm(
        desc=label,
        unit=unit,
        unit_scale=unit == "tok",
        file=sys.stderr,
        mininterval=0.5 if sys.stderr.isatty() else 15,
        maxinterval=30,
        smoothing=0.05,
    )
