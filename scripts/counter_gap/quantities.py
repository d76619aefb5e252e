"""The values that findings compare, each with its interval and test."""

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper.estimates import Estimate
from scripts.core.paper.finding_verdicts import MissingEvidence
from scripts.core.statistics import procedures
from scripts.counter_gap import study
from scripts.counter_gap.metrics import TESTED_METRICS

METRICS = {
    "accuracy": "the accuracy",
    "acc_diff": "the accuracy difference",
    "delta_i": "the difference of inconsistencies",
    "original_minus_counterfactual": "the difference of original and counterfactual accuracy",
    "i_within_diff": "the difference within genders",
    "i_across_diff": "the difference across genders",
    "spearman_rho": "the rank correlation",
    "conll_f1": "F1",
}
"""Metrics in words."""


class Results:
    """The values of one set of quadruples, of GAP and of corpora, by system, debiasing and metric.

    Args:
        table: Of :func:`scripts.counter_gap.published.comparable`: estimates with their tests, each system once.
    """

    def __init__(self, table: pd.DataFrame):
        self.table = table[table.kind != HEURISTIC]
        self.here = table[~table.templates.isin([*study.GAP, *study.CORPORA])]

    @cached_property
    def _rows(self) -> dict[tuple, list]:
        """All rows over both genders by what they are of; quadruples have no name of their data."""
        found: dict[tuple, list] = {}
        for row in study.pick(self.table, role=["", "original"]).itertuples():
            data = row.templates if row.templates in (*study.GAP, *study.CORPORA) else ""
            found.setdefault((data, row.system, row.debiasing, row.role, row.metric), []).append(row)
        return found

    def row(self, system: str, metric: str, debiasing: str = "none", role: str = "", data: str = "") -> Any:
        """Return one row; :class:`scripts.core.paper.finding_verdicts.MissingEvidence` if it is not there."""
        rows = self._rows.get((data, system, debiasing, role, metric), [])
        if len(rows) > 1:
            raise ValueError(f"{len(rows)} rows for {system}, {debiasing}, {metric}: give rows of one scoring")
        if not rows:
            name = system + (f" after {debiasing}" if debiasing != "none" else "")
            place = f" on {(study.GAP | study.CORPORA)[data]}" if data else ""
            known = any(key[:3] == (data, system, debiasing) for key in self._rows)
            raise MissingEvidence(f"{METRICS[metric]} of {name}{place}" if known else f"{name}{place}")
        return rows[0]

    def estimate(self, system: str, metric: str, debiasing: str = "none", role: str = "", data: str = "") -> Estimate:
        """Return a value over all passages with its interval and the number of quadruples.

        An interval of quadruples that all agree is exact (:func:`scripts.core.paper.estimates.from_samples`).
        """
        row = self.row(system, metric, debiasing, role, data)
        n, ends = int(row.clusters), (float(row.low), float(row.high))
        least = -1.0 if metric in TESTED_METRICS else 0.0
        agreeing = np.allclose(ends, procedures.agreeing_interval(row.value, n, least=least), atol=1e-9)
        return Estimate(float(row.value), *ends, n, None if agreeing else n)
