"""What the study's choice of the sum decides: accuracies, orders of models and single decisions under other scores.

Not in the study, which sums log-probabilities.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.statistics import decisions, normalisation
from scripts.ruff.lib.analyses.predictions import OF_INSTANCE

STUDY = "sum"
"""The study's normalisation, which the others are compared with."""
TASK = ["occupation", "participant", "case", "task_index"]
"""What tells task sentences apart."""


def with_normalisers(instances: pd.DataFrame, scores: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return the scores of the options with what the normalisations need besides.

    Args:
        instances: The selected instances, with those that have no context.
        scores: The model's scores of them, with ``scored_tokens``.
        model: For messages.

    Returns:
        ``scores`` of the instances with a context, and ``text_bytes``, ``context_free_log_probability`` (the sum of the
        same option on the same task sentence alone; nats) and ``extra_tokens`` (by how many tokens the text is longer
        than with the option that makes the shortest one).

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
    shortest = table.groupby("instance_id").scored_tokens.transform("min")
    table["extra_tokens"] = table.scored_tokens - shortest
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


def decide_instances(
    instances: pd.DataFrame, scores: pd.DataFrame, model: str, pronoun_sets: Sequence[str]
) -> pd.DataFrame:
    """Return what a model picks for every instance with a context under every normalisation, and how sure it is.

    Args:
        instances, scores, model: As for :func:`with_normalisers`.
        pronoun_sets: The sets in the order of each instance's options.

    Returns:
        ``model``, the columns of the instance, ``normalisation``, ``prediction`` (a set), ``correct``, ``tie``,
        ``confidence`` (:func:`scripts.core.statistics.calibration.confidences`) and ``extra_tokens`` of the right form.
    """
    table = with_normalisers(instances, scores, model)
    asked = instances[instances.n_distractors.notna()].reset_index(drop=True)
    made = decisions.decide_instances(asked, table, OF_INSTANCE, model, normalisation.COLUMNS).drop(columns="picked")
    extra = table.set_index(["instance_id", "option"]).extra_tokens
    right = extra.reindex(pd.MultiIndex.from_frame(asked[["instance_id", "gold"]])).to_numpy(dtype=int)
    made["extra_tokens"] = np.tile(right, len(normalisation.COLUMNS))
    made["option_index"] = np.asarray(pronoun_sets, dtype=object)[made.option_index]
    return made.rename(columns={"option_index": "prediction"}).astype({"seed": "Int64", "n_distractors": "Int64"})


def levels(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield what stands in the columns ``factor`` and ``level``, of everything and of each level, with its rows."""
    yield {"factor": "all", "level": "all"}, table
    for factor in DESIGN.factors:
        for level, part in table.groupby(factor, sort=True):
            yield {"factor": factor, "level": str(level)}, part


DESIGN = decisions.Design(
    study=STUDY,
    instance=["seed", "n_distractors", "instance_id"],
    picked="prediction",
    factors=["n_distractors", "pronoun"],
    resampled=[],
    clusters=["occupation"],
    levels=levels,
)


def rankings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how far each normalisation orders the models as the study's does.

    Args:
        frame: From :func:`scripts.core.statistics.decisions.normalisations`.

    Returns:
        ``factor``, ``level``, ``normalisation``, ``n_models``, ``tau`` (Kendall's tau-b of accuracies,
        :func:`scripts.core.statistics.normalisation.rank_agreement`; missing with one model), ``moved`` (models with
        another rank) and ``best`` (the models of the first rank). Models that score different instances are not
        compared: rows are of those with the most.
    """
    rows = []
    for (factor, level), cell in frame.groupby(["factor", "level"], sort=False):
        cell = cell[cell.n == cell.n.max()]
        by_name = {name: part.set_index("model") for name, part in cell.groupby("normalisation", sort=False)}
        base = by_name[STUDY]
        for name, part in by_name.items():
            rows.append(
                {
                    "factor": factor, "level": level, "normalisation": name, "n_models": len(part),
                    "tau": normalisation.rank_agreement(base.accuracy, part.accuracy.reindex(base.index)),
                    "moved": int((part["rank"].reindex(base.index) != base["rank"]).sum()),
                    "best": " ".join(part.index[part["rank"] == 1]),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)
