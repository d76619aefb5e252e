"""The authors' released probabilities, from their archives, in the format of ``word_group_probabilities`` beside it.

Released files are named ``<f|m|n>p_wikibio_<model>_<date|place>_<sentence>_test<False|True>[_P<1|2|3>].csv``. Those
with ``testTrue`` are leftovers of trials and are not read.
"""

import contextlib
import csv
import io
import math
import re
from collections.abc import Sequence
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
    """Return the probabilities of one of the authors' folders of raw files, an archive, with ``text_id`` and ``row``.

    Raises:
        UserError: For a file or row that cannot be read, naming it, and for sentences that do not have the
            probabilities of all three genders at each date or place.
    """
    rows = []
    for member, content in archives.tar_members(path):
        name = member.rpartition("/")[2]
        try:
            rows += _read_file(name, content.decode("utf-8"), evaluation_set)
        except ValueError as error:
            raise UserError(f"{path}: {name}: {error}; delete the archive and fetch it again") from error
    if not rows:
        raise UserError(f"{path}: has no file; fetch it again")
    frame = pd.DataFrame(rows)
    genders = frame.groupby(["model", "prompt", "item", "variable", "value", "position"]).gender.agg(set)
    for key in genders.index[genders.map(len) < len(GENDERS)]:
        lacking = next(gender for gender in GENDERS.values() if gender not in genders[key])
        raise UserError(f"{path}: {', '.join(map(str, key[:-1]))}: has no probability for {lacking}; fetch it again")
    frame = frame.assign(part=release, label=frame.model, templates="official", accumulation=study.TOP)
    frame["text_id"] = f"{Path(path).name}:" + frame.text_id
    return frame[[*COLUMNS, "text_id", "row"]].sort_values(
        ["model", "prompt", "item", "variable", "gender", "position"], ignore_index=True, kind="stable"
    )


def _read_file(name: str, text: str, evaluation_set: str) -> list[dict]:
    """Return the rows of one file; ``ValueError`` says what is wrong with it."""
    parts = _NAME.fullmatch(name)
    if not parts:
        raise ValueError("the name is not that of a raw file")
    letter, model_file, variable, sentence, test, prompt_number = parts.groups()
    prompt = study.FILE_PROMPTS[prompt_number or ""]
    model = study.released_label(model_file, prompt)
    if model is None:
        raise ValueError(f"the model '{model_file}' with prompt {prompt} is not known")
    if test == "True":
        return []
    header, *lines = csv.reader(io.StringIO(text))
    if len(header) < 3 or header[1] != variable:
        raise ValueError(f"row 1: the header must be an index, '{variable}' and the sentences")
    items = _items(header[2:], sentence, evaluation_set)
    common = {"model": model, "prompt": prompt, "evaluation_set": evaluation_set, "variable": variable}
    common |= {"gender": GENDERS[letter], "text_id": name}
    rows = []
    for position, cells in enumerate(lines):
        row = position + 2
        if len(cells) != len(header):
            raise ValueError(f"row {row}: {len(cells)} cells where the header has {len(header)}")
        if variable == "date" and not cells[1].isdecimal():
            raise ValueError(f"row {row}: '{cells[1]}' is not a date")
        for item, cell in zip(items, cells[2:], strict=True):
            value = {"value": cells[1], "position": position, "probability": _probability(cell, row), "row": row}
            rows.append(common | item | value)
    return rows


def _items(headers: Sequence[str], sentence: str, evaluation_set: str) -> list[dict[str, Any]]:
    """Return the factors of the sentences of one file; ``ValueError`` if they are not known."""
    if evaluation_set == "mgc":
        bodies = [_MGC_BODY.search(header) for header in headers]
        items = [f"{SLOT} {body.group(2)}" for body in bodies if body]
        if len(set(items)) < len(headers):
            raise ValueError("row 1: every column must have another sentence of MGC")
        empty = {"occupation": "", "participant": "", "coreferent": "", "well_specified": False}
        return [{"item": item, **empty} for item in items]
    known = instances.parse_item(sentence, evaluation_set)
    if known is None or len(headers) != 1:
        raise ValueError(f"'{sentence}' is not a sentence of {evaluation_set}")
    specified = instances.is_well_specified(evaluation_set, known["participant"], known["coreferent"])
    return [known | {"well_specified": specified}]


def _probability(cell: str, row: int) -> float:
    """Return a percentage as a share."""
    with contextlib.suppress(ValueError):
        value = float(cell)
        if math.isfinite(value) and 0 <= value <= 100 * MOST:
            return value / 100
    raise ValueError(f"row {row}: '{cell}' is not a percentage")


if __name__ == "__main__":
    run_named()
