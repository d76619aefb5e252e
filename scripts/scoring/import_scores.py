"""Import the scores of a study's instances that another tool logged."""

import pandas as pd

from scripts.core import files
from scripts.core.data import instances
from scripts.core.data.options import option_texts
from scripts.core.engines import imports, label_loss, logged_scores
from scripts.core.engines.batches import METRICS
from scripts.core.engines.reading import Reading
from scripts.core.errors import UserError, count_noun
from scripts.core.workflow.job import log, run

LIBRARIES = ("transformers", "tokenizers")
WINDOW = 4096
"""Instances read at once."""


def main(
    *,
    instances: str,
    logged: list,
    scores: str,
    model: str,
    entry: dict,
    score: str = "log_likelihood",
    priority: int | None = None,
) -> None:
    """Write ``scores`` of all ``instances``, as the scoring of local models does.

    Args:
        instances: Parquet file of instances, one row each (scripts/core/data/instances.py has the columns).
        logged: The tool's files of samples (scripts/core/data/sample_logs.py describes them).
        scores: Parquet file to write: one row for each instance and option, with its log-probability in nats.
        model: The model's name, for messages and metadata.
        entry: Of its entry in the registry: ``label``, ``outputs``, ``architecture``, ``demonstration``.
        score: What options are compared by: log_likelihood, continuation or label_loss.
        priority: Instances whose ``priority`` is not below this are left out; None imports all.

    Raises:
        UserError: As :mod:`scripts.core.engines.logged_scores`; if there are no instances, or the tokenizer cannot tell
            the options of many apart.
    """
    rows = option_texts(imported_rows(instances, priority))
    texts, after = logged_scores.open_texts(model, entry["outputs"], logged)
    reading = Reading(model, texts, rows.instance_id.nunique())
    reading.read(rows)
    needed = (logged_scores.WHOLE_TEXT, *([logged_scores.AFTER_SLOT] if score == "continuation" else []))
    values, left_out = logged_scores.collect(logged, rows, needed)
    table = logged_scores.table(rows, values, texts, score)
    reading.decide(table)
    metadata = {
        **imports.describe_import(model, entry, logged, "scripts/scoring/import_scores.py", LIBRARIES),
        "metric": label_loss.METRIC if score == "label_loss" else METRICS["decoder"],
        **({"scored_after": after} if after else {}),
        "instances_sha256": files.sha256(instances),
        "instances": reading.total,
        **reading.facts(),
        "shard": 1,
        "shards": 1,
    }
    files.write_parquet(scores, table, metadata)
    log.info("%s from %s", count_noun(reading.total, "instance"), count_noun(len(logged), "file"))
    if left_out:
        log.info("%s of the files are not among those of the run", count_noun(left_out, "instance"))


def imported_rows(path: str, priority: int | None) -> pd.DataFrame:
    """Return the instances that are imported; in ``main`` a parameter hides the module."""
    chosen = instances.shard_rows(path, 1, 1, 1, priority)
    if not chosen.any():
        raise UserError(f"{path}: no instances; delete the file and run the workflow again")
    return pd.concat(instances.read_batches(path, chosen, WINDOW))


if __name__ == "__main__":
    run(main)
