"""Nothing half-written is left, and broken files are named."""

import errno
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.core import files
from scripts.core.errors import UserError, did_you_mean


def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), files.write_atomically(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_no_space_left_is_one_line(tmp_path, number):
    with pytest.raises(UserError, match="no space left"), files.write_atomically(tmp_path / "table.csv"):
        raise OSError(number, "full")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_real_full_disk(tmp_path):
    (tmp_path / "table.csv").write_text("old")
    with (
        pytest.raises(UserError, match=r"table\.csv: no space left"),
        files.write_atomically(tmp_path / "table.csv") as temporary,
    ):
        temporary.unlink()
        temporary.symlink_to("/dev/full")
        temporary.write_text("x" * 100_000)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("table.csv", "old")]


def test_parquet_round_trip_with_metadata(tmp_path):
    frame = pd.DataFrame({"instance_id": ["a", "b"], "log_probability": [-1.5, -2.0]})
    path = tmp_path / "deep" / "scores.parquet"
    files.write_parquet(path, frame, metadata={"model": "m", "libraries": {"torch": "1"}})
    pd.testing.assert_frame_equal(files.read_parquet(path), frame)
    assert files.parquet_metadata(path) == {"model": "m", "libraries": {"torch": "1"}}


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


AGAIN = "delete it and run the workflow again"
UNREADABLE = {
    "truncated": (files.read_parquet, truncate, "truncated or not Parquet"),
    "truncated, metadata": (
        files.parquet_metadata, truncate, "truncated or not Parquet",
    ),
    "missing": (files.read_parquet, Path.unlink, "no such file"),
    "empty CSV": (files.read_csv, lambda path: path.write_text(""), f"cannot be read as CSV.*{AGAIN}"),
    "metadata without JSON": (
        files.parquet_metadata,
        lambda path: pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"model": "m"}), path), AGAIN,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("read", "damage", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_is_named(tmp_path, read, damage, reason):
    path = tmp_path / "scores.parquet"
    files.write_parquet(path, pd.DataFrame({"a": range(1000)}))
    damage(path)
    with pytest.raises(UserError, match=rf"scores\.parquet: .*{reason}"):
        read(path)


def test_a_missing_column_is_named(tmp_path):
    files.write_parquet(tmp_path / "scores.parquet", pd.DataFrame({"a": [1]}))
    with pytest.raises(UserError, match=r"scores\.parquet: column text is missing"):
        files.read_parquet(tmp_path / "scores.parquet", columns=["text"])


def test_csv_keeps_words_that_look_missing_and_ten_digits(tmp_path):
    path = tmp_path / "table.csv"
    files.write_csv(path, pd.DataFrame({"word": ["NA", "null", None], "x": [1.234567890123, 2.0, None]}))
    assert path.read_text().splitlines()[1] == "NA,1.23456789"
    assert files.read_csv(path).word.tolist()[:2] == ["NA", "null"]
    assert files.read_csv(path).x.isna().tolist() == [False, False, True]


def test_text_is_read_as_it_is_or_refused(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_bytes("\ufeffé\tb\r\nc\n".encode())
    assert files.read_text(path, "fetch it again") == "é\tb\r\nc\n"
    for content in (b"\xff\xfe", None):
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(UserError, match=r"words\.tsv: cannot be read as UTF-8 text \(.+\); fetch it again$"):
            files.read_text(path, "fetch it again")


def test_digest_of_a_folder_sees_names_and_contents(tmp_path):
    (tmp_path / "a").write_text("1")
    first = files.sha256(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    second = files.sha256(tmp_path)
    (tmp_path / "b").write_text("2")
    third = files.sha256(tmp_path)
    assert len({first, second, third}) == 3
    # Snakemake adds it after the job has recorded its digests.
    (tmp_path / ".snakemake_timestamp").touch()
    assert files.sha256(tmp_path) == third


def test_nearest_word():
    assert did_you_mean("opt-125n", ["opt-125m", "pythia-14m"]) == "; did you mean 'opt-125m'?"
    assert did_you_mean("zzz", ["opt-125m"]) == ""


@pytest.mark.parametrize("start", range(1000, 30000, 1000))
def test_400_zeroed_bytes_are_never_read_as_other_numbers(tmp_path, start):
    path = tmp_path / "scores.parquet"
    random = np.random.default_rng(0)
    files.write_parquet(path, pd.DataFrame({"log_probability": random.normal(-40, 5, size=5000)}))
    content = path.read_bytes()
    path.write_bytes(content[:start] + bytes(400) + content[start + 400 :])
    with pytest.raises(UserError, match=r"scores.parquet: damaged, its content differs from its checksum; delete it"):
        files.read_parquet(path)
