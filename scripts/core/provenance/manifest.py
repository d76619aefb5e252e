"""What a run published, as digests, and what has become of it.

Whoever changes a result can change its record as well, and every record that follows; nothing in the folder of a run
shows that. What shows it is something that was published before: a *manifest*, the list of the digests of all results
behind the paper and of what their records say, whose own digest the paper prints on its last page; or the crate.

A manifest is a list that ``sha256sum --check`` reads. Records are in lines that begin with ``#record``, with the digest
of what they say about how a result was made: two runs of the same jobs on one machine have the same manifest. The paper
cannot be in the list, as it prints the digest of the list; nor can the appendix or the crate, which are made from it.
"""

import hashlib
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import graph, job_records

PAPER = "results/paper/"
NAME = f"{PAPER}manifest.sha256"
SIGNATURES = {f"{NAME}.sig": b"-----BEGIN SSH SIGNATURE-----\n", f"{NAME}.minisig": b"untrusted comment: "}
"""What ``ssh-keygen -Y sign`` and ``minisign`` leave beside it, and how these files begin."""
LATER_FILES = (
    NAME, *SIGNATURES, "results/paper/main.pdf", "results/paper/captions.rst", "results/paper/sections/provenance.tex",
    "results/paper/sections/currency.tex", "results/paper/provenance.csv", "results/crate/run.crate.zip",
)  # fmt: skip
"""What is made from the manifest, or after it."""
MEASURED_FOLDER = "results/benchmarks/"
"""Times and speeds: they are others in every run, so no part of a manifest."""
CHANCE = ("started", "ended", "peak_memory_mb", "scheduler_job", "runner_packages", "checksum")
"""What a record says of one run of its job alone."""
HEAD = (
    "# All results behind the paper. To compare them:   sha256sum --check results/paper/manifest.sha256\n"
    "# Results and what their records say:   python -m scripts.audit --against results/paper/manifest.sha256\n"
)
TEXT_LIMIT = 1 << 28
"""A list, or a text in a crate, of more bytes than this is not one of ours."""
RATIO = 100
"""A crate that unpacks to more than this times its size, and then some, is a bomb."""


def statement_digest(record: dict[str, Any]) -> str:
    """Return the SHA-256 of what a record says of how its outputs were made, without what differs between runs."""
    said = {key: value for key, value in record.items() if key not in CHANCE}
    for key in ("inputs", "outputs"):
        said[key] = {path: value for path, value in said[key].items() if not path.startswith(MEASURED_FOLDER)}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def make(jobs: list[dict], records: dict) -> str:
    """Return the manifest of the outputs of ``jobs`` (:func:`scripts.core.provenance.audit.recorded_jobs`), as text.

    Args:
        records: Path of the record to record.

    Raises:
        UserError: If a file's name does not fit into a line.
    """
    lines = []
    for path in {path for job in jobs for path in job["outputs"] if not path.startswith(MEASURED_FOLDER)}:
        members = files.members(path) if Path(path).is_dir() else [Path(path)]
        lines += [(m.as_posix(), job_records.digest(m, job_records.CACHE)) for m in members if m.is_file()]
    for path, _ in lines:
        if re.search(r"[\\\n\r]", path):
            raise UserError(f"{path!r}: a backslash or the end of a line in a file's name; rename it")
    named = {job_records.record_path(job["rule"], job["wildcards"], job["outputs"]) for job in jobs if job["outputs"]}
    said = [(path, statement_digest(records[path])) for path in sorted(named) if records.get(path)]
    return (
        HEAD
        + "".join(f"{value}  {path}\n" for path, value in sorted(lines))
        + "".join(f"#record {value}  {path}\n" for path, value in said)
    )


def read(path: str | Path) -> dict[str, str]:
    """Return the digests of files and of what records say in a manifest, another list of ``sha256sum``, or a crate.

    Raises:
        UserError: If the file is neither, or damaged, or unpacks to far more than its size.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a run.crate.zip or a list of digests")
    if not zipfile.is_zipfile(path):
        return _read_list(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_crate(path, archive)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise UserError(f"{path}: damaged ({error}); take the crate as it was published") from error


def _read_list(path: Path) -> dict[str, str]:
    if path.stat().st_size > TEXT_LIMIT:
        raise UserError(f"{path}: too large for a list of digests")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: neither a crate (zip) nor a list of digests (text)") from error
    published = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.fullmatch(r"(?:#record )?([0-9a-f]{64}) [ *](.+)", line)
        if match and published.setdefault(match[2], match[1]) != match[1]:
            raise UserError(f"{path}, line {number}: {match[2]} has two digests; take the list as it was published")
        if line and not match and (not line.startswith("#") or line.startswith("#record")):
            raise UserError(f"{path}, line {number}: not a digest and a file's name; take the list as it was published")
    if not published:
        raise UserError(f"{path}: holds no digests; give a run.crate.zip or a list of digests")
    return published


def _read_crate(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    members = [member for member in archive.infolist() if not member.is_dir()]
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise UserError(f"{path}: holds two members of one name; take the crate as it was published")
    outside = [name for name in names if name.startswith("/") or ".." in Path(name).parts]
    if outside:
        raise UserError(f"{path}: {outside[0]!r} lies outside of its folder; take the crate as it was published")
    if sum(member.file_size for member in members) > RATIO * path.stat().st_size + TEXT_LIMIT:
        raise UserError(f"{path}: unpacks to more than {RATIO} times its size; this is not a crate of this workflow")
    try:
        entities = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
        described = {entity["@id"]: entity["sha256"] for entity in entities if "sha256" in entity}
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: ro-crate-metadata.json is no metadata of a crate of this workflow") from error
    # Named by digest and not packed: weights, and what was made from the authors' files.
    published = {name[1:]: digest for name, digest in described.items() if name.startswith("#results/")}
    for member in members:
        name = member.filename
        if name.startswith(f"{job_records.FOLDER}/"):
            try:
                published[name] = statement_digest(json.loads(archive.read(member)))
            except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
                raise UserError(f"{path}: {name} is not a record; take the crate as it was published") from error
        elif not name.startswith("ro-crate-"):
            with archive.open(member) as file:
                published[name] = hashlib.file_digest(file, "sha256").hexdigest()  # pyright: ignore[reportArgumentType]
            if described.get(name, published[name]) != published[name]:
                raise UserError(f"{path}: {name} is not what the crate's metadata say; take the crate as published")
    return published


def unusable_signatures() -> dict[str, str]:
    """Return, for each signature beside the manifest of this run that is none, what is wrong with it.

    Whose signature it is, and of what, only its program can tell; see docs/audit.md.
    """
    found = {}
    for path, beginning in SIGNATURES.items():
        try:
            with Path(path).open("rb") as file:
                if file.read(len(beginning)) != beginning:
                    found[path] = "is no signature; sign the manifest again"
        except FileNotFoundError:
            continue
        except OSError as error:
            found[path] = f"cannot be read ({error.strerror}); sign the manifest again"
    return found


def required_paths(jobs: list[dict]) -> set[str]:
    """Return the results and records that a list of a run has to have.

    They are what the paper's own list is made from or, in a run without a paper, everything.
    """
    typeset = [job["inputs"] for job in jobs if NAME in job["outputs"]]
    required = set()
    for job in graph.jobs_behind(jobs, [path for paths in typeset for path in paths]) if typeset else jobs:
        listed = {path for path in job["outputs"] if not path.startswith(MEASURED_FOLDER)} - set(LATER_FILES)
        if listed:
            required |= {*listed, job_records.record_path(job["rule"], job["wildcards"], job["outputs"])}
    return required


def compare(
    published: Mapping[str, str],
    present: Iterable[str],
    root: str | Path,
    digests: Mapping[str, str],
    recorded: Collection[str] = (),
    expected: Collection[str] = (),
) -> list[dict]:
    """Return the differences between an earlier state (:func:`read`) and the files of today.

    Args:
        present: Everything below ``results/`` that is a result.
        root: The repository.
        digests: Digests of files of today as far as they are known.
        recorded: Results that are as the records of their jobs say. Of these it is no difference that an earlier state
            lacks them: a list of what is behind the paper has no model cards, for example.
        expected: Results and records that a list of this run has to have (:func:`required_paths`).

    Returns:
        ``path``, ``state`` (``changed``, ``absent``, ``added``; ``unlisted`` is what makes a list short), and ``told``,
        in what it differs.
    """
    problems = {}
    records = job_records.load(problems=problems)
    found = []
    for path, old in sorted(published.items()):
        place, record = job_records.resolve(path, root), records.get(path)
        if path in problems:
            found.append((path, "changed", f"the record cannot be used: {problems[path]}"))
        elif record and old not in (statement_digest(record), files.sha256(place)):
            found.append((path, "changed", "the record says something else"))
        elif not (record or place.is_file() or place.is_dir()):
            found.append((path, "absent", f"was {old[:16]}"))
        elif not record and (new := digests.get(path) or files.sha256(place)) != old:
            found.append((path, "changed", f"was {old[:16]}, now {new[:16]}"))
    listed = {str(folder) for path in published for folder in [path, *Path(path).parents]}
    short = sorted(set(expected) - listed)
    found += [(path, "unlisted", "is behind the results, not in the list") for path in short]
    known = {*published, *LATER_FILES, *recorded, *short}
    folders = tuple(f"{path}/" for path in [*published, *short] if job_records.resolve(path, root).is_dir())
    # What Snakemake notes in folders is not a result; the audit reports it where it does not belong.
    results = (path for path in present if Path(path).name != files.TIMESTAMP)
    extra = sorted(path for path in results if path not in known and not path.startswith(folders))
    found += [(path, "added", "was not there") for path in extra]
    return [dict(zip(("path", "state", "told"), entry, strict=True)) for entry in found]
