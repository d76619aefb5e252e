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
import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import subprocess
import sys
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.core import config as configuration
from scripts.core import files
from scripts.core.data import checkpoints
from scripts.core.data.portable import portable
from scripts.core.errors import UserError
from scripts.core.provenance import closure

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "results/provenance"
CACHE = f"{FOLDER}/.digests"
FORMAT = 2
LOCKS = ("requirements.lock", "requirements.in", "models.lock")
MODEL_FACTS = ("model", "source", "revision", "weights_sha256", "engine", "instances_sha256", "libraries")
"""What a score file's metadata say of where it comes from; two runs of one job agree in all of it."""


def resolve(path: str, root: str | Path) -> Path:
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


def digest(path: str | Path, cache: str | Path | None = None) -> str:
    """Return the SHA-256 of a file or folder as :func:`scripts.core.files.sha256` does.

    Args:
        cache: A folder of digests that are known; one is taken if path, size, inode and both times are the same: that
            of the modification can be set, that of the last change cannot. One small file each, so that jobs on several
            machines never wait for each other.
    """
    if cache is None:
        return files.sha256(path)
    path = Path(path)
    parts = files.members(path) if path.is_dir() else [path]
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
    shown = portable(str(path).removeprefix(f"{Path.cwd()}/"), ROOT)
    _remember(known, {"path": shown.encode(errors="backslashreplace").decode(), "state": state, "sha256": value})
    return value


def _remember(path: Path, entry: dict[str, str]) -> None:
    """Write an entry of the cache; without it, its file is only read again."""
    with contextlib.suppress(UserError):
        files.write_json(path, entry)


def recorded_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the params of a job that its record keeps.

    The digest of local weights (``_weights``) is for Snakemake alone: the metadata of the outputs have it as well, and
    the audit compares those with the weights as they are.
    """
    return {name: value for name, value in params.items() if name != "_weights"}


def local_weights(source: dict, cache: str | Path = CACHE, *, whole: bool = False, remember: bool = True) -> str | None:
    """Return the digest of weights that lie in a folder of this machine, as the metadata of their outputs have it.

    Such a folder can be overwritten in place, which no name shows. What was not changed since is not read again.

    Args:
        source: Of the model's registry entry.
        cache: As for :func:`digest`; it holds the digest that each folder had last, too.
        whole: Whether everything in the folder counts, and not only a checkpoint's usual files.
        remember: Whether this is the digest that the folder had last, should it vanish: not for what a plan reads of
            weights that no job has run.

    Returns:
        None for weights of the hub or of a package, which revision and version fix. Of a folder that holds no weights
        (any more) the digest that it had last, or None: where a checkpoint is away, results stay what they are.
    """
    if "path" not in source:
        return None
    known = last_weights(source["path"], cache)
    folder = Path(source["path"]).expanduser()
    if not (any(folder.glob("*")) if whole else checkpoints.has_weights(folder)):
        return known
    value = digest(folder, cache) if whole else checkpoints.digest(folder, lambda path: digest(path, cache))
    if remember and value != known:
        _remember(_last_weights(source["path"], cache), {"path": portable(source["path"], ROOT), "sha256": value})
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


def load(folder: str | Path = FOLDER, problems: dict | None = None) -> dict[str, dict]:
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


def index(records: dict[str, dict]) -> dict[str, str]:
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


def texts(paths: Iterable[str], root: str | Path) -> dict[str, str]:
    """Return the digest of each of those modules as it is written, of those that there are."""
    return {path: closure.text_digest(path, root) for path in paths if (Path(root) / path).is_file()}


def row_digests(path: str | Path, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of those rows of a table of templates that a job uses, known by their first cells.

    It holds the row's line too, since instances name the lines that they are made of. A row that is not there has none.
    """
    lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    found = {line.partition("\t")[0]: f"{number} {line}" for number, line in enumerate(lines, start=1)}
    return {name: hashlib.sha256(found[name].encode()).hexdigest()[:16] for name in names if name in found}


def pins(root: str | Path) -> dict[str, str]:
    """Return ``{package: version}`` of the repository's lock files; errors as :func:`lock_digest`."""
    versions = {}
    for name in reversed(list(lock_digest(root))):
        text = (Path(root) / name).read_text(encoding="utf-8")
        versions |= {normalise_name(n): v for n, v in re.findall(r"^([\w.-]+)==([^\s\\;]+)", text, flags=re.MULTILINE)}
    return versions


def lock_digest(root: str | Path) -> dict[str, str]:
    """Return ``{lock file: SHA-256}``.

    Raises:
        UserError: If a file is not there: packages would be compared with nothing.
    """
    for name in LOCKS:
        if not (Path(root) / name).is_file():
            raise UserError(f"{name}: no such file, so no version of a package can be checked; restore it")
    return {name: files.sha256(Path(root) / name) for name in LOCKS}


def normalise_name(name: str) -> str:
    """Return a package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(modules: Iterable[str], named: Iterable[str], providers: dict) -> tuple[dict, ...]:
    """Return the versions of the packages that a job imported, apart for those that only its runner needed.

    Snakemake's own packages are in the process of every job. What the job's code can reach is what its source files
    import, and what that requires in turn.

    Args:
        modules: Names of loaded modules.
        named: Top-level modules that the job's own source files import.
        providers: Top-level module to names of packages, as ``importlib.metadata.packages_distributions``.

    Returns:
        Package to version: reached by the job's code, and the others.
    """
    tops = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    imported = {normalise_name(package): package for top in tops for package in providers.get(top, ())}
    waiting = [normalise_name(package) for top in set(named) for package in providers.get(top, ())]
    reached = set()
    while waiting:
        package = waiting.pop()
        if package in imported and package not in reached:
            reached.add(package)
            requires = importlib.metadata.requires(imported[package]) or []
            waiting += [normalise_name(re.findall(r"^[\w.-]+", requirement)[0]) for requirement in requires]
    versions = {package: importlib.metadata.version(name) for package, name in imported.items()}
    return (
        {package: version for package, version in versions.items() if package in reached},
        {package: version for package, version in versions.items() if package not in reached},
    )


def installed_versions(names: Iterable[str]) -> dict[str, str]:
    """Return ``{package: version}`` of those packages that are installed here."""
    versions = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def package_inputs(params: Any) -> dict[str, tuple]:
    """Return the files and folders of packages that a job with these ``params`` reads as weights or data.

    Returns:
        ``package:member`` to package, member and version. A package's folder that is merged with a delta is read by the
        job that merges it, not by those that use what it made.
    """
    if isinstance(params, list):
        return {name: entry for member in params for name, entry in package_inputs(member).items()}
    if not isinstance(params, dict):
        return {}
    members = {name: entry for member in params.values() for name, entry in package_inputs(member).items()}
    member = params.get("file") or params.get("folder")
    if isinstance(params.get("package"), str) and isinstance(member, str) and "delta" not in params:
        members[f"{params['package']}:{member}"] = (params["package"], member, params.get("version"))
    return members


def package_files(members: dict[str, tuple], cache: str | Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of members of installed packages, as :func:`package_inputs` names them."""
    digests = {}
    for name, (package, member, _) in members.items():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            path = Path(str(importlib.metadata.distribution(package).locate_file(member)))
            if path.exists():
                digests[name] = digest(path, cache)
    return digests


def providers(cache: str | Path) -> dict[str, list[str]]:
    """Return ``importlib.metadata.packages_distributions()``, which takes as long as a small job, from ``cache``."""
    installed = sorted(p.name for entry in sys.path if Path(entry).is_dir() for p in Path(entry).glob("*.dist-info"))
    key = hashlib.sha256(repr((sys.prefix, installed)).encode()).hexdigest()[:32]
    known = Path(cache) / f"packages-{key}.json"
    try:
        return json.loads(known.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        names_of_packages = {
            top: sorted(set(names)) for top, names in importlib.metadata.packages_distributions().items()
        }
        files.write_json(known, names_of_packages)
        return names_of_packages


def git_state(root: str | Path) -> dict[str, Any] | None:
    """Return ``{"commit", "dirty"}`` of the repository at ``root``, or None if there is none or no git."""

    def ask(*arguments: str) -> str:
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return done.stdout.strip()

    try:
        # A copy without history may lie within some other repository.
        if Path(ask("rev-parse", "--show-toplevel")).resolve() != Path(root).resolve():
            return None
        return {"commit": ask("rev-parse", "HEAD"), "dirty": bool(ask("status", "--porcelain"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def machine() -> dict[str, Any]:
    """Return system, Python, processor and, if the job used torch, the GPUs it could see; nothing names the machine."""
    torch = sys.modules.get("torch")
    gpus = []
    if torch is not None and torch.cuda.is_available():
        gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {
        "system": " ".join(filter(None, [platform.system(), platform.machine(), *platform.libc_ver()])),
        "python": platform.python_version(),
        "cpu": _processor(),
        "gpus": gpus,
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    match = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return match[1] if match else platform.machine()


def peak_memory_mb() -> int:
    """Return the largest resident memory so far of this process or of a child that ended, in MiB."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return round(max(resource.getrusage(w).ru_maxrss for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / unit)


def utc_now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Recorder:
    """Records one job: made before it runs, which removes its old record; :meth:`finish` writes the new one.

    Args:
        inputs, outputs: Paths as the job got them.
        params: With ``_code``, the digests of script and modules.
        root: The repository.
        call: ``script``, its ``function``, and ``paths``: inputs and outputs by the names of the function's arguments.
    """

    def __init__(
        self, rule: str, wildcards: dict, inputs: Sequence[str], outputs: Sequence[str], params: dict, root: str | Path,
        call: dict[str, Any],
    ):  # fmt: skip
        self.root = Path(root)
        self.outputs = [str(path) for path in outputs]
        self.path = record_path(rule, wildcards, portable(self.outputs, root)) if outputs else None
        if self.path is None:
            return
        Path(self.path).unlink(missing_ok=True)
        # Before the job reads them: a file that changes meanwhile must not pass for what was read.
        digests = {str(path): digest(path, CACHE) for path in inputs}
        self.inputs = list(digests)
        self.record = {
            "format": FORMAT,
            "rule": rule,
            "wildcards": portable(dict(wildcards), root),
            "call": portable(call, root),
            "params": portable(recorded_params(params), root),
            "text": texts([*params.get("_code", {}), *closure.INERT], root),
            "inputs": portable(digests, root),
            "package_files": package_files(package_inputs(portable(params, root)), CACHE),
            "lock": lock_digest(root),
            "started": utc_now(),
        }

    def finish(self) -> None:
        """Write the record; without outputs, or with one of them missing, there is none."""
        if self.path is None or not all(Path(path).exists() for path in self.outputs):
            return
        modules = list(sys.modules)
        sources = self.record["params"].get("_code", {})
        named = {name for path in sources for name in closure.top_level_imports(path, self.root)}
        # What this job had to parse, the next one finds.
        closure.store(self.root)
        used, runner = packages(modules, named, providers(CACHE))
        record = self.record | {
            # A clock that was set back makes no record that contradicts itself.
            "ended": max(utc_now(), self.record["started"]),
            "outputs": portable({path: digest(path, CACHE) for path in self.outputs}, self.root),
            "models": portable(model_facts([*self.inputs, *self.outputs]), self.root),
            "packages": used,
            "runner_packages": runner,
            "git": git_state(self.root),
            "machine": machine(),
            "peak_memory_mb": peak_memory_mb(),
            "scheduler_job": os.environ.get("SLURM_JOB_ID"),
        }
        files.write_json(self.path, record | {"checksum": checksum(record)})
