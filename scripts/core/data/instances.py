"""Instance files: content identifiers and streaming Parquet, for every study.

An instance is one row; its ``instance_id`` depends on nothing but its content, so that the same instance has the
same id in a full set, in a sample and in another template set, and on every machine.

The id of ordered text parts ``p1, p2, ...`` is computed on unsigned 64-bit integers::

    h = 0
    for p in parts:
        h = mix(h ^ digest(p))     # digest: the first 8 bytes of SHA-256 of the part's UTF-8 text, big-endian
    instance_id = h as 16 hexadecimal digits

where ``mix`` is one step of splitmix64 (Steele, Lea and Flood 2014): add the golden gamma, then the finaliser. The
parts are: the study's name, each sentence of the text with its slot, the options joined by ``|``, and the gold option
(empty where there is none). ``mix`` is a bijection, so two lists of parts that differ in one place only never collide
unless the digests do.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core import files

if TYPE_CHECKING:
    import pandas
    import pyarrow

_GAMMA, _M1, _M2, _MASK = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xFFFFFFFFFFFFFFFF
# What models read of an instance file.
READ = {"instance_id": "text", "text": "text", "options": "texts"}
_HEX = np.frombuffer(b"".join(b"%02x" % i for i in range(256)), dtype=np.uint16)


def content_id(*parts: str) -> str:
    """Return the id of one instance from its ordered text parts; the reference for :func:`content_ids`."""
    state = 0
    for part in parts:
        z = ((state ^ _digest(part)) + _GAMMA) & _MASK
        z = ((z ^ (z >> 30)) * _M1) & _MASK
        z = ((z ^ (z >> 27)) * _M2) & _MASK
        state = z ^ (z >> 31)
    return f"{state:016x}"


def content_ids(columns: Iterable[tuple[np.ndarray, np.ndarray | None]]) -> np.ndarray:
    """Return the ids of many instances at once.

    Args:
        columns: A pair for each ordered part: the digests of the distinct texts (:func:`digest_parts`), shape (texts,),
            of uint64, and for each row the index of its text, shape (rows,), of int. None for the indices means that
            every row has the first text; at least one column needs some.

    Returns:
        As text: :func:`format_ids`. Shape (rows,), of uint64.
    """
    state: Any = np.uint64(0)
    with np.errstate(over="ignore"):
        for values, codes in columns:
            z = (values[0] if codes is None else values[codes]) ^ state
            z = z + np.uint64(_GAMMA)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(_M1)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(_M2)
            state = z ^ (z >> np.uint64(31))
    return state


def digest_parts(texts: Iterable[str]) -> np.ndarray:
    """Return the part digests of ``texts`` as an array of uint64."""
    heads = b"".join(hashlib.sha256(text.encode()).digest()[:8] for text in texts)
    return np.frombuffer(heads, dtype=">u8").astype(np.uint64)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def format_ids(values: np.ndarray) -> "pyarrow.StringArray":
    """Return an Arrow string array with the 16 hexadecimal digits of each uint64."""
    import pyarrow as pa

    pairs = _HEX[values.astype(">u8").view(np.uint8)]
    offsets = np.arange(len(values) + 1, dtype=np.int32) * 16
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(pairs))


def encode_dictionary(
    values: Iterable[str], codes: np.ndarray | None, rows: int | None = None
) -> "pyarrow.DictionaryArray":
    """Return texts that repeat as an Arrow dictionary array, ``values[codes]``.

    Args:
        values: Equal ones become one entry of the dictionary, those without a row none: a file depends on its rows
            alone.
        codes: None: nulls. Shape (rows,), of int.
        rows: How many, without codes.
    """
    import pyarrow as pa

    values = list(values)
    if codes is None:
        return pa.DictionaryArray.from_arrays(pa.nulls(rows, pa.int16()), pa.array(values))
    distinct = list(dict.fromkeys(values))
    if len(distinct) < len(values):
        codes = np.array([distinct.index(value) for value in values])[codes]
    used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    if len(used) < len(distinct):
        places = np.zeros(len(distinct), dtype=np.int16)
        places[used] = np.arange(len(used))
        distinct, codes = [distinct[place] for place in used], places[codes]
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int16)), pa.array(distinct, pa.string()))


def write_stream(
    path: str | Path, schema: "pyarrow.Schema", batches: "Iterable[pyarrow.RecordBatch]", metadata: dict | None = None
) -> None:
    """Write ``batches``, an iterable of record batches, to ``path`` one at a time: see :func:`write_batches`."""
    with write_batches(path, schema, metadata) as write:
        for batch in batches:
            write(batch)


@contextlib.contextmanager
def write_batches(
    path: str | Path, schema: "pyarrow.Schema", metadata: dict | None = None
) -> "Iterator[Callable[[pyarrow.RecordBatch], None]]":
    """Yield a function that appends a record batch to ``path`` (Parquet, atomic), one row group for each batch.

    Dictionary columns are written without unpacking them and read back as plain values.

    Args:
        metadata: As for :func:`scripts.core.files.write_parquet`; taken when the block ends.
    """
    import json

    import pyarrow.parquet as pq

    leaves = [leaf for field in schema for leaf in _repeated_leaf(field)]
    with (
        files.write_atomically(path) as temporary,
        pq.ParquetWriter(
            temporary,
            schema,
            **files.PARQUET_OPTIONS,
            use_dictionary=leaves,
            store_schema=False,
            # Neighbouring texts share most sentences; larger pages let zstd see more of them.
            data_page_size=4 << 20,
        ) as writer,
    ):
        yield lambda batch: writer.write_batch(batch, row_group_size=max(1, len(batch)))
        if metadata:
            writer.add_key_value_metadata({k: json.dumps(v, sort_keys=True) for k, v in metadata.items()})


def _repeated_leaf(field: "pyarrow.Field") -> list[str]:
    """Return the Parquet name of the column if it has few distinct values: all but plain text has."""
    import pyarrow as pa

    if pa.types.is_list(field.type):
        return [f"{field.name}.list.element"]
    return [] if pa.types.is_string(field.type) else [field.name]


def shard_rows(path: str | Path, shard: int, shards: int, power: int = 1, priority: int | None = None) -> np.ndarray:
    """Return which rows of an instance file belong to a shard.

    Shards are contiguous and cost about the same. An instance that comes several times counts where it comes first.

    Args:
        path: Instances with the columns ``instance_id`` and ``text``.
        shard, shards: Which of how many, from 1.
        power: How costs grow with the length of a text: 1 for one forward pass, 2 where every token is masked in turn.
        priority: Rows whose column ``priority`` is this or more are in no shard; where it is empty, they are.

    Returns:
        Together the shards take every distinct instance of these once. A shard may be empty if there are few instances.
        Shape (rows,), of bool.

    Raises:
        UserError: If the file cannot be read, or if a column is missing, of another type or has an empty cell.
    """
    import pyarrow.compute as pc

    identifiers, lengths, wanted = [], [], []
    read = READ if priority is None else READ | {"priority": "whole?"}
    with files.open_parquet(path, read) as file:
        start = 0
        for batch in file.iter_batches(batch_size=1 << 14, columns=list(read)):
            files.check_columns(batch, read, str(path), start)
            start += len(batch)
            if priority is not None:
                within = pc.fill_null(pc.less(batch["priority"], priority), True)
                wanted.append(within.to_numpy(zero_copy_only=False))
            identifiers.append(np.array(batch["instance_id"].to_pylist(), dtype="S32"))
            lengths.append(pc.utf8_length(batch["text"]).to_numpy(zero_copy_only=False))
    names = np.concatenate(identifiers) if identifiers else np.zeros(0, dtype="S32")
    rows = np.flatnonzero(np.concatenate(wanted)) if wanted else np.arange(len(names))
    first = np.zeros(len(names), dtype=bool)
    first[rows[np.unique(names[rows], return_index=True)[1]]] = True
    costs = np.where(first, np.concatenate(lengths or [np.zeros(0)]).astype(float) ** power, 0.0)
    # An instance belongs to the shard in which the middle of its cost lies.
    middles = np.cumsum(costs) - costs / 2
    owner = np.minimum((middles / max(costs.sum(), 1) * shards).astype(int), shards - 1) + 1
    return first & (owner == shard)


def read_batches(path: str | Path, rows: np.ndarray, size: int) -> "Iterator[pandas.DataFrame]":
    """Yield the chosen instances of a file in its order, a few at a time.

    Args:
        rows: Which rows of the file, as returned by :func:`shard_rows`. Of bool.
        size: Instances to hold at once.

    Yields:
        Columns ``instance_id``, ``text``, ``options``; ``size`` rows, fewer in the last.
    """
    import pyarrow as pa

    waiting, held, start = [], 0, 0
    with files.open_parquet(path, READ) as file:
        for batch in file.iter_batches(batch_size=size, columns=list(READ)):
            chosen = batch.filter(pa.array(rows[start : start + len(batch)]))
            start += len(batch)
            while held + len(chosen) >= size:
                waiting.append(chosen.slice(0, size - held))
                chosen = chosen.slice(size - held)
                yield pa.Table.from_batches(waiting).to_pandas()
                waiting, held = [], 0
            if len(chosen):
                waiting.append(chosen)
                held += len(chosen)
    if waiting:
        yield pa.Table.from_batches(waiting).to_pandas()
