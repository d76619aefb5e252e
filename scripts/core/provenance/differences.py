"""In what the records and files of two runs, or of two models, differ."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files

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


WEIGHTS = ("source", "weights_sha256", "revision", "engine")


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


def read_facts(run: Run) -> set[tuple[str, str, str, str]]:
    """Return what the records of a run say: kind, name, job (without the one model that is compared) and value."""
    made = {output for record in run.records.values() for output in record["outputs"]}
    facts = set()
    for record in run.records.values():
        params, rows, wildcards = record["params"], record["params"].get("_rows", {}), record["wildcards"]
        models = [wildcards[name] for name in ("model", "system") if run.model and name in wildcards]
        if models and run.model not in models:
            continue
        job = str([record["rule"], *(pair for pair in wildcards.items() if pair[1] not in models)])
        given = {name: digest for name, digest in record["inputs"].items() if name not in (*made, *rows)}
        parts = {
            "configuration": {record["rule"]: {key: value for key, value in params.items() if key[0] != "_"}},
            "code": params["_code"],
            "templates": rows | {name: digest for name, digest in given.items() if name.startswith("templates/")},
            "file": {name: digest for name, digest in given.items() if not name.startswith(("_", "templates/"))},
            "weights": {
                "the model" if models else model["model"]: {key: model[key] for key in WEIGHTS}
                for model in record["models"].values()
                if models or not run.model
            },
            "package": record["packages"] | record["package_files"] | {"python": record["machine"]["python"]},
        }
        facts |= {(kind, name, job, _shown(value)) for kind in parts for name, value in flatten(parts[kind])}
    return facts


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the members of nested dictionaries under their keys, with dots between."""
    if not isinstance(value, dict):
        yield name, value
        return
    for key, member in value.items():
        yield from flatten(member, f"{name}.{key}" if name else str(key))


def _shown(value: Any) -> str:
    """Return a value of a record as text of a line, digests cut, without folders of a machine."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    text = text[:16] if re.fullmatch("[0-9a-f]{64}", text) else text
    return re.sub(r"(?<![\w.~:/-])/(?:[^/\s\"']+/)+", "", text)


def compare_records(a: Run, b: Run) -> pd.DataFrame:
    """Return in what records of the same jobs differ: ``kind``, ``name``, and in ``a`` and ``b`` all values of each."""
    one, two = read_facts(a), read_facts(b)
    both = {job for _, _, job, _ in one} & {job for _, _, job, _ in two}
    alone = [("a", *fact) for fact in one - two] + [("b", *fact) for fact in two - one]
    table = pd.DataFrame(alone, columns=["run", "kind", "name", "job", "value"])
    values = table[table.job.isin(both)].groupby(["kind", "name", "run"]).value.agg(lambda v: "; ".join(sorted(set(v))))
    return values.unstack("run").reindex(columns=["a", "b"]).fillna("absent").reset_index()


def compare_files(a: Run, b: Run) -> pd.DataFrame:
    """Return the files of results that differ, or are not what their own records say: ``file`` and ``what``.

    Those of two different models are not compared with each other.
    """
    found: list[tuple[str, str]] = []
    sides = []
    for run, side in ((a, "A"), (b, "B")):
        recorded = {path: digest for record in run.records.values() for path, digest in record["outputs"].items()}
        here = {path.relative_to(run.folder).as_posix(): path for path in sorted((run.folder / "results").rglob("*"))}
        digests = {
            name: files.sha256(path)
            for name, path in here.items()
            if path.is_file() and name.split("/")[1] not in NO_RESULTS and run.model in name
        }
        found += [(name, f"record of {side}: {problem}") for name, problem in run.problems.items()]
        found += [(name, f"tampered in {side}") for name, now in digests.items() if recorded.get(name, now) != now]
        sides.append({name: (digest, name in recorded) for name, digest in digests.items()})
    one, two = sides
    for name in sorted(one.keys() | two.keys()) if a.model == b.model else ():
        if name not in one or name not in two:
            found.append((name, "only in B" if name in two else "only in A"))
        elif a.records and b.records and one[name][1] != two[name][1]:
            found.append((name, f"without a record in {'B' if one[name][1] else 'A'}"))
        elif name in DESCRIPTIONS or name.endswith(PICTURES) or one[name] == two[name]:
            continue
        elif told := describe_difference(a.folder / name, b.folder / name):
            found.append((name, told))
    return pd.DataFrame(found, columns=["file", "what"])


def describe_difference(one: Path, two: Path) -> str:
    """Return in what two files differ, in words; empty if numbers differ by rounding alone."""
    read = {".csv": files.read_csv, ".parquet": files.read_parquet, ".json": _read_json}.get(one.suffix)
    if read is None:
        return "other content"
    try:
        pd.testing.assert_frame_equal(read(one), read(two), check_dtype=False, rtol=RELATIVE, atol=ABSOLUTE)
    except AssertionError as difference:
        # The lines after that show values, which may be texts of others' templates.
        return str(difference).partition("\n\n")[2].partition("\n")[0]
    return ""


def _read_json(path: Path) -> pd.DataFrame:
    return pd.DataFrame([dict(flatten(json.loads(path.read_text(encoding="utf-8"))))])
