"""Compare what the workflow would make with what is on disk and with the records of the jobs that made it.

Everything here is a function of plain data: ``jobs`` as :mod:`scripts.provenance.expected_jobs` prints them,
``records`` as :func:`scripts.core.provenance.job_records.load` reads them, and digests of files. A *finding* is what is
said of one output: ``{"verdict", "reasons", "record"}``; a reason is ``{"kind", "name", "old", "new"}``, ``old`` from
the record. Where modules differ in nothing that could change the output, it has ``notes`` as well, in the same form.
"""

import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.core.errors import UserError, count_noun
from scripts.core.provenance import closure
from scripts.core.provenance.job_records import MODEL_FACTS, checksum, index, package_inputs, record_path
from scripts.core.workflow import runs

VERDICTS = ("missing", "orphan", "mixed", "tampered", "stale", "unpinned", "current")
"""The worst first; a file that deserves several gets the first."""

REMADE_VERDICTS = ("missing", "mixed", "tampered", "stale")
"""Verdicts on what its job makes anew."""
NOT_REMADE = ("upstream", "installed package", "package file")
"""Reasons that another remedy is for."""
KINDS = {"_code": "module", "_rows": "row"}
"""Parameters that hold digests, and what they are digests of."""
ABSENT = "absent"
FEW = 12
"""Up to this many consequences of one verdict are named in a report."""


def make_reason(kind: str, name: str, old: Any = None, new: Any = None) -> dict[str, Any]:
    """Return one reason."""
    return {"kind": kind, "name": name, "old": old, "new": new}


def order_jobs(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the jobs in an order in which they can run."""
    makers = {path: n for n, job in enumerate(jobs) for path in job["outputs"]}
    done, order = set(), []

    def visit(n: int) -> None:
        if n in done:
            return
        done.add(n)
        for path in jobs[n]["inputs"]:
            if path in makers:
                visit(makers[path])
        order.append(jobs[n])

    for n in range(len(jobs)):
        visit(n)
    return order


def changed_leaves(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield ``(dotted name, old, new)`` for every leaf in which two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from changed_leaves(old.get(key, ABSENT), new.get(key, ABSENT), f"{name}.{key}" if name else key)
    elif old != new:
        yield name, old, new


def judge(
    jobs: list[dict],
    records: dict,
    digests: dict,
    facts: dict,
    pins: dict,
    weights: dict,
    *,
    installed: dict | None = None,
    package_files: dict | None = None,
    problems: dict | None = None,
    texts: dict | None = None,
) -> dict:
    """Return a finding for every output of ``jobs``.

    Args:
        records: Path of the record to record.
        digests: SHA-256 of every input and output that exists.
        facts: Metadata of the score files that exist (:func:`scripts.core.provenance.job_records.model_facts`),
            portable.
        pins: Package to version, of the lock files as they are now.
        weights: Score file to the digest of its model's weights as they are now, where they can be read.
        installed: Package, or ``python``, to the version that is installed here; what is not installed is not compared.
        package_files: ``package:member`` to the digest of a package's weights or data as they are installed here.
        problems: Path of a record that cannot be used to what is wrong with it; its record is ``{}``.
        texts: Module to the digest of its text as it is now; without it there are no notes.
    """
    here = {"pins": pins, "weights": weights, "installed": installed or {}, "package_files": package_files or {}}
    problems = problems or {}
    jobs = [job for job in order_jobs(jobs) if job["outputs"]]
    paths = [record_path(job["rule"], job["wildcards"], job["outputs"]) for job in jobs]
    behind = [
        list(_stale(job, records[path], digests, **here)) if records.get(path) else []
        for job, path in zip(jobs, paths, strict=True)
    ]
    findings = {}
    for job, path, reasons in zip(jobs, paths, behind, strict=True):
        for output in job["outputs"]:
            found = _alone(path, records.get(path), problems.get(path), output, digests.get(output), facts.get(output))
            if found[0] == "current" and reasons:
                found = "stale", reasons
            findings[output] = {"verdict": found[0], "reasons": found[1], "record": path}
    for job in jobs:
        _spread(job, findings, {})
    # Only scores that are current otherwise can be a mixture; the others are to be made anew anyway.
    mixtures = mixed_scores(
        [job for job in jobs if all(findings[p]["verdict"] == "current" for p in job["outputs"])], records
    )
    for job in jobs:
        _spread(job, findings, mixtures)
    for job, path in zip(jobs, paths, strict=True):
        loose = [*_unpinned(job, records.get(path)), *_loose(job, findings)]
        for output in job["outputs"]:
            if loose and findings[output]["verdict"] == "current":
                findings[output] |= {"verdict": "unpinned", "reasons": loose}
        notes = list(_notes(job, records.get(path) or {}, texts or {}))
        for output in job["outputs"] if notes else ():
            findings[output]["notes"] = notes
    return findings


def recorded_jobs(
    paths: Iterable[str], records: dict, code: Callable[[str, str], str | None], rows: Callable[[str, list[str]], dict]
) -> list[dict]:
    """Return the jobs that ``paths`` come from as their records tell them, with the digests of code as they are now.

    A plan made by Snakemake (:mod:`scripts.provenance.expected_jobs`) knows the parameters of today as
    well; this needs no plan.

    Args:
        code: Path of a module and name of a rule to the digest of the module for it, or None if there is no such module
            any more.
        rows: Path of a table of templates and the names of rows to their digests
            (:func:`scripts.core.provenance.job_records.row_digests`).

    Returns:
        A path below ``results/`` that no record names is the output of a job without inputs, so that :func:`judge`
        misses its record.
    """
    makers = index(records)
    jobs, seen, waiting = [], set(), list(paths)
    while waiting:
        path = waiting.pop()
        name = makers.get(path)
        if name is None and path.startswith("results/") and path not in seen:
            jobs.append({"rule": "unknown", "wildcards": {"file": path}, "inputs": [], "outputs": [path], "params": {}})
        if name and name not in seen:
            record = records[name]
            now = {module: code(module, record["rule"]) or ABSENT for module in record["params"].get("_code", {})}
            job = {key: record[key] for key in ("rule", "wildcards")}
            job |= {key: list(record[key]) for key in ("inputs", "outputs")}
            used = {path: rows(path, list(names)) for path, names in record["params"].get("_rows", {}).items()}
            jobs.append(job | {"params": record["params"] | {"_code": now} | ({"_rows": used} if used else {})})
            waiting += record["inputs"]
        seen |= {path, name}
    return jobs


def _spread(job: dict[str, Any], findings: dict[str, dict], mixtures: dict[str, list[dict]]) -> None:
    """Judge outputs that are current by themselves by what is said of them in ``mixtures``, and by their inputs."""
    follows = list(_upstream(job, findings))
    for output in job["outputs"]:
        finding = findings[output]
        if finding["verdict"] == "current" and mixtures.get(output):
            finding |= {"verdict": "mixed", "reasons": mixtures[output]}
        elif finding["verdict"] in ("current", "stale"):
            added = [reason for reason in follows if reason not in finding["reasons"]]
            if added:
                finding |= {"verdict": "stale", "reasons": finding["reasons"] + added}


def _alone(
    path: str,
    record: dict[str, Any] | None,
    problem: str | None,
    output: str,
    found: str | None,
    stored: dict[str, Any] | None,
) -> tuple[str, list[dict]]:
    """Judge one file by its record alone."""
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


def _stale(
    job: dict[str, Any],
    record: dict[str, Any],
    digests: dict[str, str],
    *,
    pins: dict,
    weights: dict,
    installed: dict,
    package_files: dict,
) -> Iterator[dict[str, Any]]:
    """Yield what a job would find different today."""
    by_row = record["params"].get("_rows", {}).keys() & job["params"].get("_rows", {}).keys()
    for path in job["inputs"]:
        old, new = record["inputs"].get(path), digests.get(path)
        if old != new and (path not in by_row or ABSENT in (old or ABSENT, new or ABSENT)):
            yield make_reason("input", path, old or ABSENT, new or ABSENT)
    for path in sorted(set(record["inputs"]) - set(job["inputs"])):
        yield make_reason("input", path, record["inputs"][path], "no input any more")
    for name, old, new in changed_leaves(record["params"], job["params"]):
        kind = KINDS.get(name.partition(".")[0], "revision" if name.endswith(".revision") else "parameter")
        yield make_reason(kind, name.partition(".")[2] if kind in KINDS.values() else name, old, new)
    for package, version in sorted(record["packages"].items()):
        # A build tag such as +cpu belongs to the machine, not to the version.
        for kind, now in (("package", pins), ("installed package", installed)):
            if version.partition("+")[0] != now.get(package, version).partition("+")[0]:
                yield make_reason(kind, package, version, now[package])
    python = record["machine"]["python"]
    if python.split(".")[:2] != installed.get("python", python).split(".")[:2]:
        yield make_reason("installed", "python", python, installed["python"])
    for name, old in sorted(record["package_files"].items()):
        if package_files.get(name, old) != old:
            yield make_reason("package file", name, old, package_files[name])
    for package, _, version in package_inputs(job["params"]).values():
        if installed.get(package, version) != version:
            yield make_reason("installed package", package, version, installed[package])
    for path in job["outputs"]:
        old = record["models"].get(path, {}).get("weights_sha256")
        if path in weights and old and weights[path] != old:
            yield make_reason("weights", record["models"][path]["model"], old, weights[path])


def _notes(job: dict, record: dict, texts: dict) -> Iterator[dict]:
    """Yield the modules that were written otherwise when the job ran, with the same code, and those that are inert."""
    code = [entry.get("params", {}).get("_code", {}) for entry in (record, job)]
    for module, old in sorted(record.get("text", {}).items()):
        if texts.get(module, old) != old and code[0].get(module) == code[1].get(module):
            yield make_reason("inert" if module in closure.INERT else "text", module, old, texts[module])


def _upstream(job: dict[str, Any], findings: dict[str, dict]) -> Iterator[dict[str, Any]]:
    """Yield the inputs that would be made anew; one that was changed by hand differs from the record already."""
    for path in job["inputs"]:
        if findings.get(path, {}).get("verdict") in ("stale", "mixed", "missing", "tampered"):
            yield make_reason("upstream", path, None, findings[path]["verdict"])


def _unpinned(job: dict[str, Any], record: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    entry = job["params"].get("entry") if isinstance(job["params"], dict) else None
    for part in ("source", "tokenizer"):
        source = (entry or {}).get("source", {}) if part == "source" else (entry or {}).get("tokenizer", {})
        if "hub" in source and not re.fullmatch("[0-9a-f]{40}", source.get("revision") or ""):
            facts = next(iter((record or {}).get("models", {}).values()), {})
            resolved = facts.get("revision") if part == "source" else None
            yield make_reason("revision", f"{part} {source['hub']}", resolved, None)


def _loose(job: dict[str, Any], findings: dict[str, dict]) -> Iterator[dict[str, Any]]:
    for path in job["inputs"]:
        if findings.get(path, {}).get("verdict") == "unpinned":
            yield make_reason("upstream", path, None, "unpinned")


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
        path: {
            "verdict": "orphan",
            "reasons": [make_reason("file", path, None, digests.get(path, ABSENT))],
            "record": None,
        }
        for path in present
        if path not in made and not (path in digests and path.startswith(folders))
    }


def leftover_records(jobs: list[dict], records: dict[str, dict]) -> dict[str, dict]:
    """Return findings for records of rules that no longer exist, of outputs that another record names too."""
    rules = {job["rule"] for job in jobs}
    named = Counter(output for record in records.values() for output in record.get("outputs", {}))
    return {
        path: {"verdict": "orphan", "reasons": [make_reason("file", path, None, ABSENT)], "record": None}
        for path, record in records.items()
        if record.get("rule") not in rules and any(named[output] > 1 for output in record.get("outputs", {}))
    }


MODEL_OUTPUTS = re.compile(r"results/[^/]+/(scores|answers|distributions)/")
"""What models took long to make; it is removed only where somebody names it."""


def removable_files(findings: dict, named: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return what no job of the plan makes and may go, and what is kept, each in alphabetical order.

    Args:
        named: Files and folders; if there are some, what lies elsewhere is neither removed nor kept. Scores, answers
            and token distributions are kept unless they, or a folder that holds nothing else, are named.

    Raises:
        UserError: For a name outside of ``results/``, and for one where every file is made by a job or where there is
            none.
    """
    extra = sorted(path for path, finding in findings.items() if finding["verdict"] == "orphan")
    places = {name: posixpath.normpath(name) for name in named}
    for name, place in places.items():
        if not f"{place}/".startswith("results/"):
            raise UserError(f"{name} is not in results/; nothing else is ever removed")
        if not any(_within(path, place) for path in extra):
            raise UserError(f"{name}: nothing there that no rule of this configuration makes; see: --prune")
    if places:
        extra = [path for path in extra if any(_within(path, place) for place in places.values())]
    asked = [place for place in places.values() if MODEL_OUTPUTS.match(f"{place}/")]
    kept = [path for path in extra if MODEL_OUTPUTS.match(path) and not any(_within(path, place) for place in asked)]
    return [path for path in extra if path not in set(kept)], kept


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


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
    needed = with_inputs(jobs, [path for n in targets for path in [*jobs[n]["inputs"], *jobs[n]["outputs"]]])
    return {
        path
        for job in jobs
        for path in job["outputs"]
        if path not in needed
        and not set(present) & set(job["outputs"])
        and record_path(job["rule"], job["wildcards"], job["outputs"]) not in records
    }


def with_inputs(jobs: Iterable[dict[str, Any]], paths: Iterable[str]) -> set[str]:
    """Return ``paths`` and everything that they are made from, siblings of the same job included."""
    makers = {path: job for job in jobs for path in job["outputs"]}
    found, waiting = set(), list(paths)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            if path in makers:
                waiting += [*makers[path]["inputs"], *makers[path]["outputs"]]
    return found


def jobs_after(jobs: Sequence[dict[str, Any]], paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return the jobs that would run again if ``paths`` changed, in order."""
    changed, found = set(paths), []
    for job in order_jobs(jobs):
        if changed & set(job["inputs"]):
            changed |= set(job["outputs"])
            found.append(job)
    return found


def describe(entry: dict[str, Any]) -> str:
    """Return a reason as text."""
    name, old, new = entry["name"], _short(entry["old"]), _short(entry["new"])
    match entry["kind"]:
        case "file" if entry["new"] is None:
            return f"{name} does not exist"
        case "file":
            return f"no rule of this run makes {name}"
        case "record" if entry["old"] is None:
            return f"no record {name}: the job that makes it did not finish"
        case "record":
            return f"record {name} was edited or cut off: its checksum is {old}, its content's {new}"
        case "malformed":
            return f"record {name} cannot be used: {new}"
        case "upstream":
            return f"made from {name}, which is {new}"
        case "text":
            return f"same code, other text: {name}"
        case "inert":
            return f"changed, but without influence on results: {name}"
        case "revision" if entry["new"] is None:
            return f"{name} has no fixed revision" + (f" (was {old})" if entry["old"] else "")
        case kind:
            return f"{kind} {name}: was {old}, now {new}"


def _short(value: Any) -> str:
    text = str(value)
    if len(text) == 64 and not set(text) - set("0123456789abcdef"):
        return text[:16]
    return text if len(text) <= 120 else f"{text[:100]}... ({len(text)} characters)"


def summary(findings: dict[str, dict]) -> dict[str, int]:
    """Return ``{verdict: number of files}``, the worst first, without zeros."""
    counts = Counter(finding["verdict"] for finding in findings.values())
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def report(findings: dict[str, dict]) -> list[str]:
    """Return the lines of an audit: every file that is not current with its reasons, causes before consequences.

    Modules that changed without consequence for current files come last.
    """
    lines = []
    for verdict in VERDICTS[:-1]:
        chosen = {p: f for p, f in sorted(findings.items()) if f["verdict"] == verdict}
        causes = {p: f for p, f in chosen.items() if any(r["kind"] != "upstream" for r in f["reasons"])}
        for path, finding in causes.items():
            told = [describe(r) for r in finding["reasons"] if r["kind"] != "upstream"]
            lines.append(f"{verdict:<9} {path}")
            lines += [f"          {line}" for line in told[:8]]
            if len(told) > 8:
                lines.append(f"          and {len(told) - 8} more reasons")
        following = sorted(chosen.keys() - causes.keys())
        lines += [f"{verdict:<9} {path}  (follows)" for path in following[:FEW]]
        if len(following) > FEW:
            lines.append(f"{verdict:<9} {len(following) - FEW} more files follow (--json lists them)")
    noted = Counter(
        describe(note) for f in findings.values() if f["verdict"] == "current" for note in f.get("notes", ())
    )
    lines += [f"{'note':<9} {text} ({count_noun(count, 'current file')})" for text, count in sorted(noted.items())]
    total = len(findings)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in summary(findings).items())
    return [printable(line) for line in [*lines, f"{total} files: {counts or 'nothing was made yet'}"]]


def printable(text: str) -> str:
    """Return a line in which nothing ends it, moves the cursor or cannot be encoded: names of files may hold anything.

    Examples:
        >>> printable("a\\nb\\x1b[31mc")
        'a\\\\nb\\\\x1b[31mc'
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )


def remedy_lines(
    findings: dict,
    jobs: list[dict],
    targets: Sequence[str] = (),
    configfiles: Sequence[str | Path] = (),
    default: str = "paper",
    directory: str | None = None,
) -> list[str]:
    """Return what makes results current again, as lines; empty if all are.

    Snakemake does not know records, and of a file that was changed it sees that it is new. So the jobs are named that
    are to run again; what follows from them, Snakemake finds.

    Args:
        targets: What the run makes; the workflow's default if there are none.
        configfiles: The overlays of the run.
        default: The workflow's default target.
        directory: The run's folder, where that is not the working directory of whoever reads the lines.
    """
    causes = {
        path
        for path, finding in findings.items()
        if finding["verdict"] in REMADE_VERDICTS
        and any(entry["kind"] not in NOT_REMADE for entry in finding["reasons"])
    }
    forced, rules = [], {}
    for job in jobs:
        if job["outputs"]:
            rules.setdefault(job["rule"], []).append(job)
    for rule, members in rules.items():
        own = [sorted(job["outputs"])[0] for job in members if causes & set(job["outputs"])]
        forced += [rule] if len(own) == len(members) > 1 else own
    lines = []
    if forced:
        overlays = runs.overlay_option(list(map(str, configfiles)))
        wanted = list(targets) or [default]
        makers = {path for job in jobs for path in job["inputs"]}
        # What nothing of the run needs has to be asked for.
        wanted += [name for name in forced if name not in rules and name not in makers]
        folder = ["--directory", directory] if directory else []
        command = ["snakemake", "--cores", "2", *folder, *overlays, "--forcerun", *forced, "--", *wanted]
        lines.append(f"to make them again, run: {shlex.join(command)}")
    extra = sorted(path for path, finding in findings.items() if finding["verdict"] == "orphan")
    if extra:
        folder = ["--directory", directory] if directory else []
        overlays = [f"--configfile={path}" for path in configfiles]
        wanted = [part for target in targets for part in ("--target", target)]
        # By its name only what is kept otherwise.
        named = [path for path in extra if MODEL_OUTPUTS.match(path)]
        command = ["python", "-m", "scripts.audit", *folder, *overlays, *wanted, "--prune", "--delete"]
        if len(extra) > len(named):
            lines.append(f"to delete what nothing makes, run: {shlex.join(command)}")
        if named:
            lines.append(f"to delete scores that nothing makes, run: {shlex.join([*command, *named])}")
    loose = {r["name"] for f in findings.values() if f["verdict"] == "unpinned" for r in f["reasons"]} - findings.keys()
    if loose:
        lines.append(f"to fix revisions, write them into the registry's entries: {', '.join(sorted(loose))}")
    return lines


def mismatch_hint(findings: dict, configfiles: Sequence[str | Path] = ()) -> str | None:
    """Return the question whether the run had another configuration, where most of it would be made otherwise, or None.

    Args:
        configfiles: The overlays that were named.
    """
    known = [finding for finding in findings.values() if finding["verdict"] != "orphan"]
    other = [finding for finding in known if finding["verdict"] in ("stale", "missing")]
    causes = [f for f in other if any(r["kind"] != "upstream" for r in f["reasons"])]
    # A configuration shows in parameters, and in files that were never made.
    asked = [f for f in causes if any(r["kind"] in ("parameter", "file") for r in f["reasons"])]
    if 2 * len(other) <= len(known) or 2 * len(asked) <= len(causes):
        return None
    named = f"other overlays than {', '.join(map(str, configfiles))}" if configfiles else "an overlay"
    return (
        f"{len(other)} of {len(known)} files would be made otherwise with this configuration: was the run made with "
        f"{named}? Name it: --configfile=FILE"
    )


def environment_remedies(findings: dict[str, dict]) -> list[str]:
    """Return what to do, as lines, where packages or files of theirs are not those that results were made with.

    Making results again would make them with what is installed, be it damaged or upgraded by accident. Where the lock
    file itself has another version now, that is what is wanted.
    """
    reasons = [entry for finding in findings.values() for entry in finding["reasons"]]
    wanted = {entry["name"] for entry in reasons if entry["kind"] == "package"}
    kinds = ("installed package", "package file")
    others = sorted({entry["name"].partition(":")[0] for entry in reasons if entry["kind"] in kinds} - wanted)
    if not others:
        return []
    return [
        f"what is installed of {', '.join(others)} is not what results were made with; to install what the lock files "
        "say, before anything is made again: rm -r .venv && make environment"
    ]


def tree(
    path: str,
    jobs: Iterable[dict[str, Any]],
    records: dict[str, dict],
    findings: dict[str, dict],
    digests: dict[str, str],
    models: set[str] | None = None,
) -> list[str]:
    """Return the lines of a tree from a file back to what no job made.

    Args:
        jobs, records, findings, digests: As for :func:`judge`.
        models: Show score files of these models only.
    """
    makers = {output: job for job in jobs for output in job["outputs"]}
    lines, shown = [], set()

    def visit(path: str, first: str, rest: str) -> None:
        job, finding = makers.get(path), findings.get(path)
        mark = (digests.get(path) or ABSENT)[:16]
        if job is None:
            lines.append(f"{first}{path}  [{mark}]")
            return
        lines.append(f"{first}{path}  [{finding['verdict'] if finding else 'unknown'}] {mark}  rule {job['rule']}")
        if path in shown:
            lines[-1] += "  (as above)"
            return
        shown.update(job["outputs"])
        record = records.get(record_path(job["rule"], job["wildcards"], job["outputs"]))
        lines.extend(f"{rest}  {line}" for line in _facts(path, job, record, finding))
        inputs = [p for p in job["inputs"] if keep(p)]
        for n, member in enumerate(inputs):
            last = n == len(inputs) - 1
            visit(member, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))

    def keep(path: str) -> bool:
        model = makers.get(path, {}).get("wildcards", {}).get("model")
        return models is None or model is None or model in models

    visit(path, "", "")
    return lines


def _facts(
    path: str, job: dict[str, Any], record: dict[str, Any] | None, finding: dict[str, Any] | None
) -> Iterator[str]:
    for entry in (finding or {}).get("reasons", []):
        yield f"! {describe(entry)}"
    for entry in (finding or {}).get("notes", []):
        yield describe(entry)
    if not record:
        return
    commit = record["git"]["commit"][:12] + ("+changes" if record["git"]["dirty"] else "") if record["git"] else "none"
    yield f"{record['ended']} on {record['machine']['cpu']}, commit {commit}, code {code_digest(record)}"
    facts = record["models"].get(path)
    if facts:
        yield (
            f"model {facts['model']}, revision {facts['revision'] or 'none'}, "
            f"weights {facts['weights_sha256'][:16]}, engine {facts['engine']}"
        )
    plain = {key: value for key, value in job["params"].items() if not key.startswith("_") and key != "models"}
    if plain:
        yield "params " + ", ".join(f"{key}={_short(value)}" for key, value in sorted(plain.items()))


def code_digest(record: dict[str, Any]) -> str:
    """Return one short digest of a script and all local modules that it imports."""
    return checksum(record["params"].get("_code", {}))[:12]
