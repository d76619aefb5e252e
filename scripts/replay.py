"""Run a finished job again from its record, without the workflow, and say whether it makes the same.

    python -m scripts.replay results/provenance/ruff_pronoun_tests/templates=replica.json again

Outputs are written below the second folder. What has changed since the job ran, the audit says.
"""

import importlib
import inspect
import os
import sys
from pathlib import Path
from typing import Any

from scripts.core.config import load_schema
from scripts.core.errors import UserError
from scripts.core.provenance import job_records
from scripts.core.workflow import job, logs

ROOT = Path(__file__).resolve().parents[1]


def replay(path: Path, into: Path) -> dict[Path, bool]:
    """Run the job of a record in the folder of its run; return for each output whether it is as recorded.

    Raises:
        UserError: If it is no record, or says no call.
    """
    into = into.resolve()
    try:
        folder = path.resolve().parents[3]
        name = path.resolve().relative_to(folder).as_posix()
        record = job_records.read_record(path.read_bytes(), name, job_records.record_check(load_schema("record")))
        call = record["call"]
    except (OSError, IndexError, KeyError, UserError) as error:
        raise UserError(f"{path}: no record of a job that can be used ({error})") from error
    os.chdir(folder)
    outputs = {output: into / output for output in record["outputs"]}
    for target in outputs.values():
        target.parent.mkdir(parents=True, exist_ok=True)

    def located(given: Any) -> Any:
        if isinstance(given, list):
            return [located(member) for member in given]
        return str(outputs.get(given) or job_records.locate_path(given, ROOT))

    function = getattr(importlib.import_module(call["script"].removesuffix(".py").replace("/", ".")), call["function"])
    arguments = {key: value for key, value in record["params"].items() if not key.startswith("_")}
    arguments |= {key: located(value) for key, value in call["paths"].items()}
    if "threads" in inspect.signature(function).parameters:
        arguments["threads"] = os.cpu_count()
    logs.configure(None)
    job.call(function, arguments)
    return {
        outputs[path]: job_records.digest_path(outputs[path]) == digest for path, digest in record["outputs"].items()
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Error: name a record and a folder: python -m scripts.replay RECORD FOLDER")
    try:
        found = replay(*map(Path, sys.argv[1:]))
    except UserError as error:
        sys.exit(f"Error: {error}")
    for output, same in found.items():
        print(f"{output}: {'as recorded' if same else 'differs from the record'}")
    sys.exit(not all(found.values()))
