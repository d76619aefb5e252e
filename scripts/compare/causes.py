"""Why two runs differ: what their records say of jobs that they share, and the jobs that only one of them has.

A *cause* is an input, parameter, module, package, model or the like that differs, and that no job of the run made:
a consequence of another difference is none. Each is told with the results downstream of the jobs that it is in.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.provenance.audit import ABSENT, changed_leaves

KINDS = {
    "template row": "Template rows",
    "file": "Files",
    "model": "Models",
    "weights": "Weights",
    "parameter": "Parameters",
    "module": "Modules of code",
    "package": "Package versions",
    "package file": "Files of packages",
    "machine": "Machines",
}
"""Kinds of causes to their headings, in the order in which they are told."""
RESULT = re.compile(r"results/(?!paper/)(\w+)/(figures|tables)/(.+)\.csv")
PAPER = "paper"
"""The folder of what all studies share."""
SUMMARY = f"results/{PAPER}/summary.csv"
MODELS = ("model", "system")
"""Wildcards that name a model."""
FEW = 12
"""Up to this many lines of a template file are named."""


def find_causes(a: dict, b: dict) -> list[dict]:
    """Return the causes that the records of two runs name.

    Args:
        a: Path of the record to record (:func:`scripts.core.provenance.job_records.load`).
        b: The same of the other run.

    Returns:
        ``kind``, ``name``, ``a``, ``b`` (what it is in either run), ``jobs`` (how many it is in), ``rules`` and
        ``results`` (study to the number of its figures and tables downstream), in the order of :data:`KINDS`.
    """
    own = _own_values(a, b)
    found = defaultdict(set)
    made = {path for side in (a, b) for record in side.values() for path in record["outputs"]}
    for path in a.keys() & b.keys():
        for kind, name, old, new in _differences(a[path], b[path], made):
            cause = _of_identity(_study(a[path]), name, old, new, own) if kind == "parameter" else None
            found[cause or (kind, name, _short(old), _short(new))].add(path)
    for path in a.keys() ^ b.keys():
        if cause := _of_own(a.get(path) or b[path], own):
            found[cause].add(path)
    users = [_users(side) for side in (a, b)]
    causes = []
    for (kind, name, old, new), paths in found.items():
        rules = sorted({(a.get(path) or b[path])["rule"] for path in paths})
        downstream = {output for side, of in zip((a, b), users, strict=True) for output in _downstream(paths, side, of)}
        causes.append(
            {"kind": kind, "name": name, "a": old, "b": new, "jobs": len(paths), "rules": rules}
            | {"results": _counted(downstream)}
        )
    return sorted(causes, key=lambda cause: (list(KINDS).index(cause["kind"]), cause["name"]))


def only_in_one(a: dict, b: dict) -> dict[str, int]:
    """Return how many jobs only one of two runs has for another reason than a model, seed or the like of its own."""
    own = _own_values(a, b)
    return {
        name: sum(path not in other and not _of_own(record, own) for path, record in side.items())
        for name, side, other in (("a", a, b), ("b", b, a))
    }


def current_records(records: dict) -> dict:
    """Return the records of the jobs behind a run's results; what an earlier configuration left is none of them.

    A result is left over if one of its inputs was made again since.
    """
    records = {path: record for path, record in records.items() if record}
    makers = {output: path for path, record in records.items() for output in record["outputs"]}

    def is_current(record: dict[str, Any]):
        made = [
            (digest, records[makers[name]]["outputs"][name])
            for name, digest in record["inputs"].items()
            if name in makers
        ]
        return all(digest == written for digest, written in made)

    shown = [
        path
        for path, record in records.items()
        if any(output == SUMMARY or RESULT.fullmatch(output) for output in record["outputs"]) and is_current(record)
    ]
    return _behind(records, shown)


def _behind(records: dict[str, dict], paths: Iterable[str]):
    """Return those of some records that some others, and what they are made from, need; these too."""
    makers = {output: path for path, record in records.items() for output in record["outputs"]}
    kept, waiting = set(), list(paths)
    while waiting:
        path = waiting.pop()
        if path not in kept:
            kept.add(path)
            waiting += [makers[name] for name in records[path]["inputs"] if name in makers]
    return {path: records[path] for path in sorted(kept)}


def _study(record: dict[str, Any]):
    """Return the study of a job, or another folder of results."""
    return min(record["outputs"]).split("/")[1]


def _own_values(a: dict[str, dict], b: dict[str, dict]):
    """Return the values of wildcards that a study has in one run only.

    Returns:
        Study and name of the wildcard to the values of a, of b, and all words for them.
    """
    values = [defaultdict(set), defaultdict(set)]
    labels = {}
    for place, side in enumerate((a, b)):
        # A figure of an earlier configuration may be left, and be as it was made.
        for record in _behind(side, [path for path, record in side.items() if SUMMARY in record["outputs"]]).values():
            study, described = _study(record), record["params"].get("models")
            for name, value in record["wildcards"].items():
                values[place][study, name].add(value)
            for model, entry in described.items() if isinstance(described, dict) else ():
                if isinstance(entry, dict) and "label" in entry:
                    labels[model] = str(entry["label"])
                    values[place][study, "model"].add(model)
    own = {}
    for key in values[0].keys() & values[1].keys():
        old, new = values[0][key] - values[1][key], values[1][key] - values[0][key]
        # Shards count jobs; how many there are follows from a model or a sample.
        if (old or new) and key[1] not in ("shard", "shards"):
            own[key] = old, new, {labels[value] for value in old | new if value in labels} | old | new
    return own


def _identity(key: tuple[str, str], own: dict[tuple[str, str], tuple[set, set, set]]):
    old, new, _ = own[key]
    return "model" if key[1] in MODELS else "parameter", key[1], _listed(old), _listed(new)


def _of_own(record: dict[str, Any], own: dict[tuple[str, str], tuple[set, set, set]]):
    """Return why only one run has a job: a model, seed or the like that its study has in this run only; else None."""
    study = _study(record)
    for name, value in record["wildcards"].items():
        old, new, _ = own.get((study, name), ((), (), ()))
        if value in old or value in new:
            return _identity((study, name), own)
    return None


def _listed(values: Iterable[str]):
    return ", ".join(sorted(values)) or ABSENT


def _of_identity(study: str, name: str, old: Any, new: Any, own: dict[tuple[str, str], tuple[set, set, set]]):
    """Return the cause that a parameter follows from: a model, seed or the like of one run only; else None."""
    words = _words(old) ^ _words(new)
    for key, (_, _, known) in own.items():
        inside = any(f".{word}." in f".{name}." for word in known)
        if study in (key[0], PAPER) and (
            inside or (words and all(any(word in part for word in known) for part in words))
        ):
            return _identity(key, own)
    return None


def _words(value: Any):
    """Return the leaves and keys of a JSON value as text."""
    if isinstance(value, dict):
        return {str(key) for key in value} | set().union(*map(_words, value.values()), set())
    if isinstance(value, list):
        return set().union(*map(_words, value), set())
    return set() if value == ABSENT else {str(value)}


def _differences(a: dict, b: dict, made: set[str]) -> Iterator[tuple]:
    """Yield kind, name and both values of what two records of one job do not agree in."""
    rows = a["params"].get("_rows", {}).keys() & b["params"].get("_rows", {}).keys()
    for name, old, new in changed_leaves(a["params"], b["params"]):
        head, _, rest = name.partition(".")
        kind = {"_code": "module", "_rows": "template row"}.get(head, "parameter")
        yield kind, name if kind == "parameter" else rest, old, new
    for path, old, new in changed_leaves({"": a["inputs"]}, {"": b["inputs"]}):
        path = path.removeprefix(".")
        if path not in made and path not in rows and not path.startswith("_"):
            yield "file", path, old, new
    for path in a["models"].keys() & b["models"].keys():
        one, two = a["models"][path], b["models"][path]
        for key in ("weights_sha256", "revision", "engine"):
            if one[key] != two[key]:
                yield "parameter" if key == "engine" else "weights", f"{one['model']}: {key}", one[key], two[key]
    one, two = ({n: v.partition("+")[0] for n, v in side["packages"].items()} for side in (a, b))
    one["python"], two["python"] = a["machine"]["python"], b["machine"]["python"]
    for package in one.keys() & two.keys():
        if one[package] != two[package]:
            yield "package", package, one[package], two[package]
    for name, old, new in changed_leaves({"": a["package_files"]}, {"": b["package_files"]}):
        yield "package file", name.removeprefix("."), old, new
    # Rounding of a model's arithmetic depends on it; of tables, it does not.
    for part in ("cpu", "gpus") if a["models"] and b["models"] else ():
        if a["machine"][part] != b["machine"][part]:
            yield "machine", part, a["machine"][part], b["machine"][part]


def _short(value: Any):
    text = str(value)
    return text[:16] if re.fullmatch("[0-9a-f]{64}", text) else text


def _users(records: dict[str, dict]):
    """Return each file's readers: the records of the jobs that have it as an input."""
    users = defaultdict(list)
    for path, record in records.items():
        for name in record["inputs"]:
            users[name].append(path)
    return users


def _downstream(paths: Iterable[str], records: dict[str, dict], users: defaultdict[str, list[str]]):
    seen, waiting, outputs = set(), list(paths), set()
    while waiting:
        path = waiting.pop()
        if path in records and path not in seen:
            seen.add(path)
            outputs |= records[path]["outputs"].keys()
            waiting += [user for output in records[path]["outputs"] for user in users[output]]
    return outputs


def _counted(outputs: Iterable[str]):
    """Return studies to how many of their figures and tables are among some outputs."""
    counts = defaultdict(set)
    for match in filter(None, map(RESULT.fullmatch, outputs)):
        counts[match[1]].add(match[2] + match[3])
    return {study: len(names) for study, names in sorted(counts.items())}


def with_rows(causes: list[dict], a: Path, b: Path) -> list[dict]:
    """Return causes with the lines of template files that differ, as far as instances tell, in place of the files.

    A line differs if no instance that was made from it is among the other run's.

    Args:
        causes: From :func:`find_causes`.
        a: The folder of a run.
        b: That of the other one.
    """
    told = []
    for cause in causes:
        lines = _lines(Path(cause["name"]).name, a, b) if cause["name"].endswith(".tsv") else []
        named = cause["kind"] == "file" and 0 < len(lines) <= FEW
        told += [cause | {"kind": "template row", "name": f"{cause['name']}:{n}"} for n in lines] if named else [cause]
    return sorted(told, key=lambda cause: (list(KINDS).index(cause["kind"]), cause["name"]))


def _lines(name: str, a: Path, b: Path):
    made = [_made_from(name, folder) for folder in (a, b)]
    every = [set().union(*lines.values(), set()) for lines in made]
    return sorted(
        {
            line
            for lines, others in zip(made, reversed(every), strict=True)
            for line, ids in lines.items()
            if not ids & others
        }
    )


def _made_from(name: str, folder: Path):
    """Return the ids and texts of the instances that were made from each line of a template file."""
    lines = defaultdict(set)
    for path in sorted(Path(folder).glob("results/*/instances/**/*.parquet")):
        origins = files.parquet_metadata(path).get("origins") or {}
        columns = [column for column, owner in origins.items() if owner == name or owner.startswith("{")]
        # Ids of some instances are names: then their texts tell them apart.
        keys = [key for key in ("instance_id", "id", "text") if key in pq.read_schema(path).names]
        if not columns or not keys:
            continue
        owners = {column: origins[column][1:-1] for column in columns if origins[column].startswith("{")}
        for row in pq.read_table(path, columns=[*keys, *columns, *owners.values()]).to_pylist():
            for column in columns:
                if column in owners and Path(str(row[owners[column]])).name != name:
                    continue
                cells = row[column] if isinstance(row[column], list) else [row[column]]
                for line in cells:
                    if line is not None:
                        lines[line].add(tuple(row[key] for key in keys))
    return lines
