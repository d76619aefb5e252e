"""Findings whose verdict differs between two runs, and figures whose plotted values do."""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files

CELLS = 8
"""Up to this many cells of a figure are told."""
TOLERANCE = 1e-6
"""Plotted values that differ by less than this share are the same: optimizers vary as much between machines."""
SENTENCE = 60
"""A cell of more characters may be a text that was read; of others' templates none is shown."""
OTHERS = ("official", "released", "books", "winogender", "preprint", "aaai", "gap")
"""Folders of figures that are about others' templates."""


def findings(a: Path, b: Path) -> list[dict]:
    """Return the findings whose verdict differs, or that only one run judges.

    Returns:
        ``study``, ``templates``, ``finding``, ``source``, ``a``, ``b`` (verdicts; None: not judged), ``evidence_a`` and
        ``evidence_b``.
    """
    found = []
    for name in _names(a, b, "results/*/tables/findings.csv"):
        sides = [_verdicts(folder / name) for folder in (a, b)]
        for key in dict.fromkeys([*sides[0], *sides[1]]):
            one, two = (side.get(key, (None, "")) for side in sides)
            if one[0] != two[0]:
                told = {"study": Path(name).parts[1], "templates": key[0], "finding": key[1], "source": key[2]}
                found.append(told | {"a": one[0], "b": two[0], "evidence_a": one[1], "evidence_b": two[1]})
    return found


def _verdicts(path: Path) -> dict[tuple, tuple]:
    if not path.is_file():
        return {}
    table = files.read_csv(path, dtype=str).fillna("")
    return {(row.templates, row.finding, row.source): (row.verdict, row.evidence) for row in table.itertuples()}


def figures(a: Path, b: Path) -> list[dict]:
    """Return the figures whose plotted values differ, or that only one run has.

    Returns:
        ``study``, ``figure`` (the path without suffix), ``only`` (``a``, ``b`` or None), ``cells`` (how many differ),
        ``rows_a``, ``rows_b`` (how many only one run has), ``changed`` (the largest differences: ``row``, ``column``,
        ``a``, ``b``), ``shown`` (whether pictures may be shown).
    """
    found = []
    for name in _names(a, b, "results/*/figures/**/*.csv"):
        one, two = a / name, b / name
        entry = {"study": Path(name).parts[1], "figure": name.removesuffix(".csv"), "only": None}
        if not (one.is_file() and two.is_file()):
            found.append(entry | {"only": "a" if one.is_file() else "b", "cells": 0, "changed": [], "shown": False})
        elif one.read_bytes() != two.read_bytes():
            tables = [files.read_csv(path, dtype=str).fillna("") for path in (one, two)]
            shown = not (set(Path(name).parts) & set(OTHERS) and any(_has_texts(table) for table in tables))
            told = _changes(*tables)
            if told["cells"] or told["rows_a"] or told["rows_b"]:
                found.append(entry | told | {"shown": shown, "changed": told["changed"] if shown else []})
    return found


def _names(a: Path, b: Path, pattern: str):
    return sorted({path.relative_to(folder).as_posix() for folder in (a, b) for path in folder.glob(pattern)})


def _has_texts(table: pd.DataFrame):
    return any(table[name].str.len().max() > SENTENCE for name in table)


def _changes(first: pd.DataFrame, second: pd.DataFrame):
    """Return the differences of two tables; rows are matched by their words, or else by their place."""
    if list(first) != list(second):
        return {"cells": 0, "rows_a": len(first), "rows_b": len(second), "changed": []}
    words = [name for name in first if pd.concat([first[name], second[name]]).map(_number).isna().any()]
    tables = []
    for table in (first, second):
        label = pd.Series([", ".join(row) for row in table[words].to_numpy()], table.index, dtype=object)
        tables.append(table.set_index([label, label.groupby(label).cumcount()]))
    both = tables[0].index.intersection(tables[1].index)
    cells = []
    for name in [name for name in first if name not in words]:
        one, two = (table.loc[both, name].map(_number).to_numpy(dtype=float) for table in tables)
        for place in np.flatnonzero(~np.isclose(one, two, rtol=TOLERANCE, atol=1e-12)):
            told = {"row": str(both[place][0]) or f"row {place + 1}", "column": name}
            cells.append(told | {"a": float(one[place]), "b": float(two[place])})
    cells.sort(key=lambda cell: -abs(cell["a"] - cell["b"]))
    alone = [len(table) - len(both) for table in tables]
    return {"cells": len(cells), "rows_a": alone[0], "rows_b": alone[1], "changed": cells[:CELLS]}


def _number(text: str):
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
