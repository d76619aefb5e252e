"""Take over scores of a study's instances that were computed elsewhere: one Parquet or CSV file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import instances
from scripts.core.data.losses import COLUMNS as LOSS_COLUMNS
from scripts.core.data.model_outputs import ROUNDING
from scripts.core.data.options import option_texts
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run

PARTS = {
    "log_likelihood": (),
    "continuation": ("continuation_log_probability", "continuation_tokens"),
    "label_loss": ("option_tokens",),
}
"""By what a study compares: the columns that a file needs besides those of the whole text."""
WINDOW = 4096
"""Instances read at once."""


def main(
    *,
    instances: str,
    given: str,
    scores: str,
    model: str,
    entry: dict,
    score: str = "log_likelihood",
    priority: int | None = None,
) -> None:
    """Write ``given`` as the scores of a model.

    Args:
        instances: Parquet file of the instances that the model was to score.
        given: File with a row per instance and option (docs/adding.md lists the columns).
        scores: Parquet file to write, as scripts/scoring/score.py does.
        entry: Of its entry in the registry: ``label``, ``outputs``, ``architecture``, ``demonstration``.
        score: What options are compared by: log_likelihood, continuation or label_loss.
        priority: Instances whose ``priority`` is not below this are left out; None takes all.

    Raises:
        UserError: As :func:`read_scores`.
    """
    rows = option_texts(expected_instances(instances, priority))
    found = read_scores(given, rows, ("log_probability", "scored_tokens", *PARTS[score]))
    table = rows[["instance_id", "option", "option_index"]].astype({"option_index": "int8"}).join(found)
    table.insert(4, "mean_log_probability", table.log_probability / table.scored_tokens)
    if score == "label_loss":
        unknown = {"int32": pd.array([pd.NA] * len(table), dtype="Int32"), "float64": np.nan}
        spanned = ("sentinel", "end")
        table = table.assign(
            **{n: 0 if n.startswith(spanned) else unknown[k] for n, k in LOSS_COLUMNS.items() if n not in found}
        )
    metadata = {
        "model": model, "label": entry["label"], "source": {"outputs": Path(given).name}, "revision": None,
        "architecture": entry["architecture"], "precision": "not stated", "device": "not stated", "libraries": {},
        "engine": "computed elsewhere", "metric": score, "demonstration": entry["demonstration"],
        "given_sha256": files.sha256(given), "instances_sha256": files.sha256(instances),
        "instances": int(rows.instance_id.nunique()), "shard": 1, "shards": 1,
    }  # fmt: skip
    files.write_parquet(scores, table, metadata)
    log.info("%s from %s", count_noun(metadata["instances"], "instance"), given)


def expected_instances(path: str, priority: int | None) -> pd.DataFrame:
    """Return the instances that the file must have; in ``main`` a parameter hides the module."""
    chosen = instances.shard_rows(path, 1, 1, 1, priority)
    if not chosen.any():
        raise UserError(f"{path}: no instances; delete the file and run the workflow again")
    return pd.concat(instances.read_batches(path, chosen, WINDOW), ignore_index=True)


def read_scores(path: str, rows: pd.DataFrame, numbers: Sequence[str]) -> pd.DataFrame:
    """Return the columns ``numbers`` of a file for each of ``rows``, which are :func:`option_texts`.

    Raises:
        UserError: Naming file and row, if a column is missing, a number is no log-probability or count, or if the file
            does not have every option of every instance once and nothing else.
    """
    table = _read_table(path)
    key = "option_index" if "option_index" in table else "option"
    for column in ("instance_id", key, *numbers):
        if column not in table:
            raise UserError(f"{path}: the column {column} is missing; add it (docs/adding.md lists the columns)")

    def refuse(wrong: "np.ndarray | pd.Series", problem: str, remedy: str) -> None:
        if np.any(wrong):
            row = table[np.asarray(wrong)].iloc[0]
            raise UserError(f"{path}, row {row.name}: instance {row.instance_id}{problem.format(**row)}; {remedy}")

    for column in (*numbers, *([key] if key == "option_index" else [])):
        values = pd.to_numeric(table[column], errors="coerce").astype(float)
        if column.endswith("log_probability"):
            wrong, wanted = ~np.isfinite(values) | (values > ROUNDING), "a finite log-probability in nats"
        else:
            wrong, wanted = (values < (column == "scored_tokens")) | (values % 1 != 0), "a whole number of tokens"
        refuse(wrong, f", option {{{key}}}: {column} is '{{{column}}}'", f"write {wanted}")
        table[column] = values if column.endswith("log_probability") else values.astype("int32")
    refuse(~table.instance_id.isin(rows.instance_id), " is not among those of the run", "score the run's own instances")
    expected = pd.MultiIndex.from_frame(rows[["instance_id", key]])
    at = expected.get_indexer(pd.MultiIndex.from_frame(table[["instance_id", key]]))
    refuse(at < 0, f" has no option '{{{key}}}' in the run", "remove the row, or correct the option")
    if key == "option_index" and "option" in table:
        refuse(
            table.option.to_numpy() != rows.option.to_numpy()[at],
            ", option {option_index} is not '{option}' in the run",
            "number the options as the instances list them",
        )
    refuse(pd.Series(at).duplicated(), f", option {{{key}}} occurs a second time", "keep one of the rows")
    if "continuation_log_probability" in numbers:
        wrong = table.log_probability > table.continuation_log_probability + ROUNDING
        refuse(wrong, f", option {{{key}}}: the text is more probable than a part of it", "correct the two scores")
    missing = rows[~np.isin(np.arange(len(rows)), at)]
    if len(missing):
        lacking = f"{missing.instance_id.nunique()} of {rows.instance_id.nunique()} instances are incomplete"
        first = missing.iloc[0]
        raise UserError(
            f"{path}: no row for instance {first.instance_id}, option {first.option_index} '{first.option}' "
            f"({lacking}); add the missing rows"
        )
    return table[list(numbers)].iloc[np.argsort(at)].reset_index(drop=True)


def _read_table(path: str) -> pd.DataFrame:
    """Return a file's rows, under the numbers that a spreadsheet shows, or from 1 in a Parquet file."""
    if path.endswith(".csv"):
        return files.read_sheet(path, "instance_id")
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: cannot be read as Parquet ({reason}); write it as .parquet or .csv") from error
    table.index = pd.RangeIndex(1, len(table) + 1)
    return table


if __name__ == "__main__":
    run(main)
