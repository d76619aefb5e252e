"""The outputs that the explorer shows of an instance: probabilities, clusters, answers, marks in its text, origins.

A column whose values repeat is ``{"values": [...], "codes": [...]}``; shares are in thousandths.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.errors import UserError

NO_VALUE = "none"
INTRODUCTION, DISTRACTORS = "introduction", "sentences about somebody else"
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


def read_rows(path: str, columns: Iterable[str] | None, where: dict[str, Any]) -> pd.DataFrame:
    """Return those of some columns (None: all) that a table has, in the rows with certain values."""
    known = pq.read_schema(path).names
    kept = known if columns is None else [name for name in dict.fromkeys([*columns, "id"]) if name in known]
    wanted = [(name, "in", value if isinstance(value, list) else [value]) for name, value in where.items()]
    table = pq.read_table(path, columns=kept, filters=[one for one in wanted if one[0] in known] or None)
    return table.to_pandas().rename(columns={"id": "instance_id"})


def encode_column(column: Iterable, order: Iterable = ()) -> dict:
    """Return a column by its values: those of ``order`` that occur, then the others as they are met; None is -1.

    Examples:
        >>> encode_column(["b", None, "a", "b"], ["a", "b", "c"])
        {'values': ['a', 'b'], 'codes': [1, -1, 0, 1]}
    """
    column = list(column)
    met = dict.fromkeys(value for value in column if value is not None)
    values = list(dict.fromkeys([*(value for value in order if value in met), *met]))
    places = {value: place for place, value in enumerate(values)}
    return {"values": values, "codes": [places.get(value, -1) for value in column]}


def cell_text(value: Any) -> str:
    """Return a cell as a reader writes it."""
    if value is None or value is pd.NA or value != value or value == "":
        return NO_VALUE
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def find_outputs(entry: dict, frame: pd.DataFrame, values: dict[str, str]) -> dict[str, Any]:
    """Return what a reader left about the instances of a frame: shares of options, answers or clusters."""
    subject, found = values.get("model") or values["system"], {}
    for output in entry["outputs"]:
        label = entry["models"][output["model"]]["label"]
        if output["kind"] != "scores":
            if subject in (output["model"], label) and values.get("prompt"):
                found |= _answers(frame, output, values)
        elif subject in (output["model"], label) and not values.get("prompt"):
            column = entry["scorings"].get(values.get("scoring"), "log_probability")
            found |= _scores(entry, frame, output, column)
    for given in entry["clusters"]:
        if subject == given["system"] and values.get("debiasing") in (None, given.get("debiasing")):
            found |= _clusters(frame, given["file"])
    return found


def _scores(entry: dict, frame: pd.DataFrame, output: dict[str, str], column: str) -> dict[str, Any]:
    """Return the options of each instance and their probabilities relative to each other."""
    asked = frame
    if "template" in frame:
        # What was scored are templates, which several instances share.
        asked = files.read_parquet(output["asked"], ["instance_id", "options", "template"])
        asked = asked.merge(frame[["template", "_row"]], on="template")
    scores = files.read_parquet(output["file"], ["instance_id", "option_index", column])
    scores = scores.merge(asked[["instance_id", "_row"]], on="instance_id")
    if scores.empty:
        return {}
    wide = scores.pivot(index="_row", columns="option_index", values=column)
    wide: Any = np.exp(wide.sub(wide.max(axis=1), axis=0))
    options = asked.set_index("_row").options[wide.index]
    stand = frame.groups[wide.index] if "groups" in frame else [tuple(entry["levels"])] * len(wide)
    return list_shares(frame, wide.div(wide.sum(axis=1), axis=0), options, stand)


def list_shares(frame: pd.DataFrame, wide: pd.DataFrame, options: Sequence, stand: Sequence) -> dict[str, Any]:
    """Return shares (``wide``, by the frame's row) of options, each a pair of its words and the level it stands for."""
    pairs = {row: tuple(zip(*both, strict=True)) for row, *both in zip(wide.index, options, stand, strict=True)}
    shares = {row: [round(1000 * one) for one in wide.loc[row].dropna()] for row in wide.index}
    rows = range(len(frame))
    return {"options": encode_column(map(pairs.get, rows)), "shares": [shares.get(row) for row in rows]}


def _clusters(frame: pd.DataFrame, path: str) -> dict[str, Any]:
    """Return the mentions of each instance's clusters that have several, as ranges of characters."""
    texts = dict(zip(frame.instance_id, frame.text, strict=True))
    found = {}
    for line in files.read_text(path, "run the system again").splitlines():
        document = json.loads(line)
        name, tokens = document["document"], document["tokens"]
        if name not in texts:
            continue
        if document["text_sha256"] != coreference.digest_text(texts[name]):
            raise UserError(f"{path}: the text of '{name}' differs from that in the data; run the system again")
        found[name] = tuple(
            tuple((tokens[first][0], tokens[last][1]) for first, last in cluster)
            for cluster in document["clusters"]
            if len(cluster) > 1
        )
    return {"clusters": encode_column([found.get(name) for name in frame.instance_id])} if found else {}


def _answers(frame: pd.DataFrame, output: dict[str, str], values: dict[str, str]) -> dict[str, Any]:
    """Return what a model was asked and what it wrote, with its thoughts before, by the frame's row."""
    told = {name: value for name, value in values.items() if name not in ("model", "system")}
    prompts = read_rows(output["asked"], ["text_id", "instance_id", "text"], told)
    answers = files.read_parquet(output["file"])
    if "answer" not in answers:
        # Of a continuation every token is listed beside others that were possible.
        chosen = answers[answers.chosen].sort_values(["text_id", "step"])
        answers = chosen.groupby("text_id").token.agg("".join).rename("answer").reset_index()
    wrote = answers.merge(prompts, on="text_id").merge(frame[["instance_id", "_row"]], on="instance_id")
    found = {}
    for row in wrote.to_dict("records"):
        thoughts = [row.get(step) for step in ("chain_thought", "chain", "answer_thought")]
        found[row["_row"]] = [row["text"], row["answer"], "\n\n".join(one for one in thoughts if isinstance(one, str))]
    return {"answers": found} if found else {}


def mark_spans(row: dict, called: dict[str, str]) -> list[list]:
    """Return start, end and label of what is marked in a text: sentences, and words whose offset a column gives."""
    spans = []
    if "n_distractors" in row:
        ends = [match.start() for match in _SENTENCE_END.finditer(row["text"])]
        count = int(row["n_distractors"])
        spans.append([0, ends[0], INTRODUCTION])
        spans += [[ends[0] + 1, ends[count], DISTRACTORS]] if count else []
    for column, offset in row.items():
        word = column.removesuffix("_offset")
        if word != column and not pd.isna(offset):
            spans.append([int(offset), int(offset) + len(row[word]), called.get(word, word)])
    return spans


def template_lines(path: str, frame: pd.DataFrame, folder: dict[str, str]) -> list[dict[str, Any]]:
    """Return of each template file which lines the instances were made from, as ``file:lines``."""
    found = []
    for column, name in (files.parquet_metadata(path).get("origins") or {}).items():
        owners = frame[name[1:-1]] if name.startswith("{") else [name] * len(frame)
        lines = []
        for owner, value in zip(owners, frame[column], strict=True):
            rows = ", ".join(map(cell_text, np.atleast_1d(value)))
            lines.append(None if rows in ("", NO_VALUE) else f"{folder.get(owner, owner)}:{rows}")
        found.append(encode_column(lines))
    return found
