"""What the study's choice of the sum decides: accuracies and single decisions under other scores.

Not in the study, which sums log-probabilities.
"""

from collections.abc import Iterator

import pandas as pd

from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.statistics import normalisation

TASK = ["occupation", "participant", "case", "task_index"]
"""What tells task sentences apart."""


def with_normalisers(instances: pd.DataFrame, scores: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return the scores of the options with what the normalisations need besides.

    Args:
        instances: The selected instances, with those that have no context.
        scores: The model's scores of them, with ``scored_tokens``.
        model: For messages.

    Returns:
        ``scores`` of the instances with a context, and ``text_bytes`` and ``context_free_log_probability`` (the sum of
        the same option on the same task sentence alone; nats).

    Raises:
        UserError: If the scores have no numbers of tokens, a task sentence has no context-free score or more than one,
            or an option stands first in it: a decoder without a first token of its own gives that no score.
    """
    if "scored_tokens" not in scores:
        raise UserError(
            f"scores of {model}: the column scored_tokens is missing; delete the file and run the workflow again"
        )
    distinct = instances.drop_duplicates("instance_id")
    free = distinct[distinct.n_distractors.isna()]
    first = free.text.str.lstrip().str.startswith(options.SLOT)
    if first.any():
        raise UserError(
            f"instance {free.instance_id[first].iloc[0]}: the slot opens a sentence without context, so that a decoder "
            "gives its first token no score; put a word before it"
        )
    if free.duplicated(TASK).any():
        raise UserError("instances: a task sentence is there twice without context; make the instances again")
    texts = options.option_texts(distinct)[["instance_id", "option_index", "text"]]
    table = scores.merge(texts, on=["instance_id", "option_index"], how="left", validate="one_to_one")
    table["text_bytes"] = normalisation.byte_lengths(table.pop("text"))
    behind = distinct.merge(free[[*TASK, "instance_id"]], on=TASK, how="left", suffixes=("", "_free"))
    lacking = behind.instance_id_free.isna()
    if lacking.any():
        raise UserError(
            f"scores of {model}: instance {behind.instance_id[lacking].iloc[0]} has no task sentence without context; "
            "make the instances again"
        )
    table["free_id"] = table.instance_id.map(behind.set_index("instance_id").instance_id_free)
    alone = table.set_index(["instance_id", "option_index"]).log_probability
    places = pd.MultiIndex.from_frame(table[["free_id", "option_index"]])
    table["context_free_log_probability"] = alone.reindex(places).to_numpy()
    return table.loc[~table.instance_id.isin(free.instance_id)].drop(columns="free_id").reset_index(drop=True)


def levels(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield what stands in the columns ``factor`` and ``level``, of everything and of each level, with its rows."""
    yield {"factor": "all", "level": "all"}, table
    for factor in ("n_distractors", "pronoun"):
        for level, part in table.groupby(factor, sort=True):
            yield {"factor": factor, "level": str(level)}, part


DESIGN = normalisation.Design(
    scores=("sum", "tokens", "bytes", "context_free"),
    kept=["n_distractors", "pronoun", "occupation"],
    clusters=["occupation"],
    levels=levels,
)
"""The study's own score comes first."""
