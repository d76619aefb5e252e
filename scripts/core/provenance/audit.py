"""Compare what the workflow would make with what is on disk and with the records of the jobs that made it.

``jobs`` are as :mod:`scripts.provenance.expected_jobs` prints them, ``records`` as
:func:`scripts.core.provenance.job_records.load_records` reads them, and digests of files. A *finding* is what is said
of one output: ``{"verdict", "reasons", "record"}``; a reason is ``{"kind", "name", "old", "new"}``, ``old`` from
the record.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.core.provenance import closure, graph
from scripts.core.provenance.environment import Present, look_up, package_inputs
from scripts.core.provenance.job_records import (
    CACHE,
    MODEL_FACTS,
    checksum,
    digest_path,
    index_by_output,
    locate_path,
    record_path,
    row_digests,
)

VERDICTS = ("missing", "orphan", "mixed", "tampered", "stale", "unpinned", "current")
"""The worst first; a file that deserves several gets the first."""
REMADE_VERDICTS = ("missing", "mixed", "tampered", "stale")
"""Verdicts on what its job makes anew, and all that follows."""

KINDS = {"_code": "module", "_rows": "row"}
"""Parameters that hold digests, and what they are digests of."""
ABSENT = "absent"


def make_reason(kind: str, name: str, old: Any = None, new: Any = None) -> dict[str, Any]:
    """Return one reason."""
    return {"kind": kind, "name": name, "old": old, "new": new}


def changed_leaves(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield ``(dotted name, old, new)`` for every leaf in which two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from changed_leaves(old.get(key, ABSENT), new.get(key, ABSENT), f"{name}.{key}" if name else key)
    elif old != new:
        yield name, old, new


def judge(jobs: list[dict], records: dict, here: Present, problems: dict | None = None) -> dict:
    """Return a finding for every output of ``jobs``.

    Args:
        records: Path of the record to record.
        problems: Path of a record that cannot be used to what is wrong with it; its record is ``{}``.
    """
    problems = problems or {}
    jobs = [job for job in graph.order_jobs(jobs) if job["outputs"]]
    findings = {}
    for job in jobs:
        path = record_path(job["rule"], job["wildcards"], job["outputs"])
        record = records.get(path)
        changes = list(_changes_since(job, record, here)) if record else []
        for output in job["outputs"]:
            verdict, reasons = _judge_by_record(path, record, problems.get(path), output, here)
            if verdict == "current" and changes:
                verdict, reasons = "stale", changes
            findings[output] = {"verdict": verdict, "reasons": reasons, "record": path}
        _add_consequences(job, findings, {})
    # Only scores that are current otherwise can be a mixture; the others are to be made anew anyway.
    mixtures = mixed_scores(
        [job for job in jobs if all(findings[path]["verdict"] == "current" for path in job["outputs"])], records
    )
    for job in jobs:
        _add_consequences(job, findings, mixtures)
    for job in jobs:
        record = records.get(findings[job["outputs"][0]]["record"])
        unpinned = [*_unfixed_revisions(job, record), *_inputs_judged(job, findings, ["unpinned"])]
        for output in job["outputs"]:
            if unpinned and findings[output]["verdict"] == "current":
                findings[output] |= {"verdict": "unpinned", "reasons": unpinned}
    return findings


def judge_recorded(
    paths: Iterable[str], records: dict, problems: dict, root: Path
) -> tuple[list[dict], dict[str, str], dict[str, dict]]:
    """Judge what ``paths`` come from as their records tell it, which needs no plan.

    Returns:
        The jobs (:func:`recorded_jobs`), the digests of their files, and a finding for every output.
    """
    jobs = recorded_jobs(paths, records, root)
    places = {path: locate_path(path, root) for job in jobs for path in [*job["inputs"], *job["outputs"]]}
    digests = {path: digest_path(place, CACHE) for path, place in places.items() if place.exists()}
    here = look_up(jobs, records, digests, root, cache=CACHE)
    return jobs, digests, judge(jobs, records, here, problems)


def recorded_jobs(paths: Iterable[str], records: dict, root: Path) -> list[dict]:
    """Return the jobs that ``paths`` come from as their records tell them, with the digests of code as they are now.

    A plan made by Snakemake (:mod:`scripts.provenance.expected_jobs`) knows the parameters of today as
    well; this needs no plan.

    Returns:
        A path below ``results/`` that no record names is the output of a job without inputs, so that :func:`judge`
        misses its record.
    """
    makers = index_by_output(records)
    jobs, done = [], set()
    for path in graph.ancestors(graph.inputs_of(filter(None, records.values())), paths):
        name = makers.get(path)
        if name is None and path.startswith("results/"):
            jobs.append({"rule": "unknown", "wildcards": {"file": path}, "inputs": [], "outputs": [path], "params": {}})
        if name and name not in done:
            done.add(name)
            record = records[name]
            params = dict(record["params"])
            for part, now in (("_code", _code_now), ("_rows", _rows_now)):
                params |= {part: now(params[part], root)} if part in params else {}
            job = {key: record[key] for key in ("rule", "wildcards")}
            job |= {key: list(record[key]) for key in ("inputs", "outputs")}
            jobs.append(job | {"params": params})
    return jobs


def _code_now(modules: Iterable[str], root: Path) -> dict[str, str]:
    return {path: closure.digest_module(path, root) if (root / path).is_file() else ABSENT for path in modules}


def _rows_now(tables: dict[str, dict], root: Path) -> dict[str, dict]:
    places = {path: locate_path(path, root) for path in tables}
    return {path: row_digests(place, tables[path]) if place.is_file() else {} for path, place in places.items()}


def _add_consequences(job: dict[str, Any], findings: dict[str, dict], mixtures: dict[str, list[dict]]) -> None:
    """Judge outputs that are current by themselves by what is said of them in ``mixtures``, and by their inputs."""
    follows = _inputs_judged(job, findings, REMADE_VERDICTS)
    for output in job["outputs"]:
        finding = findings[output]
        if finding["verdict"] == "current" and mixtures.get(output):
            finding |= {"verdict": "mixed", "reasons": mixtures[output]}
        elif finding["verdict"] in ("current", "stale"):
            added = [reason for reason in follows if reason not in finding["reasons"]]
            if added:
                finding |= {"verdict": "stale", "reasons": finding["reasons"] + added}


def _judge_by_record(
    path: str, record: dict[str, Any] | None, problem: str | None, output: str, here: Present
) -> tuple[str, list[dict]]:
    """Judge one file by its record alone."""
    found, stored = here.digests.get(output), here.facts.get(output)
    if found is None:
        return "missing", [make_reason("file", output)]
    if problem:
        return "tampered", [make_reason("malformed", path, None, problem)]
    if not record:
        return "missing", [make_reason("record", path)]
    if record["checksum"] != checksum(record):
        return "tampered", [make_reason("record", path, record["checksum"], checksum(record))]
    written = record["outputs"].get(output)
    if written == found:
        return "current", []
    recorded = record["models"].get(output)
    if recorded and stored:
        foreign = [
            make_reason(f"score file's {key}", output, recorded.get(key), stored.get(key))
            for key in MODEL_FACTS
            if recorded.get(key) != stored.get(key)
        ]
        if foreign:
            return "mixed", foreign
    return "tampered", [make_reason("output", output, written, found)]


def _changes_since(job: dict[str, Any], record: dict[str, Any], here: Present) -> Iterator[dict[str, Any]]:
    """Yield what a job would find different today."""
    by_row = record["params"].get("_rows", {}).keys() & job["params"].get("_rows", {}).keys()
    for path in job["inputs"]:
        old, new = record["inputs"].get(path), here.digests.get(path)
        if old != new and (path not in by_row or ABSENT in (old or ABSENT, new or ABSENT)):
            yield make_reason("input", path, old or ABSENT, new or ABSENT)
    for path in sorted(set(record["inputs"]) - set(job["inputs"])):
        yield make_reason("input", path, record["inputs"][path], "no input any more")
    for name, old, new in changed_leaves(record["params"], job["params"]):
        kind = KINDS.get(name.partition(".")[0], "revision" if name.endswith(".revision") else "parameter")
        yield make_reason(kind, name.partition(".")[2] if kind in KINDS.values() else name, old, new)
    for package, version in sorted(record["packages"].items()):
        # A build tag such as +cpu belongs to the machine, not to the version.
        for kind, now in (("package", here.pins), ("installed package", here.installed)):
            if version.partition("+")[0] != now.get(package, version).partition("+")[0]:
                yield make_reason(kind, package, version, now[package])
    python = record["machine"]["python"]
    if python.split(".")[:2] != here.installed.get("python", python).split(".")[:2]:
        yield make_reason("installed", "python", python, here.installed["python"])
    for name, old in sorted(record["package_files"].items()):
        if here.package_files.get(name, old) != old:
            yield make_reason("package file", name, old, here.package_files[name])
    for package, _, version in package_inputs(job["params"]).values():
        if here.installed.get(package, version) != version:
            yield make_reason("installed package", package, version, here.installed[package])
    for path in job["outputs"]:
        old = record["models"].get(path, {}).get("weights_sha256")
        if path in here.weights and old and here.weights[path] != old:
            yield make_reason("weights", record["models"][path]["model"], old, here.weights[path])


def _inputs_judged(job: dict[str, Any], findings: dict[str, dict], verdicts: Collection[str]) -> list[dict]:
    """Return reasons that name a job's inputs with one of the verdicts."""
    judged = {path: findings[path]["verdict"] for path in job["inputs"] if path in findings}
    return [make_reason("upstream", path, None, verdict) for path, verdict in judged.items() if verdict in verdicts]


def _unfixed_revisions(job: dict[str, Any], record: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    entry = job["params"].get("entry") or {}
    for part in ("source", "tokenizer", "adapter", "encoder"):
        source = entry.get(part, {})
        if "hub" in source and not re.fullmatch("[0-9a-f]{40}", source.get("revision") or ""):
            facts = next(iter((record or {}).get("models", {}).values()), {})
            resolved = facts.get("revision") if part == "source" else None
            yield make_reason("revision", f"{part} {source['hub']}", resolved, None)


def mixed_scores(jobs: Iterable[dict[str, Any]], records: dict[str, dict]) -> dict[str, list[dict]]:
    """Return ``{score file: reasons}`` where scores of one run come from different weights, code or environments.

    Scores are compared with the other scores of the plan: the same model must have the same weights and revision, and
    all scores of one rule the same Python, code and packages. Those that differ from most others are named; without a
    majority, all are.
    """
    kinds = {}
    for job in jobs:
        record = records.get(record_path(job["rule"], job["wildcards"], job["outputs"])) if job["outputs"] else None
        if not record:
            continue
        for path in job["outputs"]:
            facts = record.get("models", {}).get(path)
            if not facts:
                continue
            for key in ("weights_sha256", "revision"):
                kinds.setdefault((f"{key} of model", facts["model"]), {})[path] = facts.get(key)
            kinds.setdefault(("python of rule", job["rule"]), {})[path] = record["machine"]["python"]
            for package, version in record["packages"].items():
                kinds.setdefault((f"package {package} of rule", job["rule"]), {})[path] = version
            for module, value in record["params"].get("_code", {}).items():
                kinds.setdefault((f"module {module} of rule", job["rule"]), {})[path] = value
    found = {}
    for (kind, name), values in kinds.items():
        counts = Counter(values.values()).most_common()
        if len(counts) == 1:
            continue
        usual = counts[0][0] if counts[0][1] > counts[1][1] else None
        for path, value in values.items():
            if value != usual:
                others = usual if usual is not None else next(v for v, _ in counts if v != value)
                found.setdefault(path, []).append(make_reason(kind, name, value, others))
    return found


def orphaned_files(present: Iterable[str], jobs: Iterable[dict[str, Any]], digests: dict[str, str]) -> dict[str, dict]:
    """Return findings for files that no job makes.

    Files in a folder that a job makes belong to it, being part of its digest; links to nowhere and the like are not.
    """
    made = {path for job in jobs for path in job["outputs"]}
    folders = tuple(f"{path}/" for path in made)
    return {
        path: _orphan(path, digests.get(path, ABSENT))
        for path in present
        if path not in made and not (path in digests and path.startswith(folders))
    }


def _orphan(path: str, digest: str) -> dict[str, Any]:
    return {"verdict": "orphan", "reasons": [make_reason("file", path, None, digest)], "record": None}


def leftover_records(jobs: list[dict], records: dict[str, dict]) -> dict[str, dict]:
    """Return findings for records of rules that no longer exist, of outputs that another record names too."""
    rules = {job["rule"] for job in jobs}
    named = Counter(output for record in records.values() for output in record.get("outputs", {}))
    return {
        path: _orphan(path, ABSENT)
        for path, record in records.items()
        if record.get("rule") not in rules and any(named[output] > 1 for output in record.get("outputs", {}))
    }


def orphaned_records(problems: dict[str, str], findings: dict[str, dict]) -> dict[str, dict]:
    """Return findings for the records that cannot be used and that no job of the plan would have left."""
    owned = {finding["record"] for finding in findings.values()}
    return {
        path: {"verdict": "tampered", "reasons": [make_reason("malformed", path, None, problem)], "record": path}
        for path, problem in problems.items()
        if path not in owned
    }


def unrequested_outputs(jobs: list[dict], targets: Sequence[int], records: dict, present: Collection[str]) -> set[str]:
    """Return the outputs of jobs that the targets do not need and that have neither a record nor a file.

    They are there only because a leftover would be made from them.

    Args:
        targets: Indices of the target jobs.
        present: The files that exist.
    """
    asked = [path for n in targets for path in [*jobs[n]["inputs"], *jobs[n]["outputs"]]]
    needed = {path for job in graph.jobs_behind(jobs, asked) for path in job["outputs"]}
    return {
        path
        for job in jobs
        for path in job["outputs"]
        if path not in needed
        and not set(present) & set(job["outputs"])
        and record_path(job["rule"], job["wildcards"], job["outputs"]) not in records
    }
