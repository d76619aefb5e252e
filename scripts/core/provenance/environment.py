"""What jobs run with: packages as they are locked and installed, weights and data that these carry, and the commit."""

import contextlib
import hashlib
import importlib.metadata
import json
import logging
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data.portable import make_portable
from scripts.core.errors import UserError
from scripts.core.provenance import graph, job_records
from scripts.core.workflow.environments import installed_versions, normalise_name, read_pins

LOCKS = ("requirements.lock", "requirements.in", "models.lock")
log = logging.getLogger("pronouns")


@dataclass(frozen=True)
class Present:
    """What records are held against: files, packages and weights as they are here and now.

    Attributes:
        digests: SHA-256 of every input and output that exists.
        facts: Metadata of the score files that exist (:func:`scripts.core.provenance.job_records.model_facts`).
        pins: Package to version, of the lock files.
        installed: Package, or ``python``, to the version that is installed; what is not installed is not compared.
        package_files: ``package:member`` to the digest of a package's weights or data as they are installed.
        weights: Score file to the digest of its model's weights, where they lie in a folder of this machine.
    """

    digests: dict
    facts: dict
    pins: dict
    installed: dict
    package_files: dict
    weights: dict


def look_up(
    jobs: list[dict], records: dict, digests: dict, root: Path, weights: dict | None = None, cache: str | None = None
) -> Present:
    """Return what the ``records`` of ``jobs`` are held against; ``digests`` and ``weights`` have been read."""
    carried = {name: entry for job in jobs for name, entry in package_inputs(job["params"]).items()}
    named = {package for record in records.values() for package in record.get("packages", {})}
    installed = installed_versions(sorted(named | {package for package, _, _ in carried.values()}))
    if absent := sorted(named - installed.keys()):
        log.warning("not installed here, so compared with the lock alone: %s", ", ".join(absent))
    members = package_files(carried, cache)
    for name in sorted(carried.keys() - members.keys()):
        log.warning("%s is not installed here: its files cannot be compared", name)
    return Present(
        digests, make_portable(job_records.model_facts(digests), root), read_lock_pins(root),
        installed | {"python": platform.python_version()}, members, weights or {},
    )  # fmt: skip


def read_lock_pins(root: str | Path) -> dict[str, str]:
    """Return ``{package: version}`` of the repository's lock files; errors as :func:`digest_locks`."""
    return read_pins(*(Path(root) / name for name in reversed(digest_locks(root))))


def digest_locks(root: str | Path) -> dict[str, str]:
    """Return ``{lock file: SHA-256}``.

    Raises:
        UserError: If a file is not there: packages would be compared with nothing.
    """
    for name in LOCKS:
        if not (Path(root) / name).is_file():
            raise UserError(f"{name}: no such file, so no version of a package can be checked; restore it")
    return {name: files.sha256(Path(root) / name) for name in LOCKS}


def reachable_packages(modules: Iterable[str], named: Iterable[str], providers: dict) -> dict[str, str]:
    """Return ``{package: version}`` of the packages that a job imported, without those that only its runner needed.

    Snakemake's own packages are in the process of every job. What the job's code can reach is what its source files
    import, and what that requires in turn.

    Args:
        modules: Names of loaded modules.
        named: Top-level modules that the job's own source files import.
        providers: Top-level module to names of packages, as ``importlib.metadata.packages_distributions``.
    """
    tops = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    imported = {normalise_name(package): package for top in tops for package in providers.get(top, ())}
    starts = [normalise_name(package) for top in set(named) for package in providers.get(top, ())]
    reached = graph.ancestors({package: _required(name) for package, name in imported.items()}, starts)
    return {package: importlib.metadata.version(imported[package]) for package in reached if package in imported}


def _required(package: str) -> list[str]:
    required = importlib.metadata.requires(package) or []
    return [normalise_name(re.findall(r"^[\w.-]+", requirement)[0]) for requirement in required]


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
                digests[name] = job_records.digest_path(path, cache)
    return digests


def find_providers(cache: str | Path) -> dict[str, list[str]]:
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
