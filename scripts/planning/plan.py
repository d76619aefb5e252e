"""Plan a run before it is paid for: tokens, operations, memory, GPUs, jobs, hours and downloads of each model."""

import pandas as pd

from scripts.core import files
from scripts.core.engines import planning, usage
from scripts.core.workflow.job import run


def main(
    *,
    plan: str,
    scored: dict,
    prompted: dict,
    texts: dict,
    resolved: dict,
    trained: dict,
    entries: dict,
    devices: dict,
    speeds: str,
    benchmarks: str,
    estimated: dict,
    margin: float | None = None,
    threads: int = 1,
) -> None:
    """Write ``plan`` (CSV) and print it: scoring, prompting, token distributions, coreference and its training.

    ``scored``, ``prompted``, ``texts``, ``resolved``, ``trained``, ``entries`` and ``devices`` are those of
    :func:`scripts.core.engines.planning.rows`; ``speeds`` is the folder in which scoring jobs leave how fast they were,
    ``benchmarks`` that in which all jobs leave what they used; ``estimated`` is what jobs ask for without that, as
    :func:`scripts.core.engines.usage.add_measured_usage` takes it, and ``margin`` planning.measured_margin.
    """
    used = usage.read_finished_jobs(benchmarks)
    measured = planning.measured_speeds(speeds, entries)
    cpu = planning.cpu_speed(threads)
    frame = pd.DataFrame(
        planning.rows(scored, prompted, texts, resolved, trained, entries, devices, measured, cpu),
        columns=planning.COLUMNS,
    )
    frame = usage.add_measured_usage(frame, used, estimated)
    files.write_csv(plan, frame)
    if frame.empty:
        print("No study of this run reads a model: there is nothing to plan.", flush=True)
    else:
        told = [report(frame), usage.usage_report(frame, margin), planning.plan_report(planning.totals(frame, entries))]
        print("\n".join(filter(None, told)), flush=True)


def report(frame: pd.DataFrame) -> str:
    """Return the plan as a table for people, with one total for each device."""
    shown = frame.assign(
        **{
            "instances of": frame.instances_of,
            "tokens": [f"{v:,}" for v in frame.tokens],
            "shared": [f"{v:,}" for v in frame.tokens_shared],
            "operations": [f"{v:.1e}" for v in frame.operations],
            "weights": [f"{v:.1f} GB" for v in frame.weights_gb],
            "hours": [f"{v:.2f}" for v in frame.hours],
            "speed from": frame.speed,
        }
    )
    columns = [
        "rule", "instances of", "model", "instances", "tokens", "shared", "operations", "weights", "device", "gpus",
        "jobs", "hours", "speed from",
    ]  # fmt: skip
    lines = [shown[columns].to_string(index=False)]
    for device, part in frame.groupby("device", sort=False):
        gpu_hours = (part.hours * part.gpus.clip(lower=1)).sum()
        unit = "hours" if device == "cpu" else "GPU hours"
        share = (part.hours * part.gpus.clip(lower=1)).groupby(part.rule, sort=False).sum()
        rules = ", ".join(f"{name} {hours:.2f}" for name, hours in share.items())
        unshared = (part.hours_unshared * part.gpus.clip(lower=1)).sum()
        total = f"{gpu_hours:.2f} {unit} in {part.jobs.sum()} jobs ({rules}), {unshared:.2f} if nothing were shared"
        lines.append(f"{device}: {total}; longest row {part.hours.max():.2f} h")
    return "\n".join(lines)


if __name__ == "__main__":
    run(main)
