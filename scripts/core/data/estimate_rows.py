"""Estimates: the rows in which every study says what it measured, of which model or system, on what, and how surely.

The instances behind a row follow from its identity and its factors (:mod:`scripts.core.provenance.origins`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, did_you_mean

MODEL, SYSTEM, HEURISTIC, RELEASED_OUTPUTS = "model", "system", "heuristic", "released"
KINDS = (MODEL, SYSTEM, HEURISTIC, RELEASED_OUTPUTS)
"""Whose a value is: a language model of this run, a coreference system, a rule in place of one, or outputs that the
study's authors released."""
PROBABILITY, PROMPTED, CLUSTERS, DISTRIBUTION = "probability", "prompted", "clusters", "distribution"
FULL, PARTIAL = "full likelihood", "partial likelihood"
CHOSEN_ELSEWHERE = "chosen elsewhere"
"""The metric of how often an option (``preferred``) is chosen where another one is right."""
OUTPUT_FOLDERS = {
    PROBABILITY: "scores",
    FULL: "scores",
    PARTIAL: "scores",
    PROMPTED: "answers",
    CLUSTERS: "clusters",
    DISTRIBUTION: "distributions",
}
"""Ways in which an output becomes a decision, to the folder below ``results/<study>/`` with the outputs."""
IDENTIFIERS = ("instance_id", "id", "text_id")
"""What tables of instances, of outputs and of outcomes are joined by."""
IDENTITY = ["study", "part", "model", "kind", "scoring", "debiasing"]
"""``study`` and ``model`` by their names in the workflow, ``part`` that of the study (a set of templates, a source)."""
VALUES = ["value", "unit", "low", "high", "level", "n", "n_unit"]
DESCRIPTIVE_COLUMNS = ["label", "demonstration", "headline"]
"""What figures call the model; whether it shows the machinery alone; whether the paper's overview has the row."""
COLUMNS = [*IDENTITY, "metric", *VALUES, *DESCRIPTIVE_COLUMNS]
"""The columns that every summary has. All others, between ``metric`` and ``value``, are factors under the names that
instances have for them. An empty factor is pooled; ``a|b`` pools these levels."""
ESTIMATED = ["templates", *IDENTITY[2:5]]
"""What identifies whose a row of a study's ``estimates.csv`` is, where its path says the study."""
UNTRACED = ("above", "below", "clusters", "chance", "prompts", "system", "column", "preferred")
"""Columns of estimates, and of what is drawn or printed of them, that choose no instances."""
LEVEL = 0.95
UNITS = {
    "instances": ("instance_id", "id", "seed"),
    "pairs of people": ("pair",),
    "quadruples": ("quadruple",),
    "sentences": ("item",),
    "occupations": ("occupation",),
    "answers": ("text_id",),
    "clusters": (),
    "decisions": (),
    "forms": (),
}
"""What ``n`` counts, to those columns of instances whose combinations it counts; none: something else."""
PROMPT_FACTOR = "prompt"
"""The factor that is told with the model."""
SECONDARY_FACTORS = (PROMPT_FACTOR, "method", "templates", "wording")
"""Factors that say how and from what a row was made, and not of which part it is."""


def plain_cell(value: Any) -> str:
    """Return a cell as a reader writes it: whole numbers without a fraction, nothing for a missing one."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def factor_columns(columns: Iterable) -> list[str]:
    """Return the columns of a summary that are factors, in their order."""
    return [name for name in columns if name not in COLUMNS]


def levels(row: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the factors that a row of a summary does not pool, each with its levels."""
    return {name: row[name].split("|") for name in factor_columns(row) if row[name]}


def outcome_tables(row: Mapping[str, str], declared: Mapping[str, list[str]]) -> list[str]:
    """Return the tables of a run with what became of each instance behind a row.

    Args:
        declared: ``outcomes`` of the study's declaration: ways of scoring to tables; those of no other have "".
    """
    return [path.format(**row) for path in declared.get(row.get("scoring", ""), declared.get("", []))]


def identity(columns: Iterable) -> list[str]:
    """Return the columns that tell a row of a summary from all others; tables made of its rows keep them."""
    return [*IDENTITY, "metric", *factor_columns(columns)]


def write_estimates(path: str | Path, study: str, rows: list[dict]) -> None:
    """Write a study's rows.

    Args:
        path: The CSV file.
        study: Its name.
        rows: ``part``, ``model``, ``kind``, ``scoring``, ``metric``, ``value``, ``n``, ``n_unit``, ``label``, and
            factors by their names. Where a row does not say it, ``unit`` is a share, ``debiasing`` empty,
            ``demonstration`` and ``headline`` are false, and there is no interval.

    Raises:
        ValueError: For an unknown kind, scoring or unit of ``n``, an interval without one of its ends or whose ends are
            the wrong way round, and two rows of the same identity, metric and factors.
    """
    named = list(dict.fromkeys(name for row in rows for name in row if name not in COLUMNS))
    usual = {"study": study, "unit": "share", "debiasing": "", "demonstration": False, "headline": False}
    frame = pd.DataFrame([usual | row for row in rows])
    frame = frame.reindex(columns=[*IDENTITY, "metric", *named, *VALUES, *DESCRIPTIVE_COLUMNS])
    frame[named] = frame[named].astype(object).where(frame[named].notna(), "")
    for name in named:
        frame[name] = frame[name].map(lambda value: f"{value:.0f}" if isinstance(value, float) else str(value))
    frame["level"] = frame.low.map(lambda low: None if pd.isna(low) else LEVEL).astype(float)
    files.write_csv(path, check_rows(frame, path))


def check_rows(frame: pd.DataFrame, path: str | Path) -> pd.DataFrame:
    """Return a study's rows if they are what a summary can hold.

    Raises:
        ValueError: If they are not; names the row.
    """
    for row in files.iterate_rows(frame):
        where = f"{path}: {row.label}, {row.metric}"
        for column, known in (("kind", KINDS), ("scoring", ("", *OUTPUT_FOLDERS)), ("n_unit", tuple(UNITS))):
            if (value := getattr(row, column)) not in known:
                raise ValueError(f"{where}: {column} '{value}'{did_you_mean(str(value), known)}")
        if pd.isna(row.low) != pd.isna(row.high):
            raise ValueError(f"{where}: one end of the interval is missing")
        if pd.notna(row.low) and not row.low <= row.high:
            raise ValueError(f"{where}: the interval ends before it begins")
    twins = frame[frame.duplicated(identity(frame))]
    if not twins.empty:
        named = ", ".join(filter(None, map(str, twins.iloc[0][identity(frame)])))
        raise ValueError(f"{path}: two rows for {named}")
    return frame


def read_estimates(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the rows of all studies in the order of ``paths``; words that are missing are empty.

    Raises:
        UserError: If a file lacks a column.
    """
    frames = []
    for path in paths:
        frame = files.read_csv(path, dtype=str)
        lacking = [column for column in COLUMNS if column not in frame]
        if lacking:
            raise UserError(f"{path}: column '{lacking[0]}' is missing; delete the file and run again")
        frames.append(frame)
    named = list(dict.fromkeys(name for frame in frames for name in factor_columns(frame)))
    # The explorer of a run may have no study.
    table = pd.concat(frames or [pd.DataFrame(columns=COLUMNS)], ignore_index=True).reindex(
        columns=[*IDENTITY, "metric", *named, *VALUES, *DESCRIPTIVE_COLUMNS]
    )
    numbers = ["value", "low", "high", "level", "n"]
    words: Any = [name for name in table if name not in numbers]
    table[words] = table[words].fillna("")
    for name in numbers:
        table[name] = pd.to_numeric(table[name])
    for name in ("demonstration", "headline"):
        table[name] = table[name] == "True"
    return table


def read_table(path: str | Path, words: Iterable[str]) -> pd.DataFrame:
    """Return a study's table of results; the columns ``words`` stay words, and an empty one is one."""
    empty = dict.fromkeys(words, "")
    return files.read_csv(path, dtype=dict.fromkeys(empty, str)).fillna(empty)


def rows_at(frame: pd.DataFrame, **levels: str) -> pd.DataFrame:
    """Return the rows with these values; factors that are not named are pooled, or :data:`SECONDARY_FACTORS`.

    Examples:
        >>> table = pd.DataFrame({"metric": ["accuracy"] * 2, "case": ["", "nominative"]})
        >>> rows_at(table, metric="accuracy").index.tolist(), rows_at(table, case="nominative").index.tolist()
        ([0], [1])
    """
    wanted = {name: "" for name in factor_columns(frame) if name not in SECONDARY_FACTORS} | levels
    chosen = pd.Series(True, index=frame.index)
    for name, value in wanted.items():
        chosen &= (frame[name] == str(value)) if name in frame else (value == "")
    return frame[chosen]
