"""What the study's choice of the sum decides: accuracies and single decisions under other scores.

Not in the study, which sums log-probabilities.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import options
from scripts.core.data.estimate_rows import MODEL
from scripts.core.errors import UserError
from scripts.core.statistics import normalisation as normalising
from scripts.core.workflow.job import run_named
from scripts.ruff import study
from scripts.ruff.predictions import read_scores

TASK = ["occupation", "participant", "case", "task_index"]
"""What tells task sentences apart."""


def normalisation(
    *, instances: list, scores: list, normalisation: str, template_sets: list, models: list, sizes: dict,
    pronoun_sets: list, draws: int, seed: int,
) -> None:  # fmt: skip
    """Decide every instance under each normalisation of the scores, and say what that changes (``normalisation``, CSV).

    ``instances`` has a file for each of ``template_sets``; ``scores`` has one for each model of each set, set by set.
    ``sizes`` says how many of the selected instances of each sample every model scores; ``draws`` and ``seed`` belong
    to bootstrap and permutations over occupations.

    The rows are those of :func:`scripts.core.statistics.normalisation.compare_scores`, with the columns of
    :func:`chosen_elsewhere` where all instances of a pronoun set are counted.
    """
    found = []
    for place, part in enumerate(template_sets):
        of_set, cells = scores[place * len(models) : (place + 1) * len(models)], []
        for model, scored, table in read_scores(instances[place], of_set, models, sizes):
            asked = scored[scored.n_distractors.notna()].astype({"n_distractors": "Int64"})
            cells.append(normalising.count_decisions(asked, with_normalisers(scored, table, model), model, DESIGN))
        counted = pd.concat(cells)
        rows = normalising.compare_scores(counted, DESIGN, draws, seed).assign(templates=part)
        found.append(rows.merge(chosen_elsewhere(counted, pronoun_sets), on=BY_SET, how="left"))
    rows = pd.concat(found).assign(kind=MODEL, metric="accuracy", **study.SCORED)
    names = [name for name in (*study.IDENTITY, "n_distractors", "pronoun", "normalisation", "metric") if name in rows]
    files.write_csv(normalisation, rows[[*names, *rows.columns.difference(names, sort=False)]])


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
    table["text_bytes"] = normalising.byte_lengths(table.pop("text"))
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


BY_SET = ["model", "normalisation", "pronoun"]


def chosen_elsewhere(cells: pd.DataFrame, pronoun_sets: Sequence[str]) -> pd.DataFrame:
    """Return how often each pronoun set is chosen in texts whose right set is another: a score can favour it anywhere.

    Args:
        cells: Decisions by option, with ``pronoun``, the right set.
        pronoun_sets: The sets in the order of each instance's options.

    Returns:
        ``model``, ``normalisation``, ``pronoun``, ``chosen_elsewhere`` (a share) and ``n_elsewhere`` (how many texts).
    """
    names = pd.Series(np.asarray(pronoun_sets, dtype=object)[cells.option_index], cells.index, name="pronoun")
    # A set is wrong wherever another one is right, but for sets that share the form.
    wrong = (cells.n - cells.correct).groupby([cells.model, cells.normalisation, names]).sum()
    own = cells.groupby(BY_SET).n.sum()
    elsewhere = own.groupby(level=BY_SET[:2]).transform("sum") - own
    share = wrong.reindex(own.index, fill_value=0) / elsewhere
    return pd.DataFrame({"chosen_elsewhere": share, "n_elsewhere": elsewhere.astype("Int64")}).reset_index()


def levels(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield the levels of ``n_distractors`` and ``pronoun``, empty where they are pooled, with their rows."""
    pooled = {"n_distractors": "", "pronoun": ""}
    yield pooled, table
    for factor in pooled:
        for level, part in table.groupby(factor, sort=True):
            yield pooled | {factor: str(level)}, part


DESIGN = normalising.Design(
    scores=("sum", "tokens", "bytes", "context_free"),
    kept=["n_distractors", "pronoun", "occupation"],
    clusters=["occupation"],
    levels=levels,
    by_option=True,
)
"""The study's own score comes first."""


if __name__ == "__main__":
    run_named()
