"""The numbers that the WinoPron section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

from typing import Any

import pandas as pd

from scripts.core.data.templates import CASES
from scripts.core.paper.estimates import Estimate, compare_all, compare_values
from scripts.core.paper.formats import FEWEST, MISSING_MARK, interval, percent
from scripts.core.paper.numbers import count, entry
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses.consistency import GROUPS, POOLED

KEYS = {"draws": "winopron.bootstrap.draws"}
"""Settings to their keys in config.yaml."""


def _estimate(name: str, row: pd.Series) -> dict[str, dict]:
    """Return entries of a row of metrics.csv: its value and, as ``<name>.interval``, the text of its interval."""
    ends = interval(100 * row.ci_low, 100 * row.ci_high, 1).replace(MISSING_MARK, "no interval")
    return {
        name: entry(row.value, percent(row.value, 1), "metrics.csv", **_cell(row)),
        f"{name}.interval": entry(ends, ends, "metrics.csv", **_cell(row)),
    }


def _extremes(table: pd.DataFrame, column: str):
    """Return ``lowest`` and ``highest`` with the rows in which a column is so; nothing without rows."""
    table = table.reset_index(drop=True)
    places = (("lowest", "idxmin"), ("highest", "idxmax")) if len(table) else ()
    return [(bound, table.loc[getattr(table[column], place)()]) for bound, place in places]


def from_instances(frame: pd.DataFrame) -> dict[str, dict]:
    """Return ``size.double.<sentences, templates or pairs>`` and ``size.pronoun_sets`` of sentences about two."""
    columns = {"double.templates": "template", "double.pairs": "pair", "pronoun_sets": "pronoun_set"}
    source = "double.parquet"
    return {"size.double.sentences": count(len(frame), source)} | {
        f"size.{name}": count(frame[column].nunique(), source, column=column) for name, column in columns.items()
    }


def from_metrics(metrics: pd.DataFrame) -> dict:
    """Return what the prose says of all systems of one template set, read in the corrected way.

    Returns:
        ``systems`` and ``rules`` (counts of systems); ``asked.lowest``, the pairs of people that a system
        was asked about at least; ``prompted.pairs``, those that prompted models were asked about at least, and
        ``scored.pairs``, those that models resolved by likelihood, with
        ``accuracy.<system>``; ``chance.<consistency>``; of rules ``rules.<accuracy or
        consistency>.lowest`` and ``.highest``, and of other systems the same without ``rules.``, for single prompts,
        with ``accuracy.<case>`` besides, each with ``system``; of each accuracy and consistency its interval;
        and ``accusative.hardest``, systems whose interval for the accusative lies below those for both other cases.
    """
    table = metrics[metrics.entities == "double"]
    right = study.corrected_rows(table)
    whole = study.overall_rows(right)
    rules = whole.system.map(study.is_rule)
    scored = whole[whole.system.map(study.by_likelihood)]
    numbers = {
        "systems": count(whole[~rules].system.nunique(), "metrics.csv", column="system"),
        "rules": count(whole[rules].system.nunique(), "metrics.csv", column="system"),
        "asked.lowest": count(whole.n.min(), "metrics.csv", column="n"),
    }
    prompted = whole[whole.pairing != ""]
    if len(prompted):
        numbers["prompted.pairs"] = count(prompted.n.min(), "metrics.csv", column="n")
    if len(scored):
        numbers["scored.pairs"] = count(scored.n.min(), "metrics.csv", column="n")
    for _, row in scored[scored.metric == "accuracy"].iterrows():
        numbers |= _estimate(f"accuracy.{row.system}", row)
    for metric in GROUPS:
        rows = whole[(whole.metric == f"{metric}_chance") & (whole.pairing != POOLED)]
        chance = rows.value.iloc[0]
        numbers[f"chance.{metric}"] = entry(chance, percent(chance), "metrics.csv", metric=f"{metric}_chance")
    of_rules, others = whole[rules], right[~right.system.map(study.is_rule) & (right.pairing != POOLED)]
    for metric in ("accuracy", *GROUPS):
        numbers |= _range(f"rules.{metric}", of_rules[of_rules.metric == metric])
        numbers |= _range(metric, study.overall_rows(others[others.metric == metric]))
    by_case = others[(others.metric == "accuracy") & others["case"].isin(CASES) & (others.pronoun_set == "all")]
    for case in CASES:
        numbers |= _range(f"accuracy.{case}", by_case[by_case["case"] == case])
    hardest = sum(_hardest(rows, "accusative") for _, rows in by_case.groupby("system"))
    numbers["accusative.hardest"] = count(hardest, "metrics.csv", case="accusative", metric="accuracy")
    return numbers


def _hardest(rows: Any, case: str):
    """Tell whether a system's interval for one case lies below those of all others."""
    of_case = {row.case: Estimate(row.value, row.ci_low, row.ci_high, row.n) for row in rows.itertuples()}
    return (
        compare_all(compare_values(of_case[other], of_case[case]) for other in CASES if other != case).outcome is True
    )


def _cell(row: pd.Series):
    return {name: row[name] for name in ("entities", "system", "metric", "case", "pronoun_set")}


def _range(name: str, rows: pd.DataFrame):
    numbers = {}
    for bound, row in _extremes(rows, "value"):
        numbers |= _estimate(f"{name}.{bound}", row)
        numbers[f"{name}.{bound}"]["system"] = row.system
    return numbers


def from_bias(bias: pd.DataFrame) -> dict:
    """Return what is said of the bias of systems other than rules, prompted ones with all prompts together.

    Returns:
        ``bias.chance``, the share of either sign that two fair coins show; ``bias.systems``, those that solve some
        template pair; ``bias.forms``, how many of their pronoun forms have
        :data:`scripts.core.paper.formats.FEWEST` attempted and solvable pairs or more, and ``bias.fewest``, that
        number. Of systems with as many over all forms ``bias.enough``, how many they are, ``bias.pairs.<lowest or
        highest>``, the pairs that they have, and ``bias.<positive or negative>.<lowest or highest>`` shares of all
        forms together.
    """
    table = study.with_all_prompts(study.corrected_rows(bias))
    forms = table[table.pronoun_set != "all"]
    whole = table[(table["case"] == "all") & (table.attempted_solvable > 0)]
    enough = whole[whole.attempted_solvable >= FEWEST]
    coins = table.chance.iloc[0] if len(table) else None
    numbers = {} if coins is None else {"bias.chance": entry(coins, percent(coins, 1), "bias.csv", column="chance")}
    numbers |= {
        "bias.systems": count(len(whole), "bias.csv", column="attempted_solvable"),
        "bias.forms": count((forms.attempted_solvable >= FEWEST).sum(), "bias.csv", column="attempted_solvable"),
        "bias.enough": count(len(enough), "bias.csv", column="attempted_solvable"),
        "bias.fewest": count(FEWEST, "bias.csv", column="attempted_solvable"),
    }
    for bound, row in _extremes(enough, "attempted_solvable"):
        cell = {"system": row.system, "column": "attempted_solvable"}
        numbers[f"bias.pairs.{bound}"] = count(row.attempted_solvable, "bias.csv", **cell)
    for sign in ("positive", "negative"):
        for bound, row in _extremes(enough, f"share_{sign}"):
            share = row[f"share_{sign}"]
            cell = {"system": row.system, "column": f"share_{sign}"}
            numbers[f"bias.{sign}.{bound}"] = entry(share, percent(share, 1), "bias.csv", **cell)
    return numbers


def from_overlap(overlap: pd.DataFrame) -> dict:
    """Return what is said of overlap.

    Returns:
        ``overlap.pairs`` of systems that are compared; of the comparison of cases ``overlap.cases.tested`` and
        ``.above_chance`` (significant after correction).
    """
    corrected = overlap[overlap.reading == study.READINGS[study.CORRECTED]]
    pairs = corrected[corrected.comparison == "systems"]
    tested = corrected[(corrected.comparison == "cases") & corrected.p_value.notna()]
    above = (tested.p_holm < 0.05).sum()
    return {
        "overlap.pairs": count(pairs.system.nunique(), "overlap.csv", comparison="systems"),
        "overlap.cases.tested": count(len(tested), "overlap.csv", comparison="cases"),
        "overlap.cases.above_chance": count(above, "overlap.csv", comparison="cases", column="p_holm"),
    }
