"""A run of two models' scores and the analysis of both, as the plain data that the audit judges."""

import json
from types import SimpleNamespace

from scripts.core.provenance import audit, environment, job_records

COMMIT = "c0" * 20
SCORES, OTHER_SCORES, TABLE = "results/a.parquet", "results/b.parquet", "results/t.csv"
RECORDS = {
    SCORES: "results/provenance/score/model=a.json",
    OTHER_SCORES: "results/provenance/score/model=b.json",
    TABLE: "results/provenance/analyse/t.csv.json",
}
CARRIED = {"package": "carrier", "version": "1.0", "folder": "carrier/model"}
"""What of a package the first model has its weights from."""


def make_job(rule, inputs, outputs, wildcards=None, **params):
    return {
        "rule": rule, "wildcards": wildcards or {}, "inputs": inputs, "outputs": outputs,
        "params": {"_code": {"scripts/a.py": "00"}, **params},
    }  # fmt: skip


def run_of_two(revision=COMMIT):
    """Return jobs, records and what is there, for :func:`judge`; all packages are installed as locked and recorded."""
    entries = {name: {"source": {"hub": f"org/{name}", "revision": revision}} for name in "ab"}
    jobs = [
        make_job("analyse", [SCORES, OTHER_SCORES], [TABLE], level=0.05),
        make_job("score", ["a.txt"], [SCORES], {"model": "a"}, entry=entries["a"], **CARRIED),
        make_job("score", ["b.txt"], [OTHER_SCORES], {"model": "b"}, entry=entries["b"]),
    ]
    letters = {"a.txt": "1", "b.txt": "2", SCORES: "a", OTHER_SCORES: "b", TABLE: "7"}
    digests = {path: letter * 64 for path, letter in letters.items()}
    facts = {
        path: dict.fromkeys(job_records.MODEL_FACTS, "x") | {"model": name, "revision": COMMIT}
        for path, name in ((SCORES, "a"), (OTHER_SCORES, "b"))
    }
    package_files = {"carrier:carrier/model": "c" * 64}
    records = {}
    for job in jobs:
        records[RECORDS[job["outputs"][0]]] = {
            "rule": job["rule"], "wildcards": job["wildcards"], "params": json.loads(json.dumps(job["params"])),
            "inputs": {path: digests[path] for path in job["inputs"]},
            "outputs": {path: digests[path] for path in job["outputs"]},
            "models": {path: facts[path] for path in [*job["inputs"], *job["outputs"]] if path in facts},
            "packages": {"numpy": "2.0", "torch": "2.1+cpu"}, "machine": {"python": "3.11.2", "cpu": "c"},
            "package_files": package_files if "package" in job["params"] else {}, "git": None, "ended": "now",
        }  # fmt: skip
    seal(records)
    return SimpleNamespace(
        jobs=jobs, records=records, digests=digests, facts=facts, pins={"numpy": "2.0", "torch": "2.1"}, weights={},
        installed={"numpy": "2.0", "torch": "2.1+cu130", "python": "3.11.9"}, package_files=dict(package_files),
    )  # fmt: skip


def judge(run, **more):
    here = {name: value for name, value in vars(run).items() if name not in ("jobs", "records")}
    return audit.judge(run.jobs, run.records, environment.Present(**here), **more)


def seal(records):
    """Give records the checksums of what they say, as whoever forges one does."""
    for record in records.values():
        record["checksum"] = job_records.checksum(record)


def job_of(run, path):
    return next(job for job in run.jobs if path in job["outputs"])


def record_of(run, path):
    return run.records[RECORDS[path]]
