"""Estimates as means over units, so that the same units of two runs or two models make a paired difference.

A study declares how its headlines follow from the outcomes of its instances (``paired=`` in rules/). A unit is what an
estimate is a mean over: an instance, a quadruple, a sentence. An area under a curve is no mean; its pseudo-values (the
first-order influence of each sentence, Efron and Tibshirani 1993, Chapter 21) have it as their mean.
"""

import functools
from collections.abc import Mapping
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
CONTENT = ("text", "options", "gold", "answer", "a", "b", "a_coref", "b_coref", "role", "gender")
"""Columns of instances that make two of one id the same."""
BOUNDS = {"mean": 1.0, "area": 1.0, "disagreement": 1.5, "slope": np.inf}
"""How much an estimate can differ from another at most, by its statistic."""
TOLERANCE = 1e-6
"""A summary has ten digits."""


_read = functools.lru_cache(maxsize=16)(files.read_parquet)


class NotComparable(Exception):
    """Why an estimate has no outcomes to compare, in words."""


@functools.lru_cache(maxsize=16)
def _instances(study: Path, key: str, ids: frozenset) -> pd.DataFrame:
    """Return instances or texts by their ids, with their ``content``; the sample that models read comes first."""
    found, wanted = [], set(ids)
    paths = [*study.glob("instances/**/*.parquet"), *study.glob("texts/**/*.parquet")]
    for path in sorted(paths, key=lambda path: (path.stem != "selected", path.as_posix())):
        if wanted and key in pq.read_schema(path).names:
            table = pq.read_table(path, filters=[(key, "in", list(wanted))]).to_pandas()
            content = _joined(table, [name for name in CONTENT if name in table])
            found.append(table.assign(content=content).drop_duplicates(key))
            wanted -= set(table[key])
    if wanted or not found:
        raise NotComparable(f"{len(wanted)} of the instances are not in this run")
    return pd.concat(found, ignore_index=True).set_index(key)


def _joined(frame: pd.DataFrame, columns: list[str]) -> pd.Series:
    parts = frame[columns].map(lambda cell: estimate_rows.plain_cell(cell) if np.isscalar(cell) else str(cell))
    return pd.Series(list(map(" / ".join, parts.to_numpy())), index=frame.index, dtype=str)


def read_outcomes(run: Path, estimate: Mapping[str, Any], tables: Mapping, declared: Mapping) -> pd.DataFrame:
    """Return the outcomes behind a row of the summary of a run (its folder).

    Args:
        tables: The study's ``outcomes``: ways of scoring to its tables.
        declared: A ``PairedOutcomes`` of the study as a dictionary.

    Returns:
        ``id``, ``row`` (what tells outcomes apart), ``unit``, ``cluster``, ``value``, ``content``, ``prediction``,
        ``text`` and, where the statistic needs them, ``by`` and ``sign``.

    Raises:
        NotComparable: If the run lacks a table, a column or an instance.
    """
    row = {name: estimate_rows.plain_cell(value) for name, value in estimate.items()}
    path = next(iter(estimate_rows.outcome_tables(row, tables)), "")
    if not (run / path).is_file():
        raise NotComparable(f"{path or 'a table of outcomes'} is not in this run")
    try:
        made = _select_outcomes(_read(run / path), run / "results" / row["study"], row, declared)
    except KeyError as error:
        raise NotComparable(f"{path} or its instances have no column {error}") from error
    if len(twins := made[made.row.duplicated()]):
        raise UserError(f"{run.name}: {path} has two outcomes of {twins.id.iloc[0]}; make it again")
    units = _units(made, declared["statistic"])
    if not len(units) or abs(units.value.mean() - estimate["value"]) > TOLERANCE * max(1.0, abs(estimate["value"])):
        raise NotComparable(f"{path} makes another value than the summary's")
    return made


def _select_outcomes(frame: pd.DataFrame, study: Path, row: Mapping[str, str], declared: Mapping) -> pd.DataFrame:
    for column, patterns in declared["where"].items():
        present = frame[column].map(estimate_rows.plain_cell)
        wanted = [pattern.format(**row) for pattern in patterns]
        frame = frame[present == next((text for text in wanted if (present == text).any()), None)]
    key = next(name for name in estimate_rows.IDENTIFIERS if name in frame)
    known = _instances(study, key, frozenset(frame[key]))
    frame = frame.join(known[known.columns.difference(frame.columns)], on=key)
    for name, levels in estimate_rows.levels(row).items():
        if name in frame:
            frame = frame[frame[name].map(estimate_rows.plain_cell).isin(levels)]
    by = [declared["by"]] * bool(declared["by"])
    made = pd.DataFrame(
        {
            "id": frame[key].astype(str),
            "row": _joined(frame, [key, *declared["unit"], *declared["cluster"], *by, *declared["signs"]]),
            "unit": _joined(frame, declared["unit"]),
            "cluster": _joined(frame, declared["cluster"]),
            "value": frame[declared["value"]].astype(float),
            "content": frame["content"],
            "prediction": _joined(frame, declared["prediction"]),
            "text": frame.get("text", ""),
            "by": frame[by[0]] if by else 0,
            "sign": 1,
        }
    )
    for name, signs in declared["signs"].items():
        made["sign"] = frame[name].map(estimate_rows.plain_cell).map(signs)
    return made[made.sign.notna()]


def _units(rows: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """Return ``cluster``, ``value`` and ``content`` by unit; the mean of ``value`` is the estimate."""
    statistics = {"disagreement": _disagreement, "slope": _slopes, "area": _area}
    values = rows.groupby("unit").value.mean() if statistic == "mean" else statistics[statistic](rows)
    grouped = rows.sort_values("content", kind="stable").groupby("unit", sort=True)
    return pd.DataFrame({"cluster": grouped.cluster.first(), "value": values, "content": grouped.content.agg("".join)})


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


def _area(rows: pd.DataFrame) -> pd.Series:
    """How often the change of a unit with the sign 1, from the first to the last position, is above another's."""
    table: Any = rows.pivot_table(index="unit", columns="by", values="value").sort_index(axis=1)
    # As the analysis rounds: a subtraction's error decides no tie.
    change = np.round(100 * (table.iloc[:, -1] - table.iloc[:, 0]).abs(), 9).to_numpy()
    positive = (rows.groupby("unit").sign.first() == 1).to_numpy()
    above, below = change[positive][:, None], change[~positive]
    wins = (above > below) + 0.5 * (above == below)
    values = pd.Series(wins.mean(), index=table.index)
    values[positive] += (wins.mean(axis=1) - wins.mean()) / positive.mean()
    values[~positive] += (wins.mean(axis=0) - wins.mean()) / (~positive).mean()
    return values


def paired_difference(first: pd.DataFrame, second: pd.DataFrame, statistic: str) -> dict:
    """Return the difference of two estimates, second minus first, on the same units (of :func:`read_outcomes`).

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
    sums, sizes = paired.cluster_sums(two.value[one.index], one.value, one.cluster)
    most = BOUNDS[statistic]
    low, high = procedures.cluster_bootstrap(sums, sizes, DRAWS, SEED, least=-most, most=most)
    p = paired.sign_flip_p(sums, DRAWS, SEED)
    return {"low": low, "high": high, "p": p, "n": len(one), "n_clusters": len(sums)}


def compare_rows(one: Mapping, two: Mapping, runs: tuple[Path, Path], study: Mapping) -> tuple[dict, pd.DataFrame]:
    """Compare two rows of summaries, ``two`` minus ``one``, on the instances in the folders of their runs.

    Returns:
        ``difference``, ``low``, ``high``, ``p``, ``n``, ``n_clusters``, ``flipped`` and ``note``, which says why there
        is no interval; and the outcomes of the same instances whose prediction differs, an instance once.
    """
    told = {"difference": two["value"] - one["value"], "low": np.nan, "high": np.nan, "p": np.nan}
    told |= {"n": 0, "n_clusters": 0, "note": ""}
    flipped = pd.DataFrame()
    declared = study.get("paired", {}).get(one["metric"])
    try:
        if declared is None:
            raise NotComparable("the study declares no outcomes of it")
        first, second = (
            read_outcomes(run, row, study["outcomes"], declared) for run, row in zip(runs, (one, two), strict=True)
        )
        both = first.merge(second, on=["row", "id", "content", "text"], suffixes=("_a", "_b"))
        flipped = both[both.prediction_a != both.prediction_b].drop_duplicates(["id", "prediction_a", "prediction_b"])
        told |= paired_difference(first, second, declared["statistic"])
    except NotComparable as why:
        told["note"] = str(why)
    return told | {"flipped": len(flipped)}, flipped


def add_holm(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``p_holm``: p after Holm's correction over all rows that have one."""
    return table.assign(p_holm=procedures.holm(table.p.to_numpy(dtype=float)))
