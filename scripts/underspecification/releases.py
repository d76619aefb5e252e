"""The authors' released probabilities, from their archives, in the format of ``word_group_probabilities`` beside it.

Released files are named ``<f|m|n>p_wikibio_<model>_<date|place>_<sentence>_test<False|True>[_P<1|2|3>].csv``. Those
with ``testTrue`` are leftovers of trials and are not read.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import archives
from scripts.core.data.options import SLOT
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.underspecification import instances, study
from scripts.underspecification.probabilities import COLUMNS, MOST

GENDERS = {"f": "female", "m": "male", "n": "neutral"}
_NAME = re.compile(
    r"([fmn])p_wikibio_([\w.-]+?)_(date|place)_(\w*)_test(True|False)(?:_(P[123]))?\.csv",
)
ROUNDING = 0.001
"""Released probabilities of Method 2 are rounded to this share, a tenth of a percentage point."""
_MGC_BODY = re.compile(r"In [^,]+, (\S+) ([a-z ]+\.)")


def released(*, winogender: str, simplified: str, mgc: str, probabilities: str, release: str) -> None:
    """Write ``probabilities`` (Parquet) of a ``release`` from its three archives."""
    frames = []
    for name, path in (("winogender", winogender), ("simplified", simplified), ("mgc", mgc)):
        frames.append(read_archive(path, release, name))
        log.info("%s: %d probabilities of %d models", path, len(frames[-1]), frames[-1].model.nunique())
    files.write_parquet(probabilities, pd.concat(frames, ignore_index=True), {"origins": {"row": "{text_id}"}})


def read_archive(path: str | Path, release: str, evaluation_set: str) -> pd.DataFrame:
    """Return the probabilities of one archive.

    Args:
        path: A .tar.xz of one of the authors' folders of raw files.
        release: Of :data:`scripts.underspecification.study.RELEASES`.
        evaluation_set: Of :data:`scripts.underspecification.instances.SETS`.

    Returns:
        :data:`scripts.underspecification.probabilities.COLUMNS`, ``text_id`` and ``row``.

    Raises:
        UserError: Naming every bad file and row: names that cannot be read, models and sentences that are not known,
            headers, values that are no probability, sentences that lack one of the three genders or whose genders
            differ in their dates.
    """
    rows, problems = [], []
    try:
        for member, content in archives.tar_members(path):
            name = member.rpartition("/")[2]
            of_file, wrong = _read_file(name, content.decode("utf-8"), evaluation_set)
            rows += of_file
            problems += [f"{name}{problem}" for problem in wrong]
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: {name} is not UTF-8 text; delete it and fetch it again") from error
    problems += _incomplete(rows)
    if problems or not rows:
        listed = "; ".join(sorted(problems)[:20]) + ("; ..." if len(problems) > 20 else "")
        raise UserError(f"{path}: {listed or 'has no file'}; fetch it again")
    frame = pd.DataFrame(rows)
    frame = frame.assign(part=release, label=frame.model, templates="official", accumulation=study.TOP)
    frame["text_id"] = f"{Path(path).name}:" + frame.text_id
    return frame[[*COLUMNS, "text_id", "row"]].sort_values(
        ["model", "prompt", "item", "variable", "gender", "position"], ignore_index=True, kind="stable"
    )


def _read_file(name: str, text: str, evaluation_set: str):
    """Return the rows of one file and what is wrong with it, each beginning with its place."""
    parts = _NAME.fullmatch(name)
    if not parts:
        return [], [": the name is not that of a raw file"]
    letter, model_file, variable, sentence, test, number = parts.groups()
    prompt = study.FILE_PROMPTS[number or ""]
    model = study.released_label(model_file, prompt)
    if model is None:
        return [], [f": the model '{model_file}' with prompt {prompt} is not known"]
    if test == "True":
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
        "text_id": name,
    }
    rows = []
    for position, cells in enumerate(lines[1:]):
        place = f", row {position + 2}"
        if len(cells) != len(lines[0]):
            problems.append(f"{place}: {len(cells)} cells where the header has {len(lines[0])}")
            continue
        if variable == "date" and not cells[1].isdecimal():
            problems.append(f"{place}: '{cells[1]}' is not a date")
        for item, cell in zip(items, cells[2:], strict=True):
            value = _probability(cell)
            if value is None:
                problems.append(f"{place}: '{cell}' is not a percentage")
            rows.append(
                {**common, **item, "value": cells[1], "position": position, "probability": value, "row": position + 2}
            )
    if not rows:
        problems.append(": has no row")
    return rows, problems


def _items(headers: Sequence[str], sentence: str, evaluation_set: str):
    """Return the factors of the sentences of one file, and what is wrong with them."""
    if evaluation_set == "mgc":
        bodies = [_MGC_BODY.search(header) for header in headers]
        unreadable = [f", row 1: '{h}' is not a sentence of MGC" for h, b in zip(headers, bodies, strict=True) if not b]
        items = [f"{SLOT} {body.group(2)}" for body in bodies if body]
        if unreadable:
            return [], unreadable
        empty = {"occupation": "", "participant": "", "coreferent": "", "well_specified": False}
        repeated = [", row 1: two columns have the same sentence"] if len(set(items)) < len(items) else []
        return [{"item": item, **empty} for item in items], repeated
    known = instances.parse_item(sentence, evaluation_set)
    if known is None or len(headers) != 1:
        return [], [f": '{sentence}' is not a sentence of {evaluation_set}"]
    specified = instances.is_well_specified(evaluation_set, known["participant"], known["coreferent"])
    return [known | {"well_specified": specified}], []


def _probability(cell: str):
    """Return a percentage as a share, None if it is none."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value / 100 if math.isfinite(value) and 0 <= value <= 100 * MOST else None


def _incomplete(rows: Iterable[dict[str, Any]]):
    """Name the sentences that lack one of the three genders, or whose genders have different values."""
    values = {}
    for row in rows:
        key = (row["model"], row["prompt"], row["variable"], row["item"])
        values.setdefault(key, {}).setdefault(row["gender"], []).append(row["value"])
    problems = []
    for (model, prompt, variable, item), by_gender in values.items():
        if len(by_gender) < len(GENDERS):
            lacking = next(g for g in GENDERS.values() if g not in by_gender)
            problems.append(f"{model}, {prompt}, {item}: has no file for {lacking}")
        elif len({tuple(v) for v in by_gender.values()}) > 1:
            problems.append(f"{model}, {prompt}, {item}: the {variable}s of the genders differ")
    return problems


if __name__ == "__main__":
    run_named()
