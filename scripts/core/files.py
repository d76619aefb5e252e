"""Reading and writing files so that nothing half-written is ever left under a final name."""

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from pathlib import Path

from scripts.core.errors import UserError


@contextlib.contextmanager
def atomic(path):
    """Yield a temporary path beside ``path`` and rename it to ``path`` when the block succeeds.

    On any failure the temporary file is removed and an earlier ``path`` stays as it was.

    Parameters
    ----------
    path : str or Path
        The final name; its folder is created.

    Raises
    ------
    UserError
        If the disk is full or the folder cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; results are to be read by the whole group.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise _unwritable(path, error) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _umask():
    value = os.umask(0)
    os.umask(value)
    return value


def _unwritable(path, error):
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(f"{path}: no space left on the device; free some space or move results/ to a larger disk")
    return UserError(f"{path}: cannot be written ({error.strerror}); check the folder's permissions")


def write_text(path, text):
    """Write ``text`` (UTF-8) to ``path`` atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path, value):
    """Write ``value`` as indented JSON with sorted keys to ``path`` atomically."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def write_csv(path, frame):
    """Write a DataFrame to ``path`` as CSV without its index, atomically; floats keep 10 significant digits."""
    with atomic(path) as temporary:
        frame.to_csv(temporary, index=False, float_format="%.10g", lineterminator="\n")


def read_csv(path, **options):
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


def write_parquet(path, table, metadata=None):
    """Write an Arrow table (or DataFrame) to ``path`` as zstd-compressed Parquet, atomically.

    Parameters
    ----------
    path : str or Path
    table : pyarrow.Table or pandas.DataFrame
    metadata : dict, optional
        String keys to JSON-able values, stored in the file's own key-value metadata.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if metadata:
        merged = dict(table.schema.metadata or {})
        merged.update({k.encode(): json.dumps(v, sort_keys=True).encode() for k, v in metadata.items()})
        table = table.replace_schema_metadata(merged)
    with atomic(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_parquet(path, columns=None):
    """Read a Parquet file as a DataFrame.

    Raises
    ------
    UserError
        If the file is missing, truncated or not Parquet, or lacks one of ``columns``.
    """
    return read_arrow(path, columns).to_pandas()


def read_arrow(path, columns=None):
    """Read a Parquet file as an Arrow table; errors as in :func:`read_parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            missing = [c for c in columns or [] if c not in file.schema_arrow.names]
            if missing:
                raise UserError(f"{path}: column {missing[0]} is missing; delete the file and run the workflow again")
            return file.read(columns=columns)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; run the workflow to make it") from error
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: truncated or not Parquet ({reason}); delete it and run the workflow again") from error


def parquet_metadata(path):
    """Return the values that :func:`write_parquet` stored under ``metadata`` as a dict."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.read_metadata(path).metadata or {}
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{path}: truncated or not Parquet; delete it and run the workflow again") from error
    return {k.decode(): json.loads(v) for k, v in stored.items() if k not in (b"pandas", b"ARROW:schema")}


# Snakemake puts it into a folder when the job that made it is over.
TIMESTAMP = ".snakemake_timestamp"


def members(folder):
    """Return the files in a folder and below, sorted, without what Snakemake notes there."""
    return sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.name != TIMESTAMP)


def sha256(path, chunk=1 << 20):
    """Return the hexadecimal SHA-256 digest of a file, or of a folder (names and contents of :func:`members`)."""
    path = Path(path)
    digest = hashlib.sha256()
    if path.is_dir():
        for member in members(path):
            digest.update(f"{member.relative_to(path).as_posix()}\0{sha256(member)}\n".encode())
        return digest.hexdigest()
    with path.open("rb") as file:
        while block := file.read(chunk):
            digest.update(block)
    return digest.hexdigest()
