"""What is recorded of every job that finished: one JSON file below ``results/provenance/`` for each.

A record holds the digests of what a job read and wrote, its parameters with the digests of its code, the packages it
imported, the machine and the time. It is written after the outputs are complete and removed before they are made
again: outputs without a record are not finished. Snakemake does not know records, so they make nothing out of date;
they name files relative to the repository or to the working directory, so a copy elsewhere can be audited, and they
say nothing of the machine's name, kernel, users or folders, so that they can be published.

A record holds a checksum of its own content. It reveals accidents: a record that was cut off, or edited by hand. It
does not protect, since whoever forges a record computes a new checksum. Against forgery stands what was published
before: :mod:`scripts.core.provenance.manifest`.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.core import config as configuration
from scripts.core import files
from scripts.core.data.portable import make_portable
from scripts.core.errors import UserError
from scripts.core.models import checkpoints

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "results/provenance"
CACHE = f"{FOLDER}/.digests"
FORMAT = 3
MODEL_FACTS = ("model", "source", "revision", "weights_sha256", "engine", "instances_sha256", "libraries")
"""What a score file's metadata say of where it comes from; two runs of one job agree in all of it."""


def locate_path(path: str, root: str | Path) -> Path:
    """Return where a path of a plan or record is: below the working directory, or else in the repository ``root``."""
    if path.startswith("~/"):
        return Path(path).expanduser()
    if path.startswith(f"{files.ENVIRONMENT}/"):
        return Path(sys.prefix) / path.removeprefix(f"{files.ENVIRONMENT}/")
    return Path(path) if Path(path).exists() or path.startswith("results/") else Path(root) / path


def record_path(rule: str, wildcards: Mapping[str, str], outputs: Iterable[str]) -> str:
    """Return where the record of a job lies, relative to the working directory.

    The name is made of the wildcards or, for a job without any, of its first output's name in alphabetical order.
    """
    parts = [f"{name}={value}" for name, value in sorted(wildcards.items())] or [Path(min(outputs)).name]
    slug = urllib.parse.quote(",".join(parts), safe="=,+")
    if len(slug) > 180:
        slug = f"{slug[:150]}-{hashlib.sha256(slug.encode()).hexdigest()[:16]}"
    return f"{FOLDER}/{rule}/{slug}.json"


def digest_path(path: str | Path, cache: str | Path | None = None) -> str:
    """Return the SHA-256 of a file or folder as :func:`scripts.core.files.sha256` does.

    Args:
        cache: A folder of digests that are known; one is taken if path, size, inode and both times are the same: that
            of the modification can be set, that of the last change cannot. One small file each, so that jobs on several
            machines never wait for each other.
    """
    if cache is None:
        return files.sha256(path)
    path = Path(path)
    parts = files.list_files(path) if path.is_dir() else [path]
    states = [(str(p), s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for p in parts for s in [p.stat()]]
    # A file's name need not be UTF-8.
    state = hashlib.sha256(repr(states).encode(errors="surrogateescape")).hexdigest()
    known = Path(cache) / f"{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]}.json"
    try:
        entry = json.loads(known.read_text(encoding="utf-8"))
        if entry["state"] == state:
            return entry["sha256"]
    except (OSError, ValueError, KeyError):
        pass
    value = files.sha256(path)
    shown = make_portable(str(path).removeprefix(f"{Path.cwd()}/"), ROOT)
    _remember(known, {"path": shown.encode(errors="backslashreplace").decode(), "state": state, "sha256": value})
    return value


def _remember(path: Path, entry: dict[str, str]) -> None:
    """Write an entry of the cache; without it, its file is only read again."""
    with contextlib.suppress(UserError):
        files.write_json(path, entry)


def recorded_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the params of a job that its record keeps.

    The digest of local weights (``_weights``) is for Snakemake alone: the metadata of the outputs have it as well, and
    the audit compares those with the weights as they are. So is what the shards of a merged file are made with
    (``_shards``), which their own records have.
    """
    return {name: value for name, value in params.items() if name not in ("_weights", "_shards")}


def local_weights(path: str, cache: str | Path = CACHE, *, whole: bool = False, remember: bool = True) -> str | None:
    """Return the digest of weights that lie in a folder of this machine, as the metadata of their outputs have it.

    Such a folder can be overwritten in place, which no name shows. What was not changed since is not read again.

    Args:
        path: The folder, as the registry names it.
        cache: Of digests of files, and of the digest that each folder had last.
        whole: Whether everything in the folder counts, and not only a checkpoint's usual files.
        remember: Whether this is the digest that the folder had last, should it vanish: not for what a plan reads of
            weights that no job has run.

    Returns:
        Of a folder that holds no weights (any more) the digest that it had last, or None: where a checkpoint is away,
        results stay what they are.
    """
    known = last_weights(path, cache)
    folder = Path(path).expanduser()
    if not (any(folder.glob("*")) if whole else checkpoints.has_weights(folder)):
        return known
    value = (
        digest_path(folder, cache) if whole
        else checkpoints.digest_checkpoint(folder, of_file=lambda path: digest_path(path, cache))
    )  # fmt: skip
    if remember and value != known:
        _remember(_last_weights(path, cache), {"path": make_portable(path, ROOT), "sha256": value})
    return value


def last_weights(path: str, cache: str | Path = CACHE) -> str | None:
    """Return the digest of the weights that jobs of this run last read in a folder of the registry, or None."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return json.loads(_last_weights(path, cache).read_text(encoding="utf-8"))["sha256"]
    return None


def _last_weights(path: str, cache: str | Path) -> Path:
    return Path(cache) / f"weights-{hashlib.sha256(path.encode()).hexdigest()[:32]}.json"


def checksum(record: dict[str, Any]) -> str:
    """Return the digest of a record's content, without the ``checksum`` that it is stored under."""
    content = {key: value for key, value in record.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_records(folder: str | Path = FOLDER, problems: dict | None = None) -> dict[str, dict]:
    """Return ``{path below the working directory: record}`` of all records; those that cannot be used are ``{}``.

    Args:
        problems: Takes, for each record that cannot be used, its path and what is wrong with it in one line.
    """
    check = record_check(configuration.load_schema("record"))
    records = {}
    for path in sorted(Path(folder).glob("[!.]*/*.json")):
        name = f"{FOLDER}/{path.relative_to(folder).as_posix()}"
        try:
            records[name] = read_record(path.read_bytes(), name, check)
        except OSError as error:
            records[name], problem = {}, f"it cannot be read ({error.strerror})"
        except UserError as error:
            records[name], problem = {}, str(error)
        else:
            continue
        if problems is not None:
            problems[name] = problem
    return records


def record_check(schema: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Return a function that checks a decoded record against ``schema`` and raises a :class:`UserError`."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema)

    def check(record: dict[str, Any]) -> None:
        # The quick answer first: a full run has thousands of records.
        if not validator.is_valid(record):
            configuration.validate(record, schema, "record")

    return check


def read_record(content: bytes, name: str, check: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the record in the bytes ``content`` that lies at ``name``.

    Raises:
        UserError: With what is wrong, in one line: no JSON, a key that is there twice, another format, a key that is
            missing or of the wrong type, an end before the beginning, the record of another job.
    """
    try:
        record = json.loads(content, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise UserError("it is not JSON") from error
    if not isinstance(record, dict):
        raise UserError("it is not a JSON object")
    if record.get("format") != FORMAT or isinstance(record["format"], bool):
        raise UserError(f"it is of format {str(record.get('format', 'none'))[:40]}, not {FORMAT}")
    try:
        check(record)
    except UserError as error:
        problem = str(error).removeprefix("record: ").removesuffix("; add it")
        problem = re.sub(r"^the file lacks", "it lacks", problem)
        raise UserError(problem if len(problem) <= 200 else f"{problem[:200]}...") from error
    if record_path(record["rule"], record["wildcards"], record["outputs"]) != name:
        raise UserError(f"it is the record of another job of rule {record['rule'][:80]}")
    if record["ended"] < record["started"]:
        raise UserError(f"it says that its job ended at {record['ended']}, before it started at {record['started']}")
    return record


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a key that is there twice, programs read one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise UserError(f"it has the key {twice[:80]!r} twice")
    return found


def index_by_output(records: dict[str, dict]) -> dict[str, str]:
    """Return ``{output: path of the record that names it}``.

    Raises:
        UserError: If two records name one output: after a rule was renamed, that of the old name is left.
    """
    found = {}
    for path, record in records.items():
        for output in record.get("outputs", {}):
            if output in found:
                raise UserError(
                    f"{output}: two records name it, {found[output]} and {path}; remove that of the rule that is gone"
                )
            found[output] = path
    return found


def model_facts(paths: Iterable[str | Path]) -> dict[str, dict]:
    """Return ``{path: facts}`` for the score files among ``paths``: those whose metadata name a model's weights.

    The metadata of clusters lie beside them (``.metadata.json``). A file that cannot be read has no facts; its digest
    tells that it was changed.
    """
    facts = {}
    for path in map(str, paths):
        if path.endswith(".jsonl") and Path(path).is_file():
            # Other lists of JSON have no such file beside them.
            with contextlib.suppress(OSError, ValueError):
                stored = json.loads(Path(path).with_suffix(".metadata.json").read_text(encoding="utf-8"))
                if isinstance(stored, dict) and "weights_sha256" in stored:
                    named = stored | {"model": stored.get("system"), "instances_sha256": stored.get("texts_sha256")}
                    facts[path] = {key: named.get(key) for key in MODEL_FACTS}
        if path.endswith(".parquet") and Path(path).is_file():
            # Metadata of another program need not be JSON.
            with contextlib.suppress(UserError, ValueError):
                stored = files.parquet_metadata(path)
                if "weights_sha256" in stored:
                    facts[path] = {key: stored.get(key) for key in MODEL_FACTS}
    return facts


def row_digests(path: str | Path, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of those rows of a table of templates that a job uses, known by their first cells.

    It holds the row's line too, since instances name the lines that they are made of. A row that is not there has none.
    """
    lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    found = {line.partition("\t")[0]: f"{number} {line}" for number, line in enumerate(lines, start=1)}
    return {name: hashlib.sha256(found[name].encode()).hexdigest()[:16] for name in names if name in found}
