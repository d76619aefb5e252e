"""The numbers that the Counter-GAP section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import interval, percent
from scripts.core.paper.numbers import count, entry
from scripts.counter_gap.lib.study import is_rule, label, main_scoring
from scripts.counter_gap.lib.tables import METHODS, tests_disagree

KEYS = {
    "alpha": "counter_gap.alpha",
    "draws": "counter_gap.bootstrap.draws",
}
"""Settings to their keys in config.yaml."""


def from_sizes(sizes: pd.DataFrame, templates: str) -> dict[str, dict]:
    """Return how many quadruples there are: ``size.all``, and with originals about men and women ``size.M``, ``.F``."""
    (row,) = sizes[(sizes.data == templates) & (sizes.subset == "all")].pipe(files.rows)
    counts = {"all": row.quadruples, "M": row.masculine, "F": row.quadruples - row.masculine}
    return {f"size.{group}": count(n, "subset_sizes.csv", subset="all", group=group) for group, n in counts.items()}


def from_tests(tests: pd.DataFrame, metrics: pd.DataFrame) -> dict:
    """Return what the prose says of all systems at once, for those without debiasing and with the main scoring.

    Args:
        tests: The rows of significance.csv on one set of quadruples.
        metrics: Those of metrics.csv.

    Returns:
        ``systems``, and ``rules`` among them; for the metrics ``acc_diff`` and ``delta_i`` ``<metric>.significant``,
        ``.significant_holm`` (counts of systems), ``.lowest`` and ``.highest`` (with ``system``);
        ``<method>.systems`` and ``<method>.<metric>.<count>`` after debiasing; ``disputed``, how many tests the centred
        bootstrap decides otherwise; and ``cancelled.highest`` and ``cancelled.lowest``, each with ``.interval``.
    """
    plain = main_scoring(tests)
    systems = plain[plain.debiasing == "none"].system.unique()
    numbers = {
        "systems": count(len(systems), "metrics.csv", column="system"),
        "rules": count(sum(map(is_rule, systems)), "metrics.csv", column="system"),
    }
    for method in METHODS[1:]:
        trained = plain[plain.debiasing == method].system.nunique()
        if trained:
            numbers[f"{method}.systems"] = count(trained, "significance.csv", column="system")
    for method in METHODS:
        prefix = "" if method == "none" else f"{method}."
        for metric in ("acc_diff", "delta_i"):
            rows = plain[(plain.debiasing == method) & (plain.subset == "all") & (plain.metric == metric)]
            if not rows.empty:
                numbers |= _of_tests(f"{prefix}{metric}", rows)
    disputed = sum(tests_disagree(row) for _, row in plain[plain.subset == "all"].iterrows())
    numbers["disputed"] = count(disputed, "significance.csv", column="significant_centred")
    values = main_scoring(metrics)
    rows = values[(values.metric == "cancelled") & (values.subset == "all") & (values.debiasing == "none")]
    return numbers | _bounds("cancelled", rows.dropna(subset=["value"]), "metrics.csv", signed=False, intervals=True)


def _of_tests(name: str, rows: pd.DataFrame):
    flags = ("significant", "significant_holm")
    numbers = {f"{name}.{flag}": count(rows[flag].sum(), "significance.csv", metric=name) for flag in flags}
    return numbers | _bounds(name, rows, "significance.csv", signed=True)


def _bounds(name: str, rows: Any, source: str, signed: bool, intervals: bool = False):
    """Return ``<name>.lowest`` and ``<name>.highest`` of some rows, with their systems; nothing if there are none.

    With ``intervals`` each has its interval too, as ``<name>.lowest.interval`` and ``<name>.highest.interval``.
    """
    numbers = {}
    places = {} if rows.empty else {"lowest": rows.value.idxmin(), "highest": rows.value.idxmax()}
    for bound, place in places.items():
        row = rows.loc[place]
        cell = {"system": row.system, "metric": name}
        shown = entry(row.value, percent(row.value, 1, signed=signed), source, **cell)
        numbers[f"{name}.{bound}"] = shown | {"system": label(row)}
        if intervals:
            ends = interval(100 * row.ci_low, 100 * row.ci_high, 1, signed)
            numbers[f"{name}.{bound}.interval"] = entry(row.ci_low, ends, source, **cell, column="ci_low")
    return numbers
