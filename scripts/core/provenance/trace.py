"""Find what a reader points at: a figure or table of the paper by its number, a table's cell, a number by its id."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data.estimate_rows import plain_cell
from scripts.core.errors import UserError, count_noun, did_you_mean

PAPER = "results/paper/provenance.csv"
"""Where ``scripts/paper/paper_provenance.py`` lists what the paper shows."""
CONFIG = "config.yaml"
SHOWN = 5
"""Up to this many ids that contain the target are named."""


def numbers_of_text(jobs: Iterable[dict]) -> dict[str, dict]:
    """Return ``{id: entry}`` for every number of the paper's text.

    Ids are ``<study>.<templates>.<id in the file>`` for a ``paper_numbers.json``, which belongs to one set of
    templates, and ``<study>.<id in the file>`` for the JSON file beside a table over all of them.

    An entry is that of the file, with ``file``, ``path``, the table that its cell is in (None for a number that comes
    from no table, such as one of config.yaml), and ``wildcards``, those of the job that took it from there.
    """
    entries = {}
    for job in jobs:
        for path in job["outputs"]:
            parts = Path(path).parts
            if parts[-1] == "paper_numbers.json":
                prefix, near = f"{parts[1]}.{parts[-2]}", job["inputs"]
            elif parts[-1].endswith(".json") and "tables" in parts:
                prefix, near = parts[1], job["outputs"]
            else:
                continue
            if Path(path).is_file():
                sources = {Path(p).name: p for p in near}
                for name, entry in json.loads(Path(path).read_text(encoding="utf-8")).items():
                    facts = {"file": path, "path": sources.get(entry["source"]), "wildcards": job["wildcards"]}
                    entries[f"{prefix}.{name}"] = entry | facts
    return entries


def shown_items() -> list[dict]:
    """Return the figures and tables of the paper: ``result`` (the label), ``shown`` (``Figure 7``) and ``file``."""
    if not Path(PAPER).is_file():
        return []
    listed = files.read_csv(PAPER, dtype=str)
    return listed[listed.kind.isin(["figure", "table"])][["result", "shown", "file"]].to_dict("records")


def find_target(target: str, jobs: list[dict]) -> list[dict]:
    """Return what ``target`` names.

    Args:
        target: A path; ``figure 3`` or ``table 2``; ``FILE.csv:ROW:COLUMN`` for a cell (ROW: a number from 1, or
            ``column=value`` pairs with commas); or the id of a number of the text, which may leave out study and
            templates.

    Returns:
        ``title``, ``path`` and ``rows`` (the columns that choose each cell: one for a cell or a number, all of the CSV
        file beside a figure or table, none for the whole of another file).

    Raises:
        UserError: If nothing has that name.
    """
    numbered = re.fullmatch(r"(fig|tab)(?:ure|le)?\.?\s*(\d+)(:.*)?", target.strip(), flags=re.IGNORECASE)
    if numbered:
        name = f"{'Figure' if numbered[1].lower() == 'fig' else 'Table'} {numbered[2]}"
        item = next((item for item in shown_items() if item["shown"] == name), None)
        if item is None:
            raise UserError(f"{PAPER}: there is no {name.lower()}; make the paper: snakemake paper")
        if numbered[3]:
            # The file may have more rows than are printed, and in another order.
            table = Path(item["file"]).with_suffix(".csv")
            raise UserError(
                f"{target}: name a cell by its file, with the row as the file counts it: {table}:ROW:COLUMN"
            )
        return [_file_with_rows(f"{name.lower()} ({item['result']})", item["file"])]
    outputs = {path for job in jobs for path in [*job["inputs"], *job["outputs"]]}
    if target in outputs or Path(target).exists():
        return [_file_with_rows(target, target)]
    if re.fullmatch(r".+\.csv:.+", target):
        return [_find_cell(target)]
    known = numbers_of_text(jobs)
    same = [name for name in known if name == target or (name.endswith(f".{target}") and name.count(".") >= 2)]
    exact = [name for name in same if name.split(".", 2)[2] == target or name == target]
    if not (exact or same):
        within = [name for name in known if target in name]
        hint = did_you_mean(target, [*known, *outputs])
        if within:
            more = f" and {len(within) - SHOWN} more" if len(within) > SHOWN else ""
            hint = f"; {count_noun(len(within), 'id')} with it: {', '.join(within[:SHOWN])}{more}"
        raise UserError(f"{target}: no file, figure, table, cell or number of this run{hint}")
    return [_trace_number(name, known[name]) for name in exact or same]


def _trace_number(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    source = entry["source"]
    # Of no table: the configuration, or a default of the code.
    setting = source if source == CONFIG or source.startswith("scripts/") else None
    return {
        "title": f"number {name} = {entry['text']}, from {source} {_name_levels(entry['cell'])}",
        "path": entry["path"] or setting or entry["file"],
        "rows": [entry["wildcards"] | entry["cell"]],
    }


def _file_with_rows(title: str, path: str) -> dict[str, Any]:
    """Return a file; what is drawn or printed has its rows in the CSV file beside it."""
    beside = Path(path).with_suffix(".csv")
    drawn = Path(path).suffix in (".pdf", ".png", ".tex", ".csv") and beside.is_file()
    return {"title": title, "path": path, "rows": files.read_csv(beside).to_dict("records") if drawn else []}


def _find_cell(text: str) -> dict[str, Any]:
    match = re.fullmatch(r"(.+?\.csv):(.+)", text)
    path, rest = match.groups() if match else ("", "")
    # A head may hold colons of its own, a row's number or columns may not.
    row, colon, column = rest.partition(":")
    if not (row and colon and column):
        raise UserError(f"{text}: is not a cell; write FILE.csv:ROW:COLUMN")
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file, so it has no cell {rest}")
    chosen = files.read_csv(path)
    split = [] if row.isdigit() else [pair.partition("=") for pair in row.split(",")]
    pairs = {name: value for name, _, value in split}
    for name in [column, *pairs]:
        if name not in chosen:
            raise UserError(f"{path}: has no column '{name}'{did_you_mean(name, chosen.columns)}")
    for name, value in pairs.items():
        chosen = chosen[chosen[name].map(plain_cell) == value]
    if row.isdigit():
        chosen = chosen.iloc[max(int(row) - 1, 0) : int(row)]
    if len(chosen) != 1:
        raise UserError(
            f"{path}: '{row}' chooses {count_noun(len(chosen), 'row')}; "
            "give one row's number, or columns that choose one"
        )
    cells = {name: plain_cell(value) for name, value in chosen.iloc[0].items()}
    title = f"cell {column} = {cells[column]} of {path}, {_name_levels(cells)}"
    return {"title": title, "path": path, "rows": [chosen.iloc[0].to_dict()]}


def _name_levels(cell: dict) -> str:
    return ", ".join(f"{key}={value}" for key, value in cell.items())


def format_ranges(values: Iterable[int]) -> str:
    """Return whole numbers as text: ``1-4, 7``."""
    spans = []
    for value in values:
        if spans and value == spans[-1][1] + 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)
