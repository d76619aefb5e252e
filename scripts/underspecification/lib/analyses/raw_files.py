"""The authors' released probabilities, from their archives, in one tidy format.

The format is shared with a run's own models (:mod:`scripts.underspecification.masses`), one row for each sentence,
injected value and gender: ``release``, ``model``, ``prompt``, ``evaluation_set``, ``templates``, ``item``,
``occupation``, ``participant``, ``coreferent``, ``well_specified``, ``variable``, ``value``, ``position``, ``gender``,
``accumulation`` (``top``: the most probable tokens, as in the study; ``full``: the whole vocabulary), ``debris``,
``probability`` (a share). Besides, ``text_id`` is the text that the run's model read, or of a release the archive and
the file in it, with ``row``, the line there. On MGC the probability is the mass itself; on the other sets it is
divided by the mass of the three genders (0 where they have none), in the released files already.

Released files are named ``<f|m|n>p_wikibio_<model>_<date|place>_<sentence>_test<False|True>[_P<1|2|3>].csv``. Those
with ``testTrue`` are leftovers of trials, ``debris`` here: nothing but the authors' overwriting ever reads them.
"""

import csv
import io
import math
import re
from pathlib import Path

import pandas as pd

from scripts.core import archives, files
from scripts.core.errors import UserError
from scripts.core.options import SLOT
from scripts.underspecification.lib import sets, study

COLUMNS = (
    "release", "model", "prompt", "evaluation_set", "templates", "item", "occupation", "participant", "coreferent",
    "well_specified", "variable", "value", "position", "gender", "accumulation", "debris", "probability",
)  # fmt: skip
KINDS = dict.fromkeys(COLUMNS, "text") | {
    "well_specified": "truth",
    "position": "whole",
    "debris": "truth",
    "probability": "fraction",
}
GENDERS = {"f": "female", "m": "male", "n": "neutral"}
_NAME = re.compile(
    r"([fmn])p_wikibio_([\w.-]+?)_(date|place)_(\w*)_test(True|False)(?:_(P[123]))?\.csv",
)
ROUNDING = 0.001
"""Released probabilities of Method 2 are rounded to this share, a tenth of a percentage point."""
_MGC_BODY = re.compile(r"In [^,]+, (\S+) ([a-z ]+\.)")
# Probabilities are rounded to a tenth or a thousandth of a percent, so that sums of three can be off by as much.
_MOST = 100.5


def read(path, release, evaluation_set):
    """Return the probabilities of one archive.

    Parameters
    ----------
    path : str or Path
        A .tar.xz of one of the authors' folders of raw files.
    release : str
        Of :data:`scripts.underspecification.lib.study.RELEASES`.
    evaluation_set : str

    Returns
    -------
    DataFrame
        As the module says.

    Raises
    ------
    UserError
        Naming every bad file and row: names that cannot be read, models and sentences that are not known, headers,
        values that are no probability, sentences whose three genders are not all there or differ in their dates.
    """
    rows, problems = [], []
    try:
        for member, content in archives.tar_members(path):
            name = member.rpartition("/")[2]
            found, wrong = _file(name, content.decode("utf-8"), evaluation_set)
            rows += found
            problems += [f"{name}{problem}" for problem in wrong]
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: {name} is not UTF-8 text; delete it and fetch it again") from error
    problems += _incomplete(rows)
    if problems or not rows:
        listed = "; ".join(sorted(problems)[:20]) + ("; ..." if len(problems) > 20 else "")
        raise UserError(f"{path}: {listed or 'has no file'}; fetch it again")
    frame = pd.DataFrame(rows)
    frame = frame.assign(release=release, templates="official", accumulation="top")
    frame["text_id"] = f"{Path(path).name}:" + frame.text_id
    return frame[[*COLUMNS, "text_id", "row"]].sort_values(
        ["model", "prompt", "item", "variable", "debris", "gender", "position"], ignore_index=True, kind="stable"
    )


def read_tidy(paths):
    """Read summed probabilities in the format of this module, of one or several sources.

    Parameters
    ----------
    paths : sequence of str
        Parquet files.

    Returns
    -------
    DataFrame
        :data:`COLUMNS`.

    Raises
    ------
    UserError
        If a file cannot be read or has no row, a column is missing or of another type, a value is no probability, a row
        is there twice, or if the genders of a sentence are not there with the same dates or places.
    """
    return pd.concat([_read_tidy(path) for path in paths], ignore_index=True)


def _read_tidy(path):
    remedy = "delete the file and run the workflow again"
    with files.open_parquet(path, COLUMNS) as file:
        table = file.read(columns=list(COLUMNS))
    if not len(table):
        raise UserError(f"{path}: has no row; {remedy}")
    files.check_columns(table, KINDS, str(path))
    frame = table.to_pandas()

    def name(row):
        return f"model {row.model}, {row['item']}, {row.value}, {row.gender}"

    wrong = ~((frame.probability >= 0) & (frame.probability <= _MOST / 100))
    if wrong.any():
        row = frame[wrong].iloc[0]
        raise UserError(f"{path}: {name(row)}: probability is {row.probability}; {remedy}")
    own = frame[~frame.debris]
    keys = [column for column in COLUMNS if column not in ("position", "probability", "debris")]
    repeated = own.duplicated([*keys, "position"])
    if repeated.any():
        raise UserError(f"{path}: {name(own[repeated].iloc[0])} is there twice; {remedy}")
    place = [key for key in keys if key not in ("gender", "value")]
    genders = own.groupby(place, sort=False).gender.transform("nunique")
    # Where all genders have the same values, each value comes as often as there are genders.
    there = own.groupby([*place, "value", "position"], sort=False).gender.transform("size")
    if (there != genders).any():
        row = own[there != genders].iloc[0]
        same = own[(own[place] == row[place]).all(axis=1)]
        lacking = sorted(set(same.gender) - set(same.gender[same.position == row.position]))[0]
        raise UserError(
            f"{path}: model {row.model}, {row['item']}: {lacking} has no probability for {row.value}; {remedy}"
        )
    return frame


def _file(name, text, evaluation_set):
    """Return the rows of one file and what is wrong with it, each beginning with its place."""
    found = _NAME.fullmatch(name)
    if not found:
        return [], [": the name is not that of a raw file"]
    letter, model_file, variable, sentence, test, number = found.groups()
    prompt = study.FILE_PROMPTS[number or ""]
    model = study.label(model_file, prompt)
    if model is None:
        return [], [f": the model '{model_file}' with prompt {prompt} is not known"]
    if evaluation_set == "mgc" and test == "True":
        return [], []
    lines = list(csv.reader(io.StringIO(text)))
    if not lines or len(lines[0]) < 3 or lines[0][1] != variable:
        return [], [f", row 1: the header must be an index, '{variable}' and the sentences"]
    items, problems = _items(lines[0][2:], sentence, evaluation_set)
    if problems:
        return [], problems
    common = {
        "model": model,
        "prompt": prompt,
        "evaluation_set": evaluation_set,
        "variable": variable,
        "gender": GENDERS[letter],
        "debris": test == "True",
        "text_id": name,
    }
    rows = []
    for position, cells in enumerate(lines[1:]):
        place = f", row {position + 2}"
        if len(cells) != len(lines[0]):
            problems.append(f"{place}: {len(cells)} cells where the header has {len(lines[0])}")
            continue
        if variable == "date" and not cells[1].isdecimal():
            problems.append(f"{place}: '{cells[1]}' is no date")
        for item, cell in zip(items, cells[2:], strict=True):
            value = _probability(cell)
            if value is None:
                problems.append(f"{place}: '{cell}' is no percentage")
            rows.append(
                {**common, **item, "value": cells[1], "position": position, "probability": value, "row": position + 2}
            )
    if not rows:
        problems.append(": has no row")
    return rows, problems


def _items(headers, sentence, evaluation_set):
    """Return the factors of the sentences of one file, and what is wrong with them."""
    if evaluation_set == "mgc":
        bodies = [_MGC_BODY.search(header) for header in headers]
        unreadable = [f", row 1: no sentence of MGC in '{h}'" for h, b in zip(headers, bodies, strict=True) if not b]
        items = [f"{SLOT} {body.group(2)}" for body in bodies if body]
        if unreadable:
            return [], unreadable
        empty = {"occupation": "", "participant": "", "coreferent": "", "well_specified": False}
        twice = [", row 1: a sentence is there twice"] if len(set(items)) < len(items) else []
        return [{"item": item, **empty} for item in items], twice
    parts = sets.parse_item(sentence, evaluation_set)
    if parts is None or len(headers) != 1:
        return [], [f": '{sentence}' is no sentence of {evaluation_set}"]
    occupation, participant, coreferent = parts
    return [
        {
            "item": f"{occupation}_{participant}_{sets.COREFERENTS.index(coreferent)}",
            "occupation": occupation,
            "participant": participant,
            "coreferent": coreferent,
            "well_specified": sets.is_well_specified(evaluation_set, participant, coreferent),
        }
    ], []


def _probability(cell):
    """Return a percentage as a share, None if it is none."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value / 100 if math.isfinite(value) and 0 <= value <= _MOST else None


def _incomplete(rows):
    """Name the sentences whose three genders are not all there with the same values."""
    values = {}
    for row in rows:
        key = (row["model"], row["prompt"], row["variable"], row["debris"], row["item"])
        values.setdefault(key, {}).setdefault(row["gender"], []).append(row["value"])
    problems = []
    for (model, prompt, variable, debris, item), own in values.items():
        if debris:
            continue
        if len(own) < len(GENDERS):
            lacking = next(g for g in GENDERS.values() if g not in own)
            problems.append(f"{model}, {prompt}, {item}: has no file for {lacking}")
        elif len({tuple(v) for v in own.values()}) > 1:
            problems.append(f"{model}, {prompt}, {item}: the {variable}s of the genders differ")
    return problems
