"""What the page of the explorer holds: instances, what every model made of them, and where their sentences come from.

A study says what is shown (:class:`scripts.core.workflow.studies.ExplorerView`). Everything here returns plain values
for JSON. A column whose values repeat is ``{"values": [...], "codes": [...]}``; what a reader decided is, for each
instance, ``2 * level + right``, or -1 where it decided nothing; shares and values are in thousandths.

Texts come from sets of this project's own templates alone. Of any other set only counts are returned: rows that agree
in all factors and decisions become one row with their number.
"""

import base64
import hashlib
import itertools
import json
import math
import re
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.data.options import SLOT
from scripts.core.errors import UserError
from scripts.core.paper import plotting

LIMIT = 1_450_000
"""Bytes of a page's packed data at most; a larger run shows a sample. Snakemake's HTML report opens a page as the
address of a frame, in base64, which browsers take up to 2 MiB."""
MOST = 20_000
"""Instances of a set at most, before the data is measured."""
NO_VALUE = "none"
"""A factor without a value, or no preference."""
INTRODUCTION, DISTRACTORS = "introduction", "sentences about somebody else"
WITHHELD_NOTE = (
    "Counts only: the sentences of this set are not this project's own. Official templates and released passages are "
    "kept out of this page, so that they do not end up in training data and are not passed on without their licence."
)
_MISSING = -9999
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


def page(studies: dict, folders: dict, canary: str, limit: int = LIMIT) -> dict:
    """Return all data of the page, sampled if it would be too large.

    Args:
        studies: Name to ``label``, ``question`` and the fields of :class:`~scripts.core.workflow.studies.ExplorerView`.
        folders: Of each study, names of its template files to their paths.
        canary: What keeps the texts out of training corpora.
        limit: Bytes at most.
    """
    share = 1.0
    while True:
        shown = [_study(name, entry, folders.get(name, {}), share) for name, entry in studies.items()]
        data = {"canary": canary, "withheld": WITHHELD_NOTE, "studies": [one for one in shown if one["sets"]]}
        size = len(pack_data(data).encode())
        if size <= limit or share < 1e-4:
            return data
        share *= 0.9 * limit / size


def pack_data(data: dict) -> str:
    """Return data as the page holds it: JSON with the canary, and all else packed (raw deflate, base64).

    Nothing in it can end the HTML element that holds it.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode()
    return json.dumps({"canary": data["canary"], "packed": packed}).replace("<", "\\u003c")


def read(page: str) -> dict:
    """Return the data that a written page holds."""
    held = page.split('id="data">')[1].split("</script>")[0]
    return json.loads(zlib.decompress(base64.b64decode(json.loads(held)["packed"]), -zlib.MAX_WBITS))


def _study(name: str, entry: dict[str, Any], folder: dict[str, str], share: float) -> dict[str, Any]:
    sets = [one for one in (_set(entry, **one, folder=folder, share=share) for one in entry["sets"]) if one]
    met = dict.fromkeys(level for one in sets for reader in one["readers"] for level, _ in reader["decided"])
    met.pop(None, None)
    levels = [level for level in entry["levels"] if level in met]
    levels += [level for level in met if level not in levels]
    for one in sets:
        for reader in one["readers"]:
            reader["decided"] = [
                -1 if level is None else 2 * levels.index(level) + bool(right) for level, right in reader["decided"]
            ]
        if not one["own"]:
            _count(one)
    return {
        "name": name,
        **{key: entry[key] for key in ("label", "question", "words", "quantity", "unit")},
        "mean": bool(entry["value"]),
        "levels": _colours(levels, entry["levels"]),
        "marks": [INTRODUCTION, DISTRACTORS, *entry["marks"].values()],
        "sets": sets,
    }


def _colours(levels: Iterable[str], pronouns: dict[str, str]) -> list[dict[str, str]]:
    """Return name, colour and ink of each level: the colour is that of a pronoun set, or one that none has."""
    own = plotting.pronoun_colours(dict.fromkeys(filter(None, pronouns.values())))
    others = itertools.cycle(plotting.CATEGORIES)
    found = []
    for level in levels:
        # Two sets may share a form.
        pronoun = pronouns.get(level.split("/")[0])
        colour = own[pronoun] if pronoun else "#D9D9D9" if pronoun is None else next(others)
        found.append({"name": level, "colour": colour, "ink": plotting.text_colour(colour)})
    return found


def _set(
    entry: dict[str, Any],
    label: str,
    instances: str,
    own: bool,
    decided: list[dict[str, Any]],
    folder: dict[str, str],
    share: float,
) -> dict[str, Any] | None:
    """Return one set of instances with its readers; None if nobody decided anything."""
    frame, total = _instances(entry, instances, own, decided, share)
    if frame.empty:
        return None
    readers = {}
    for table in decided:
        for name, reader in _readers(entry, table, frame, own):
            if name in readers:
                raise ValueError(f"{table['table']}: the explorer has a reader '{name}' already")
            readers[name] = reader
    gold = pd.Series(_named(frame, entry["gold"]))
    if entry["order"]:
        ranked = gold[frame.sort_values(entry["order"], kind="stable").index]
    else:
        ranked = [*(level for level in entry["levels"] if level in set(gold)), *sorted(set(gold))]
    factors = entry["factors"] | (entry["own_factors"] if own else {})
    found = {
        "label": label,
        "own": own,
        "total": total,
        "count": len(frame),
        "gold": encode_column(gold, ranked),
        "units": encode_column(frame[entry["unit"][0]])["codes"],
        "factors": [
            {"name": name, "label": words} | encode_column(map(_text, frame[name]), _sorted(frame[name]))
            for name, words in factors.items()
            if name in frame and frame[name].nunique(dropna=False) > 1
        ],
        "readers": list(readers.values()),
    }
    if own:
        found |= {
            "ids": list(frame[entry["identifier"]]),
            "texts": list(frame["text"]),
            "spans": [_spans(entry, row) for row in frame.to_dict("records")],
            "lines": _lines(instances, frame, folder),
        }
    return found


def _instances(
    entry: dict[str, Any], path: str, own: bool, decided: list[dict[str, Any]], share: float
) -> tuple[pd.DataFrame, int]:
    """Return the instances that somebody decided, or a sample of them, and how many there are."""
    gold = [entry["gold"]] if isinstance(entry["gold"], str) else list(entry["gold"])
    columns = [entry["identifier"], *entry["key"], entry["unit"][0], *gold, *entry["factors"], *entry["order"]]
    if own:
        origins = files.parquet_metadata(path).get("origins", {})
        columns += ["text", "options", str(entry["options"]), entry["distractors"], *entry["own_factors"], *origins]
        columns += [name[1:-1] for name in origins.values() if name.startswith("{")]
        columns += [name for mark in entry["marks"] for name in (mark, f"{mark}_offset")]
        columns += [table["scored"][1] for table in decided if table["scored"]]
    frame = _read(path, columns)
    keys = [name for name in entry["key"] if name in frame]
    frame = frame.dropna(subset=[name for name in gold if name in frame]).drop_duplicates(keys)
    made = pd.concat([_read(table["table"], keys, table["where"]).drop_duplicates() for table in decided])
    frame = frame.merge(made.drop_duplicates(), on=list(made))
    total = len(frame)
    share = min(share, MOST / max(total, 1))
    if share < 1:
        # Units stay whole: what is alike is drawn together, by a digest, so that a sample is the same everywhere.
        unit = frame[entry["unit"][0]].astype(str)
        drawn = sorted(set(unit), key=lambda name: hashlib.sha256(name.encode()).digest())
        frame = frame[unit.isin(drawn[: max(1, math.floor(share * len(drawn)))])]
    frame = frame.reset_index(drop=True)
    return frame.assign(_row=np.arange(len(frame))), total


def _read(path: str, columns: Iterable[str], where: dict[str, Any] | None = None) -> pd.DataFrame:
    """Return those of some columns that a table has, in the rows with certain values."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    known = set(pq.read_schema(path).names)
    wanted = None
    for name, values in (where or {}).items():
        if name in known:
            same = pc.field(name).isin(values if isinstance(values, list) else [values])
            wanted = same if wanted is None else wanted & same
    kept = [name for name in dict.fromkeys(columns) if name in known]
    return pq.read_table(path, columns=kept, filters=wanted).to_pandas()


def _readers(
    entry: dict[str, Any], table: dict[str, Any], frame: pd.DataFrame, own: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each reader of a table and what it decided about the instances."""
    picked, options = table["picked"], table["options"]
    columns = [*entry["key"], *table["reader"], *picked, *options, table["right"]]
    identifier = entry["identifier"]
    where = table["where"] | ({identifier: list(frame[identifier].unique())} if identifier in frame else {})
    made = _read(table["table"], columns, where)
    keys = [name for name in entry["key"] if name in frame and name in made]
    made = made.merge(frame[[*keys, "_row"]], on=keys)
    named = [name for name in table["reader"] if name in made]
    for values, part in made.groupby(named, sort=False, dropna=False):
        values = dict(zip(named, values, strict=True))
        name = _reader_name(table["reader"], values)
        known = [label for label in entry["models"] if f"{name},".startswith(f"{label},")]
        facts = entry["models"][max(known, key=len)] if known else None
        # A colour depends on no architecture, and lines have none for coreference systems.
        look = plotting.model_style(facts | {"architecture": "encoder"}) if facts else {"color": plotting.GREY}
        reader = {"name": name, "colour": look["color"]}
        decided = dict.fromkeys(range(len(frame)), (None, False))
        if picked:
            if part["_row"].duplicated().any():
                raise ValueError(f"{table['table']}: {name} decides an instance more than once")
            right = part[table["right"]].isin([True, "right"])
            decided |= dict(zip(part["_row"], zip(_named(part, picked), right, strict=True), strict=True))
        else:
            wide = part.pivot(index="_row", columns=options[0], values=options[1]).fillna(0)
            wide = wide[[level for level in entry["levels"] if level in wide]]
            best = wide.idxmax(axis=1).where(wide.max(axis=1) > 0, NO_VALUE)
            decided |= {row: (level, False) for row, level in best.items()}
            value: Any = sum(weight * wide[level] for level, weight in entry["value"].items() if level in wide)
            reader["value"] = _spread(frame, wide.index, [_thousandths(one) for one in value])
            if own:
                reader |= _shares(frame, wide.index, [tuple(wide)] * len(wide), [tuple(wide)] * len(wide), wide)
        reader["decided"] = list(decided.values())
        for kind, read in (("scores", _scores), ("clusters", _clusters), ("answers", _answers)) if own else ():
            for output in table[kind]:
                if all(values[name] == value for name, value in output.items() if name in values):
                    reader |= read(entry, table, frame, output, values)
        yield name, reader


def _reader_name(reader: dict[str, str | dict[str, str]], values: dict[str, Any]) -> str:
    """Return what a reader is called.

    Examples:
        >>> _reader_name({"model": {"m": "M"}, "prompt": "prompt {}", "order": {"as": ""}},
        ...     {"model": "m", "prompt": "3", "order": "as"})
        'M, prompt 3'
    """
    words = []
    for name, called in reader.items():
        value = "" if pd.isna(values.get(name, "")) else str(values.get(name, ""))
        words.append(called.get(value, value) if isinstance(called, dict) else value and called.format(value))
    return ", ".join(filter(None, words))


def _named(frame: pd.DataFrame, columns: str | Sequence[str] | dict[str, str]) -> list[str]:
    """Return a name for each row: that of a column, of the first that is not missing, or those of the true ones."""
    if isinstance(columns, dict):
        flags = [frame[name].fillna(False).astype(bool) for name in columns]
        names = list(columns.values())
        rows = zip(*flags, strict=True)
        return [" and ".join(n for n, flag in zip(names, row, strict=True) if flag) or NO_VALUE for row in rows]
    columns = [columns] if isinstance(columns, str) else list(columns)
    return [_text(value) for value in frame[columns].astype(object).bfill(axis=1).iloc[:, 0]]


def _scores(
    entry: dict[str, Any], table: dict[str, Any], frame: pd.DataFrame, output: dict[str, Any], _: dict[str, Any]
) -> dict[str, Any]:
    """Return what the options of each instance were, and their probabilities among each other."""
    identifier = entry["identifier"]
    asked = frame
    if table["scored"]:
        path, on = table["scored"]
        asked = files.read_parquet(path, [identifier, "options", on]).merge(frame[[on, "_row"]], on=on)
    column = output.get("column", "log_probability")
    scores = files.read_parquet(output["file"], [identifier, "option_index", column])
    scores = scores.merge(asked[[identifier, "_row"]], on=identifier)
    wide = scores.pivot(index="_row", columns="option_index", values=column)
    wide = np.exp(wide.sub(wide.max(axis=1), axis=0))
    options = [tuple(row) for row in asked.set_index("_row").options[wide.index]]  # pyright: ignore[reportAttributeAccessIssue]: exp keeps a DataFrame
    listed = entry["options"]
    stand = (
        [tuple(row) for row in frame[listed][wide.index]] if isinstance(listed, str) else [tuple(listed)] * len(wide)  # pyright: ignore[reportAttributeAccessIssue]
    )
    return _shares(frame, wide.index, options, stand, wide.div(wide.sum(axis=1), axis=0))  # pyright: ignore[reportAttributeAccessIssue]


def _shares(
    frame: pd.DataFrame, rows: pd.Index, options: Sequence[tuple], stand: Sequence[tuple], wide: pd.DataFrame
) -> dict[str, Any]:
    shares = [[_thousandths(one) for one in row if not math.isnan(one)] for row in wide.to_numpy().tolist()]
    return {
        "options": encode_column(_spread(frame, rows, options)),
        "stand": encode_column(_spread(frame, rows, stand)),
        "shares": _spread(frame, rows, shares),
    }


def _clusters(
    entry: dict[str, Any], _: dict[str, Any], frame: pd.DataFrame, output: dict[str, Any], __: dict[str, Any]
) -> dict[str, Any]:
    """Return the mentions of each instance's clusters that have several, as ranges of characters."""
    texts = dict(zip(frame[entry["identifier"]], frame.text, strict=True))
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
    return {"clusters": encode_column([found.get(name) for name in frame[entry["identifier"]]])}


def _answers(
    entry: dict[str, Any], table: dict[str, Any], frame: pd.DataFrame, output: dict[str, Any], values: dict[str, Any]
) -> dict[str, Any]:
    """Return what a model was asked and what it wrote, with its thoughts before."""
    identifier = entry["identifier"]
    told = {name: value for name, value in values.items() if name not in output}
    prompts = _read(table["prompts"], ["text_id", identifier, "text", *told], told)
    answers = files.read_parquet(output["file"])
    if "answer" not in answers:
        # Of a continuation every token is listed beside others that were possible.
        chosen = answers[answers.chosen].sort_values(["text_id", "step"])
        answers = chosen.groupby("text_id").token.agg("".join).rename("answer").reset_index()
    wrote = answers.merge(prompts, on="text_id")
    steps = [name for name in ("chain_thought", "chain", "answer_thought") if name in wrote]
    wrote = {row[identifier]: row for row in wrote.to_dict("records")}
    rows, prompts = {}, []
    for row, name, text in zip(frame["_row"], frame[identifier], frame.text, strict=True):
        if name in wrote:
            one = wrote[name]
            thoughts = [one[step] for step in steps if isinstance(one[step], str)]
            rows[row] = [len(prompts), one["answer"], "\n\n".join(thoughts)]
            prompts.append(_without(one["text"], text))
    asked = encode_column(prompts)
    return {
        "prompts": asked["values"],
        "answers": {row: [asked["codes"][n], *rest] for row, (n, *rest) in rows.items()},
    }


def _without(prompt: str, text: str) -> str:
    """Return a prompt with places for an instance's text, or for what stands before and after its slot.

    Prompts then differ in little, and equal ones are held once.
    """
    for place, part in (("{text}", text), *zip(("{before}", "{after}"), text.split(SLOT), strict=False)):
        if len(part) > 4:
            prompt = prompt.replace(part, place, 1)
    return prompt


def _spans(entry: dict[str, Any], row: dict[Hashable, Any]) -> list[list[int]]:
    """Return start, end and number (among the study's marks) of what is marked in a text."""
    spans = []
    if entry["distractors"]:
        ends = [match.start() for match in _SENTENCE_END.finditer(row["text"])]
        count = int(row[entry["distractors"]])
        spans.append([0, ends[0], 0])
        spans += [[ends[0] + 1, ends[count], 1]] if count else []
    for number, name in enumerate(entry["marks"], 2):
        offset = row[f"{name}_offset"]
        if not pd.isna(offset):
            spans.append([int(offset), int(offset) + len(row[name]), number])
    return spans


def _lines(path: str, frame: pd.DataFrame, folder: dict[str, str]) -> list[dict[str, Any]]:
    """Return of each template file which lines the instances were made from."""
    found = []
    for column, name in (files.parquet_metadata(path).get("origins") or {}).items():
        lines = [", ".join(map(_text, rows)) for rows in frame[column].map(lambda v: v if np.ndim(v) else [v])]
        if name.startswith("{"):
            owners = frame[name[1:-1]]
            lines = [f"{folder.get(owner, owner)}:{row}" for owner, row in zip(owners, lines, strict=True)]
        kept = [None if line in ("", NO_VALUE) else line for line in lines]
        found.append({"file": "" if name.startswith("{") else folder.get(name, name)} | encode_column(kept))
    return found


def _count(one: dict[str, Any]) -> None:
    """Turn a set's rows into counts: one row for all that agree in everything."""
    columns = {"gold": one["gold"]["codes"], "units": one["units"]}
    columns |= {f"factor {n}": factor["codes"] for n, factor in enumerate(one["factors"])}
    for n, reader in enumerate(one["readers"]):
        columns |= {f"{key} {n}": reader[key] for key in ("decided", "value") if key in reader}
    frame = pd.DataFrame(columns).fillna(_MISSING).astype(int)
    counts = frame.groupby(list(frame)).size().rename("weight").reset_index()
    one |= {"weights": counts.weight.tolist(), "units": counts.units.tolist()}
    one["gold"]["codes"] = counts.gold.tolist()
    for n, factor in enumerate(one["factors"]):
        factor["codes"] = counts[f"factor {n}"].tolist()
    for n, reader in enumerate(one["readers"]):
        reader |= {
            key: [None if one == _MISSING else one for one in counts[f"{key} {n}"].tolist()]
            for key in ("decided", "value")
            if key in reader
        }


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


def _sorted(column: pd.Series) -> Iterator[str]:
    return map(_text, sorted(column.dropna().unique()))


def _spread(frame: pd.DataFrame, rows: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """Return a value for each row of a frame, None where there is none."""
    found = dict(zip(rows, values, strict=True))
    return [found.get(row) for row in range(len(frame))]


def _thousandths(value: float) -> int:
    return round(1000 * value)


def _text(value: Any) -> str:
    """Return a cell as a reader writes it."""
    if value is None or value is pd.NA or value != value or value == "":
        return NO_VALUE
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
