"""A run as it is on disk and as the workflow would make it today, for the audit."""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import audit, closure, environment, graph, job_records, manifest, origins
from scripts.core.workflow.job import log

ROOT = Path(__file__).resolve().parents[2]
UNTRACKED = ("logs", "benchmarks", "provenance", "plan.csv")
"""What is in results/ and is no result."""


class State:
    """The plan, the records and the files of a run, and what follows from them.

    Args:
        configfiles: The overlays that the run was made with.
        targets: What should be there; by default what the workflow makes by default.
    """

    def __init__(self, configfiles: Sequence[str | Path] = (), targets: Sequence[str] = ()):
        # An audit trusts no digest that somebody may have edited.
        closure.digest_store(ROOT).unlink(missing_ok=True)
        self.problems = {}
        self.records = job_records.load_records(problems=self.problems)
        recorded = {output for record in self.records.values() for output in record.get("outputs", {})}
        self.present = present = sorted(p for p in list_results(recorded) if not p.startswith(manifest.SIGNATURE))
        planned = plan_run(configfiles, targets, present)
        self.jobs = planned["jobs"]
        self.configfiles = list(configfiles)
        self.models = {job["wildcards"].get(kind) for job in self.jobs for kind in ("model", "system")}
        dropped = audit.unrequested_outputs(self.jobs, planned["targets"], self.records, present)
        self.jobs = [job for job in self.jobs if not dropped & set(job["outputs"])]
        self.digests = read_digests({path for job in self.jobs for path in [*job["inputs"], *job["outputs"]]}, present)
        found = environment.look_up(self.jobs, self.records, self.digests, ROOT, _weights(self.jobs))
        self.findings = audit.judge(self.jobs, self.records, found, self.problems)
        self.findings |= audit.orphaned_files(present, self.jobs, self.digests)
        self.findings |= audit.leftover_records(self.jobs, self.records)
        self.findings |= audit.orphaned_records(self.problems, self.findings)
        self.origins = origins.Origins(self.jobs, planned["outcomes"], locate_input)

    def findings_behind(self, paths: Iterable[str]) -> dict[str, dict]:
        """Return the findings of ``paths`` and of everything that they are made from."""
        needed = set(graph.ancestors(graph.inputs_of(self.jobs), paths))
        return {path: finding for path, finding in self.findings.items() if path in needed}


def locate_input(path: str) -> Path:
    return job_records.locate_path(path, ROOT)


def list_results(recorded: Collection[str]) -> Iterator[str]:
    """Yield everything below ``results/`` that is no folder, hidden files, links and pipes included.

    A linked folder is followed where it holds files of ``recorded``, such as results on a larger disk.
    """
    for folder, names, others in os.walk("results", followlinks=True):
        if folder == "results":
            names[:] = [name for name in names if name not in UNTRACKED]
            others = [name for name in others if name not in UNTRACKED]
        links = [path for path in (f"{folder}/{name}" for name in names) if Path(path).is_symlink()]
        foreign = [path for path in links if not any(made.startswith(f"{path}/") for made in recorded)]
        names[:] = [name for name in names if f"{folder}/{name}" not in foreign]
        yield from [*foreign, *(f"{folder}/{name}" for name in others)]


def plan_run(configfiles: Sequence[str | Path], targets: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
    """Return the plan of a run (:mod:`scripts.provenance.expected_jobs`), made in a process of its own."""
    command = [sys.executable, "-m", "scripts.provenance.expected_jobs", *targets]
    for path in configfiles:
        command += ["--configfile", str(path)]
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "files.json"
        listed.write_text(json.dumps(files), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [*command, "--files", str(listed)], capture_output=True, text=True, env=environment, check=False
        )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise UserError(f"the workflow cannot be planned: {lines[-1].removeprefix('Error: ')}; see: snakemake -n")
    return json.loads(done.stdout)


def read_digests(planned: Collection[str], present: Iterable[str] = ()) -> dict[str, str]:
    """Return the digests of the files and folders of ``planned`` and of the files of ``present``, read anew."""
    found = {path: job_records.locate_path(path, ROOT) for path in sorted({*planned, *present})}
    # Opening a pipe would wait for ever, and a link may lead to the whole disk.
    existing = {path: place for path, place in found.items() if place.is_file() or (path in planned and place.is_dir())}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(existing, pool.map(_digest, existing.values()), strict=True))


def _digest(path: Path) -> str:
    try:
        return files.sha256(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def _weights(jobs: list[dict]) -> dict[str, str]:
    """Return the digests of weights that lie in folders of this machine; a hub's are fixed by revision."""
    chosen = {}
    for job in jobs:
        entry = job["params"].get("entry")
        fixed = [part for part in ("source", "adapter") if entry and "hub" in entry.get(part, {})]
        if {"source", "adapter"} & job["folders"].keys() and not fixed:
            here = {part: {"path": folder} for part, folder in job["folders"].items()}
            names = job["wildcards"].get("model"), job["wildcards"].get("system")
            chosen |= dict.fromkeys(job["outputs"], (*names, entry | here))
    found, known = {}, {}
    if chosen:
        from scripts.core.coreference_systems import sources
        from scripts.core.models import entries, loading
    for path, (model, system, entry) in chosen.items():
        name = model or system
        if name not in known:
            try:
                known[name] = (
                    loading.weights_digest(loading.locate_model(model, entries.read_job_entry(entry)))
                    if model
                    else sources.locate_system(system, entries.read_job_system(entry)).weights_sha256
                )
            except UserError as error:
                log.warning("the weights cannot be compared: %s", error)
                known[name] = None
        if known[name]:
            found[path] = known[name]
    return found
