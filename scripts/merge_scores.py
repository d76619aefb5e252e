"""Put the shards of a model's scores together."""

import pyarrow as pa
import pyarrow.parquet as pq

from scripts.core import files, instances
from scripts.core.errors import UserError
from scripts.core.job import log, run

# What shards of one run may differ in.
_OWN = ("shard", "instances", "text_tokens", "forward_tokens", "prompts", "prompt_tokens", "new_tokens")


def main(*, shards: list, scores: str):
    """Write ``scores`` (Parquet) from the files of ``shards``, in their order; errors as in :func:`merge`."""
    merge(shards, scores, "instance")


def merge(shards, path, item):
    """Put files of one model and study together.

    Parameters
    ----------
    shards : list of str
        Parquet files, in order.
    path : str
        The file to write.
    item : str
        What a row or a few neighbouring rows belong to; the column ``<item>_id`` says which.

    Raises
    ------
    UserError
        If two shards differ in model, weights, engine, code, libraries or what they were made from, or if an item is in
        two.
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
    metadata = expected | {key: sum(found[key] for found in facts) for key in counted}
    schema = pq.read_schema(shards[0]).remove_metadata()
    seen = set()

    def batches():
        for shard in shards:
            own = set()
            with pq.ParquetFile(shard) as file:
                for batch in file.iter_batches():
                    own.update(batch[f"{item}_id"].to_pylist())
                    yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            if seen & own:
                raise UserError(
                    f"{shard}: {item} {min(seen & own)} is in another shard as well; delete the shards and run the "
                    "workflow again"
                )
            seen.update(own)

    instances.write_stream(path, schema, batches(), metadata)
    log.info("%d %ss from %d shards", len(seen), item, len(shards))


if __name__ == "__main__":
    run(main)
