"""What jobs used: memory and time of finished jobs, read back from what Snakemake and Slurm wrote down.

A job that finished leaves Snakemake's benchmark file and, beside it, a JSON file that says on which device it ran.
After a run on a cluster with an accounting database the executor's efficiency report says what Slurm counted of the
same jobs. The report does not tell finished jobs from others; a job of it counts here if its benchmark file is there.
"""

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError

RULES = ("score", "prompt", "token_distributions")
"""The rules whose jobs a plan knows."""
REPORTS = "slurm"
"""The folder of efficiency reports, beside those of the rules; slurm/profile.yaml names it as well."""
COLUMNS = ["memory_estimated_mb", "memory_measured_mb", "minutes_estimated", "minutes_measured", "jobs_measured"]
"""Columns that :func:`add_measured_usage` adds to a plan."""
KEYS = ["rule", "instances_of", "model", "jobs", "gpu"]
# What Snakemake, which runs twice in every job of a cluster, takes beside the job's script; Slurm counts it.
SNAKEMAKE_MB = 500
STARTUP_MINUTES = 10


def read_finished_jobs(folder: str | Path) -> pd.DataFrame:
    """Return what finished jobs used.

    Args:
        folder: ``results/benchmarks``, with ``RULE/STUDY/SET/MODEL.tsv`` or ``RULE/STUDY/SET/MODEL/1ofN.tsv``, a JSON
            file beside each, and efficiency reports in ``slurm/``. A benchmark file without JSON file is of no finished
            job.

    Returns:
        One row for each job: ``rule``, ``instances_of`` (``study/set``), ``model``, ``jobs`` (in how many jobs that
        work was divided), ``gpu`` (bool), ``memory_mb`` (MB, nan where nobody looked) and ``minutes``. Both are the
        larger of what Snakemake and Slurm counted. Where several sets travel in one job, Slurm's memory counts for each
        and its time for none.

    Raises:
        UserError: If a file is not what Snakemake or the executor writes, with the file, the row and the remedy.
    """
    folder = Path(folder)
    slurm = _reports(folder / REPORTS)
    rows = []
    for rule in RULES:
        for path in sorted((folder / rule).rglob("*.tsv")):
            facts = _facts(path.with_suffix(".json"))
            if facts is None:
                continue
            place = re.fullmatch(r"([^/]+)/([^/]+)/([^/]+?)(?:/(\d+)of(\d+))?\.tsv", _below(path, folder / rule))
            if place is None:
                raise UserError(f"{path}: not where a job of rule {rule} leaves its file; delete it")
            study, name, model, number, jobs = place.groups(default="1")
            memory, seconds = _benchmark(path)
            grouped = rule == "token_distributions"
            comment = f"rule_distributions_{model}" if grouped else (
                f"rule_{rule}_wildcards_{study}_{name}_{model}_{number}_{jobs}"
            )  # fmt: skip
            counted = slurm.get(comment, (math.nan, math.nan))
            rows.append(
                {
                    "rule": rule, "instances_of": f"{study}/{name}", "model": model, "jobs": int(jobs),
                    "gpu": facts["device"] != "cpu", "memory_mb": np.fmax(memory, counted[0]),
                    "minutes": (seconds if grouped else np.fmax(seconds, counted[1])) / 60,
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=[*KEYS, "memory_mb", "minutes"])


def add_measured_usage(plan: pd.DataFrame, jobs: pd.DataFrame, estimated: dict) -> pd.DataFrame:
    """Return a plan with what its jobs ask for by estimate and what finished ones used.

    Args:
        plan: With the columns of :data:`scripts.core.engines.planning.COLUMNS`.
        jobs: Of :func:`read_finished_jobs`.
        estimated: ``rule``, ``study/set`` and model to memory (MB) and minutes of one job.

    Returns:
        With :data:`COLUMNS` added: of one job, the most of all that finished. Memory is that of the rule and model,
        minutes are those of jobs of the same set, divided into as many; ``jobs_measured`` counts the former.
    """
    found = []
    for row in files.rows(plan):
        memory, minutes = estimated.get(row.rule, {}).get(row.instances_of, {}).get(row.model, (math.nan, math.nan))
        alike = _of_model(jobs, row.rule, row.model, row.gpus > 0)
        found.append(
            [memory, alike.memory_mb.max(), minutes, _same(alike, row.instances_of, row.jobs).minutes.max(), len(alike)]
        )
    made = pd.DataFrame(found, columns=COLUMNS, index=plan.index)
    return plan.assign(**{name: made[name] for name in COLUMNS})


def asked_memory(
    jobs: pd.DataFrame, margin: float, rule: str, model: str, gpu: bool, estimate: int, attempt: int
) -> int:
    """Return what a job asks for, in MB: ``margin`` times what jobs of its rule and model used, and 500 MB.

    Args:
        jobs: Of :func:`read_finished_jobs`.
        gpu: Whether the job has a GPU; the others' memory says nothing of it.
        estimate: What it asks for at this attempt where nothing was measured.
        attempt: A further attempt asks for the estimate at least.
    """
    used = _of_model(jobs, rule, model, gpu).memory_mb.max()
    return _asked(margin * used + SNAKEMAKE_MB, estimate, attempt)


def asked_minutes(
    jobs: pd.DataFrame,
    margin: float,
    rule: str,
    model: str,
    gpu: bool,
    instances_of: str,
    divided: int,
    estimate: int,
    attempt: int,
) -> int:
    """Return a job's time limit: ``margin`` times that of the same work, divided into as many jobs, and 10 minutes.

    Args:
        instances_of: ``study/set``.
        divided: In how many jobs.
        jobs, margin, rule, model, gpu, estimate, attempt: As for :func:`asked_memory`.
    """
    used = _same(_of_model(jobs, rule, model, gpu), instances_of, divided).minutes.max()
    return _asked(margin * used + STARTUP_MINUTES, estimate, attempt)


def usage_report(plan: pd.DataFrame, margin: float | None) -> str:
    """Return the estimates beside the measurements as a table for people; an empty string if nothing was measured."""
    seen = plan[plan.jobs_measured > 0].drop_duplicates(["instances_of", "rule", "model"])
    if seen.empty:
        return ""
    shown = pd.DataFrame(
        {
            "rule": seen.rule, "instances of": seen.instances_of, "model": seen.model, "finished": seen.jobs_measured,
            "memory estimated": _numbers(seen.memory_estimated_mb, "MB"),
            "measured": _numbers(seen.memory_measured_mb, "MB"),
            "time estimated": _numbers(seen.minutes_estimated, "min"),
            "measured ": [f"{value:.1f} min" if value == value else "-" for value in seen.minutes_measured],
        }
    )  # fmt: skip
    follows = f"{margin:g} times what was measured" if margin else "what is estimated"
    return (
        f"One job, by estimate and by the largest that finished; jobs ask for {follows} (planning.measured_margin):\n"
        f"{shown.to_string(index=False)}"
    )


def _below(path: Path, folder: Path):
    return path.relative_to(folder).as_posix()


def _numbers(values: Iterable[float], unit: str):
    return [f"{value:,.0f} {unit}" if value == value else "-" for value in values]


def _of_model(jobs: pd.DataFrame, rule: str, model: str, gpu: bool):
    return jobs[(jobs.rule == rule) & (jobs.model == model) & (jobs.gpu == gpu)]


def _same(jobs: pd.DataFrame, instances_of: str, divided: int):
    return jobs[(jobs.instances_of == instances_of) & (jobs.jobs == divided)]


def _asked(learned: float, estimate: int, attempt: int):
    if math.isnan(learned):
        return estimate
    return math.ceil(learned) if attempt == 1 else max(math.ceil(learned) * attempt, estimate)


def _facts(path: Path):
    """Return what a job says of its device, or None where it has not finished."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); delete it, and the job does not count") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("device"), str):
        raise UserError(f"{path}: says no device; delete it, and the job does not count")
    return facts


def _benchmark(path: Path):
    """Return the memory (MB, nan where Snakemake could not look) and seconds of a benchmark file, at most."""
    remedy = "delete it, and the job does not count"
    rows = _table(path, "\t", ["s", "max_rss"], remedy)
    if not rows:
        raise UserError(f"{path}: has no row; {remedy}")
    memory = [math.nan if row["max_rss"] == "NA" else _number(path, at, row, "max_rss", remedy) for at, row in rows]
    return np.fmax.reduce(memory), max(_number(path, at, row, "s", remedy) for at, row in rows)


def _reports(folder: Path):
    """Return the memory (MB, nan where Slurm did not look) and seconds of every comment in efficiency reports.

    Of several runs of a job the report's last counts, which is the one that may have finished; of several reports the
    largest.
    """
    remedy = "delete it: Snakemake's own measurements of the same jobs remain"
    used = {}
    for path in sorted(folder.glob("efficiency_report_*.csv")):
        last = {}
        for at, row in _table(path, ",", ["JobID", "RuleName", "Elapsed_sec", "MaxRSS_MB"], remedy):
            job = row["JobID"].partition(".")[0]
            if not job.isdigit():
                raise UserError(f"{path}, row {at}: JobID {row['JobID']!r} is not that of a step of a job; {remedy}")
            memory = _number(path, at, row, "MaxRSS_MB", remedy) or math.nan
            step = (int(job), memory, _number(path, at, row, "Elapsed_sec", remedy))
            last[row["RuleName"]] = max(last.get(row["RuleName"], step), step, key=lambda each: each[0])
        for comment, (_, memory, seconds) in last.items():
            before = used.get(comment, (math.nan, math.nan))
            used[comment] = (np.fmax(before[0], memory), np.fmax(before[1], seconds))
    return used


def _table(path: Path, delimiter: str, columns: Sequence[str], remedy: str):
    """Return the rows of a text file with their numbers, the first below the header being 1."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter=delimiter, strict=True)
            rows = list(enumerate(reader, start=1))
            names = reader.fieldnames or []
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a table ({error}); {remedy}") from error
    missing = [name for name in columns if name not in names]
    if missing:
        raise UserError(f"{path}: has no column {missing[0]}; {remedy}")
    for at, row in rows:
        if None in row or None in row.values():
            raise UserError(f"{path}, row {at}: has not the {len(names)} cells of the header; {remedy}")
    return rows


def _number(path: Path, at: int, row: Mapping[str, str], column: str, remedy: str):
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UserError(f"{path}, row {at}: {column} is {row[column]!r}, not a number of at least 0; {remedy}")
    return value
