"""What the page of the explorer holds: instances, what every model made of them, and where their sentences come from.

Tables of predictions have a row per instance and reader (a model, system or rule, asked in some way). They share the
columns :data:`KEYS`, :data:`READERS`, :data:`PREDICTED` and :data:`RIGHT`; what else the page shows of a study is its
:class:`scripts.core.workflow.studies.ExplorerView`. Everything here returns plain values for JSON. A prediction is
``2 * level + right``, or -1 without one; values are in thousandths. Texts come from this project's own templates alone.
Of any other set the page has counts: rows that agree in all factors and predictions become one row with their number.
"""

import base64
import hashlib
import itertools
import json
import math
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.errors import UserError
from scripts.core.paper import explorer_outputs, plotting
from scripts.core.paper.explorer_outputs import NO_VALUE, cell_text, encode_column, read_rows, spread

LIMIT = 1_450_000
"""Bytes of a page's packed data at most; a larger run shows a sample. Snakemake's HTML report opens a page as the
address of a frame, in base64, which browsers take up to 2 MiB."""
MOST = 20_000
"""Instances of a set at most, before the data is measured."""
KEYS = ("instance_id", "seed", "n_distractors", "shots", "draw", "evaluation_set", "templates", "item",
        "variable", "value")  # fmt: skip
"""Columns by which predictions belong to instances, where both have them."""
AS_PUBLISHED = dict.fromkeys(("other_mention", "carried_over", "published"), "as published")
READERS = {
    "model": {}, "system": {}, "method": {"vanilla": "prompted"}, "debiasing": {},
    "scoring": {"clusters": "", "released": "", "clusters_faithful": "spans, faithful"},
    "conversion": {"corrected": "", **AS_PUBLISHED}, "prompt": {}, "kind": {}, "variant": {},
    "order": {"published": ""},
}  # fmt: skip
"""Columns that tell readers apart, to what their values are called, if not by themselves."""
UNSAID = ("", "none", "mask")
"""Values of these columns that are not part of a reader's name."""
PREDICTED, RIGHT = ("prediction", "picked_group", "named", "outcome"), ("correct", "right", "outcome")
"""Columns of predictions, of which the first with a value counts, and of whether they are right."""
INTRODUCTION, DISTRACTORS = "introduction", "sentences about somebody else"
WITHHELD_NOTE = (
    "Counts only: the sentences of this set are not this project's own. Official templates and released passages are "
    "kept out of this page, so that they do not end up in training data and are not passed on without their licence."
)
_MISSING = -9999


def page(studies: dict, folders: dict, models: dict, canary: str, limit: int = LIMIT) -> dict:
    """Return all data of the page, sampled if it would be too large.

    Args:
        studies: Name to ``label``, ``question`` and the fields of :class:`~scripts.core.workflow.studies.ExplorerView`.
        folders: Of each study, names of its template files to their paths.
        models: Names of models and systems to what figures know of them.
        canary: What keeps the texts out of training corpora.
        limit: Bytes at most.
    """
    share = 1.0
    while True:
        shown = [_study(name, entry, folders.get(name, {}), models, share) for name, entry in studies.items()]
        data = {"canary": canary, "withheld": WITHHELD_NOTE, "studies": [one for one in shown if one["sets"]]}
        size = len(pack_data(data).encode())
        if size <= limit or share < 1e-4:
            return data
        share *= 0.9 * limit / size


def pack_data(data: dict) -> str:
    """Return data as the page holds it: JSON with the canary, and all else packed (raw deflate, base64).

    This is the only way of text into the page. Nothing in it can end the HTML element that holds it.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode()
    return json.dumps({"canary": data["canary"], "packed": packed}).replace("<", "\\u003c")


def read(page: str) -> dict:
    """Return the data that a written page holds."""
    held = page.split('id="data">')[1].split("</script>")[0]
    return json.loads(zlib.decompress(base64.b64decode(json.loads(held)["packed"]), -zlib.MAX_WBITS))


def _study(name: str, entry: dict, folder: dict[str, str], models: dict, share: float) -> dict[str, Any]:
    entry = entry | {"models": models, "labels": {name: facts["label"] for name, facts in models.items()}}
    sets = [_set(entry, label, *paths, folder=folder, share=share) for label, paths in entry["sets"].items()]
    sets = [one for one in sets if one]
    met = dict.fromkeys(level for one in sets for reader in one["readers"] for level, _ in reader["decided"])
    met.pop(None, None)
    levels = list(dict.fromkeys([*(level for level in entry["levels"] if level in met), *met]))
    for one in sets:
        for reader in one["readers"]:
            reader["decided"] = [
                -1 if level is None else 2 * levels.index(level) + bool(right) for level, right in reader["decided"]
            ]
        _put_headline_first(one["readers"], entry["headline"])
        if not one["own"]:
            _count(one)
    return {
        "name": name,
        **{key: entry[key] for key in ("label", "question", "words", "quantity", "unit")},
        "mean": bool(entry["weights"]),
        "levels": _colours(levels, entry["levels"]),
        "marks": [INTRODUCTION, DISTRACTORS, *entry["marks"].values()],
        "sets": sets,
    }


def _put_headline_first(readers: list[dict[str, Any]], headline: list[str]) -> None:
    """Let the page open with the headline's model and the next reader that predicted the same instances."""
    named = [reader for name in headline for reader in readers if reader["name"] == name]
    if named:
        readers.sort(key=lambda reader: reader is not named[0])
    if readers:
        rows = [code >= 0 for code in readers[0]["decided"]]
        same = [one for one in readers[1:] if [code >= 0 for code in one["decided"]] == rows]
        readers[1:] = sorted(readers[1:], key=lambda reader: not same or reader is not same[0])


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
    entry: dict, label: str, instances: str, *tables: str, folder: dict[str, str], share: float
) -> dict[str, Any] | None:
    """Return one set of instances with its readers; None without predictions."""
    own = bool({*entry["own"]} & {*Path(instances).with_suffix("").parts})
    frame, total = _instances(entry, instances, own, tables, share)
    if frame.empty:
        return None
    readers = [reader for table in tables for reader in _readers(entry, table, frame, own)]
    names = [reader["name"] for reader in readers]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"{instances}: two readers are called '{twice[0]}'; give the models different labels")
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
            {"name": name, "label": words}
            | encode_column(map(cell_text, frame[name]), map(cell_text, sorted(frame[name].dropna().unique())))
            for name, words in factors.items()
            if name in frame and frame[name].nunique(dropna=False) > 1
        ],
        "readers": readers,
    }
    if own:
        found |= {
            "ids": list(frame.instance_id),
            "texts": list(frame["text"]),
            "spans": [explorer_outputs.mark_spans(entry, row) for row in frame.to_dict("records")],
            "lines": explorer_outputs.template_lines(instances, frame, folder),
        }
    return found


def _instances(entry: dict, path: str, own: bool, tables: Iterable[str], share: float) -> tuple[pd.DataFrame, int]:
    """Return the instances that somebody predicted, or a sample of them, and how many there are."""
    unit = entry["unit"][0]
    gold = [entry["gold"]] if isinstance(entry["gold"], str) else list(entry["gold"])
    # Of sets whose texts are withheld they are not even read.
    frame = read_rows(path, None if own else [*KEYS, unit, *gold, *entry["factors"], *entry["order"]])
    keys = [name for name in KEYS if name in frame]
    frame = frame.dropna(subset=[name for name in gold if name in frame]).drop_duplicates(keys)
    made = pd.concat([read_rows(table, keys, entry["where"]).drop_duplicates() for table in tables])
    frame = frame.merge(made.drop_duplicates(), on=list(made))
    total = len(frame)
    share = min(share, MOST / max(total, 1))
    if share < 1:
        # Units stay whole: what is alike is drawn together, by a digest, so that a sample is the same everywhere.
        units = frame[unit].astype(str)
        drawn = sorted(set(units), key=lambda name: hashlib.sha256(name.encode()).digest())
        frame = frame[units.isin(drawn[: max(1, math.floor(share * len(drawn)))])]
    return frame.reset_index(drop=True).assign(_row=np.arange(len(frame))), total


def _readers(entry: dict, path: str, frame: pd.DataFrame, own: bool) -> list[dict[str, Any]]:
    """Return each reader of a table and what it predicted about the instances."""
    known = {"instance_id": list(frame.instance_id.unique())} if "instance_id" in frame else {}
    made = read_rows(path, None, entry["where"] | known)
    made = made.merge(frame[[*(name for name in KEYS if name in frame and name in made), "_row"]])
    named = [name for name in READERS if name in made]
    readers = []
    groups: Any = made.groupby(named, sort=False, dropna=False)
    for values, part in groups:
        values = {name: "" if pd.isna(value) else value for name, value in zip(named, values, strict=True)}
        name = _reader_name(values, entry["labels"])
        reader: dict[str, Any] = {"name": name, "colour": _reader_colour(name, entry["models"])}
        decided = dict.fromkeys(range(len(frame)), (None, False))
        if entry["weights"]:
            wide = part.pivot(index="_row", columns="gender", values="probability").fillna(0)
            wide = wide[[level for level in entry["levels"] if level in wide]]
            best = wide.idxmax(axis=1).where(wide.max(axis=1) > 0, NO_VALUE)
            decided |= {row: (level, False) for row, level in best.items()}
            value: Any = sum(weight * wide[level] for level, weight in entry["weights"].items() if level in wide)
            reader["value"] = spread(frame, wide.index, [round(1000 * one) for one in value])
            if own:
                reader |= explorer_outputs.list_shares(
                    frame, wide.index, [tuple(wide)] * len(wide), [tuple(wide)] * len(wide), wide
                )
        else:
            if part["_row"].duplicated().any():
                raise ValueError(f"{path}: {name} decides an instance more than once")
            predicted = _named(part, entry["predicted"] or [name for name in PREDICTED if name in part])
            right = part[next(name for name in RIGHT if name in part)].isin([True, "right"])
            decided |= dict(zip(part["_row"], zip(predicted, right, strict=True), strict=True))
        reader["decided"] = list(decided.values())
        for output in entry["outputs"] if own else ():
            if all(value in np.atleast_1d(output[key]) for key, value in values.items() if key in output):
                reader |= explorer_outputs.OUTPUTS[output["room"]](entry, frame, output, values)
        readers.append(reader)
    return readers


def _reader_name(values: dict[str, Any], labels: dict[str, str]) -> str:
    """Return what a reader is called.

    Examples:
        >>> _reader_name({"model": "m", "prompt": "3", "order": "published"}, {"m": "M"})
        'M, prompt 3'
    """
    words = []
    for name, called in READERS.items():
        value = str(values.get(name, ""))
        if value not in UNSAID:
            words.append(f"prompt {value}" if name == "prompt" else {**called, **labels}.get(value, value))
    return ", ".join(filter(None, words))


def _reader_colour(name: str, models: dict[str, dict]) -> str:
    labels = {", ".join([facts["label"], *_debiasing(facts)]): facts for facts in models.values()}
    known = [label for label in labels if f"{name},".startswith(f"{label},")]
    # A colour depends on no architecture, and lines have none for coreference systems.
    looks = [plotting.model_style(labels[label] | {"architecture": "encoder"}) for label in sorted(known, key=len)]
    return looks[-1]["color"] if looks else plotting.GREY


def _debiasing(facts: dict[str, Any]) -> list[str]:
    return [facts["debiasing"]] if facts.get("debiasing", "none") != "none" else []


def _named(frame: pd.DataFrame, columns: str | Sequence[str] | dict[str, str]) -> list[str]:
    """Return a name for each row: that of a column, of the first that is not missing, or those of the true ones."""
    if isinstance(columns, dict):
        flags = [frame[name].fillna(False).astype(bool) for name in columns]
        names = list(columns.values())
        rows = zip(*flags, strict=True)
        return [" and ".join(n for n, flag in zip(names, row, strict=True) if flag) or NO_VALUE for row in rows]
    columns = [columns] if isinstance(columns, str) else list(columns)
    return [cell_text(value) for value in frame[columns].astype(object).bfill(axis=1).iloc[:, 0]]


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
        for key in ("decided", "value"):
            if key in reader:
                reader[key] = [None if code == _MISSING else code for code in counts[f"{key} {n}"].tolist()]
