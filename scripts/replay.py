"""Run a finished job again from its record, without the workflow, and compare what it makes with the record.

    python -m scripts.replay results/provenance/ruff_pronoun_tests/templates=replica.json --into again

Without ``--into`` the outputs of the job are replaced, and its record stays as it is.
"""

import argparse
import importlib
import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.core.config import load_schema
from scripts.core.errors import UserError
from scripts.core.provenance import closure, job_records
from scripts.core.workflow import job

ROOT = Path(__file__).resolve().parents[1]


def replay(path: Path, into: Path | None, threads: int) -> list[str]:
    """Run the job of a record in the folder of its run; return a line per output that says whether it is the same.

    Raises:
        UserError: If it is no record, or says no call.
    """
    folder, into = path.resolve().parents[3], into and into.resolve()
    name = path.resolve().relative_to(folder).as_posix()
    try:
        record = job_records.read_record(path.read_bytes(), name, job_records.record_check(load_schema("record")))
    except (OSError, UserError) as error:
        raise UserError(f"{path}: no record of a job that can be used ({error})") from error
    if "call" not in record:
        raise UserError(f"{path}: an earlier version of the project wrote this record; run the job with Snakemake")
    os.chdir(folder)
    outputs = {output: (into or folder) / output for output in record["outputs"]}
    for target in outputs.values():
        target.parent.mkdir(parents=True, exist_ok=True)
    for changed in changes(record):
        print(f"changed since the job ran: {changed}", file=sys.stderr)

    def located(given: Any) -> Any:
        if isinstance(given, list):
            return [located(member) for member in given]
        return str(outputs.get(given) or job_records.resolve(given, ROOT))

    call = record["call"]
    module = importlib.import_module(call["script"].removesuffix(".py").replace("/", "."))
    arguments = {key: value for key, value in record["params"].items() if not key.startswith("_")}
    arguments |= {key: located(value) for key, value in call["paths"].items()}
    function = getattr(module, call["function"])
    if "threads" in inspect.signature(function).parameters:
        arguments["threads"] = threads
    job.configure(None)
    job.call(function, arguments)
    digests = {output: job_records.digest(target) for output, target in outputs.items()}
    same = {output: digests[output] == digest for output, digest in record["outputs"].items()}
    return [f"{outputs[output]}: {'as recorded' if same[output] else 'differs from the record'}" for output in same]


def changes(record: dict[str, Any]) -> list[str]:
    """Return the inputs and modules that are not what the job read."""
    inputs = {path: job_records.resolve(path, ROOT) for path in record["inputs"]}
    found = [p for p, where in inputs.items() if where.exists() and job_records.digest(where) != record["inputs"][p]]
    code = record["params"].get("_code", {})
    found += [p for p in code if not (ROOT / p).is_file() or closure.rule_digest(p, ROOT, record["rule"]) != code[p]]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all outputs are as recorded, and 1 otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("record", type=Path, help="a file below results/provenance/")
    parser.add_argument("--into", type=Path, help="folder below which outputs are written (default: that of the run)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="processor threads (default: all)")
    given = parser.parse_args(arguments)
    try:
        lines = replay(given.record, given.into, given.threads)
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(*lines, sep="\n")
    return int(any(line.endswith("differs from the record") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
