"""Draw the scores of a synthetic model (scripts/core/data/synthetic.py)."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data import instances, losses, synthetic
from scripts.core.workflow.job import log, run

BATCH = 65536
"""Instances held at once."""
TEXT, OPTION = -60.0, -4.0
"""Log-probability of a text without its option and of an option, on average."""
SPREAD, STRONGEST = 2.0, 2.0
"""Standard deviation of the log-probabilities of options, and how far that of the right one may lie above."""
TEXT_TOKENS, MOST_TOKENS = 20, 4
"""Tokens of a text without its option, and of an option at most."""
BASE = {
    "instance_id": pa.string(), "option": pa.string(), "option_index": pa.int8(), "log_probability": pa.float64(),
    "mean_log_probability": pa.float64(), "scored_tokens": pa.int32(),
}  # fmt: skip


def main(*, instances: str, scores: str, model: str, entry: dict, score: str) -> None:
    """Write ``scores`` (Parquet), a row for each option of each of ``instances``.

    They look like those of a model that is scored by ``score``: sums of log-probabilities that vary from option to
    option, that of the right option a little higher, how much follows from the seed. The file's metadata name the
    engine "synthetic" and no weights.
    """
    seed = entry["source"]["synthetic"]
    columns = dict(BASE)
    if score == "label_loss":
        columns |= {name: pa.from_numpy_dtype(kind) for name, kind in losses.COLUMNS.items()}
    schema = pa.schema(list(columns.items()))
    metadata = {
        "model": model, "engine": synthetic.ENGINE, "synthetic": True, "seed": seed, "revision": None,
        "weights_sha256": "none, drawn", "source": entry["source"], "architecture": entry["architecture"],
        "precision": entry["precision"], "demonstration": entry["demonstration"], "metric": score,
        "instances_sha256": files.sha256(instances), "libraries": {"numpy": np.__version__},
    }  # fmt: skip
    write(scores, schema, draw_tables(instances, seed, schema), metadata)
    log.info("%s: scores drawn with seed %d", model, seed)


def draw_tables(path: str, seed: int, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of scores of the distinct instances of a file; a function of the instances and the seed alone.

    Args:
        path: Instances.
        schema: Of the scores; columns that are not of every score file are those of losses.
    """
    # One stream for each kind of number, so that the size of a batch changes nothing.
    generators = [np.random.default_rng([seed, kind]) for kind in range(3)]
    strength = generators[2].uniform(0, STRONGEST)
    with files.open_parquet(path, ["instance_id", "options"]) as file:
        wanted = ["instance_id", "options", *(["gold"] if "gold" in file.schema_arrow.names else [])]
        first = ~file.read(["instance_id"])["instance_id"].to_pandas().duplicated().to_numpy()
        at = 0
        for batch in file.iter_batches(BATCH, columns=wanted):
            table = pa.table(batch).filter(first[at : at + len(batch)])
            at += len(batch)
            yield _scores(table.combine_chunks(), generators, strength, schema)


def _scores(table: pa.Table, generators: Sequence[np.random.Generator], strength: float, schema: pa.Schema):
    offers = table["options"].combine_chunks()
    places = pc.list_parent_indices(offers).to_numpy()
    option = pc.list_flatten(offers).cast(pa.string())
    sizes = pc.list_value_length(offers).to_numpy()
    values = OPTION + SPREAD * generators[0].standard_normal(len(option))
    if "gold" in table.column_names:
        right = pc.equal(option, table["gold"].combine_chunks().take(pa.array(places)).cast(pa.string()))
        values = values + strength * right.fill_null(False).to_numpy(zero_copy_only=False)
    # Scores are those of float32 models, and no sum of logarithms is above zero.
    values = np.minimum(values, -1e-3).astype(np.float32).astype(float)
    tokens = generators[1].integers(1, MOST_TOKENS, len(option), endpoint=True)
    total, count = TEXT + values, TEXT_TOKENS + tokens
    made = {
        "instance_id": table["instance_id"].take(pa.array(places)).combine_chunks(),
        "option": option,
        "option_index": (np.arange(len(option)) - np.repeat(np.cumsum(sizes) - sizes, sizes)).astype(np.int8),
        "log_probability": total,
        "mean_log_probability": total / count,
        "scored_tokens": count.astype(np.int32),
        "option_log_probability": values,
        "option_tokens": tokens,
    }
    columns = []
    for field in schema:
        if field.name in made:
            columns.append(pa.array(made[field.name], field.type))
        elif field.name.startswith("uncapitalised"):
            columns.append(pa.nulls(len(option), field.type))
        else:
            columns.append(pa.array(np.zeros(len(option)), pa.float64()).cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def write(path: str | Path, schema: pa.Schema, tables: Iterable[pa.Table], metadata: dict[str, Any]) -> None:
    """Write tables one after the other as a file of scores, with its metadata."""
    instances.write_stream(path, schema, (batch for table in tables for batch in table.to_batches()), metadata)


if __name__ == "__main__":
    run(main)
