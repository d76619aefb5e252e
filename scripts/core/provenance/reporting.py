"""What an audit says: findings (:mod:`scripts.core.provenance.audit`) as text, what to do, where a file comes from."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from scripts.core.provenance import graph
from scripts.core.provenance.audit import ABSENT, REMADE_VERDICTS, VERDICTS
from scripts.core.provenance.job_records import record_path

FEW = 12
"""Up to this many reasons of one file, and consequences of one verdict, are named in a report."""


def describe_reason(entry: dict[str, Any]) -> str:
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
        case "revision" if entry["new"] is None:
            return f"{name} has no fixed revision" + (f" (was {old})" if entry["old"] else "")
        case kind:
            return f"{kind} {name}: was {old}, now {new}"


def _short(value: Any) -> str:
    text = str(value)
    if len(text) == 64 and not set(text) - set("0123456789abcdef"):
        return text[:16]
    return text if len(text) <= 120 else f"{text[:100]}... ({len(text)} characters)"


def count_verdicts(findings: dict[str, dict]) -> dict[str, int]:
    """Return ``{verdict: number of files}``, the worst first, without zeros."""
    counts = Counter(finding["verdict"] for finding in findings.values())
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def root_causes(findings: dict[str, dict]) -> dict[str, dict]:
    """Return the findings that do not only follow from others."""
    return {p: f for p, f in findings.items() if any(reason["kind"] != "upstream" for reason in f["reasons"])}


def report_findings(findings: dict[str, dict]) -> list[str]:
    """Return the lines of an audit: every file that is not current with its reasons, causes before consequences."""
    lines = []
    for verdict in VERDICTS[:-1]:
        chosen = {p: f for p, f in sorted(findings.items()) if f["verdict"] == verdict}
        first = root_causes(chosen)
        for path, finding in first.items():
            told = [describe_reason(r) for r in finding["reasons"] if r["kind"] != "upstream"]
            more = [f"and {len(told) - FEW} more reasons"] if len(told) > FEW else []
            lines += [f"{verdict:<9} {path}", *(f"          {line}" for line in [*told[:FEW], *more])]
        following = sorted(chosen.keys() - first.keys())
        lines += [f"{verdict:<9} {path}  (follows)" for path in following[:FEW]]
        if len(following) > FEW:
            lines.append(f"{verdict:<9} {len(following) - FEW} more files follow (--json lists them)")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in count_verdicts(findings).items())
    return [escape_unprintable(line) for line in [*lines, f"{len(findings)} files: {counts or 'nothing was made yet'}"]]


def escape_unprintable(text: str) -> str:
    """Return a line in which nothing ends it, moves the cursor or cannot be encoded: names of files may hold anything.

    Examples:
        >>> escape_unprintable("a\\nb\\x1b[31mc")
        'a\\\\nb\\\\x1b[31mc'
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )


def advise(findings: dict, jobs: list[dict], targets: Sequence[str] = (), options: Sequence[str] = ()) -> str | None:
    """Return what to do about results that are not current, in one line; None if nothing makes them current.

    Snakemake does not know records, and of a file that was changed it sees that it is new, so that the jobs are named.

    Args:
        targets: What the run makes; the workflow's default if there are none.
        options: Of a command that makes the run: its folder and its overlays.
    """
    if question := mismatch_hint(findings):
        return question
    reasons = [entry for finding in findings.values() for entry in finding["reasons"]]
    # Where the lock file itself has another version now, that is what is wanted.
    wanted = {entry["name"] for entry in reasons if entry["kind"] == "package"}
    kinds = ("installed package", "package file")
    others = sorted({entry["name"].partition(":")[0] for entry in reasons if entry["kind"] in kinds} - wanted)
    if others:
        return (
            f"what is installed of {', '.join(others)} is not what results were made with; to install what the lock "
            "files say, before anything is made again: rm -r .venv && make environment"
        )
    damaged = {path for path, finding in root_causes(findings).items() if finding["verdict"] in REMADE_VERDICTS}
    forced = {}
    for rule in dict.fromkeys(job["rule"] for job in jobs if damaged.intersection(job["outputs"])):
        members = [job["outputs"] for job in jobs if job["rule"] == rule]
        own = [min(outputs) for outputs in members if damaged.intersection(outputs)]
        # Asked for as well: nothing else of the run may need it.
        forced |= {rule: []} if len(own) == len(members) > 1 else {path: [path] for path in own}
    if not forced:
        return None
    command = ["snakemake", "--cores", "2", *options]
    asked = [*(targets or ["paper"]), *(path for paths in forced.values() for path in paths)]
    return f"to make them again, run: {shlex.join([*command, '--forcerun', *forced, '--', *asked])}"


def mismatch_hint(findings: dict) -> str | None:
    """Return the question whether the run had another overlay, where most of it would be made otherwise, or None."""
    known = {path: finding for path, finding in findings.items() if finding["verdict"] != "orphan"}
    other = {path: finding for path, finding in known.items() if finding["verdict"] in ("stale", "missing")}
    # A configuration shows in parameters, and in files that were never made.
    own = root_causes(other).values()
    asked = [f for f in own if any(reason["kind"] in ("parameter", "file") for reason in f["reasons"])]
    if 2 * len(other) <= len(known) or 2 * len(asked) <= len(own):
        return None
    return (
        f"{len(other)} of {len(known)} files would be made otherwise with this configuration: was the run made with "
        "another overlay? Name it: --configfile=FILE"
    )


def files_behind(
    path: str,
    jobs: Sequence[dict[str, Any]],
    records: dict[str, dict],
    findings: dict[str, dict],
    digests: dict[str, str],
    models: set[str] | None = None,
) -> tuple[list[str], list[str]]:
    """Return what a file was made from, in lines: the outputs of each model, and every file, the nearest first.

    With ``models``, only what was made with these, or with none.
    """
    jobs = [job for job in jobs if models is None or job["wildcards"].get("model") in (None, *models)]
    makers, outputs, lines = graph.index_makers(jobs), {}, []
    for reached in graph.ancestors(graph.inputs_of(jobs), [path]):
        job, mark = makers.get(reached), (digests.get(reached) or ABSENT)[:16]
        if job is None:
            # Findings are of what some job makes: here one of another model.
            lines += [f"{reached}  [{mark}]"] if reached not in findings else []
            continue
        finding = findings.get(reached, {})
        record = records.get(record_path(job["rule"], job["wildcards"], job["outputs"])) or {}
        lines.append(f"{reached}  [{finding.get('verdict', 'unknown')}] {mark}  rule {job['rule']}")
        lines += [f"  ! {describe_reason(entry)}" for entry in finding.get("reasons", [])]
        lines += [f"  {line}" for line in _facts(job, record)]
        facts = record.get("models", {}).get(reached)
        if facts and (models is None or facts["model"] in models):
            outputs.setdefault(facts["model"], _outputs_of(facts))
    return list(outputs.values()), lines


def _facts(job: dict[str, Any], record: dict[str, Any]) -> Iterator[str]:
    if not record:
        return
    commit = record["git"]["commit"][:12] + ("+changes" if record["git"]["dirty"] else "") if record["git"] else "none"
    yield f"{record['ended']} on {record['machine']['cpu']}, commit {commit}"
    yield from sorted({_outputs_of(facts) for made, facts in record["models"].items() if made in job["outputs"]})
    plain = {key: value for key, value in job["params"].items() if not key.startswith("_") and key != "models"}
    if plain:
        yield "params " + ", ".join(f"{key}={_short(value)}" for key, value in sorted(plain.items()))


def _outputs_of(facts: dict[str, Any]) -> str:
    revision, weights = facts["revision"] or "none", facts["weights_sha256"][:16]
    return f"model {facts['model']}, revision {revision}, weights {weights}, engine {facts['engine']}"
