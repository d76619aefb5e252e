"""Bring every system's output on one data set into one table: released flags, and clusters scored in two ways."""

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.counter_gap.lib.analyses import predictions
from scripts.counter_gap.lib.analyses.predictions import RULES


def main(*, instances: str, outputs: list, released: list, flags: str, data: str, cluster_systems: list, systems: list):
    """Write ``flags`` (Parquet): ``source``, ``system``, ``debiasing``, ``id``, ``a_pred``, ``b_pred``, ``correct``.

    ``outputs`` are cluster files and ``released`` flag files; ``cluster_systems`` and ``systems`` say whose, in the
    same order, by ``system`` and ``debiasing``. ``data`` is the data set's name.
    """
    frame = files.read_parquet(instances)
    parts = []
    for path, facts in zip(released, systems, strict=True):
        parts.append((f"{data}/released", facts, predictions.read_flags(path, frame)))
    for path, facts in zip(outputs, cluster_systems, strict=True):
        for rule in RULES:
            parts.append((f"{data}/{rule}", facts, predictions.read_clusters(path, frame, rule)))
    tables = []
    for source, facts, found in parts:
        found["correct"] = predictions.correct(frame, found)
        log.info("%s, %s, %s: accuracy %.4f", source, facts["system"], facts["debiasing"], found.correct.mean())
        for name, value in (("debiasing", facts["debiasing"]), ("system", facts["system"]), ("source", source)):
            found.insert(0, name, value)
        tables.append(found)
    files.write_parquet(flags, pd.concat(tables, ignore_index=True))


if __name__ == "__main__":
    run(main)
