"""What models left, read by studies: scores, answers, token distributions and masses, checked against what was asked.

A file that is damaged, edited, copied from another model or made from other instances would change results without
anybody noticing. So nothing of it is used unless its columns have the right types, every item and every option occurs
once and nothing else does, and every number is one that a model can give. Each message names file, model and item.
"""

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError

REMEDY = "delete the file and run the workflow again"

SCORES = {"instance_id": "text", "option": "text", "option_index": "whole", "log_probability": "fraction"}
ANSWERS = {"text_id": "text", "chain": "text?", "answer": "text"}
DISTRIBUTIONS = {
    "text_id": "text", "step": "whole", "rank": "whole", "token": "text", "probability": "fraction", "chosen": "truth",
}  # fmt: skip
MASSES = {"text_id": "text", "step": "whole", "group": "text", "probability": "fraction"}

# Sums of float32 logarithms and probabilities may end this far above 0 and above 1.
ROUNDING = 1e-3


def read_scores(path, model, instances):
    """Read a model's scores of a study's instances.

    Parameters
    ----------
    path : str or Path
    model : str
        Its name in the registry.
    instances : DataFrame
        Columns ``instance_id`` and ``options``; an instance may come several times.

    Returns
    -------
    DataFrame
        ``instance_id``, ``option``, ``option_index``, ``log_probability``, and what else the file has; a row for each
        option of each distinct instance.

    Raises
    ------
    UserError
        If the file cannot be read or is another model's, a column is missing or of another type, a number is no
        log-probability, or if the rows are not exactly the options of ``instances``, each once.
    """
    table = _read(path, SCORES)
    where = _where(path, "scores", model)
    check_scores(table, where)
    scores = table.to_pandas()
    distinct = instances.drop_duplicates("instance_id")
    n_options = distinct.options.map(len).to_numpy()
    expected = pd.DataFrame(
        {
            "instance_id": np.repeat(distinct.instance_id.to_numpy(), n_options),
            "option_index": np.concatenate([np.arange(n) for n in n_options] or [np.zeros(0, dtype=int)]),
            "option": [option for options in distinct.options for option in options],
        }
    )
    known = scores.instance_id.isin(distinct.instance_id)
    if not known.all():
        unknown = scores.instance_id[~known].iloc[0]
        raise UserError(f"{where}: instance {unknown} is not among those of the run; {REMEDY}")
    missing = distinct.instance_id[~distinct.instance_id.isin(scores.instance_id)]
    if len(missing):
        raise UserError(
            f"{where}: instance {missing.iloc[0]} is not scored ({len(missing)} of {len(distinct)} are not); {REMEDY}"
        )
    places = pd.MultiIndex.from_frame(expected[["instance_id", "option_index"]])
    at = places.get_indexer(pd.MultiIndex.from_frame(scores[["instance_id", "option_index"]]))
    if (at < 0).any():
        row = scores[at < 0].iloc[0]
        raise UserError(f"{where}: instance {row.instance_id} has no option {row.option_index}; {REMEDY}")
    other = scores.option.to_numpy() != expected.option.to_numpy()[at]
    if other.any():
        row, right = scores[other].iloc[0], expected.option[at[other][0]]
        raise UserError(
            f"{where}: instance {row.instance_id}, option '{row.option}' is not its option {row.option_index}, "
            f"'{right}'; {REMEDY}"
        )
    absent = np.setdiff1d(np.arange(len(expected)), at)
    if len(absent):
        row = expected.iloc[absent[0]]
        raise UserError(f"{where}: instance {row.instance_id} lacks the option '{row.option}'; {REMEDY}")
    return scores


def check_scores(table, where):
    """Refuse scores that cannot be right whatever the instances are; errors as in :func:`read_scores`.

    Parameters
    ----------
    table : pyarrow.Table
    where : str
        What messages start with.
    """
    files.check_columns(table, SCORES, where, identifier=("instance", "instance_id"))
    frame = table.select(list(SCORES)).to_pandas()

    def name(row):
        return f"instance {row.instance_id}, option '{row.option}'"

    values = frame.log_probability.to_numpy()
    _refuse(frame, ~np.isfinite(values) | (values > ROUNDING), where, name, "log_probability")
    _refuse_repeated(frame, ["instance_id", "option_index"], where, name)


def read_answers(path, model, prompts):
    """Read a model's answers to prompts.

    Parameters
    ----------
    path : str or Path
    model : str
    prompts : DataFrame
        ``text_id`` (unique), ``method`` and ``follow_up`` of all prompts of the study, as :mod:`scripts.core.prompting`
        describes them. A model may be asked by fewer methods: the file says by which.

    Returns
    -------
    DataFrame
        ``text_id``, ``chain``, ``answer``, and what else the file has; a row for each prompt of the model's methods.

    Raises
    ------
    UserError
        If the file cannot be read or is another model's, a column is missing or of another type, a text is unknown,
        occurs twice or is not answered, or if there is a chain of thought where none was asked for, or none where one
        was.
    """
    table = _read(path, ANSWERS)
    where = _where(path, "answers", model)
    check_answers(table, where)
    answers = table.to_pandas()
    asked = prompts.set_index("text_id")
    known = answers.text_id.isin(asked.index)
    if not known.all():
        unknown = answers.text_id[~known].iloc[0]
        raise UserError(f"{where}: text {unknown} is not among the prompts of the run; {REMEDY}")
    methods = files.parquet_metadata(path).get("methods") or asked.method[answers.text_id].unique()
    wanted = asked.index[asked.method.isin(list(methods))]
    missing = wanted[~wanted.isin(answers.text_id)]
    if len(missing):
        raise UserError(
            f"{where}: text {missing[0]} has no answer ({len(missing)} of {len(wanted)} have none); {REMEDY}"
        )
    double = asked.follow_up[answers.text_id].notna().to_numpy()
    wrong = double != answers.chain.notna().to_numpy()
    if wrong.any():
        steps, chain = ("two steps", "no chain") if double[wrong][0] else ("one step", "a chain")
        raise UserError(
            f"{where}: text {answers.text_id[wrong].iloc[0]}: its prompt has {steps}, but the answer has {chain} of "
            f"thought; {REMEDY}"
        )
    return answers


def check_answers(table, where):
    """Refuse answers that cannot be right whatever the prompts are; as :func:`check_scores`."""
    files.check_columns(table, {"text_id": "text"}, where)
    named = table.column("text_id").to_pandas().to_frame("text_id")
    if table.column("answer").null_count:
        row = int(np.flatnonzero(table.column("answer").is_null().to_numpy())[0])
        raise UserError(f"{where}: text {named.text_id[row]}: the column answer is empty; {REMEDY}")
    files.check_columns(table, ANSWERS, where)
    _refuse_repeated(named, ["text_id"], where, lambda row: f"text {row.text_id}")


def read_distributions(path, model, texts):
    """Read a model's token distributions of texts.

    Parameters
    ----------
    path : str or Path
        Format: :mod:`scripts.core.engines.distributions`.
    model : str or None
        Its name in the registry, if it is known.
    texts : sequence of str
        Ids of the texts that the model read.

    Returns
    -------
    DataFrame
        ``text_id``, ``step``, ``rank``, ``token``, ``probability``, ``chosen``.

    Raises
    ------
    UserError
        If the file cannot be read or is another model's, a column is missing or of another type, a text, step or rank
        is missing, occurs twice or is unknown, a number is no probability, those of a place are not in falling order or
        add up to more than 1, or more than one token of a place is chosen.
    """
    table = _read(path, DISTRIBUTIONS)
    where = _where(path, "token distributions", model)
    files.check_columns(table, DISTRIBUTIONS, where, identifier=("text", "text_id"))
    frame = _plain(table, DISTRIBUTIONS)
    _check_texts(frame, texts, where)
    absent = pd.Index(list(texts)).difference(frame.text_id.unique(), sort=False)
    if len(absent):
        raise UserError(
            f"{where}: text {absent[0]} has no distribution ({len(absent)} of {len(texts)} have none); {REMEDY}"
        )
    _check_probabilities(frame, where)
    place = ["text_id", "step"]
    _refuse_repeated(
        frame, [*place, "rank"], where, lambda row: f"text {row.text_id}, step {row.step}, rank {row['rank']}"
    )
    steps = frame[place].drop_duplicates()
    _check_consecutive(steps, ["text_id"], "step", where, lambda row: f"text {row.text_id}: step")
    ordered = _check_consecutive(frame, place, "rank", where, lambda row: f"{_place(row)}: rank")
    rising = (ordered["rank"] > 0) & (ordered.probability.diff() > 0)
    if rising.any():
        row = ordered[rising].iloc[0]
        raise UserError(f"{where}: {_place(row)}: rank {row['rank']} is more probable than the one before; {REMEDY}")
    sums = ordered.groupby(place, sort=False).agg(probability=("probability", "sum"), chosen=("chosen", "sum"))
    sums = sums.reset_index()
    for wrong, problem in (
        (sums.probability > 1 + ROUNDING, lambda row: f"the probabilities of its tokens add up to {row.probability:g}"),
        (sums.chosen > 1, lambda row: "more than one token is chosen"),
    ):
        if wrong.any():
            row = sums[wrong].iloc[0]
            raise UserError(f"{where}: {_place(row)}: {problem(row)}; {REMEDY}")
    return frame


def read_masses(path, model, groups, places):
    """Read the masses of groups of words beside a model's token distributions.

    Parameters
    ----------
    path : str or Path
    model : str or None
    groups : sequence of str
    places : DataFrame
        ``text_id`` and ``step`` of the distributions; may repeat.

    Returns
    -------
    DataFrame
        ``text_id``, ``step``, ``group``, ``probability``; a row for each place and group.

    Raises
    ------
    UserError
        If the file cannot be read or is another model's, a column is missing or of another type, a number is no
        probability, or if the rows are not exactly the groups at ``places``, each once.
    """
    table = _read(path, MASSES)
    where = _where(path, "masses", model)
    files.check_columns(table, MASSES, where, identifier=("text", "text_id"))
    frame = _plain(table, MASSES)
    other = ~frame.group.isin(list(groups))
    if other.any():
        row = frame[other].iloc[0]
        raise UserError(f"{where}: {_place(row)}: the group '{row.group}' is unknown; {REMEDY}")
    _check_probabilities(frame, where)
    _refuse_repeated(frame, ["text_id", "step", "group"], where, lambda row: f"{_place(row)}, group '{row.group}'")
    wanted = places[["text_id", "step"]].drop_duplicates()
    at = pd.MultiIndex.from_frame(wanted)
    present = pd.MultiIndex.from_frame(frame[["text_id", "step"]])
    known = present.isin(at)
    if not known.all():
        raise UserError(f"{where}: {_place(frame[~known].iloc[0])} is not among the distributions; {REMEDY}")
    for group in groups:
        there = at.isin(present[frame.group == group])
        if not there.all():
            raise UserError(f"{where}: {_place(wanted[~there].iloc[0])} lacks the group '{group}'; {REMEDY}")
    return frame


def _read(path, kinds):
    with files.open_parquet(path, list(kinds)) as file:
        return file.read()


def _where(path, what, model):
    """Return what messages start with, once the file is known to be the model's."""
    if model is None:
        return f"{path}: {what}"
    stated = files.parquet_metadata(path).get("model", model)
    if stated != model:
        raise UserError(f"{path}: these {what} are of the model '{stated}', not of '{model}'; {REMEDY}")
    return f"{path}: {what} of model {model}"


def _plain(table, kinds):
    """Return the columns as a frame, text as text."""
    frame = table.select(list(kinds)).to_pandas()
    return frame.astype({name: str for name, kind in kinds.items() if kind == "text"})


def _place(row):
    return f"text {row.text_id}, step {row.step}"


def _check_texts(frame, texts, where):
    known = frame.text_id.isin(list(texts))
    if not known.all():
        raise UserError(f"{where}: text {frame.text_id[~known].iloc[0]} is not among those of the run; {REMEDY}")


def _check_probabilities(frame, where):
    values = frame.probability.to_numpy()
    _refuse(frame, ~((values >= 0) & (values <= 1 + ROUNDING)), where, _place, "probability")


def _refuse(frame, wrong, where, name, column):
    if wrong.any():
        row = frame[wrong].iloc[0]
        raise UserError(f"{where}: {name(row)}: {column} is {row[column]}; {REMEDY}")


def _refuse_repeated(frame, keys, where, name):
    repeated = frame.duplicated(keys)
    if repeated.any():
        raise UserError(f"{where}: {name(frame[repeated].iloc[0])} occurs twice; {REMEDY}")


def _check_consecutive(frame, keys, column, where, name):
    """Refuse a column whose distinct values are not 0, 1, 2 ... for equal keys; return the frame sorted."""
    ordered = frame.sort_values([*keys, column], kind="stable", ignore_index=True)
    expected = ordered.groupby(keys, sort=False).cumcount()
    wrong = ordered[column] != expected
    if wrong.any():
        row = ordered[wrong].iloc[0]
        raise UserError(f"{where}: {name(row)} {expected[wrong].iloc[0]} is missing; {REMEDY}")
    return ordered
