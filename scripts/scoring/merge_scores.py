"""Put the shards of a model's scores together."""

import pyarrow as pa

from scripts.core import files, instances, model_outputs
from scripts.core.errors import UserError
from scripts.core.job import log, run

# What shards of one run may differ in.
_OWN = ("shard", "instances", "text_tokens", "forward_tokens", "prompts", "prompt_tokens", "new_tokens")


def main(*, shards: list, scores: str):
    """Write ``scores`` (Parquet) from the files of ``shards``, in their order; errors as in :func:`merge`."""
    merge(shards, scores, "instance", "instances", model_outputs.check_scores, model_outputs.SCORES)


def merge(shards, path, item, count, check, columns):
    """Put files of one model and study together.

    Parameters
    ----------
    shards : list of str
        Parquet files, in order.
    path : str
        The file to write.
    item : str
        What a row or a few neighbouring rows belong to; the column ``<item>_id`` says which.
    count : str
        The metadata's name for the number of items of a shard.
    check : callable
        Refuses a table that cannot be right; takes the table and what messages start with.
    columns : sequence of str
        What a shard must have.

    Raises
    ------
    UserError
        If a shard cannot be read or its values cannot be right, if two differ in model, weights, engine, code,
        libraries, columns or what they were made from, if an item is in two, or if a shard has not as many as it says.
    """
    facts = [files.parquet_metadata(path) for path in shards]
    expected = {key: value for key, value in facts[0].items() if key not in _OWN}
    for shard, found in zip(shards, facts, strict=True):
        different = sorted(k for k in expected.keys() | found.keys() - set(_OWN) if expected.get(k) != found.get(k))
        if different:
            raise UserError(
                f"{shard}: {different[0]} is {found.get(different[0])!r}, but {expected.get(different[0])!r} in "
                f"{shards[0]}; delete the shard that is wrong and run the workflow again"
            )
    counted = [key for key in _OWN if key != "shard" and key in facts[0]]
    for shard, found in zip(shards, facts, strict=True):
        unsaid = [key for key in (*counted, count) if not isinstance(found.get(key), int)]
        if unsaid:
            raise UserError(f"{shard}: does not say how many {unsaid[0]} it has; {model_outputs.REMEDY}")
    metadata = expected | {key: sum(found[key] for found in facts) for key in counted}
    with files.open_parquet(shards[0], columns) as file:
        schema = file.schema_arrow.remove_metadata()
    seen = set()

    def batches():
        for shard, found in zip(shards, facts, strict=True):
            with files.open_parquet(shard, columns) as file:
                table = file.read()
            check(table, f"{shard}: model {found.get('model', 'unknown')}")
            if not table.schema.equals(schema):
                raise UserError(f"{shard}: has other columns than {shards[0]}; {model_outputs.REMEDY}")
            own = set(table[f"{item}_id"].to_pylist())
            if seen & own:
                raise UserError(
                    f"{shard}: {item} {min(seen & own)} is in another shard as well; delete the shards and run the "
                    "workflow again"
                )
            if len(own) != found[count]:
                raise UserError(
                    f"{shard}: says that it has {found[count]} {count} and has {len(own)}; {model_outputs.REMEDY}"
                )
            seen.update(own)
            for batch in table.to_batches():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    instances.write_stream(path, schema, batches(), metadata)
    log.info("%d %ss from %d shards", len(seen), item, len(shards))


if __name__ == "__main__":
    run(main)
