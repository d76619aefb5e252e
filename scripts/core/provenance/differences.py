"""In what the records and files of two runs, or of two models, differ."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.errors import count_noun

RELATIVE, ABSOLUTE = 1e-6, 1e-12
"""Numbers this close are the same: optimizers and linear algebra differ that much from machine to machine."""
NO_RESULTS = ("logs", "benchmarks", "provenance", "crate")
"""What lies in results/ and is none."""
PICTURES = (".pdf", ".png")
"""Their bytes differ from machine to machine: they are held against their records, and the CSV beside them is
compared."""
DESCRIPTIONS = (
    "results/paper/manifest.sha256", "results/paper/provenance.csv", "results/paper/sections/provenance.tex",
    "results/paper/sections/currency.tex",
)  # fmt: skip
"""What lists digests and records: both are compared themselves."""


@dataclass(frozen=True)
class Run:
    """A run in its folder, with all its models or one of them."""

    folder: Path
    model: str
    summary: pd.DataFrame
    records: dict
    problems: dict

    @property
    def name(self) -> str:
        return f"{self.folder.name}:{self.model}" if self.model else self.folder.name

    def generic(self, text: str) -> str:
        """Return a path or name with MODEL in place of the model that is compared."""
        return re.sub(rf"(?<![\w.-]){re.escape(self.model)}(?![\w-])", "MODEL", text) if self.model else text


def facts_of(run: Run) -> Iterator[tuple[str, str, str, Any]]:
    """Yield job, kind, name and value of what the records behind the paper's files say; the job without its model."""
    makers = {output: path for path, record in run.records.items() for output in record["outputs"]}
    behind, waiting = set(), [output for output in makers if output.startswith("results/paper/")]
    while waiting:
        path = makers.get(waiting.pop())
        if path and path not in behind:
            behind.add(path)
            waiting += run.records[path]["inputs"]
    for path in sorted(behind):
        record = run.records[path]
        models = {record["wildcards"].get(name) for name in ("model", "system")} - {None}
        if run.model and models and run.model not in models:
            continue
        job = run.generic(" ".join([record["rule"], *(f"{k}={v}" for k, v in record["wildcards"].items())]))
        yield job, "job", job, "there"
        for name, value in _leaves(record["params"]):
            kind = {"_code": "code", "_rows": "templates"}.get(name.partition(".")[0], "configuration")
            yield job, kind, run.generic(name.partition(".")[2] if kind != "configuration" else name), value
        for name, digest in record["inputs"].items():
            if name not in makers and not name.startswith("_") and name not in record["params"].get("_rows", {}):
                yield job, "templates" if name.startswith("templates/") else "file", run.generic(name), digest
        for facts in record["models"].values():
            for key in ("source", "weights_sha256", "revision", "engine"):
                yield job, "weights", f"{run.generic(facts['model'])}: {key}", facts[key]
        for name, version in record["packages"].items():
            yield job, "package", name, version.partition("+")[0]
        yield job, "package", "python", record["machine"]["python"]
        for name, digest in record["package_files"].items():
            yield job, "package", name, digest
        for part in ("cpu", "gpus") if record["models"] else ():
            yield job, "machine", part, record["machine"][part]


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield name, value
        return
    for key, member in value.items():
        yield from _leaves(member, f"{name}.{key}" if name else str(key))


def compare_records(a: Run, b: Run) -> pd.DataFrame:
    """Return what the records of two runs do not agree in: ``kind``, ``name``, ``a``, ``b`` and ``jobs`` (how many)."""
    one, two = ({(job, kind, name): value for job, kind, name, value in facts_of(run)} for run in (a, b))
    jobs = [{job for job, *_ in side} for side in (one, two)]
    found: dict[tuple, set] = {}
    for job, kind, name in one.keys() | two.keys():
        values = tuple(_shown(side.get((job, kind, name), "absent")) for side in (one, two))
        if values[0] != values[1] and (kind == "job" or (job in jobs[0] and job in jobs[1])):
            found.setdefault((kind, name.partition(" ")[0] if kind == "job" else name, *values), set()).add(job)
    rows = [(*key, len(which)) for key, which in found.items()]
    return pd.DataFrame(rows, columns=["kind", "name", "a", "b", "jobs"]).sort_values(
        ["kind", "name"], ignore_index=True
    )


def _shown(value: Any) -> str:
    """Return a value of a record as text of a line, digests cut, without folders of a machine."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    text = text[:16] if re.fullmatch("[0-9a-f]{64}", text) else text
    return re.sub(r"(?<![\w.~:/-])/(?:[^/\s\"']+/)+", "", text)


def compare_files(a: Run, b: Run) -> pd.DataFrame:
    """Return the files of results that differ, or are not what their own records say: ``file`` and ``what``."""
    found: list[tuple[str, str]] = []
    sides = []
    for run, side in ((a, "A"), (b, "B")):
        recorded = {path: digest for record in run.records.values() for path, digest in record["outputs"].items()}
        here = {path.relative_to(run.folder).as_posix(): path for path in sorted((run.folder / "results").rglob("*"))}
        here = {name: path for name, path in here.items() if path.is_file() and name.split("/")[1] not in NO_RESULTS}
        if run.model:
            here = {name: path for name, path in here.items() if run.generic(name) != name}
        digests = {name: files.sha256(path) for name, path in here.items()}
        found += [(name, f"record of {side}: {problem}") for name, problem in run.problems.items()]
        found += [(name, f"tampered in {side}") for name, now in digests.items() if recorded.get(name, now) != now]
        sides.append({run.generic(name): (path, digests[name], name in recorded) for name, path in here.items()})
    one, two = sides
    for name in sorted(one.keys() | two.keys()):
        if name not in one or name not in two:
            found.append((name, "only in B" if name in two else "only in A"))
        elif a.records and b.records and one[name][2] != two[name][2]:
            found.append((name, f"without a record in {'B' if one[name][2] else 'A'}"))
        elif name in DESCRIPTIONS or name.endswith(PICTURES) or one[name][1] == two[name][1]:
            continue
        elif told := describe_difference(one[name][0], two[name][0]):
            found.append((name, told))
    return pd.DataFrame(found, columns=["file", "what"])


def describe_difference(one: Path, two: Path) -> str:
    """Return in what two files differ, in words; empty if numbers differ by rounding alone."""
    if one.suffix == ".json":
        sides = [dict(_leaves(json.loads(path.read_text(encoding="utf-8")))) for path in (one, two)]
        tables = [pd.DataFrame({"key": list(side), "value": list(map(str, side.values()))}) for side in sides]
    elif one.suffix == ".csv":
        tables = [files.read_csv(path, dtype=str).fillna("") for path in (one, two)]
    elif one.suffix == ".parquet":
        tables = [files.read_parquet(path) for path in (one, two)]
    else:
        return "other content"
    if list(tables[0]) != list(tables[1]):
        return "other columns"
    if len(tables[0]) != len(tables[1]):
        return f"{len(tables[0])} rows in A, {len(tables[1])} in B"
    apart = np.zeros(len(tables[0]), dtype=bool)
    for name in tables[0]:
        words = [table[name].astype(str).to_numpy() for table in tables]
        numbers = [pd.to_numeric(pd.Series(side), errors="coerce").to_numpy(dtype=float) for side in words]
        apart |= (words[0] != words[1]) & ~np.isclose(*numbers, rtol=RELATIVE, atol=ABSOLUTE)
    return f"{apart.sum()} of {count_noun(len(apart), 'row')}" if apart.any() else ""
