"""The numbers that the Counter-GAP section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

from typing import Any

import pandas as pd

from scripts.core.paper.formats import interval, number, percent
from scripts.core.paper.numbers import count, entry
from scripts.counter_gap.lib.study import UNMARKED, WITHOUT, is_rule, label, main_scoring
from scripts.counter_gap.lib.tables import METHODS, tests_disagree

KEYS = {
    "alpha": "counter_gap.alpha",
    "draws": "counter_gap.bootstrap.draws",
    "simulated_quadruples": "counter_gap.simulation.quadruples",
    "simulated_data_sets": "counter_gap.simulation.repeats",
}
"""Settings to their keys in config.yaml."""


def from_sizes(sizes: pd.DataFrame, templates: str) -> dict[str, dict]:
    """Return ``size.<subset>`` (quadruples), ``artefact`` and ``marked``.

    ``artefact`` is how many quadruples the conversion spoilt, ``marked`` how many more have another mark behind the
    pronoun.
    """
    quadruples = sizes[sizes.data == templates].set_index("subset").quadruples.to_dict()
    total = quadruples["all"]
    without = quadruples.get("all" + WITHOUT, total)
    marks = {"artefact": total - without, "marked": without - quadruples.get(UNMARKED, without)}
    return {f"size.{subset}": count(n, "subset_sizes.csv", subset=subset) for subset, n in quadruples.items()} | {
        name: count(n, "subset_sizes.csv", data=templates) for name, n in marks.items()
    }


def from_tests(tests: pd.DataFrame, metrics: pd.DataFrame) -> dict:
    """Return what the prose says of all systems at once, for those without debiasing and with the main scoring.

    Args:
        tests: The rows of significance.csv on one set of quadruples.
        metrics: Those of metrics.csv.

    Returns:
        ``systems``, and ``rules`` among them; for the metrics ``acc_diff`` and ``delta_i`` ``<metric>.significant``,
        ``.significant_holm`` (counts of systems), ``.lowest`` and ``.highest`` (with ``system``); the same with
        ``without.`` before them for the quadruples without artefact; ``<method>.systems`` and
        ``<method>.<metric>.<count>`` after debiasing; ``disputed``, how many tests the centred bootstrap decides
        otherwise; and ``cancelled.highest`` and ``cancelled.lowest``, each with ``.interval``.
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
    parts = [("", "none", "all"), ("without.", "none", "all" + WITHOUT)]
    for prefix, method, subset in parts + [(f"{method}.", method, "all") for method in METHODS[1:]]:
        for metric in ("acc_diff", "delta_i"):
            rows = plain[(plain.debiasing == method) & (plain.subset == subset) & (plain.metric == metric)]
            if not rows.empty:
                numbers |= _of_tests(f"{prefix}{metric}", rows)
    tested = plain[plain.subset.isin(["all", "all" + WITHOUT])]
    disputed = sum(tests_disagree(row) for _, row in tested.iterrows())
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


def from_simulation(simulation: pd.DataFrame) -> dict[str, dict]:
    """Return ``simulation.<both or names>.<true_gap or metric>`` for the strongest bias, or effect of names."""
    numbers = {}
    for setting, key in (("both directions", "both"), ("names only", "names")):
        rows = simulation[simulation.setting == setting]
        strongest = rows[rows.strength == rows.strength.max()].set_index("metric")
        for metric, row in strongest.iterrows():
            numbers[f"simulation.{key}.{metric}"] = entry(
                row.value, number(row.value, 2), "simulation.csv", setting=setting, metric=metric, strength=row.strength
            )
        gap = float(strongest.true_gap.iloc[0])
        numbers[f"simulation.{key}.true_gap"] = entry(gap, f"{gap:.2f}", "simulation.csv", setting=setting)
    return numbers
