"""Bring every system's output on one data set into one table: released flags, and clusters scored in two ways."""

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.counter_gap.lib import released_flags
from scripts.counter_gap.lib.analyses import predictions


def main(
    *,
    instances: str,
    outputs: list,
    released: list,
    compact: list,
    flags: str,
    data: str,
    cluster_systems: list,
    systems: list,
):
    """Write ``flags`` (Parquet).

    Its columns: ``data``, ``scoring``, ``system``, ``debiasing``, ``id``, ``a_pred``, ``b_pred``, ``correct``.
    ``outputs`` are cluster files and ``released`` flag files; ``cluster_systems`` and ``systems`` say whose, in the
    same order, by ``system`` and ``debiasing``. ``compact`` are files of all released flags. ``data`` is the data set's
    name.
    """
    passages = files.read_parquet(instances)
    outcomes = []
    for path, facts in zip(released, systems, strict=True):
        outcomes.append(("released", facts, predictions.read_flags(path, passages)))
    for path in compact:
        for (system, debiasing), table in released_flags.read_flags(path).items():
            outcomes.append(("released", {"system": system, "debiasing": debiasing}, table))
    for path, facts in zip(outputs, cluster_systems, strict=True):
        for scoring in predictions.SPAN_SCORINGS:
            outcomes.append((scoring, facts, predictions.read_clusters(path, passages, scoring)))
    tables = []
    for scoring, facts, table in outcomes:
        table["correct"] = predictions.correct(passages, table)
        log.info(
            "%s, %s, %s, %s: accuracy %.4f", data, scoring, facts["system"], facts["debiasing"], table.correct.mean()
        )
        keys = {"data": data, "scoring": scoring, "system": facts["system"], "debiasing": facts["debiasing"]}
        tables.append(table.assign(**keys)[[*keys, *table]])
    files.write_parquet(flags, pd.concat(tables, ignore_index=True))


if __name__ == "__main__":
    run(main)
