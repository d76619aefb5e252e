"""First names and their classes: this project's list and the authors' lists.

This project's list was chosen from the counts that the United States' Social Security Administration publishes (girls
and boys who were given a name in a year; names of fewer than five children of a sex in a year are left out), summed
over the last hundred years of the counts:

- ``female``: the 100 names that most girls were given, among those of which at least 95 % went to girls;
- ``male``: the same for boys;
- ``unisex``: the 300 names that most children were given, among those of which at least a third went to either sex.

Equal counts go by the alphabet. *Unknown* stands in the counts for children without a name and is left out. The paper
(section 3.1) has the same three classes: a sample of 300 names of Flowers (2015), which are those of at least a third
of either sex too, and the 100 most frequent names of either sex over a hundred years.
"""

import re
from pathlib import Path

from scripts.core.data.templates import read_frame
from scripts.core.errors import UserError
from scripts.core.files import read_text
from scripts.misgendered.study import NAME_CLASSES

COLUMNS = ("name", "name_class", "girls", "boys")
# Letters of any script, and inside the name apostrophes, hyphens, full stops and blanks.
_NAME = re.compile(r"[^\W\d_]+(?:['’\-. ]*[^\W\d_]+)*")


def read_replica(path: str | Path) -> list[dict]:
    """Read this project's names: ``name``, ``name_class``, ``file``, ``row``, and ``where``, for messages."""
    rows = read_frame(path, COLUMNS, levels={"name_class": NAME_CLASSES})[["name", "name_class"]]
    where = [f"{path}, row {row}" for row in rows.index]
    return check_names(rows.assign(file=Path(path).name, row=rows.index, where=where).to_dict("records"), str(path))


def read_official(paths: dict[str, str]) -> list[dict]:
    """Read the authors' names, one a line, from the file of each class; as :func:`read_replica`."""
    names = []
    for name_class in NAME_CLASSES:
        path = paths[name_class]
        for row, line in enumerate(read_text(path, "fetch it again").split("\n"), start=1):
            if name := line.removesuffix("\r"):
                facts = {"name": name, "name_class": name_class, "file": Path(path).name, "row": row}
                names.append(facts | {"where": f"{path}, row {row}"})
    return check_names(names, paths[NAME_CLASSES[0]])


def check_names(names: list[dict], path: str) -> list[dict]:
    """Return names that can stand in a text, such as *D'Andre*, *Zoë* and *Anne-Marie*; refuse others."""
    seen = {}
    for entry in names:
        name, where = entry["name"], entry["where"]
        if not _NAME.fullmatch(name):
            odd = next((c for c in name if not (c.isalpha() or c in "'’-. ")), "")
            what = f"holds the character {odd!r}" if odd else "begins or ends with no letter"
            raise UserError(f"{where}: the name {name!r} {what}; names have letters, apostrophes and hyphens")
        if name in seen:
            raise UserError(f"{where}: the name '{name}' is in {seen[name]} already; remove one")
        seen[name] = where
    for name_class in NAME_CLASSES:
        if not any(entry["name_class"] == name_class for entry in names):
            raise UserError(f"{path}: has no {name_class} name; add one")
    return names
