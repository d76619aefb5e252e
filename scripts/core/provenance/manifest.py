"""What a run published, as digests, and what has become of it.

Whoever changes a result can change its record as well, and every record that follows; nothing in the folder of a run
shows that. What shows it is something that was published before: a *manifest*, the list of the digests of all results
behind the paper and of what their records say, whose own digest the paper prints on its last page.

A manifest is a list that ``sha256sum --check`` reads. Records are in lines that begin with ``#record``, with the digest
of what they say about how a result was made: two runs of the same jobs on one machine have the same manifest. The paper
cannot be in the list, as it prints the digest of the list; nor can the appendix or the crate, which are made from it.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import graph, job_records

PAPER = "results/paper/"
NAME = f"{PAPER}manifest.sha256"
SIGNATURE = f"{NAME}."
"""How the name of what a program leaves beside it begins that signs it, such as ``manifest.sha256.sig``."""
MEASURED_FOLDER = "results/benchmarks/"
"""Times and speeds: they are others in every run, so no part of a manifest."""
CHANCE = ("started", "ended", "peak_memory_mb", "scheduler_job", "runner_packages", "checksum")
"""What a record says of one run of its job alone; the middle three stand in records before version 1.0.0."""
HEAD = (
    "# All results behind the paper. To compare them:   sha256sum --check results/paper/manifest.sha256\n"
    "# Results and what their records say:   python -m scripts.audit --against results/paper/manifest.sha256\n"
)


def statement_digest(record: dict[str, Any]) -> str:
    """Return the SHA-256 of what a record says of how its outputs were made, without what differs between runs."""
    said = {key: value for key, value in record.items() if key not in CHANCE}
    for key in ("inputs", "outputs"):
        said[key] = {path: value for path, value in said[key].items() if not path.startswith(MEASURED_FOLDER)}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def list_digests(jobs: list[dict], records: dict) -> str:
    """Return the manifest of the outputs of ``jobs`` (:func:`scripts.core.provenance.audit.recorded_jobs`), as text.

    Args:
        records: Path of the record to record.

    Raises:
        UserError: If a file's name does not fit into a line.
    """
    lines = []
    for path in {path for job in jobs for path in job["outputs"] if not path.startswith(MEASURED_FOLDER)}:
        members = files.list_files(path) if Path(path).is_dir() else [Path(path)]
        lines += [(m.as_posix(), job_records.digest_path(m, job_records.CACHE)) for m in members if m.is_file()]
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


def read_list(path: str | Path) -> dict[str, str]:
    """Return the digests of files and of what records say in a manifest, or in another list of ``sha256sum``.

    Raises:
        UserError: If the file is no such list, or damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a list of digests such as {NAME}")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not a list of digests; a crate holds one: unpack it, and give {NAME}") from error
    published = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.fullmatch(r"(?:#record )?([0-9a-f]{64}) [ *](.+)", line)
        if match and published.setdefault(match[2], match[1]) != match[1]:
            raise UserError(f"{path}, line {number}: {match[2]} has two digests; take the list as it was published")
        if line and not match and (not line.startswith("#") or line.startswith("#record")):
            raise UserError(f"{path}, line {number}: not a digest and a file's name; take the list as it was published")
    if not published:
        raise UserError(f"{path}: holds no digests; give a list of digests such as {NAME}")
    return published


def required_paths(jobs: list[dict]) -> set[str]:
    """Return the results and records that a list of a run has to have.

    They are what the paper's own list is made from or, in a run without a paper, everything.
    """
    typeset = [path for job in jobs if NAME in job["outputs"] for path in job["inputs"]]
    required = set()
    for job in graph.jobs_behind(jobs, typeset) if typeset else jobs:
        listed = {path for path in job["outputs"] if not path.startswith(MEASURED_FOLDER)}
        if listed:
            required |= {*listed, job_records.record_path(job["rule"], job["wildcards"], job["outputs"])}
    return required


def find_differences(
    published: Mapping[str, str],
    expected: Collection[str],
    records: Mapping[str, dict],
    digests: Mapping[str, str],
    root: str | Path,
) -> list[dict]:
    """Return the differences between an earlier state (:func:`read_list`) and today's.

    A result that was added since is no difference here: the audit judges it.

    Args:
        expected: Results and records that a list of this run has to have (:func:`required_paths`).
        records: Path of the record to record; those that cannot be used are empty.
        digests: Digests of files of today as far as they are known.
        root: The repository.

    Returns:
        ``path``, ``state`` (``changed``, ``absent``, ``unlisted``), and ``told``, in what it differs.
    """
    found = []
    for path, old in sorted(published.items()):
        place = job_records.locate_path(path, root)
        new = digests.get(path) or (files.sha256(place) if place.is_file() else "")
        if path.startswith(f"{job_records.FOLDER}/"):
            # A record is listed by what it says, or as a file.
            if old != new and not (records.get(path) and old == statement_digest(records[path])):
                told = "the record says something else" if new else f"was {old[:16]}"
                found.append((path, "changed" if new else "absent", told))
        elif old != new:
            told = f"was {old[:16]}, now {new[:16]}" if new else f"was {old[:16]}"
            found.append((path, "changed" if new else "absent", told))
    listed = {str(folder) for path in published for folder in [path, *Path(path).parents]}
    found += [(path, "unlisted", "is behind the results, not in the list") for path in sorted({*expected} - listed)]
    return [dict(zip(("path", "state", "told"), entry, strict=True)) for entry in found]
