"""Compare systems' predictions on candidates within and across genders, before anybody has labelled them."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib.analyses import consistency as analysis
from scripts.counter_gap.lib.analyses import predictions


def main(*, instances: str, outputs: list, consistency: str, systems: list, draws: int, seed: int):
    """Write ``consistency``: how often predictions differ in pairs of instances, for each system.

    Parameters
    ----------
    instances : str
        The candidates (Parquet).
    outputs : list of str
        Clusters of each of ``systems``.
    consistency : str
        The table to write (CSV).
    systems : list of dict
        ``system`` and ``debiasing`` of each.
    """
    candidates = files.read_parquet(instances)
    rows = []
    for path, facts in zip(outputs, systems, strict=True):
        flags = predictions.read_clusters(path, candidates, "clusters")[["a_pred", "b_pred"]].to_numpy()
        keys = {"system": facts["system"], "debiasing": facts["debiasing"], "quadruples": len(candidates) // 4}
        rows += [keys | row for row in analysis.rows(flags, draws, seed)]
    files.write_csv(consistency, pd.DataFrame(rows))


if __name__ == "__main__":
    run(main)
