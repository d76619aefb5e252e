"""Write a run's results in the schema of every_eval_ever, and have that package validate them."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError, count_noun
from scripts.core.paper import eval_records
from scripts.core.provenance import job_records
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "Pronouns in language models"


def main(
    *,
    summary: str,
    scores: list,
    instances: list,
    environment: str,
    canary_file: str,
    folder: str,
    validation: str,
    scored: list,
    studies: dict,
    models: dict,
    organization: str,
    relationship: str,
) -> None:
    """Write ``folder``, laid out as that project's data are: ``data/<study>/<developer>/<model>/<uuid>.json``.

    Args:
        summary: The summary over all studies (CSV).
        scores, instances: Parquet files of ``scored``, in its order.
        environment: JSON file that names the interpreter with the validator.
        canary_file: A file of templates, whose first line has the canary.
        folder: The folder to write.
        validation: JSON file to write: what the package says of each file.
        scored: ``study``, ``set``, ``model`` of each score file.
        studies: Labels of the studies.
        models: What records say of a model: ``label``, ``architecture``, ``parameters``, ``source``.
        organization: Who publishes the results.
        relationship: To the models' developers, in the schema's words.

    Raises:
        UserError: If a record is not valid, or cannot be validated.
    """
    canary = Path(canary_file).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    table = estimate_rows.read([summary])
    created = int(time.time())
    places = {}
    for place, entry in enumerate(scored):
        places.setdefault((entry["study"], entry["model"]), []).append((entry["set"], scores[place], instances[place]))
    state = job_records.git_state(ROOT)
    library = {"name": LIBRARY, "version": state["commit"][:12] if state else "unknown"}
    target = Path(folder)
    shutil.rmtree(target, ignore_errors=True)
    written = []
    for study, label in studies.items():
        for name, facts in models.items():
            rows = eval_records.rows_of(table, study, name)
            sets = places.get((study, name), [])
            if len(rows) or sets:
                origin = {"organization": organization, "relationship": relationship, "library": library}
                written += write(target, study, label, name, facts, rows, sets, created, canary, origin)
    if not written:
        raise UserError("no study of this run has results of a model: there is nothing to export")
    reports = validate_files(target, written, environment)
    files.write_json(validation, {"schema": eval_records.SCHEMA_VERSION, "files": reports})
    log.info("%s, all valid", count_noun(len(written), "file"))


def write(
    target: Path,
    study: str,
    study_label: str,
    name: str,
    facts: dict[str, Any],
    rows: "pd.DataFrame",
    sets: Sequence[tuple[str, str, str]],
    created: int,
    canary: str,
    origin: dict[str, Any],
) -> list[Path]:
    """Write the records of one study and model; return their paths."""
    metadata = files.parquet_metadata(sets[0][1]) if sets else {}
    info = eval_records.model_info(name, facts, metadata)
    evaluation = f"{study}/{info['id']}/{created}"
    identifier = eval_records.identifier(study, info["id"], *(files.sha256(path) for _, path, _ in sets))
    developer, _, model = info["id"].partition("/")
    relative = f"data/{study}/{developer}/{model.replace('/', '_')}"
    place = target / relative
    place.mkdir(parents=True, exist_ok=True)
    results, lines = [], 0
    path = place / f"{identifier}_samples.jsonl"
    with files.write_atomically(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for kind, scored, listed in sets:
            identity = {"evaluation_id": evaluation, "model_id": info["id"]}
            stated = files.parquet_metadata(scored)
            found = {}
            for sample in eval_records.samples(
                kind, files.read_parquet(listed), files.read_parquet(scored), stated, identity, canary
            ):
                named = sample["evaluation_result_id"], sample["evaluation_name"]
                found.setdefault(named, []).append(sample["evaluation"]["score"])
                lines += 1
                stream.write(json.dumps(sample, ensure_ascii=False, allow_nan=False) + "\n")
            for (key, said), right in found.items():
                value = sum(right) / len(right)
                bounds = (0, 1) if said.startswith(eval_records.ACCURACY) else (None, None)
                results.append(eval_records.result(said, kind, value, identifier=key, n=len(right), bounds=bounds))
    detailed = None
    if lines:
        detailed = {
            "format": "jsonl", "file_path": f"{relative}/{path.name}", "hash_algorithm": "sha256",
            "checksum": files.sha256(path), "total_rows": lines,
        }  # fmt: skip
    else:
        path.unlink()
    results += eval_records.summary_results(rows, study_label)
    if not results:
        return []
    record = eval_records.aggregate(evaluation, info, results, created=created, detailed=detailed, **origin)
    aggregated = place / f"{identifier}.json"
    files.write_text(aggregated, json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    return [aggregated, *([path] if lines else [])]


def validate_files(target: Path, paths: Iterable[Path], environment: str | Path) -> dict[str, list[str]]:
    """Return what the package says of each file in ``target``: its path there to warnings.

    Raises:
        UserError: Naming the first file that is not valid, and why.
    """
    python = json.loads(Path(environment).read_text(encoding="utf-8"))["python"]
    # It runs in another folder. The link to the interpreter is kept, since it says which environment is meant.
    python = str(Path(python).absolute())
    names = [path.relative_to(target).as_posix() for path in paths]
    command = [python, "-m", "every_eval_ever.validate", "--format", "json", *names]
    try:
        done = subprocess.run(
            command, cwd=target, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""}
        )
        reports = json.loads(done.stdout)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{environment}: {python} cannot validate ({type(error).__name__}); run: snakemake --cores 2 -R "
            "export_environment"
        ) from error
    said = {}
    for report in reports:
        if not report["valid"]:
            first = report["errors"][0]
            raise UserError(f"{report['file']}: not valid in every_eval_ever's schema: {first['loc']}: {first['msg']}")
        said[report["file"]] = [warning["msg"] for warning in report.get("warnings", [])]
    return said


if __name__ == "__main__":
    run(main)
