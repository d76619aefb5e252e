import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.core import files
from scripts.core.data.instances import (
    content_id,
    content_ids,
    digest_parts,
    encode_dictionary,
    format_ids,
    read_batches,
    shard_rows,
    write_stream,
)


def vectorised(columns):
    return format_ids(content_ids(columns)).to_pylist()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.text(), min_size=3, max_size=3), min_size=1, max_size=20))
def test_vectorised_ids_agree_with_the_scalar_reference(rows):
    columns = []
    for part in zip(*rows, strict=True):
        distinct = sorted(set(part))
        columns.append((digest_parts(distinct), np.array([distinct.index(text) for text in part])))
    assert vectorised([(digest_parts(["study"]), None), *columns]) == [content_id("study", *row) for row in rows]


def test_the_digest_of_a_part_is_the_head_of_its_sha256():
    assert int(digest_parts(["a"])[0]) == int(hashlib.sha256(b"a").hexdigest()[:16], 16)


def test_splitmix64_is_the_published_one():
    # First output of splitmix64 with seed 1234567 (Vigna's reference implementation prints 6457827717110365317).
    assert int(content_ids([(np.array([1234567], dtype=np.uint64), np.array([0]))])[0]) == 6457827717110365317


def test_ids_depend_on_every_part_and_on_their_order():
    base = content_id("s", "one", "two", "he|she", "he")
    others = [
        content_id("t", "one", "two", "he|she", "he"),
        content_id("s", "two", "one", "he|she", "he"),
        content_id("s", "one", "two", "she|he", "he"),
        content_id("s", "one", "two", "he|she", "she"),
        content_id("s", "one", "two", "he|she", ""),
        content_id("s", "one two", "he|she", "he"),
    ]
    assert len({base, *others}) == 7
    # Results of different versions are joined by ids: the same content keeps its id for ever.
    assert base == "41bbed9e2166debf"


def test_leading_zeros_are_kept():
    assert format_ids(np.array([0, 255], dtype=np.uint64)).to_pylist() == ["0" * 16, "0" * 14 + "ff"]


WORD = pa.dictionary(pa.int16(), pa.string())
SCHEMA = pa.schema({"text": pa.string(), "options": pa.list_(WORD), "case": WORD, "index": pa.int8()})


def batch(start):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0], pa.int16()), pa.array(["x", "y"]))
    options = pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), words)
    case = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int16()), pa.array([f"case {start}"]))
    index = pa.array([start, start + 1], pa.int8())
    return pa.RecordBatch.from_arrays([pa.array([f"t{start}", "u"]), options, case, index], schema=SCHEMA)


def test_streams_read_back_as_plain_columns_with_their_metadata(tmp_path):
    path = tmp_path / "a" / "x.parquet"
    write_stream(path, SCHEMA, (batch(i) for i in (0, 2)), {"n": 3, "sets": ["he"]})
    table = files.read_arrow(path)
    assert table.schema.types == [pa.string(), pa.list_(pa.string()), pa.string(), pa.int8()]
    assert table.to_pydict() == {
        "text": ["t0", "u", "t2", "u"],
        "options": [["x", "y"], ["y", "x"]] * 2,
        "case": ["case 0", None, "case 2", None],
        "index": [0, 1, 2, 3],
    }
    assert files.parquet_metadata(path) == {"n": 3, "sets": ["he"]}
    assert pq.ParquetFile(path).num_row_groups == 2


def test_a_stream_that_fails_leaves_nothing(tmp_path):
    def batches():
        yield batch(0)
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        write_stream(tmp_path / "x.parquet", SCHEMA, batches())
    assert list(tmp_path.iterdir()) == []


def test_a_dictionary_has_no_entry_without_a_row():
    made = encode_dictionary(["a", "b", "b", "c", "d"], np.array([4, 1, 2, 4]))
    assert made.to_pylist() == ["d", "b", "b", "d"]
    assert made.dictionary.to_pylist() == ["b", "d"]
    empty = encode_dictionary(["a"], np.array([], dtype=int))
    assert (len(empty), empty.type) == (0, pa.dictionary(pa.int16(), pa.string()))


@pytest.fixture
def many(tmp_path):
    """A file of 90 instances, the first seven once more at the end."""
    numbers = [*range(90), *range(7)]
    table = {
        "instance_id": [f"{i:016x}" for i in numbers],
        "text": [f"{'near the ' * (i % 5)}baker, ___ left." for i in numbers],
        "options": [["he", "she"]] * len(numbers),
    }
    files.write_parquet(tmp_path / "instances.parquet", pd.DataFrame(table))
    return tmp_path / "instances.parquet"


@pytest.mark.parametrize("shards", [1, 2, 7, 200])
@pytest.mark.parametrize("power", [1, 2])
def test_shards_take_every_instance_once(tmp_path, many, shards, power):
    chosen = np.array([shard_rows(many, k, shards, power) for k in range(1, shards + 1)])
    assert chosen.sum(axis=0).tolist() == [1] * 90 + [0] * 7
    sizes = chosen.sum(axis=1)
    if shards == 7:
        assert sizes.max() <= 2 * sizes.min()
    # Contiguous and in order.
    owner = chosen.argmax(axis=0)[:90]
    assert (np.diff(owner) >= 0).all()


@pytest.mark.parametrize("shards", [1, 3])
def test_a_model_with_a_smaller_sample_scores_the_rows_of_priority(tmp_path, many, shards):
    table = files.read_parquet(many)
    # The last seven rows are the first seven instances again, in another sample.
    table["priority"] = pd.array([None] * 5 + list(range(5, 90)) + [0, 1, 2, 3, 4, 5, 6], dtype="Int64")
    path = tmp_path / "with_priority.parquet"
    files.write_parquet(path, table)
    chosen = sum(shard_rows(path, k, shards, 1, 6) for k in range(1, shards + 1))
    assert table[chosen == 1].instance_id.tolist() == [f"{i:016x}" for i in range(6)]
    assert chosen.max() == 1
    assert sum(shard_rows(path, k, shards) for k in range(1, shards + 1)).sum() == 90


@pytest.mark.parametrize("size", [1, 7, 90, 1000])
def test_windows_hold_the_chosen_rows_in_order(many, size):
    chosen = shard_rows(many, 2, 3)
    found = list(read_batches(many, chosen, size))
    assert all(len(window) == size for window in found[:-1])
    joined = pd.concat(found)
    assert joined.instance_id.tolist() == [f"{i:016x}" for i in np.flatnonzero(chosen)]
