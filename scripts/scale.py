"""Measure what the analyses, figures, tables and the paper of a run of many models cost.

    python -m scripts.scale                                    RUFF with 29 models on all official samples
    python -m scripts.scale --models 100 --cores 2
    python -m scripts.scale --study misgendered --models 2     MISGENDERED with all 3.3 million instances

A run of synthetic models is made in runs/synthetic-STUDY-MODELS: their scores are drawn by a seeded rule, no model is
loaded, and the paper says so. Drawing comes first and is timed apart. In the end results/benchmarks/scale.csv of the
run has for each rule its jobs, their seconds and the most memory that one of them had; the time of the whole and the
sizes of results are printed. The authors' templates are fetched, or read from PRONOUN_UPSTREAM_MIRROR; --templates
replica takes this project's. Seconds of jobs are of their work; Python's start is in the time of the whole.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from scripts.core import files
from scripts.core.data.synthetic import LABEL, PREFIX
from scripts.core.errors import UserError
from scripts.core.workflow import runs

ROOT = Path(__file__).resolve().parents[1]
MODELS_OF_A_FAMILY = 8
SMALLEST = 14_000_000
"""Parameters of the smallest model of a family; each further one has twice as many."""
OVERLAYS = {
    "ruff": {"ruff": {"sample_size": 2160, "prompting": {"models": [], "chain_of_thought": {"models": []}}}},
    "misgendered": {
        "misgendered": {
            "declarations": {"wording": "faithful"},
            "sample": {"instances": 3_300_000, "reworded": 27_500},
            "few_shot": {"shots": [2, 4, 6, 10, 20], "draws": 3, "instances": 2750},
        }
    },
    "winopron": {"winopron": {"prompting": {"models": []}, "resolution": {"pairs": "all"}}},
}
"""What a study runs at full size; the models and the templates are the tool's arguments."""
SETS = {"ruff": ["official"], "misgendered": ["official"], "winopron": ["official", "winogender"]}
TARGETS = ("figures", "tables", "summary", "paper")
TABLE = Path("results/benchmarks/scale.csv")


def registry(count: int) -> dict:
    """Return a registry of synthetic models: families of eight sizes, every third of them of encoders.

    Returns:
        As ``config/schemas/models.schema.yaml`` has it.
    """
    width = max(2, len(str(count)))
    models = {}
    for place in range(count):
        family, step = divmod(place, MODELS_OF_A_FAMILY)
        parameters = SMALLEST * 2**step
        size = f"{parameters / 1e9:.2g}B"
        models[f"{PREFIX}{place + 1:0{width}}"] = {
            "label": f"{LABEL}{letters(family)} {size}",
            "family": f"{LABEL}{letters(family)}",
            "size": size,
            "architecture": "encoder" if family % 3 == 2 else "decoder",
            "parameters": parameters,
            "source": {"synthetic": place + 1},
            "precision": "bfloat16",
            "gpus": 1,
            "licence": "none",
            "gated": False,
            "demonstration": False,
            "studies": {},
        }
    return {"models": models}


def letters(number: int) -> str:
    """Return a name of one letter for 0 to 25, of two and more from there on, as spreadsheets call columns."""
    head, tail = divmod(number, 26)
    return (letters(head - 1) if head else "") + chr(ord("A") + tail)


def overlay(study: str, name: str, models: Sequence[str], templates: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the configuration of a run of synthetic models.

    Args:
        templates: Otherwise those of the study at full size.
    """
    settings = {"run": name, "registry": "models.yaml", "studies": [study], "systems": [], "models": list(models)}
    own = dict(OVERLAYS[study][study])
    own["templates"] = list(templates or SETS[study])
    return settings | {study: own}


def measure_jobs(logs: Path) -> list[dict]:
    """Return what the logs of a run say of its jobs.

    Args:
        logs: ``results/logs``: a folder for each rule, with a log for each job (:mod:`scripts.core.workflow.job` writes
            them).

    Returns:
        ``rule``, ``jobs``, ``seconds`` (of all jobs), ``slowest`` (seconds of one), ``peak_mb`` (most memory of one);
        the rule that took longest comes first.
    """
    rows = {}
    for path in sorted(logs.rglob("*.log")):
        text = files.read_text(path, "delete it")
        seconds = re.findall(r"finished in ([\d.]+) s", text)
        memory = re.findall(r"memory high-water mark: (\d+) MB", text)
        if not seconds or not memory:
            continue
        rule = path.relative_to(logs).parts[0].removesuffix(".log")
        row = rows.setdefault(rule, {"rule": rule, "jobs": 0, "seconds": 0.0, "slowest": 0.0, "peak_mb": 0})
        row["jobs"] += 1
        row["seconds"] += float(seconds[-1])
        row["slowest"] = max(row["slowest"], float(seconds[-1]))
        row["peak_mb"] = max(row["peak_mb"], int(memory[-1]))
    return sorted(rows.values(), key=lambda row: -row["seconds"])


def megabytes(folder: Path) -> float:
    """Return the size of the files in a folder and below, in MB of a million bytes."""
    return sum(path.stat().st_size for path in files.members(folder)) / 1e6


def snakemake(folder: Path, cores: int, *targets: str) -> float:
    """Run the workflow in a folder and return the seconds that it took.

    Raises:
        UserError: If it fails; what failed was printed.
    """
    program = Path(sys.executable).parent / "snakemake"
    command = [str(program), "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder), "--cores", str(cores)]
    started = time.monotonic()
    done = subprocess.run([*command, *targets, "--configfile", str(folder / "run.yaml")], cwd=ROOT, check=False)
    if done.returncode:
        raise UserError(f"the workflow ended with status {done.returncode}; its messages above say why")
    return time.monotonic() - started


def main(arguments: Sequence[str] | None = None) -> int:
    """Make and measure a run; returns 0, or 1 after one line on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--study", choices=list(OVERLAYS), default="ruff", help="the study whose run is measured")
    parser.add_argument("--models", type=int, default=29, help="how many synthetic models (default: 29)")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="cores of the workflow (default: all)")
    parser.add_argument("--templates", nargs="+", help="template sets (default: the authors')")
    options = parser.parse_args(arguments)
    try:
        if options.models < 1:
            raise UserError(f"--models is {options.models}; a run has one model at least")
        name = f"{PREFIX}{options.study}-{options.models}"
        folder = ROOT / runs.FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        known = registry(options.models)
        files.write_text(folder / "models.yaml", yaml.safe_dump(known, sort_keys=False))
        settings = overlay(options.study, name, known["models"], options.templates)
        files.write_text(folder / "run.yaml", yaml.safe_dump(settings, sort_keys=False))
        drawing = snakemake(folder, options.cores, "scores")
        seconds = snakemake(folder, options.cores, *TARGETS)
        report(folder, options.models, drawing, seconds)
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def report(folder: Path, models: int, drawing: float, seconds: float) -> None:
    """Write and print what was measured."""
    rows = measure_jobs(folder / "results/logs")
    sizes = {path.name: megabytes(path) for path in sorted((folder / "results").iterdir()) if path.is_dir()}
    table = folder / TABLE
    with files.write_atomically(table) as temporary, Path(temporary).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["rule", "jobs", "seconds", "slowest", "peak_mb"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"seconds": f"{row['seconds']:.1f}"} for row in rows)
    for row in rows[:15]:
        print(f"{row['rule']:45} {row['jobs']:4} jobs {row['seconds']:8.1f} s, at most {row['peak_mb']:6} MB")
    print(f"{models} synthetic models: scores drawn in {drawing:.0f} s; all else in {seconds:.0f} s")
    print("results: " + ", ".join(f"{name} {size:.1f} MB" for name, size in sizes.items()))
    print(f"every rule: {runs.in_repository(table, ROOT, ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
