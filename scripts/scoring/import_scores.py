"""Take over scores of a study's instances that were computed elsewhere: one Parquet or CSV file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.core import files
from scripts.core.data import instances as instance_files
from scripts.core.data import model_outputs, sheets
from scripts.core.data.losses import COLUMNS as LOSS_COLUMNS
from scripts.core.data.options import option_texts
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run

NUMBERS = {
    "log_likelihood": ["log_probability", "scored_tokens"],
    "continuation": ["log_probability", "scored_tokens", "continuation_log_probability", "continuation_tokens"],
    "label_loss": ["log_probability", "scored_tokens", "option_tokens"],
}
"""By what a study compares: the numbers that a file has of each option."""
KEY = ["instance_id", "option"]


def main(
    *, instances: str, given: str, scores: str, model: str, entry: dict, criterion: str = "log_likelihood",
    priority: int | None = None,
) -> None:  # fmt: skip
    """Write ``given`` as the scores of a model.

    Args:
        instances: Parquet file of the instances that the model was to score.
        given: File with a row per instance and option (docs/models.md lists the columns).
        scores: Parquet file to write, as scripts/scoring/score.py does.
        entry: Of its entry in the registry: ``label``, ``outputs``, ``architecture``, ``demonstration``.
        criterion: What options are compared by: log_likelihood, continuation or label_loss.
        priority: Instances whose ``priority`` is not below this are left out; None takes all.

    Raises:
        UserError: As :func:`scripts.core.data.model_outputs.read_scores`.
    """
    chosen = instance_files.shard_rows(instances, 1, 1, 1, priority)
    asked = pd.concat(instance_files.read_batches(instances, chosen, 4096), ignore_index=True)
    rows = option_texts(asked)[[*KEY, "option_index"]].astype({"option_index": "int8"})
    try:
        found = read_numbers(given, rows, NUMBERS[criterion])
        model_outputs.check_all_options(pa.Table.from_pandas(found, preserve_index=False), given, asked)
    except UserError as error:
        # The remedy of checks is to make a file again.
        remedy = "correct the file (docs/models.md lists its columns)"
        raise UserError(f"{str(error).rpartition('; ')[0]}; {remedy}") from error
    table = rows.merge(found.drop(columns="option_index"), on=KEY)
    table = table.astype({name: "int32" for name in NUMBERS[criterion] if name.endswith("tokens")})
    table.insert(4, "mean_log_probability", table.log_probability / table.scored_tokens)
    if criterion == "label_loss":
        unknown = {"int32": pd.array([pd.NA] * len(table), dtype="Int32"), "float64": np.nan}
        spanned = ("sentinel", "end")
        table = table.assign(
            **{n: 0 if n.startswith(spanned) else unknown[k] for n, k in LOSS_COLUMNS.items() if n not in table}
        )
    metadata = {
        "model": model, "label": entry["label"], "source": {"outputs": Path(given).name}, "revision": None,
        "architecture": entry["architecture"], "precision": "not stated", "device": "not stated", "libraries": {},
        "engine": "computed elsewhere", "metric": criterion, "demonstration": entry["demonstration"],
        "given_sha256": files.sha256(given), "instances_sha256": files.sha256(instances),
        "instances": int(rows.instance_id.nunique()), "shard": 1, "shards": 1,
    }  # fmt: skip
    files.write_parquet(scores, table, metadata)
    log.info("%s from %s", count_noun(metadata["instances"], "instance"), given)


def read_numbers(path: str, rows: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    """Return the columns ``numbers`` of a file with the option's index (-1 where it is none of ``rows``)."""
    table = sheets.read_sheet(path, KEY[0]) if path.endswith(".csv") else files.read_parquet(path)
    for column in [*KEY, *numbers]:
        if column not in table:
            raise UserError(f"{path}: the column {column} is missing; add it")
    table = table[[*KEY, *numbers]].astype(dict.fromkeys(KEY, str))
    table[numbers] = table[numbers].apply(pd.to_numeric, errors="coerce").astype(float)
    table = table.merge(rows, on=KEY, how="left")
    return table.assign(option_index=table.option_index.fillna(-1).astype("int8"))


if __name__ == "__main__":
    run(main)
