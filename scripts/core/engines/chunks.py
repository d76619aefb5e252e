"""Finished parts of a job that runs a model, kept until the whole is complete.

A job that is killed loses the batches since its last save and nothing else: when it runs again it takes up what it
finds. Every part says what it belongs to (model, weights, engine, code, precision, instances ...), and a part of
anything else is thrown away.
"""

import hashlib
import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from scripts.core import files
from scripts.core.errors import UserError, count_noun

log = logging.getLogger("pronouns")


def key_of(facts: dict[str, Any]) -> str:
    """Return the digest of JSON-able facts, 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class Chunks:
    """The folder of a job's finished parts.

    Args:
        folder: Made when the first part is saved.
        key: Digest of everything that the results depend on besides the rows: see :func:`key_of`.
        save_seconds: How often :meth:`work` saves.
    """

    def __init__(self, folder: str | Path, key: str, save_seconds: float = 30):
        self.folder = Path(folder)
        self.key = key
        self.save_seconds = save_seconds
        self._paths = {}
        for path in files.complete_files(self.folder, ".parquet"):
            try:
                facts = files.parquet_metadata(path)
            except UserError:
                facts = {}
            if facts.get("key") == key:
                self._paths.setdefault(facts["window"], []).append(path)
            else:
                path.unlink()
        if self._paths:
            log.info("%s: %s found", self.folder, count_noun(sum(map(len, self._paths.values())), "finished part"))

    @classmethod
    def for_output(cls, output: str | Path, facts: dict[str, Any], save_seconds: float) -> Self:
        """Return the parts of the job that writes ``output``; its results depend on ``facts`` (JSON) and its rows."""
        return cls(Path(output).with_suffix(".chunks"), key_of(facts), save_seconds)

    def work(self, window: str, batches: Sequence, compute: Callable) -> Iterator[tuple]:
        """Go through the batches of a window of rows: take up what is finished, compute the rest and save it.

        Args:
            window: Digest of the window's rows.
            batches: In an order that the rows determine.
            compute: Returns the list of results (arrays of numbers) of a batch.

        Yields:
            The batch, its results, and whether they were computed now.
        """
        finished = self.finished(window)
        waiting, saved = {}, time.monotonic()
        for number, batch in enumerate(batches):
            results = finished.get(number)
            fresh = results is None
            if fresh:
                results = waiting[number] = compute(batch)
                if time.monotonic() - saved >= self.save_seconds:
                    self.save(window, waiting)
                    waiting, saved = {}, time.monotonic()
            yield batch, results, fresh
        # A window that took long is worth keeping to its end.
        if waiting and time.monotonic() - saved >= self.save_seconds / 10:
            self.save(window, waiting)

    def finished(self, window: str) -> dict[int, list[np.ndarray]]:
        """Return what is known of a window of rows.

        Args:
            window: Digest of the window's rows.

        Returns:
            For each finished batch, the results of its rows.
        """
        results = {}
        for path in self._paths.get(window, []):
            table = files.read_arrow(path)
            batches = table["batch"].to_numpy()
            values = [np.asarray(v, dtype=np.float64) for v in table["values"].to_pylist()]
            for batch, value in zip(batches.tolist(), values, strict=True):
                results.setdefault(batch, []).append(value)
        return results

    def save(self, window: str, results: dict[int, list[np.ndarray]]) -> None:
        """Keep finished batches.

        Args:
            results: As :meth:`finished` returns them.
        """
        import pyarrow as pa

        table = pa.table(
            {
                "batch": pa.array([b for b, values in results.items() for _ in values], pa.int32()),
                "values": pa.array([v for values in results.values() for v in values], pa.list_(pa.float64())),
            }
        )
        name = f"{window[:16]}-{min(results):06d}-{max(results):06d}.parquet"
        files.write_parquet(self.folder / name, table, {"key": self.key, "window": window})

    def remove(self) -> None:
        """Remove the folder: the whole is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)
