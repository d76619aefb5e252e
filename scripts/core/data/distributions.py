"""Token distributions and masses of groups of words that models left, read by studies and checked as scores are."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data.model_outputs import REMEDY, ROUNDING, message_start, read_table, refuse_first
from scripts.core.errors import UserError

DISTRIBUTIONS = {
    "text_id": "text", "step": "whole", "rank": "whole", "token": "text", "probability": "fraction", "chosen": "truth",
}  # fmt: skip
MASSES = {"text_id": "text", "step": "whole", "group": "text", "probability": "fraction"}
PLACE = ["text_id", "step"]


def read_distributions(path: str | Path, model: str | None, texts: Collection[str]) -> pd.DataFrame:
    """Read a model's token distributions of texts.

    Args:
        path: Format: :mod:`scripts.core.generation.distributions`.
        model: Its name in the registry, if it is known.
        texts: Ids of the texts that the model read.

    Returns:
        ``text_id``, ``step``, ``rank``, ``token``, ``probability``, ``chosen``.

    Raises:
        UserError: If the file cannot be read or is another model's, a column is missing or of another type, a text,
            step or rank is missing, occurs twice or is unknown, a number is no probability, those of a place are not in
            falling order or add up to more than 1, or more than one token of a place is chosen.
    """
    frame, where = _read(path, DISTRIBUTIONS, "token distributions", model)
    unknown = ~frame.text_id.isin(list(texts))
    refuse_first(frame, unknown, where, lambda row: f"text {row.text_id} is not among those of the run")
    absent = pd.Index(list(texts)).difference(frame.text_id.unique(), sort=False)
    if len(absent):
        raise UserError(
            f"{where}: text {absent[0]} has no distribution ({len(absent)} of {len(texts)} have none); {REMEDY}"
        )
    _check_probabilities(frame, where)
    repeated = frame.duplicated([*PLACE, "rank"])
    refuse_first(frame, repeated, where, lambda row: f"{_place(row)}, rank {row['rank']} occurs twice")
    steps = frame[PLACE].drop_duplicates()
    _check_consecutive(steps, ["text_id"], "step", where, lambda row: f"text {row.text_id}: step")
    ordered = _check_consecutive(frame, PLACE, "rank", where, lambda row: f"{_place(row)}: rank")
    rising = (ordered["rank"] > 0) & (ordered.probability.diff() > 0)
    refuse_first(
        ordered, rising, where, lambda row: f"{_place(row)}: rank {row['rank']} is more probable than the one before"
    )
    sums = ordered.groupby(PLACE, sort=False).agg(probability=("probability", "sum"), chosen=("chosen", "sum"))
    sums = sums.reset_index()
    refuse_first(
        sums, sums.probability > 1 + ROUNDING, where,
        lambda row: f"{_place(row)}: the probabilities of its tokens add up to {row.probability:g}",
    )  # fmt: skip
    refuse_first(sums, sums.chosen > 1, where, lambda row: f"{_place(row)}: more than one token is chosen")
    return frame


def read_masses(path: str | Path, model: str | None, groups: Sequence[str], places: pd.DataFrame) -> pd.DataFrame:
    """Read the masses of groups of words beside a model's token distributions.

    Args:
        places: ``text_id`` and ``step`` of the distributions; may repeat.

    Returns:
        ``text_id``, ``step``, ``group``, ``probability``; a row for each place and group.

    Raises:
        UserError: If the file cannot be read or is another model's, a column is missing or of another type, a number is
            no probability, or if the rows are not exactly the groups at ``places``, each once.
    """
    frame, where = _read(path, MASSES, "masses", model)
    other = ~frame.group.isin(list(groups))
    refuse_first(frame, other, where, lambda row: f"{_place(row)}: the group '{row.group}' is unknown")
    _check_probabilities(frame, where)
    repeated = frame.duplicated([*PLACE, "group"])
    refuse_first(frame, repeated, where, lambda row: f"{_place(row)}, group '{row.group}' occurs twice")
    wanted = places[PLACE].drop_duplicates()
    at, present = pd.MultiIndex.from_frame(wanted), pd.MultiIndex.from_frame(frame[PLACE])
    refuse_first(frame, ~present.isin(at), where, lambda row: f"{_place(row)} is not among the distributions")
    for group in groups:
        lacking = ~at.isin(present[frame.group == group])
        refuse_first(wanted, lacking, where, lambda row, group=group: f"{_place(row)} lacks the group '{group}'")
    return frame


def _read(path: str | Path, kinds: dict[str, str], what: str, model: str | None) -> tuple[pd.DataFrame, str]:
    """Return the columns of a model's file, text as text, and what messages start with."""
    table = read_table(path, kinds)
    where = message_start(path, what, model)
    files.check_columns(table, kinds, where, identifier=("text", "text_id"))
    frame = table.select(list(kinds)).to_pandas()
    return frame.astype({name: str for name, kind in kinds.items() if kind == "text"}), where


def _place(row: pd.Series) -> str:
    return f"text {row.text_id}, step {row.step}"


def _check_probabilities(frame: pd.DataFrame, where: str) -> None:
    wrong = ~frame.probability.between(0, 1 + ROUNDING)
    refuse_first(frame, wrong, where, lambda row: f"{_place(row)}: probability is {row.probability}")


def _check_consecutive(
    frame: pd.DataFrame, keys: list[str], column: str, where: str, name: Callable[[pd.Series], str]
) -> pd.DataFrame:
    """Refuse a column whose distinct values are not 0, 1, 2 ... for equal keys; return the frame sorted."""
    ordered = frame.sort_values([*keys, column], kind="stable", ignore_index=True)
    expected = ordered.groupby(keys, sort=False).cumcount()
    wrong = ordered[column] != expected
    if wrong.any():
        row = ordered[wrong].iloc[0]
        raise UserError(f"{where}: {name(row)} {expected[wrong].iloc[0]} is missing; {REMEDY}")
    return ordered
