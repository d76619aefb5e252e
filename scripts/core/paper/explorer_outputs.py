"""The outputs that the explorer shows of an instance: probabilities, clusters, answers, marks in its text, origins.

A column whose values repeat is ``{"values": [...], "codes": [...]}``; shares are in thousandths.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.data.options import SLOT
from scripts.core.errors import UserError

NO_VALUE = "none"
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


def read_rows(path: str, columns: Iterable[str] | None, where: dict[str, Any] | None = None) -> pd.DataFrame:
    """Return those of some columns (None: all) that a table has, in the rows with certain values."""
    known = pq.read_schema(path).names
    kept = known if columns is None else [name for name in dict.fromkeys([*columns, "id"]) if name in known]
    wanted = [(name, "in", value if isinstance(value, list) else [value]) for name, value in (where or {}).items()]
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
    values = dict.fromkeys([*(value for value in order if value in met), *met])
    places = {value: place for place, value in enumerate(values)}
    return {"values": list(values), "codes": [-1 if value is None else places[value] for value in column]}


def spread(frame: pd.DataFrame, rows: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """Return a value for each row of a frame, None where there is none."""
    found = dict(zip(rows, values, strict=True))
    return [found.get(row) for row in range(len(frame))]


def cell_text(value: Any) -> str:
    """Return a cell as a reader writes it."""
    if value is None or value is pd.NA or value != value or value == "":
        return NO_VALUE
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _scores(entry: dict, frame: pd.DataFrame, output: dict, _: dict) -> dict[str, Any]:
    """Return the options of each instance and their probabilities relative to each other."""
    asked, on = frame, "instance_id"
    if "template" in frame:
        # What was scored are templates, which several instances share.
        asked = files.read_parquet(output["scored"], ["instance_id", "options", "template"])
        asked = asked.merge(frame[["template", "_row"]], on="template")
    scores = files.read_parquet(output["file"], [on, "option_index", output["column"]])
    scores = scores.merge(asked[[on, "_row"]], on=on)
    if scores.empty:
        return {}
    wide = scores.pivot(index="_row", columns="option_index", values=output["column"])
    wide: Any = np.exp(wide.sub(wide.max(axis=1), axis=0))
    rows = wide.index
    options = [tuple(row) for row in asked.set_index("_row").options[rows]]
    stand = [tuple(row) for row in frame.groups[rows]] if "groups" in frame else [tuple(entry["levels"])] * len(rows)
    return list_shares(frame, rows, options, stand, wide.div(wide.sum(axis=1), axis=0))


def list_shares(
    frame: pd.DataFrame, rows: pd.Index, options: Sequence[tuple], stand: Sequence[tuple], wide: pd.DataFrame
) -> dict[str, Any]:
    shares = [[round(1000 * one) for one in row if not math.isnan(one)] for row in wide.to_numpy().tolist()]
    return {
        "options": encode_column(spread(frame, rows, options)),
        "stand": encode_column(spread(frame, rows, stand)),
        "shares": spread(frame, rows, shares),
    }


def _clusters(_: dict, frame: pd.DataFrame, output: dict, __: dict) -> dict[str, Any]:
    """Return the mentions of each instance's clusters that have several, as ranges of characters."""
    texts = dict(zip(frame.instance_id, frame.text, strict=True))
    found = {}
    for line in files.read_text(output["file"], "run the system again").splitlines():
        document = json.loads(line)
        name, tokens = document["document"], document["tokens"]
        if name not in texts:
            continue
        if document["text_sha256"] != coreference.digest(texts[name]):
            raise UserError(
                f"{output['file']}: the text of '{name}' differs from that in the data; run the system again"
            )
        found[name] = tuple(
            tuple((tokens[first][0], tokens[last][1]) for first, last in cluster)
            for cluster in document["clusters"]
            if len(cluster) > 1
        )
    return {"clusters": encode_column([found.get(name) for name in frame.instance_id])} if found else {}


def _answers(_: dict, frame: pd.DataFrame, output: dict, values: dict) -> dict[str, Any]:
    """Return what a model was asked and what it wrote, with its thoughts before."""
    if not values.get("prompt"):
        return {}
    told = {name: value for name, value in values.items() if name not in output}
    prompts = read_rows(output["prompts"], ["text_id", "instance_id", "text", *told], told)
    answers = files.read_parquet(output["file"])
    if "answer" not in answers:
        # Of a continuation every token is listed beside others that were possible.
        chosen = answers[answers.chosen].sort_values(["text_id", "step"])
        answers = chosen.groupby("text_id").token.agg("".join).rename("answer").reset_index()
    wrote = answers.merge(prompts, on="text_id")
    steps = [name for name in ("chain_thought", "chain", "answer_thought") if name in wrote]
    wrote = {row["instance_id"]: row for row in wrote.to_dict("records")}
    rows, prompts = {}, []
    for row, name, text in zip(frame["_row"], frame.instance_id, frame.text, strict=True):
        if name in wrote:
            one = wrote[name]
            thoughts = [one[step] for step in steps if isinstance(one[step], str)]
            rows[row] = [len(prompts), one["answer"], "\n\n".join(thoughts)]
            prompts.append(_without(one["text"], text))
    asked = encode_column(prompts)
    found = {row: [asked["codes"][n], *rest] for row, (n, *rest) in rows.items()}
    return {"prompts": asked["values"], "answers": found} if rows else {}


OUTPUTS = {"scores": _scores, "clusters": _clusters, "answers": _answers}


def _without(prompt: str, text: str) -> str:
    """Return a prompt with places for an instance's text, or for what stands before and after its slot.

    Prompts then differ in little, and equal ones are held once.
    """
    for place, part in (("{text}", text), *zip(("{before}", "{after}"), text.split(SLOT), strict=False)):
        if len(part) > 4:
            prompt = prompt.replace(part, place, 1)
    return prompt


def mark_spans(entry: dict, row: dict) -> list[list[int]]:
    """Return start, end and number (among the study's marks) of what is marked in a text."""
    spans = []
    if "n_distractors" in row:
        ends = [match.start() for match in _SENTENCE_END.finditer(row["text"])]
        count = int(row["n_distractors"])
        spans.append([0, ends[0], 0])
        spans += [[ends[0] + 1, ends[count], 1]] if count else []
    for number, name in enumerate(entry["marks"], 2):
        offset = row[f"{name}_offset"]
        if not pd.isna(offset):
            spans.append([int(offset), int(offset) + len(row[name]), number])
    return spans


def template_lines(path: str, frame: pd.DataFrame, folder: dict[str, str]) -> list[dict[str, Any]]:
    """Return of each template file which lines the instances were made from."""
    found = []
    for column, name in (files.parquet_metadata(path).get("origins") or {}).items():
        lines = [", ".join(map(cell_text, rows)) for rows in frame[column].map(lambda v: v if np.ndim(v) else [v])]
        if name.startswith("{"):
            owners = frame[name[1:-1]]
            lines = [f"{folder.get(owner, owner)}:{row}" for owner, row in zip(owners, lines, strict=True)]
        kept = [None if line in ("", NO_VALUE) else line for line in lines]
        found.append({"file": "" if name.startswith("{") else folder.get(name, name)} | encode_column(kept))
    return found
