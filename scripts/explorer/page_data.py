"""What the page of the explorer holds: instances, what every model made of them, and where their sentences come from.

Tables of predictions have a row per instance and reader (a model, system or rule, asked in some way). They share the
columns :data:`KEYS`, :data:`READERS`, :data:`PREDICTED` and :data:`RIGHT`; what else the page shows of a study is its
:class:`scripts.core.workflow.studies.ExplorerView`. Everything here returns plain values for JSON. A prediction is
``2 * level + right``, or -1 without one; values are in thousandths. Texts, words and identifiers come from this
project's own templates alone; of any other set the page has factors and predictions.
"""

import base64
import hashlib
import itertools
import json
import math
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.errors import UserError
from scripts.core.paper import palette, plotting
from scripts.explorer import outputs
from scripts.explorer.outputs import NO_VALUE, cell_text, encode_column, read_rows

LIMIT = 1_450_000
"""Bytes of a page's packed data at most; a larger run shows a sample. Snakemake's HTML report opens a page as the
address of a frame, in base64, which browsers take up to 2 MiB."""
MOST = 20_000
"""Instances of a set at most, before the data is measured."""
KEYS = ("instance_id", "declaration", "seed", "n_distractors", "shots", "draw", "evaluation_set", "templates", "item",
        "variable", "value")  # fmt: skip
"""Columns by which predictions belong to instances, where both have them."""
READERS = ("model", "system", "method", "debiasing", "scoring", "reading", "prompt", "kind", "variant")
"""Columns that tell readers apart, in the order of a reader's name."""
UNSAID = ("", "none", "mask")
"""Values of these columns that are not part of a reader's name."""
PREDICTED, RIGHT = ("prediction", "picked_group", "named", "outcome"), ("correct", "right", "outcome")
"""Columns of predictions, of which the first with a value counts, and of whether they are right."""
FACTORS = {
    "coreferent": "the pronoun means the",
    "distractor_pronoun": "the other person's pronoun",
    "n_distractors": outputs.DISTRACTORS,
    "name_class": "name",
    "role": "passage of the quadruple",
    "seed": "sample",
    "variable": "date or place",
    "well_specified": "says whose pronoun it is",
}
"""Columns to filter by, to their labels, where those differ from their names."""
WORDS = ("occupation", "life_stage")
"""Factors with words of sentences, which are shown where the sentences are."""


def make_page_data(studies: dict, models: dict, limit: int = LIMIT) -> dict:
    """Return all data of the page, sampled if it would be too large.

    Args:
        studies: Name to the fields of :class:`~scripts.core.workflow.studies.ExplorerView`, ``label``, ``question``,
            ``shown`` (labels of sets whose texts may be shown), ``headline`` (what readers with the study's headline
            are called), ``outputs`` (:meth:`~scripts.core.workflow.studies.Study.explored_outputs`) and
            ``template_files``, by their names.
        models: Names of models and systems to what figures know of them.
        limit: Bytes at most.
    """
    share = 1.0
    while True:
        shown = [_study(name, entry, models, share) for name, entry in studies.items()]
        data = {"studies": [one for one in shown if one["sets"]]}
        size = len(pack_data(data, ""))
        if size <= limit or share < 1e-4:
            return data
        share *= 0.9 * limit / size


def pack_data(data: dict, canary: str) -> str:
    """Return data as the page holds it: JSON with the canary, and all else packed (raw deflate, base64).

    The canary keeps the texts out of training corpora. This is the only way of text into the page. Nothing in it can
    end the HTML element that holds it.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode()
    return json.dumps({"canary": canary, "packed": packed}).replace("<", "\\u003c")


def read_page_data(page: str) -> dict:
    """Return the data that a written page holds."""
    held = page.split('id="data">')[1].split("</script>")[0]
    return json.loads(zlib.decompress(base64.b64decode(json.loads(held)["packed"]), -zlib.MAX_WBITS))


def _study(name: str, entry: dict, models: dict, share: float) -> dict[str, Any]:
    entry = entry | {"models": models}
    # What is predicted, to its number on the page.
    levels = {level: number for number, level in enumerate(entry["levels"])}
    sets = [_set(entry, label, *paths, levels=levels, share=share) for label, paths in entry["sets"].items()]
    return {
        "name": name,
        **{key: entry[key] for key in ("label", "question", "words", "quantity", "unit")},
        "mean": bool(entry["weights"]),
        "levels": _colours(levels, entry["levels"]),
        "sets": [one for one in sets if one],
    }


def _colours(levels: Iterable[str], pronouns: dict[str, str]) -> list[dict[str, str]]:
    """Return name, colour and ink of each level: the colour is that of a pronoun set, or one that none has."""
    own = palette.pronoun_colours(dict.fromkeys(filter(None, pronouns.values())))
    others = itertools.cycle(palette.CATEGORIES)
    found = []
    for level in levels:
        # Two sets may share a form.
        pronoun = pronouns.get(level.split("/")[0])
        colour = own[pronoun] if pronoun else "#D9D9D9" if pronoun is None else next(others)
        found.append({"name": level, "colour": colour, "ink": palette.text_colour(colour)})
    return found


def _set(
    entry: dict, label: str, instances: str, *tables: str, levels: dict[str, int], share: float
) -> dict[str, Any] | None:
    """Return one set of instances with its readers; None without predictions."""
    own = label in entry["shown"]
    filters = [name for name in entry["factors"] if own or name not in WORDS]
    frame, total = _instances(entry, instances, None if own else filters, tables, share)
    if frame.empty:
        return None
    readers = [reader for table in tables for reader in _readers(entry, table, frame, own, levels)]
    names = [reader["name"] for reader in readers]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"{instances}: two readers are called '{twice[0]}'; give the models different labels")
    compared = _put_headline_first(readers, entry["headline"])
    factors = [
        {"name": name, "label": FACTORS.get(name, name.replace("_", " "))}
        | encode_column(map(cell_text, frame[name]), map(cell_text, sorted(frame[name].dropna().unique())))
        for name in filters
        if name in frame and frame[name].nunique(dropna=False) > 1
    ]
    found = {
        "label": label,
        "own": own,
        "total": total,
        "gold": encode_column(_named(frame, entry["gold"]), entry["levels"]),
        "units": encode_column(frame[entry["unit"][0]])["codes"],
        "factors": factors,
        "readers": readers,
        "compared": compared,
    }
    if not own:
        return found
    return found | {
        "ids": list(frame.instance_id),
        "texts": list(frame["text"]),
        "spans": [outputs.mark_spans(row, entry["called"]) for row in frame.to_dict("records")],
        "lines": outputs.template_lines(instances, frame, entry["template_files"]),
    }


def _put_headline_first(readers: list[dict[str, Any]], headline: list[str]) -> bool:
    """Let the page open with the headline's model and the next reader that predicted the same instances, if one did."""
    named = [reader for name in headline for reader in readers if reader["name"] == name]
    first = named[0] if named else readers[0]
    rows = [code >= 0 for code in first["decided"]]
    same = [r for r in readers if r is not first and [code >= 0 for code in r["decided"]] == rows]
    readers.sort(key=lambda reader: (reader is not first, reader not in same[:1]))
    return bool(same)


def _instances(
    entry: dict, path: str, filters: list[str] | None, tables: Iterable[str], share: float
) -> tuple[pd.DataFrame, int]:
    """Return the instances that somebody predicted, or a sample of them, and how many there are.

    Of a set whose texts are withheld only its ``filters`` are read, and what tells rows apart.
    """
    unit = entry["unit"][0]
    gold = [entry["gold"]] if isinstance(entry["gold"], str) else list(entry["gold"])
    frame = read_rows(path, None if filters is None else [*KEYS, unit, *gold, *filters], {})
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


def _readers(entry: dict, path: str, frame: pd.DataFrame, own: bool, levels: dict[str, int]) -> list[dict[str, Any]]:
    """Return each reader of a table and what it predicted about the instances; new levels are added to ``levels``."""
    known = {"instance_id": list(frame.instance_id.unique())} if "instance_id" in frame else {}
    made = read_rows(path, None, entry["where"] | known)
    made = made.merge(frame[[*(name for name in KEYS if name in frame and name in made), "_row"]])
    named = [name for name in READERS if name in made]
    readers = []
    groups: Any = made.groupby(named, sort=False, dropna=False)
    for values, part in groups:
        values = {name: "" if pd.isna(value) else str(value) for name, value in zip(named, values, strict=True)}
        name = _reader_name(values, entry)
        reader: dict[str, Any] = {"name": name, "colour": _reader_colour(name, entry["models"])}
        if entry["weights"]:
            wide = part.pivot(index="_row", columns="gender", values="probability").fillna(0)
            wide = wide[[level for level in entry["levels"] if level in wide]]
            rows, predicted = wide.index, wide.idxmax(axis=1).where(wide.max(axis=1) > 0, NO_VALUE)
            right = np.zeros(len(wide), int)
            value: Any = sum(weight * wide[level] for level, weight in entry["weights"].items() if level in wide)
            reader["value"] = (1000 * value).round().astype(int).reindex(range(len(frame)), fill_value=0).tolist()
            if own:
                options = [tuple(wide)] * len(wide)
                reader |= outputs.list_shares(frame, wide, options, options)
        else:
            rows, predicted = part["_row"], _named(part, entry["predicted"] or [c for c in PREDICTED if c in part])
            right = part[next(name for name in RIGHT if name in part)].isin([True, "right"])
            if rows.duplicated().any():
                raise ValueError(f"{path}: {name} decides an instance more than once")
        decided = np.full(len(frame), -1)
        decided[rows] = [2 * levels.setdefault(level, len(levels)) for level in predicted] + np.asarray(right, int)
        readers.append(reader | {"decided": decided.tolist()})
        if own:
            readers[-1] |= outputs.find_outputs(entry, frame, values)
    return readers


def _reader_name(values: dict[str, str], entry: dict[str, Any]) -> str:
    """Return what a reader is called.

    Examples:
        >>> said = {"models": {"m": {"label": "M"}}, "called": {"vanilla": ""}}
        >>> _reader_name({"model": "m", "method": "vanilla", "prompt": "3"}, said)
        'M, prompt 3'
    """
    called = {name: facts["label"] for name, facts in entry["models"].items()} | entry["called"]
    words = [
        f"prompt {value}" if name == "prompt" else called.get(value, value)
        for name, value in values.items()
        if value not in UNSAID
    ]
    return ", ".join(filter(None, words))


def _reader_colour(name: str, models: dict[str, dict]) -> str:
    # Longer labels come later: that of a debiased system begins with that of the system.
    looks = {}
    for facts in models.values():
        debiasing = facts.get("debiasing", "none")
        looks[facts["label"] if debiasing == "none" else f"{facts['label']}, {debiasing}"] = facts
    known = [label for label in sorted(looks, key=len) if f"{name},".startswith(f"{label},")]
    # A colour depends on no architecture, and lines have none for coreference systems.
    return palette.model_style(looks[known[-1]] | {"architecture": "encoder"})["color"] if known else plotting.GREY


def _named(frame: pd.DataFrame, columns: str | list[str] | dict[str, str]) -> list[str]:
    """Return a name for each row: that of a column, of the first that is not missing, or those of the true ones."""
    if isinstance(columns, dict):
        rows = zip(*(frame[name].fillna(False).astype(bool) for name in columns), strict=True)
        return [" and ".join(itertools.compress(columns.values(), flags)) or NO_VALUE for flags in rows]
    columns = [columns] if isinstance(columns, str) else columns
    return [cell_text(value) for value in frame[columns].astype(object).bfill(axis=1).iloc[:, 0]]
