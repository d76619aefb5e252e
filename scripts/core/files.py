"""Reading and writing files so that nothing half-written is ever left under a final name."""

import contextlib
import errno
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas
    import pyarrow.parquet

ENVIRONMENT, ELSEWHERE = "<environment>", "<elsewhere>"
"""Stands for the folder of the Python environment where a file names paths in it."""


def environment_folders() -> set[str]:
    """Return the folder of the Python environment, as Python was started and without links."""
    return {sys.prefix, os.path.realpath(sys.prefix)} - {"/"}


@contextlib.contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` and rename it to ``path`` when the block succeeds.

    On any failure the temporary file is removed and an earlier ``path`` stays as it was.

    Args:
        path: The final name; its folder is created.

    Raises:
        UserError: If the disk is full or the folder cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise _write_error(path, error) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; results are to be read by the whole group.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise _write_error(path, error) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def complete_files(folder: str | Path, suffix: str) -> list[Path]:
    """Return the paths of a folder's complete files that end in ``suffix``, sorted by name.

    What :func:`write_atomically` left half written when its process was killed is removed: it carries the suffix too,
    behind a name that begins with a dot. No other process may be writing to the folder.
    """
    paths = sorted(Path(folder).glob(f"*{suffix}"))
    for path in paths:
        if path.name.startswith("."):
            path.unlink()
    return [path for path in paths if not path.name.startswith(".")]


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


def _write_error(path: Path, error: OSError) -> UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(f"{path}: no space left on the device; free some space or move results/ to a larger disk")
    return UserError(f"{path}: cannot be written ({error.strerror}); check the folder's permissions")


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` (UTF-8) to ``path`` atomically."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_text(path: str | Path, remedy: str) -> str:
    """Return the text of a UTF-8 file with its line ends as they are, without a byte order mark.

    Args:
        remedy: What the message advises.

    Raises:
        UserError: If the file cannot be read or is not UTF-8.
    """
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); {remedy}") from error


def write_json(path: str | Path, value: Any) -> None:
    """Write ``value`` as indented JSON with sorted keys to ``path`` atomically."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def write_csv(path: str | Path, frame: "pandas.DataFrame") -> None:
    """Write a DataFrame to ``path`` as CSV without its index, atomically; floats keep 10 significant digits."""
    with write_atomically(path) as temporary:
        frame.to_csv(temporary, index=False, float_format="%.10g", lineterminator="\n")


def read_csv(path: str | Path, **options: Any) -> "pandas.DataFrame":
    """Read a CSV written by :func:`write_csv`; an empty file or a missing column set is a :class:`UserError`.

    ``keep_default_na`` is off for text columns' sake: only an empty cell is missing.
    """
    import pandas as pd

    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""], **options)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; run the workflow to make it") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as CSV ({error}); delete it and run the workflow again") from error


def iterate_rows(frame: "pandas.DataFrame", index: bool = True) -> Iterator[Any]:
    """Return the rows of a frame as ``itertuples`` does; cells of a column may be of any type."""
    return iter(frame.itertuples(index=index))


# Every page has a checksum, which is compared when it is read: without one, damaged numbers are read as other numbers.
PARQUET_OPTIONS = {"compression": "zstd", "write_page_checksum": True}


def write_parquet(path: str | Path, table: Any, metadata: dict | None = None) -> None:
    """Write an Arrow table (or DataFrame) to ``path`` as zstd-compressed Parquet with checksums, atomically.

    Args:
        table: A ``pyarrow.Table`` or a DataFrame.
        metadata: String keys to JSON-able values, stored in the file's own key-value metadata.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if metadata:
        merged = dict(table.schema.metadata or {})
        merged.update({k.encode(): json.dumps(v, sort_keys=True).encode() for k, v in metadata.items()})
        table = table.replace_schema_metadata(merged)
    with write_atomically(path) as temporary:
        pq.write_table(table, temporary, **PARQUET_OPTIONS)


@contextlib.contextmanager
def append_parquet(path: str | Path) -> "Iterator[Callable[[pandas.DataFrame], None]]":
    """Yield a function that appends a DataFrame to ``path``, as :func:`write_parquet` would write all of them together.

    Only one is held at a time. Each has row groups of its own and the columns and types of the first.

    Raises:
        ValueError: If the block appends nothing: the file would have no columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    with write_atomically(path) as temporary:
        try:

            def append(frame: "pandas.DataFrame") -> None:
                nonlocal writer
                table = pa.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = pq.ParquetWriter(temporary, table.schema, **PARQUET_OPTIONS)
                writer.write_table(table.cast(writer.schema))

            yield append
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise ValueError(f"{path}: nothing to write")


@contextlib.contextmanager
def open_parquet(path: str | Path, columns: Collection[str] = ()) -> "Iterator[pyarrow.parquet.ParquetFile]":
    """Yield a Parquet file as a ``pyarrow.parquet.ParquetFile``, to read it in the block.

    Args:
        columns: Those that it must have.

    Raises:
        UserError: If the file is missing, truncated or not Parquet, lacks one of ``columns``, or if a page that is read
            in the block differs from its checksum.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            missing = [c for c in columns if c not in file.schema_arrow.names]
            if missing:
                raise UserError(f"{path}: column {missing[0]} is missing; delete the file and run the workflow again")
            yield file
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; run the workflow to make it") from error
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path}: {_describe_damage(error)}; delete it and run the workflow again") from error


def _describe_damage(error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    if "CRC" in reason:
        return "damaged, its content differs from its checksum"
    return f"truncated or not Parquet ({reason})"


def read_parquet(path: str | Path, columns: list[str] | None = None) -> "pandas.DataFrame":
    """Read a Parquet file as a DataFrame; errors as in :func:`open_parquet`."""
    return read_arrow(path, columns).to_pandas()


def read_arrow(path: str | Path, columns: list[str] | None = None) -> "pyarrow.Table":
    """Read a Parquet file as an Arrow table; errors as in :func:`open_parquet`."""
    with open_parquet(path, columns or ()) as file:
        return file.read(columns=columns)


KINDS = {
    "text": "text was",
    "texts": "lists of text were",
    "whole": "whole numbers were",
    "fraction": "numbers with a fraction were",
    "truth": "true or false was",
}
"""What a column may hold, in words with their verb."""


def check_columns(
    table: "pyarrow.Table | pyarrow.RecordBatch",
    kinds: dict[str, str],
    where: str,
    start: int = 0,
    identifier: tuple[str, str] | None = None,
) -> None:
    """Refuse a table whose columns are of other types than they should be, or have empty cells.

    Args:
        table: With all columns that ``kinds`` names.
        kinds: Column to one of :data:`KINDS`; with a question mark behind it cells may be empty.
        where: What messages start with: the file, and whose it is.
        start: How many rows of the file come before the table.
        identifier: A word and the column whose value stands behind it where a row is named.

    Raises:
        UserError: Naming the row.
    """
    import pyarrow as pa

    types = pa.types
    recognised = {
        "text": types.is_string,
        "texts": lambda kind: types.is_list(kind) and types.is_string(_plain_type(kind.value_type)),
        "whole": types.is_integer,
        "fraction": types.is_floating,
        "truth": types.is_boolean,
    }
    for name, kind in kinds.items():
        column, wanted = table.column(name), kind.removesuffix("?")
        # A column without any value has no type.
        nothing = types.is_null(column.type) and (kind != wanted or not len(column))
        if not nothing and not recognised[wanted](_plain_type(column.type)):
            raise UserError(
                f"{where}: the column {name} holds {_plain_type(column.type)} where {KINDS[wanted]} expected; "
                "delete the file and run the workflow again"
            )
        if kind == wanted and column.null_count:
            row = column.is_null().to_pylist().index(True)
            named = ""
            if identifier and (value := table.column(identifier[1])[row].as_py()) is not None:
                named = f", {identifier[0]} {value}"
            raise UserError(
                f"{where}: row {start + row + 1}{named}: the column {name} is empty; "
                "delete the file and run the workflow again"
            )


def _plain_type(kind: "pyarrow.DataType") -> "pyarrow.DataType":
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(kind) else kind


def parquet_metadata(path: str | Path) -> dict[str, Any]:
    """Return the values that :func:`write_parquet` stored under ``metadata`` as a dict.

    Raises:
        UserError: If the file is missing, truncated or not Parquet, or if a value is not JSON.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.read_metadata(path).metadata or {}
        return {k.decode(): json.loads(v) for k, v in stored.items() if k not in (b"pandas", b"ARROW:schema")}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{path}: {_describe_damage(error)}; delete it and run the workflow again") from error


# Snakemake puts it into a folder when the job that made it is over.
TIMESTAMP = ".snakemake_timestamp"


def list_files(folder: str | Path) -> list[Path]:
    """Return the files in a folder and below, sorted, without what Snakemake notes there."""
    return sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.name != TIMESTAMP)


def sha256(path: str | Path) -> str:
    """Return the hexadecimal SHA-256 digest of a file, or of a folder (names and contents of :func:`list_files`)."""
    path = Path(path)
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for member in list_files(path):
        digest.update(os.fsencode(f"{member.relative_to(path).as_posix()}\0{sha256(member)}\n"))
    return digest.hexdigest()
