"""Finished parts of a job, kept beside its output until all is done: a job that is killed loses seconds."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.scoring.network import Batch


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON-able value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Parts:
    """The folder of a job's finished parts; parts of anything else than ``facts`` are thrown away."""

    def __init__(self, output: str | Path, facts: dict[str, Any], save_seconds: float = 30):
        self.folder, self.key, self.save_seconds = Path(output).with_suffix(".parts"), digest(facts), save_seconds
        self.paths: dict[str, list[Path]] = {}
        for path in files.complete_files(self.folder, ".parquet"):
            try:
                metadata = files.parquet_metadata(path)
            except UserError:  # Half written.
                metadata = {}
            if metadata.get("key") == self.key:
                self.paths.setdefault(metadata["window"], []).append(path)
            else:
                path.unlink()

    def work(
        self, window: str, batches: Sequence[Batch], run: Callable[[Batch], list[np.ndarray]]
    ) -> Iterator[tuple[Batch, list[np.ndarray]]]:
        """Yield the batches of a window of instances with their results: finished ones, or run now and saved."""
        finished: dict[int, list[np.ndarray]] = {}
        for path in self.paths.get(window, []):
            table = files.read_arrow(path)
            for number, values in zip(table["batch"].to_pylist(), table["values"].to_pylist(), strict=True):
                finished.setdefault(number, []).append(np.array(values, dtype=np.float64))
        waiting: dict[int, list[np.ndarray]] = {}
        saved = time.monotonic()
        for number, batch in enumerate(batches):
            results = finished.get(number)
            if results is None:
                results = waiting[number] = run(batch)
            if waiting and time.monotonic() - saved >= self.save_seconds:
                self._save(window, waiting)
                waiting, saved = {}, time.monotonic()
            yield batch, results
        # A window that took long is worth keeping to its end.
        if waiting and time.monotonic() - saved >= self.save_seconds / 10:
            self._save(window, waiting)

    def _save(self, window: str, results: dict[int, list[np.ndarray]]) -> None:
        batches = [number for number, values in results.items() for _ in values]
        values = [value for values in results.values() for value in values]
        table = pa.table({"batch": pa.array(batches, pa.int32()), "values": pa.array(values, pa.list_(pa.float64()))})
        name = f"{window[:16]}-{min(results):06d}-{max(results):06d}.parquet"
        files.write_parquet(self.folder / name, table, {"key": self.key, "window": window})

    def remove(self) -> None:
        """Remove the folder: the job is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)
