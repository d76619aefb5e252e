"""Put the shards of a model's scores together."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa

from scripts.core import files
from scripts.core.data import instances, model_outputs
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run

# Metadata in which the shards of one run may differ.
_PER_SHARD = (
    "shard", "instances", "text_tokens", "forward_tokens", "prompts", "prompt_tokens", "new_tokens",
    "unchecked_prompts", "unknown_instances", "unread_instances", "tied_instances", "thoughts", "thoughts_cut_off",
)  # fmt: skip


def main(*, shards: list, scores: str) -> None:
    """Write ``scores`` (Parquet) from the files of ``shards``, in their order; errors as in :func:`merge`."""
    merge(shards, scores, "instance", "instances", model_outputs.check_scores, model_outputs.SCORES)


def shared_facts(shards: Sequence[str], facts: Sequence[dict[str, Any]], own: Collection[str]) -> dict[str, Any]:
    """Return what the metadata of all shards say, but for the keys that are each one's ``own``.

    Raises:
        UserError: If two differ; names the key.
    """
    expected, *others = ({key: value for key, value in stated.items() if key not in own} for stated in facts)
    for shard, stated in zip(shards[1:], others, strict=True):
        different = sorted(key for key in expected.keys() | stated.keys() if expected.get(key) != stated.get(key))
        if different:
            raise UserError(
                f"{shard}: {different[0]} is {stated.get(different[0])!r}, but {expected.get(different[0])!r} in "
                f"{shards[0]}; delete the shard that is wrong and run the workflow again"
            )
    return expected


def merge(shards: list[str], path: str, item: str, count: str, check: Callable, columns: Collection[str]) -> None:
    """Put files of one model and study together.

    Args:
        shards: Parquet files, in order.
        path: The file to write.
        item: What a row or a few neighbouring rows belong to; the column ``<item>_id`` says which.
        count: The metadata's name for the number of items of a shard.
        check: Refuses a table that cannot be right; takes the table and what messages start with.
        columns: What a shard must have.

    Raises:
        UserError: If a shard cannot be read or its values cannot be right, if two differ in model, weights, engine,
            code, libraries, columns or what they were made from, if one is another part of the whole than its place
            says, if an item is in two, or if a shard has not as many as it says.
    """
    facts = [files.parquet_metadata(path) for path in shards]
    expected = shared_facts(shards, facts, _PER_SHARD)
    for number, (shard, stated) in enumerate(zip(shards, facts, strict=True), 1):
        place = stated.get("shard"), stated.get("shards")
        if place != (number, len(shards)):
            raise UserError(
                f"{shard}: is part {place[0]} of {place[1]}, where part {number} of {len(shards)} was expected; "
                f"{model_outputs.REMEDY}"
            )
    summed = [key for key in _PER_SHARD if key != "shard" and key in facts[0]]
    for shard, stated in zip(shards, facts, strict=True):
        missing = [key for key in (*summed, count) if not isinstance(stated.get(key), int)]
        if missing:
            raise UserError(f"{shard}: its metadata do not say how many {missing[0]} it has; {model_outputs.REMEDY}")
    metadata = expected | {key: sum(stated[key] for stated in facts) for key in summed}
    with files.open_parquet(shards[0], columns) as file:
        schema = file.schema_arrow.remove_metadata()
    seen = set()

    def batches():
        for shard, stated in zip(shards, facts, strict=True):
            with files.open_parquet(shard, columns) as file:
                table = file.read()
            check(table, f"{shard}: model {stated.get('model', 'unknown')}")
            if not table.schema.equals(schema):
                raise UserError(f"{shard}: its columns differ from those of {shards[0]}; {model_outputs.REMEDY}")
            identifiers = set(table[f"{item}_id"].to_pylist())
            if seen & identifiers:
                raise UserError(
                    f"{shard}: {item} {min(seen & identifiers)} is in another shard as well; delete the shards and run "
                    "the workflow again"
                )
            if len(identifiers) != stated[count]:
                raise UserError(
                    f"{shard}: its metadata say that it has {stated[count]} {count}, but it has {len(identifiers)}; "
                    f"{model_outputs.REMEDY}"
                )
            seen.update(identifiers)
            for batch in table.to_batches():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    instances.write_stream(path, schema, batches(), metadata)
    log.info("%s from %s", count_noun(len(seen), item), count_noun(len(shards), "shard"))


if __name__ == "__main__":
    run(main)
