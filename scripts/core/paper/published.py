"""Published numbers beside those of a run: reading, joining, judging. ``paper/published/README.md`` has the columns."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, did_you_mean
from scripts.core.paper import formats, published_table
from scripts.core.paper.numbers import make_count

AS_PRINTED, WITHIN_INTERVAL, WITHIN_TOLERANCE = "as printed", "within interval", "within tolerance"
DIFFERS, NOT_RUN, NOT_APPLICABLE = "differs", "not run", "not applicable"
COMPARED = (AS_PRINTED, WITHIN_INTERVAL, WITHIN_TOLERANCE, DIFFERS)
UNCOMPARED = (NOT_RUN, NOT_APPLICABLE)
CHOICES = ("instances", "settings")
"""Variants of the mapping whose numbers follow from what a run was asked to do, and from no model or data."""

PUBLISHED_COLUMNS = ["source", "item", "row", "column", "value", "unit", "kind", "note"]
COMPARISON_COLUMNS = [
    "source", "item", "row", "column", "unit", "kind", "table", "cells", "reduce", "models", "variant",
    "published_on", "templates", "comparison", "published", "ours", "low", "high", "difference", "tolerance",
    "verdict", "reason",
]  # fmt: skip
"""``published_on`` is the study's template set, ``templates`` ours; ``published`` is text, ``difference`` is ours minus
published; ``reason`` is that of :data:`NOT_RUN` and :data:`NOT_APPLICABLE`."""
MODEL_COLUMNS = ["row", "family", "label", "model", "groups"]
KEY = ["item", "row", "column"]
KINDS = ("table", "text", "bound", "setting")
REDUCTIONS = {"sum": "sum", "mean": "mean", "minimum": "min", "maximum": "max", "distinct": "nunique"}
"""How several cells become one number, to what pandas calls it."""


class PublishedStudy(NamedTuple):
    """What a study prints (DataFrames of str): its numbers, which cells reproduce them, and its models."""

    numbers: pd.DataFrame
    mapping: pd.DataFrame
    models: pd.DataFrame


class MissingCell(Exception):
    """A cell that this run does not have; the message says which."""


def read_published(path: str | Path) -> pd.DataFrame:
    """Return the published numbers of a study, all cells as text: :data:`PUBLISHED_COLUMNS`."""
    return files.read_csv(path, dtype=str).fillna("")


def read_models(path: str | Path) -> pd.DataFrame:
    """Return the models of a study as text: :data:`MODEL_COLUMNS`, their groups separated by semicolons."""
    return files.read_csv(path, dtype=str).fillna("")


def group_members(models: Any) -> dict[str, list[str]]:
    """Return every name that a mapping may use for models: each model by itself, and each group's models in order."""
    groups = {name: [name] for name in models.model}
    for row in files.iterate_rows(models, index=False):
        for group in filter(None, row.groups.split(";")):
            groups.setdefault(group, []).append(row.model)
    return groups


def read_study(published: str | Path, mapping: str | Path, study_models: str | Path) -> PublishedStudy:
    """Return what a study prints (:class:`PublishedStudy`) from its three files, of which tests check each entry."""
    cells = files.read_csv(mapping, dtype=str).fillna("")
    return PublishedStudy(read_published(published), cells, read_models(study_models))


def find_demonstration_models(models: dict) -> dict[str, str]:
    """Return name and label of a run's demonstration models, which stand for no model of a study."""
    return {name: facts["label"] for name, facts in models.items() if facts["demonstration"]}


def _split(text: str) -> list[str]:
    return [part for part in text.split(";") if part]


def _matches(column: pd.Series, levels: Sequence[str]):
    if pd.api.types.is_numeric_dtype(column):
        return column.isin([float(level) for level in levels])
    return column.astype(str).isin(levels)


def find_value(
    row: Any, tables: dict[str, pd.DataFrame], groups: dict[str, list[str]], excluded: Collection[str] = ()
) -> tuple[float, ...]:
    """Return the value that a row of the mapping describes, in the published unit, with its interval.

    Args:
        row: A row of the mapping with a table.
        tables: Of one template set.
        groups: From :func:`group_members`.
        excluded: Models whose numbers must never be used, although the run has them.

    Returns:
        Value, lower and upper end of the interval (missing without one).

    Raises:
        MissingCell: If the run lacks a model, a level or the value.
        UserError: If the table or a column does not exist, or more than one row fits a single cell.
    """
    if row.table not in tables:
        raise UserError(
            f"mapping of {row.item}: no table '{row.table}'{did_you_mean(row.table, tables)}; correct the mapping"
        )
    frame = tables[row.table]
    criteria = [(part.partition("=")[0], part.partition("=")[2].split("|")) for part in _split(row.cells)]
    models = list(dict.fromkeys(name for part in _split(row.models) for name in groups[part]))
    wanted = [("model", models)] * bool(models) + criteria
    for column in [name for name, _ in wanted] + [row.value] + _split(row.interval):
        if column not in frame:
            raise UserError(f"mapping of {row.item}: {row.table} has no column '{column}'{did_you_mean(column, frame)}")
    for column, levels in wanted:
        absent = [
            level
            for level in levels
            if (column == "model" and level in excluded) or not _matches(frame[column], [level]).any()
        ]
        if absent:
            raise MissingCell(
                f"not in this run: {'' if column == 'model' else f'{column} '}{formats.shorten_list(absent)}"
            )
        frame = frame[_matches(frame[column], levels)]
    if not row.reduce and len(frame) != 1:
        raise UserError(f"mapping of {row.item}: {len(frame)} rows of {row.table} fit {row.cells or row.models}")
    values, scale = frame[row.value], float(row.scale)
    value = float(values.agg(REDUCTIONS[row.reduce]) if row.reduce else values.iloc[0])
    if math.isnan(value):
        raise MissingCell("the cell is empty: the quantity is not defined in this run")
    ends = [float(frame[name].iloc[0]) * scale for name in _split(row.interval)] or [math.nan, math.nan]
    return value * scale, *ends


def half_unit(text: str) -> float:
    """Return half of the last printed digit of a number: 0.005 for ``0.95``, 0.5 for ``180``."""
    return 0.5 * 10.0 ** -published_table.count_decimals(text)


def parse_tolerance(text: str, published: float) -> float:
    """Return a tolerance in the published unit; one with a percent sign is relative to the published value."""
    return abs(published) * float(text[:-1]) / 100 if text.endswith("%") else float(text)


def judge_number(
    printed: str,
    ours: float,
    low: float = math.nan,
    high: float = math.nan,
    allowed: float = 0.0,
    comparison: str = "=",
) -> str:
    """Judge one number.

    A printed number stands for everything that rounds to it. It is ``as printed`` if our value rounds to it, ``within
    interval`` if any number that does lies in our interval, ``within tolerance`` if our value is at most ``allowed``
    away from one, and else ``differs``. A bound (``<`` or ``>``) has only a tolerance, and only on its wrong side.

    Args:
        printed: The published number as printed.
        ours, low, high: In the same unit; ``low`` and ``high`` may be missing.
        comparison: What the study says of the quantity: ``=``, ``<`` or ``>`` the number.
    """
    published, half = float(printed), half_unit(printed)
    # A sum of decimals may exceed its decimal by a rounding of the last bit.
    slack = 1e-9 * max(1.0, abs(published))
    if comparison == "=":
        gap = abs(ours - published) - half
        if gap <= slack:
            return AS_PRINTED
        if low <= published + half + slack and high >= published - half - slack:
            return WITHIN_INTERVAL
    else:
        gap = ours - published if comparison == "<" else published - ours
    return WITHIN_TOLERANCE if gap <= allowed + slack else DIFFERS


def compare_numbers(
    published: pd.DataFrame,
    mapping: pd.DataFrame,
    models: pd.DataFrame,
    tables: dict[str, dict[str, pd.DataFrame]],
    template_sets: list[str],
    excluded: Collection[str] = (),
    obstacles: dict | None = None,
    inapplicable: dict | None = None,
) -> pd.DataFrame:
    """Set every published number beside ours, on each template set.

    Args:
        published, mapping, models: From :func:`read_study`.
        tables: By template set and the name that the mapping has for each; a set that was not run is absent.
        template_sets: Every set there is.
        excluded: Models whose numbers must never be compared (demonstration models).
        obstacles: Variant of the mapping to why no number of that variant can be compared in this run.
        inapplicable: Variant of the mapping to why the published numbers of that variant say nothing about a run like
            this one, although it has the quantity.

    Returns:
        :data:`COMPARISON_COLUMNS`.
    """
    groups, rows = group_members(models), []
    joined = published.merge(mapping, on=KEY, suffixes=("", "_column"), validate="many_to_one", sort=False)
    named = {"value": "published", "value_column": "value", "templates": "published_on"}
    for row in files.iterate_rows(joined.rename(columns=named), index=False):
        facts = {name: getattr(row, name) for name in COMPARISON_COLUMNS if hasattr(row, name)}
        for name in template_sets:
            absent = "" if name in tables else f"not in this run: the {name} templates"
            lacking = row.reason or absent or (obstacles or {}).get(row.variant)
            if lacking:
                judged = {"verdict": NOT_RUN, "reason": lacking}
            elif reason := (inapplicable or {}).get(row.variant):
                judged = {"verdict": NOT_APPLICABLE, "reason": reason}
            else:
                judged = _judge(row, tables[name], groups, excluded)
            rows.append(facts | {"templates": name, "tolerance": math.nan} | judged)
    return pd.DataFrame(rows, columns=COMPARISON_COLUMNS)


def _judge(
    row: Any, tables: dict[str, pd.DataFrame], groups: dict[str, list[str]], excluded: Collection[str]
) -> dict[str, Any]:
    """Return what :func:`compare_numbers` says of a published number that this run may have."""
    try:
        ours, low, high = find_value(row, tables, groups, excluded)
    except MissingCell as missing:
        return {"verdict": NOT_RUN, "reason": str(missing)}
    published = float(row.published)
    allowed = parse_tolerance(row.tolerance, published)
    judged = judge_number(row.published, ours, low, high, allowed, row.comparison)
    numbers = {"ours": ours, "low": low, "high": high, "difference": ours - published, "tolerance": allowed}
    return numbers | {"verdict": judged, "reason": ""}


def select_results(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of results, on each template set once however often the study publishes the number.

    Settings and sizes of samples are choices of a run and no results.
    """
    chosen = (comparison.kind == "setting") | comparison.variant.isin(CHOICES)
    return comparison[~chosen].drop_duplicates([*KEY, "published", "templates"])


def count_verdicts(comparison: pd.DataFrame, source: str) -> dict[str, dict]:
    """Return how often each verdict fell, as numbers that a paper's prose can name.

    Ids are ``published.<templates>.results.<verdict>``, with an underscore for the space, ``.total`` and
    ``.not_covered`` (``not run`` and ``not applicable``); and ``published.results``, ``published.compared`` and
    ``published.differing``: results, those that are compared and those that differ on some set, each once.

    Args:
        comparison: From :func:`compare_numbers`.
        source: The file that holds it, for the numbers' provenance.
    """
    entries = {}
    for templates, rows in select_results(comparison).groupby("templates", sort=False):
        totals = {name.replace(" ", "_"): (rows.verdict == name).sum() for name in COMPARED}
        totals |= {"total": len(rows), "not_covered": rows.verdict.isin(UNCOMPARED).sum()}
        for name, total in totals.items():
            cell = {"templates": templates, "part": "results", "verdict": name}
            entries[f"published.{templates}.results.{name}"] = make_count(total, source, **cell)
    on_some_set = select_results(comparison).groupby([*KEY, "published"]).verdict
    for name, verdicts in (("results", COMPARED + UNCOMPARED), ("compared", COMPARED), ("differing", (DIFFERS,))):
        total = on_some_set.agg(lambda found, wanted=verdicts: found.isin(wanted).any()).sum()
        entries[f"published.{name}"] = make_count(total, source, verdict=", ".join(verdicts))
    return entries


def write_comparison(
    study: str,
    printed: PublishedStudy,
    tables: dict[str, dict[str, pd.DataFrame]],
    every_set: list[str],
    *,
    csv: str | Path,
    tex: str | Path,
    numbers: str | Path,
    parts: str = "Templates",
    **conditions: Any,
) -> None:
    """Write all comparisons (CSV), those that differ (LaTeX) and how often each verdict fell (JSON).

    ``study`` is the word that its items start with, ``parts`` what the table calls the template sets; ``tables``,
    ``every_set`` and ``conditions`` are those of :func:`compare_numbers`.
    """
    comparison = compare_numbers(*printed, tables, every_set, **conditions)
    files.write_csv(csv, comparison)
    different = select_results(comparison)
    sets = comparison[~comparison.verdict.isin(UNCOMPARED)].templates.nunique()
    files.write_text(tex, published_table.typeset(different[different.verdict == DIFFERS], study, parts, sets > 1))
    files.write_json(numbers, count_verdicts(comparison, Path(csv).name))
