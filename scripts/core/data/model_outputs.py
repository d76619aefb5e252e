"""What models left, read by studies: scores and answers, checked against what was asked.

A file that is damaged, edited, copied from another model or made from other instances would change results without
anybody noticing. So nothing of it is used unless its columns have the right types, every item and every option occurs
once and nothing else does, and every number is one that a model can give. Each message names file, model and item.
:mod:`scripts.core.data.distributions` reads token distributions in the same way.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pyarrow

REMEDY = "delete the file and run the workflow again"

SCORES = {"instance_id": "text", "option": "text", "option_index": "whole", "log_probability": "fraction"}
ANSWERS = {"text_id": "text", "chain": "text?", "answer": "text"}
LEAST_TOKENS = {"scored_tokens": 1, "option_tokens": 1}
"""Tokens that a score is of at least, by column; of other kinds there may be none."""

# Sums of float32 logarithms and probabilities may end this far above 0 and above 1.
ROUNDING = 1e-3


def read_scores(path: str | Path, model: str, instances: pd.DataFrame) -> pd.DataFrame:
    """Return a model's scores of a study's instances, and what else its file has, if they are all and nothing else.

    Args:
        model: Its name in the registry.
        instances: Columns ``instance_id`` and ``options``; an instance may come several times.

    Raises:
        UserError: If the file cannot be read or is another model's, a column is missing or of another type, a number is
            no log-probability, or the rows are not the options of each distinct instance, each once.
    """
    asked = ExpectedOptions.of(instances)
    return pd.concat([part for _, part in score_parts(path, model, asked)], ignore_index=True)


def check_all_options(table: "pyarrow.Table", where: str, instances: pd.DataFrame) -> None:
    """Refuse scores that are not those of all options of ``instances``, each once; errors as in :func:`read_scores`."""
    list(_checked_parts([table], where, ExpectedOptions.of(instances)))


class ExpectedOptions:
    """What models score of a file of instances: its distinct instances and their options, without the texts.

    Args:
        identifiers: Of text, shape (rows,).
        options: Of lists of text, shape (rows,).

    Attributes:
        owner (array of int, shape (rows,)): Of each row its instance; an instance may come several times.
        sizes (array of int, shape (instances,)): How many options each has.
    """

    def __init__(self, identifiers: "pyarrow.Array", options: "pyarrow.ListArray"):
        import pyarrow as pa

        encoded = identifiers.dictionary_encode()
        # A dictionary has values in the order of their first appearance.
        self.identifiers, self.owner = encoded.dictionary, encoded.indices.to_numpy()
        first = np.flatnonzero(np.diff(np.maximum.accumulate(self.owner), prepend=-1) > 0)
        distinct = options.take(pa.array(first))
        self.sizes = np.diff(distinct.offsets.to_numpy())
        self.starts = np.cumsum(self.sizes) - self.sizes
        self._options = distinct.flatten().dictionary_encode()
        self._index = None

    @classmethod
    def of(cls, instances: pd.DataFrame) -> "ExpectedOptions":
        """Return those of a table of instances."""
        import pyarrow as pa

        # A column of pandas can be in several pieces.
        identifiers, options = instances.instance_id.tolist(), instances.options.tolist()
        return cls(pa.array(identifiers, pa.string()), pa.array(options, pa.list_(pa.string())))

    @classmethod
    def read(cls, path: str | Path) -> "ExpectedOptions":
        """Return those of a file of instances."""
        import pyarrow as pa

        table = files.read_arrow(path, ["instance_id", "options"]).combine_chunks()
        options = table["options"].combine_chunks().cast(pa.list_(pa.string()))
        return cls(table["instance_id"].combine_chunks(), options)

    def option(self, place: int) -> str:
        """Return an option by its place among those of all instances."""
        return self._options[int(place)].as_py()

    def places(self, identifiers: "pyarrow.Array", expected: np.ndarray) -> np.ndarray:
        """Return the instance of each row of a batch, -1 for unknown ones.

        Args:
            identifiers: Of text.
            expected: The instances, where the file goes through them in their order. Of int.
        """
        import pyarrow as pa

        if len(expected) == len(identifiers) and self.identifiers.take(pa.array(expected)).equals(identifiers):
            return expected
        if self._index is None:
            self._index = pd.Index(self.identifiers.to_pandas())
        return self._index.get_indexer(identifiers.to_pandas())

    def same_options(self, places: np.ndarray, options: "pyarrow.Array") -> np.ndarray:
        """Return which of some options, an Arrow array of text, are those at their places."""
        import pyarrow as pa
        import pyarrow.compute as pc

        asked = self._options.take(pa.array(places)).dictionary_decode()
        return pc.equal(asked, options).to_numpy(zero_copy_only=False)


BATCH = 1 << 18
"""Rows of a score file that are held at once."""


def score_parts(
    path: str | Path, model: str, asked: ExpectedOptions, columns: Sequence[str] | None = None
) -> Iterator[tuple[np.ndarray, pd.DataFrame]]:
    """Yield a model's scores of a study's instances, a part of the file at a time.

    Args:
        columns: Of the file, besides ``option_index`` and ``log_probability``; all, with the instance and the option,
            where none are named.

    Yields:
        The instance of each row (its place in ``asked``), of int, and the columns.

    Raises:
        UserError: As :func:`read_scores`; what is missing shows when the last part has been taken.
    """
    import pyarrow as pa

    wanted = list(dict.fromkeys([*SCORES, *(columns or ())]))
    with files.open_parquet(path, wanted) as file:
        batches = file.iter_batches(BATCH, columns=None if columns is None else wanted)
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        for owner, table in _checked_parts(tables, message_start(path, "scores", model), asked):
            yield owner, (table if columns is None else table.drop(["instance_id", "option"])).to_pandas()


def _checked_parts(
    tables: Iterable["pyarrow.Table"], where: str, asked: ExpectedOptions
) -> Iterator[tuple[np.ndarray, "pyarrow.Table"]]:
    given = np.zeros(int(asked.sizes.sum()), dtype=bool)
    order = np.repeat(np.arange(len(asked.sizes), dtype=np.int32), asked.sizes)
    done = 0
    for table in tables:
        check_scores(table, where)
        owner = asked.places(table["instance_id"].combine_chunks(), order[done : done + len(table)])
        done += len(table)
        _refuse_others(owner < 0, table, where, lambda row: f"instance {row.instance_id} is not among those of the run")
        index = table["option_index"].to_numpy().astype(int)
        outside = (index < 0) | (index >= asked.sizes[owner])
        _refuse_others(
            outside, table, where,
            lambda row: f"instance {row.instance_id} has no option {row.option_index}, '{row.option}'",
        )  # fmt: skip
        at = asked.starts[owner] + index
        _refuse_others(
            ~asked.same_options(at, table["option"]), table, where,
            lambda row, at=at: f"instance {row.instance_id}, option '{row.option}' is not its option "
            f"{row.option_index}, '{asked.option(at[row.name])}'",
        )  # fmt: skip
        _refuse_others(
            given[at], table, where, lambda row: f"instance {row.instance_id}, option '{row.option}' occurs twice"
        )
        given[at] = True
        yield owner, table
    if given.all():
        return
    scored = np.add.reduceat(given, asked.starts, dtype=int)
    first = int(np.flatnonzero(scored < asked.sizes)[0])
    place = int(asked.starts[first] + np.flatnonzero(~given[asked.starts[first] :])[0])
    name = asked.identifiers[first].as_py()
    if not scored[first]:
        lacking = int((scored == 0).sum())
        raise UserError(f"{where}: instance {name} is not scored ({lacking} of {len(scored)} are not); {REMEDY}")
    raise UserError(f"{where}: instance {name} lacks the option '{asked.option(place)}'; {REMEDY}")


def _refuse_others(wrong: np.ndarray, table: "pyarrow.Table", where: str, problem: Callable[[Any], str]) -> None:
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        row = table.slice(place, 1).to_pandas().iloc[0]
        row.name = place
        raise UserError(f"{where}: {problem(row)}; {REMEDY}")


def check_scores(table: "pyarrow.Table", where: str) -> None:
    """Refuse scores that cannot be right whatever the instances are; errors as in :func:`read_scores`.

    Args:
        where: What messages start with.
    """
    files.check_columns(table, SCORES, where, identifier=("instance", "instance_id"))
    decisive = [column for column in table.column_names if column.endswith(("log_probability", "_tokens"))]
    frame = table.select(list(dict.fromkeys([*SCORES, *decisive]))).to_pandas()

    def name(row: pd.Series) -> str:
        return f"instance {row.instance_id}, option '{row.option}'"

    for column in decisive:
        values = frame[column].to_numpy(dtype=float)
        if column.endswith("log_probability"):
            wrong = ~np.isfinite(values) | (values > ROUNDING)
        else:
            least = LEAST_TOKENS.get(column.removeprefix("uncapitalised_"), 0)
            wrong = ~(values >= least) | (values % 1 != 0)
        # An option that does not start a sentence has no values without a capital.
        if column.startswith("uncapitalised_"):
            wrong &= ~np.isnan(values)
        refuse_first(frame, wrong, where, lambda row, column=column: f"{name(row)}: {column} is {row[column]}")
    if "continuation_log_probability" in frame:
        wrong = frame.log_probability > frame.continuation_log_probability + ROUNDING
        refuse_first(frame, wrong, where, lambda row: f"{name(row)}: more probable than a part of it")
    repeated = frame.duplicated(["instance_id", "option_index"])
    refuse_first(frame, repeated, where, lambda row: f"{name(row)} occurs twice")


def read_answers(path: str | Path, model: str, prompts: pd.DataFrame) -> pd.DataFrame:
    """Read a model's answers to prompts.

    Args:
        prompts: ``text_id`` (unique), ``method`` and ``follow_up`` of all prompts of the study, as
            :mod:`scripts.core.data.prompting` describes them. A model may be asked by fewer methods: the file says by
            which.

    Returns:
        ``text_id``, ``chain``, ``answer``, and what else the file has; a row for each prompt of the model's methods.

    Raises:
        UserError: If the file cannot be read or is another model's, a column is missing or of another type, a text is
            unknown, occurs twice or is not answered, or if there is a chain of thought where none was asked for, or
            none where one was.
    """
    table = read_table(path, ANSWERS)
    where = message_start(path, "answers", model)
    check_answers(table, where)
    answers = table.to_pandas()
    asked = prompts.set_index("text_id")
    unknown = ~answers.text_id.isin(asked.index)
    refuse_first(answers, unknown, where, lambda row: f"text {row.text_id} is not among the prompts of the run")
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


def check_answers(table: "pyarrow.Table", where: str) -> None:
    """Refuse answers that cannot be right whatever the prompts are; as :func:`check_scores`."""
    files.check_columns(table, {"text_id": "text"}, where)
    named = table.column("text_id").to_pandas().to_frame("text_id")
    if table.column("answer").null_count:
        row = int(np.flatnonzero(table.column("answer").is_null().to_numpy())[0])
        raise UserError(f"{where}: text {named.text_id[row]}: the column answer is empty; {REMEDY}")
    files.check_columns(table, ANSWERS, where)
    refuse_first(named, named.duplicated(), where, lambda row: f"text {row.text_id} occurs twice")


def read_table(path: str | Path, columns: Iterable[str]) -> "pyarrow.Table":
    """Return a whole file that has some columns; errors as in :func:`scripts.core.files.open_parquet`."""
    with files.open_parquet(path, list(columns)) as file:
        return file.read()


def message_start(path: str | Path, what: str, model: str | None) -> str:
    """Return what messages start with, once the file is known to be the model's.

    Raises:
        UserError: If it is another model's.
    """
    if model is None:
        return f"{path}: {what}"
    stated = files.parquet_metadata(path).get("model", model)
    if stated != model:
        raise UserError(f"{path}: these {what} are of the model '{stated}', not of '{model}'; {REMEDY}")
    return f"{path}: {what} of model {model}"


def refuse_first(
    frame: pd.DataFrame, wrong: "np.ndarray | pd.Series", where: str, problem: Callable[[Any], str]
) -> None:
    """Refuse a table with wrong rows; ``problem`` says what is wrong with the first of them."""
    if wrong.any():
        raise UserError(f"{where}: {problem(frame[wrong].iloc[0])}; {REMEDY}")
