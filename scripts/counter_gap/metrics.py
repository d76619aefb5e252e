"""Compute every metric of every system with bootstrap intervals, tests and what the metrics are made of."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib.analyses import metrics as analysis


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
    tables, parts, sizes, membership = [], [], [], []
    for name, instances_path, flags_path in zip(data, instances, flags, strict=True):
        passages, predicted = files.read_parquet(instances_path), files.read_parquet(flags_path)
        in_quadruples = not name.startswith("gap_")
        membership.append(analysis.members(passages, name, in_quadruples))
        if not in_quadruples:
            tables.append(analysis.of_single_instances(passages, predicted, draws, seed))
            continue
        tables.append(analysis.of_quadruples(passages, predicted, draws, seed))
        parts.append(analysis.decomposition(passages, predicted))
        sizes.append(analysis.sizes(passages, name))
    table = pd.concat(tables)
    files.write_csv(metrics, table)
    files.write_csv(significance, analysis.significance(table, alpha))
    files.write_csv(decomposition, pd.concat(parts))
    files.write_csv(subset_sizes, pd.concat(sizes))
    files.write_parquet(members, pd.concat(membership, ignore_index=True))


if __name__ == "__main__":
    run(main)
