"""Compute every metric of every system with bootstrap intervals, tests and what the metrics are made of."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib.analyses import analysis


def main(
    *,
    instances: list,
    flags: list,
    metrics: str,
    significance: str,
    decomposition: str,
    subset_sizes: str,
    members: str,
    data: list,
    draws: int,
    seed: int,
    alpha: float,
):
    """Write the tidy tables of all ``data`` sets; ``instances`` and ``flags`` have one file for each, in that order."""
    tables, parts, sizes, belonging = [], [], [], []
    for name, instances_path, flags_path in zip(data, instances, flags, strict=True):
        frame, found = files.read_parquet(instances_path), files.read_parquet(flags_path)
        belonging.append(analysis.members(frame, name, not name.startswith("gap_")))
        if name.startswith("gap_"):
            tables.append(analysis.metrics_single(frame, found, draws, seed))
            continue
        tables.append(analysis.metrics(frame, found, draws, seed))
        parts.append(analysis.decomposition(frame, found))
        sizes.append(analysis.sizes(frame, name))
    table = pd.concat(tables)
    files.write_csv(metrics, table)
    files.write_csv(significance, analysis.significance(table, alpha))
    files.write_csv(decomposition, pd.concat(parts))
    files.write_csv(subset_sizes, pd.concat(sizes))
    files.write_parquet(members, pd.concat(belonging, ignore_index=True))


if __name__ == "__main__":
    run(main)
