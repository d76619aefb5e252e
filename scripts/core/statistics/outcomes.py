"""Estimates as means over units, so that the same units of two runs or two models make a paired difference.

A study declares how its headlines follow from the outcomes of its instances (``paired=`` in rules/). A unit is what an
estimate is a mean over: an instance, a quadruple, a sentence. An area under a curve is no mean; its pseudo-values (the
first-order influence of each cluster, Efron and Tibshirani 1993, Chapter 21) have it as their mean.
"""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError
from scripts.core.statistics import paired, procedures

DRAWS, SEED = 5000, 20261125
KEYS = ("instance_id", "id", "text_id")
CONTENT = ("text", "options", "gold", "answer", "a", "b", "a_coref", "b_coref", "role", "gender")
"""Columns of instances that make two of one id the same."""
BOUNDS = {"mean": 1.0, "area": 1.0, "disagreement": 1.5, "slope": np.inf}
"""How much an estimate can differ from another at most, by its statistic."""
TOLERANCE = 1e-6
"""A summary has ten digits."""


class NotComparable(Exception):
    """Why an estimate has no outcomes to compare, in words."""


@functools.lru_cache(maxsize=16)
def _read(path: Path) -> pd.DataFrame:
    return files.read_parquet(path)


@functools.lru_cache(maxsize=16)
def _instances(study: Path, key: str, ids: frozenset) -> pd.DataFrame:
    """Return instances or texts by their ids, with their ``content``; the sample that models read comes first."""
    found, wanted = [], set(ids)
    paths = [*study.glob("instances/**/*.parquet"), *study.glob("texts/**/*.parquet")]
    for path in sorted(paths, key=lambda path: (path.stem != "selected", path.as_posix())):
        if wanted and key in pq.read_schema(path).names:
            table = pq.read_table(path, filters=[(key, "in", list(wanted))]).to_pandas()
            parts = table[[name for name in CONTENT if name in table]].astype(str)
            found.append(table.assign(content=list(map(" | ".join, parts.to_numpy()))).drop_duplicates(key))
            wanted -= set(table[key])
    if wanted or not found:
        raise NotComparable(f"{len(wanted)} of the instances are not in this run")
    return pd.concat(found, ignore_index=True).set_index(key)


def _joined(frame: pd.DataFrame, columns: Iterable[str]) -> pd.Series:
    parts = frame[[*columns]].map(estimate_rows.plain_cell)
    return pd.Series(list(map(" / ".join, parts.to_numpy())), index=frame.index, dtype=str)


def _chosen(frame: pd.DataFrame, row: Mapping[str, str], where: Mapping[str, list[str]]) -> pd.DataFrame:
    """Return the rows of a table of outcomes that a row of a summary is made of."""
    for column, patterns in where.items():
        present = frame[column].map(estimate_rows.plain_cell)
        wanted = [pattern.format(**row).strip(" ,") for pattern in patterns]
        frame = frame[present == next((text for text in wanted if (present == text).any()), None)]
    return frame


def read_outcomes(run: Path, estimate: Mapping[str, Any], tables: Mapping, declared: Mapping) -> pd.DataFrame:
    """Return the outcomes behind a row of a run's summary.

    Args:
        run: Its folder.
        estimate: The row.
        tables: The study's ``outcomes``: ways of scoring to its tables.
        declared: A ``PairedOutcomes`` of the study (``scripts/core/workflow/studies.py``) as a dictionary.

    Returns:
        ``id``, ``row`` (what tells outcomes apart), ``unit``, ``cluster``, ``value``, ``content``, ``prediction``,
        ``text`` and, where the statistic needs them, ``by`` and ``sign``.

    Raises:
        NotComparable: If the run lacks a table, a column or an instance.
    """
    row = {name: estimate_rows.plain_cell(value) for name, value in estimate.items()}
    path = tables.get(row["scoring"], tables.get("", [""]))[0].format(**row)
    if not (run / path).is_file():
        raise NotComparable(f"{path or 'a table of outcomes'} is not in this run")
    frame = _read(run / path)
    key = next((name for name in KEYS if name in frame), KEYS[0])
    needed = [*declared["unit"], *declared["cluster"], *([declared["by"]] * bool(declared["by"])), *declared["signs"]]
    for name in (key, *declared["where"], declared["value"], *declared["prediction"]):
        if name not in frame:
            raise NotComparable(f"{path} has no column {name}")
    frame = _chosen(frame, row, declared["where"])
    levels = {name: row[name].split("|") for name in estimate_rows.factors(row) if row[name]}
    for name in levels.keys() & set(frame):
        frame = frame[frame[name].map(estimate_rows.plain_cell).isin(levels[name])]
    known = _instances(run / "results" / row["study"], key, frozenset(frame[key]))
    known = known.loc[frame[key]].set_index(frame.index)
    for name in dict.fromkeys([*levels, *needed]):
        if name in known and name not in frame:
            frame = frame.assign(**{name: known[name]})
        elif name in needed and name not in frame:
            raise NotComparable(f"{path} and its instances have no column {name}")
    made = pd.DataFrame(
        {
            "id": frame[key].astype(str),
            "row": _joined(frame, dict.fromkeys([key, *needed])),
            "unit": _joined(frame, declared["unit"]),
            "cluster": _joined(frame, declared["cluster"]),
            "value": frame[declared["value"]].astype(float),
            "content": known.content,
            "prediction": _joined(frame, declared["prediction"]) if declared["prediction"] else "",
            "text": known.text if "text" in known else "",
        }
    )
    kept = pd.Series(True, index=frame.index)
    for name in levels.keys() & set(frame):
        kept &= frame[name].map(estimate_rows.plain_cell).isin(levels[name])
    if declared["by"]:
        made["by"] = frame[declared["by"]]
    for name, signs in declared["signs"].items():
        made["sign"] = frame[name].map(estimate_rows.plain_cell).map(signs)
        kept &= made.sign.notna()
    made = made[kept]
    if len(twins := made[made.row.duplicated()]):
        raise UserError(f"{run.name}: {path} has two outcomes of {twins.id.iloc[0]}; make it again")
    units = _units(made, declared["statistic"])
    if not len(units) or abs(units.value.mean() - estimate["value"]) > TOLERANCE * max(1.0, abs(estimate["value"])):
        raise NotComparable(f"{path} makes another value than the summary's")
    return made


def _units(rows: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """Return ``cluster``, ``value`` and ``content`` by unit; the mean of ``value`` is the estimate."""
    if statistic == "area":
        return _area(rows)
    return _grouped(rows, "unit", {"mean": _means, "disagreement": _disagreement, "slope": _slopes}[statistic](rows))


def _grouped(rows: pd.DataFrame, key: str, values: pd.Series) -> pd.DataFrame:
    grouped = rows.sort_values("content", kind="stable").groupby(key, sort=True)
    return pd.DataFrame({"cluster": grouped.cluster.first(), "value": values, "content": grouped.content.agg("".join)})


def _means(rows: pd.DataFrame) -> pd.Series:
    return rows.groupby("unit").value.mean()


def _disagreement(rows: pd.DataFrame) -> pd.Series:
    """The share of pairs of two groups that disagree, minus that of pairs of one group."""
    counts = rows.groupby(["unit", "by"]).value.agg(["sum", "size"]).unstack("by")
    right, size = counts["sum"].to_numpy(), counts["size"].to_numpy()
    wrong = size - right
    within = (2 * right * wrong / (size * (size - 1))).mean(axis=1)
    across = (right[:, 0] * wrong[:, 1] + wrong[:, 0] * right[:, 1]) / size.prod(axis=1)
    return pd.Series(across - within, index=counts.index)


def _slopes(rows: pd.DataFrame) -> pd.Series:
    """The slope of signed values over positions, in percentage points a position."""
    y = (rows.value * rows.sign).groupby([rows.unit, rows.by]).sum().unstack("by").sort_index(axis=1)
    x = np.arange(y.shape[1]) - (y.shape[1] - 1) / 2
    return pd.Series(100 * y.to_numpy() @ x / (x @ x), index=y.index)


def _area(rows: pd.DataFrame) -> pd.DataFrame:
    """How often the change of a unit with the sign 1, from the first to the last position, is above another's."""
    table: Any = rows.pivot_table(index=["cluster", "unit", "sign"], columns="by", values="value").sort_index(axis=1)
    # As the analysis rounds: a subtraction's error decides no tie.
    change = np.round(100 * np.abs(table.iloc[:, -1] - table.iloc[:, 0]), 9).reset_index(name="change")
    codes, names = pd.factorize(change.cluster, sort=True)
    positive = (change.sign == 1).to_numpy()
    scores = change["change"].to_numpy()
    above, below = scores[positive][:, None], scores[~positive]
    wins = (above > below) + 0.5 * (above == below)
    count = len(names)
    first, second = (np.bincount(codes[side], minlength=count) for side in (positive, ~positive))
    won = np.bincount(codes[positive], weights=wins.sum(axis=1), minlength=count)
    lost = np.bincount(codes[~positive], weights=wins.sum(axis=0), minlength=count)
    area = wins.mean()
    influence = (won + lost) / wins.size - area * (first / positive.sum() + second / (~positive).sum())
    return _grouped(rows, "cluster", pd.Series(area + count * influence, index=names))


def paired_difference(first: pd.DataFrame, second: pd.DataFrame, statistic: str) -> dict:
    """Return the difference of two estimates, second minus first, on the same units.

    Args:
        first, second: Of :func:`read_outcomes`.

    Returns:
        ``low`` and ``high`` (95 %, over clusters), ``p`` (sign flips of clusters), ``n`` and ``n_clusters``.

    Raises:
        NotComparable: If the units differ in their ids or contents.
    """
    one, two = _units(first, statistic), _units(second, statistic)
    both = one.index.intersection(two.index)
    shared = int((one.content[both] == two.content[both]).sum())
    if not shared == len(one) == len(two):
        raise NotComparable(f"other instances: {shared} of {len(one)} and {len(two)} are shared")
    two = two.loc[one.index]
    made = paired.comparison(two.value, one.value, one.cluster, DRAWS, SEED, bound=BOUNDS[statistic])
    counts = {"n": made["n"], "n_clusters": made["n_clusters"]}
    return {"low": made["ci_low"], "high": made["ci_high"], "p": made["p"], **counts}


def flipped(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the outcomes of the same instances whose prediction differs; an instance stands there once."""
    both = first.merge(second, on=["row", "id", "content"], suffixes=("_a", "_b"))
    both = both[both.prediction_a != both.prediction_b].rename(columns={"text_a": "text"})
    return both.drop_duplicates(["id", "prediction_a", "prediction_b"])


def compare_rows(one: Mapping, two: Mapping, runs: tuple[Path, Path], study: Mapping) -> tuple[dict, pd.DataFrame]:
    """Compare two rows of summaries on their instances.

    Args:
        one, two: The rows; differences are those of ``two`` minus ``one``.
        runs: The folders of their runs.
        study: ``outcomes`` and ``paired`` of the study.

    Returns:
        ``difference``, ``low``, ``high``, ``p``, ``n``, ``n_clusters``, ``flipped`` and ``note``, which says why there
        is no interval; and what :func:`flipped` returns.
    """
    told = dict.fromkeys(("low", "high", "p"), np.nan) | {"n": 0, "n_clusters": 0, "note": ""}
    found = pd.DataFrame()
    declared = study.get("paired", {}).get(one["metric"])
    try:
        if declared is None:
            raise NotComparable("the study declares no outcomes of it")
        tables = study["outcomes"]
        sides = [read_outcomes(run, row, tables, declared) for run, row in zip(runs, (one, two), strict=True)]
        if declared["prediction"]:
            found = flipped(*sides)
        one_side, other_side = sides
        told |= paired_difference(one_side, other_side, declared["statistic"])
    except NotComparable as why:
        told["note"] = str(why)
    return {"difference": two["value"] - one["value"], "flipped": len(found)} | told, found


def add_holm(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``p_holm``: p after Holm's correction over all rows that have one."""
    return table.assign(p_holm=procedures.holm(table.p.to_numpy(dtype=float)))
