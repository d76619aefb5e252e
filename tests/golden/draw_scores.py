"""Draw scores by a seeded rule, for runs that need models and none of their meaning.

They look like those of a model: sums of log-probabilities that vary from option to option, that of the right option a
little higher, how much follows from the seed. Their file names the engine "drawn".
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core import files
from scripts.core.data import instances, losses
from scripts.core.workflow.job import run

BATCH = 65536
"""Instances held at once."""
TEXT, OPTION = -60.0, -4.0
"""Log-probability of a text without its option and of an option, on average."""
SPREAD, STRONGEST = 2.0, 2.0
"""Standard deviation of the log-probabilities of options, and how far that of the right one may lie above."""
TEXT_TOKENS, MOST_TOKENS = 20, 4
"""Tokens of a text without its option, and of an option at most."""
SMALLEST, OF_A_FAMILY = 14_000_000, 8
"""Parameters of the smallest model of a family, whose next ones have twice as many; how many there are."""
BASE = {
    "instance_id": pa.string(), "option": pa.string(), "option_index": pa.int8(), "log_probability": pa.float64(),
    "mean_log_probability": pa.float64(), "scored_tokens": pa.int32(),
}  # fmt: skip


def entry(number: int, sets: dict[str, str]) -> dict[str, Any]:
    """Return the registry entry of a model whose scores are drawn: number 1 is the smallest of the first family.

    Args:
        number: Its seed.
        sets: Any file for each study and set, since the scores are drawn in place of being read from it.
    """
    family, step = divmod(number - 1, OF_A_FAMILY)
    parameters, name = SMALLEST * 2**step, f"Synthetic {chr(ord('A') + family)}"
    size = f"{parameters / 1e9:.2g}B"
    return {
        "label": f"{name} {size}", "family": name, "size": size,
        "architecture": "encoder" if family % 3 == 2 else "decoder", "parameters": parameters, "outputs": sets,
        "licence": "none", "gated": False, "demonstration": False, "studies": {},
    }  # fmt: skip


def main(*, instances: str, scores: str, model: str, label: str, architecture: str, criterion: str) -> None:
    """Write ``scores`` (Parquet), a row for each option of each of ``instances``."""
    columns = dict(BASE)
    if criterion == "label_loss":
        columns |= {name: pa.from_numpy_dtype(kind) for name, kind in losses.COLUMNS.items()}
    schema = pa.schema(list(columns.items()))
    metadata = {
        "model": model, "label": label, "engine": "drawn", "revision": None, "source": {"outputs": "drawn"},
        "architecture": architecture, "precision": "bfloat16", "demonstration": False, "metric": criterion,
        "instances_sha256": files.sha256(instances), "libraries": {"numpy": np.__version__},
    }  # fmt: skip
    write(scores, schema, draw_tables(instances, int(model.rpartition("-")[2]), schema), metadata)


def draw_tables(path: str, seed: int, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of scores of the distinct instances of a file, which follow from instances and seed alone."""
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


def _scores(table: pa.Table, generators: list[np.random.Generator], strength: float, schema: pa.Schema) -> pa.Table:
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


def write(path: str, schema: pa.Schema, tables: Iterator[pa.Table], metadata: dict[str, Any]) -> None:
    """Write tables one after the other as a file of scores, with its metadata."""
    instances.write_stream(path, schema, (batch for table in tables for batch in table.to_batches()), metadata)


if __name__ == "__main__":
    run(main)
