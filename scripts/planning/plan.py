"""Plan a run before it is paid for: tokens, memory, GPUs, jobs, hours and downloads of each model."""

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.models import costs
from scripts.core.workflow.job import run


def main(*, plan: str, rows: list) -> None:
    """Write ``plan`` (CSV) and print it; rows are those of :func:`scripts.core.models.costs.plan_costs`."""
    frame = pd.DataFrame(rows, columns=costs.PLAN_COLUMNS)
    files.write_csv(plan, frame)
    empty = "No study of this run reads a model: there is nothing to plan."
    print(empty if frame.empty else report(frame), flush=True)


def report(frame: pd.DataFrame) -> str:
    """Return a plan as text: the totals, then a line for each model and study with GPU hours by device."""
    keys, order = ["model", "study"], list(dict.fromkeys(frame.model))
    frame = frame.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
    once = frame.drop_duplicates([*keys, "set", "rule"]).groupby(keys, sort=False)
    sizes = once.agg(jobs=("jobs", "sum"), tokens=("tokens", "sum"), memory=("memory_gb", "max"))
    spent = frame.assign(spent=frame.hours * frame.gpus.clip(lower=1))
    by_device = spent.pivot_table(index=keys, columns="device", values="spent", aggfunc="sum", sort=False)
    table = sizes.join(by_device.map(lambda value: two_digits(value) if value == value else "-")).assign(
        tokens=[f"{value:.1e}" for value in sizes.tokens], memory=[f"{value:.0f} GB" for value in sizes.memory]
    )
    return (
        f"In all: {describe_totals(frame)}; {sizes.jobs.sum():,} jobs.\n"
        f"Hours by device, times GPUs:\n{table.reset_index().to_string(index=False)}"
    )


def describe_totals(frame: pd.DataFrame) -> str:
    """Return what a plan comes to, in a sentence: hours times GPUs by device, jobs, and the least that is fetched."""
    spent = (frame.hours * frame.gpus.clip(lower=1)).groupby(frame.device, sort=False).sum()
    most = frame.groupby("device", sort=False).gpus.max().to_dict()
    each = [
        f"{two_digits(value)} GPU hours on {device}" + (f" (up to {most[device]} GPUs)" if most[device] > 1 else "")
        for device, value in spent.items()
        if device != "cpu"
    ]
    here = [f"{two_digits(spent['cpu'])} hours on one CPU core"] if "cpu" in spent else []
    # Systems that are trained share encoders.
    size = frame[frame.download != ""].drop_duplicates("download").weights_gb.sum()
    download = f"{two_digits(size)} GB of weights" if size else "no weights"
    return f"{', and '.join([*here, *filter(None, [' or '.join(each)])])}; {download} to download at least"


def two_digits(value: float) -> str:
    """Return a positive number with two digits, as text.

    Examples:
        >>> [two_digits(x) for x in (0.0123, 4.56, 78.9, 1234)]
        ['0.012', '4.6', '79', '1200']
    """
    return np.format_float_positional(float(f"{value:.1e}"), trim="-")


if __name__ == "__main__":
    run(main)
