"""Find what a reader points at: a figure or table of the paper by its number, a table's cell, a number by its id."""

import json
import os
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data.estimate_rows import plain_cell
from scripts.core.errors import UserError, count_noun, did_you_mean
from scripts.core.provenance import graph
from scripts.core.provenance.tables import data_rows

MAIN = "results/paper/main.tex"
CONFIG = "config.yaml"
APPENDIX = ("sections/provenance", "sections/currency")
"""What ``scripts/paper/paper_provenance.py`` writes: where everything comes from, and whether it is current."""


def items(main_tex: str | Path) -> list[dict]:
    """Return the numbered figures and tables of a paper in the order of its source.

    Args:
        main_tex: LaTeX numbers floats in the order in which it reads them, also when it moves them.

    Returns:
        ``kind``, ``number``, ``label``, ``body`` (the environment's source) and ``path`` (of a figure's file).
    """
    folder = Path(main_tex).parent
    text = _typeset(_source(Path(main_tex)))
    floats, last_numbers = [], {"figure": 0, "table": 0}
    for match in re.finditer(r"\\begin\{((figure|table)\*?)\}", text):
        kind = match[2]
        body = text[match.end() : text.index(rf"\end{{{match[1]}}}", match.end())]
        last_numbers[kind] += 1
        label = re.search(r"\\label\{([^}]+)\}", body)
        graphic = re.search(r"\\includegraphics(?:\[[^]]*\])?\{([^}]+)\}", body)
        path = os.path.normpath(folder / graphic[1]) if graphic and kind == "figure" else None
        floats.append(
            {"kind": kind, "number": last_numbers[kind], "label": label and label[1], "body": body, "path": path},
        )
    return floats


def _typeset(text: str) -> str:
    """Return a paper's source with what LaTeX reads: of a section its body, and after ``\\detailstrue`` its details."""
    body, switch, appendix = text.partition(r"\detailstrue")
    body = re.sub(r"^\\ifdetails$.*?^\\fi$", "", body, flags=re.DOTALL | re.MULTILINE)
    return body + switch + re.sub(r"^\\ifdetails\\else$.*?^\\fi$", "", appendix, flags=re.DOTALL | re.MULTILINE)


def _source(path: Path, folder: Path | None = None) -> str:
    """Return a LaTeX file with the files that it inputs in their places, below the folder of the first one."""
    folder = folder or path.parent
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read; make the paper first: snakemake paper") from error
    return re.sub(
        r"\\input\{([^}]+)\}",
        # What is written from this very answer is not looked at: it has no figures and no numbered tables.
        lambda match: "" if match[1] in APPENDIX else _source(_tex(folder / match[1]), folder),
        text,
    )


def _tex(path: Path) -> Path:
    return path if path.suffix == ".tex" else path.with_name(f"{path.name}.tex")


def items_with_paths(jobs: list[dict], main_tex: str | Path = MAIN) -> list[dict]:
    """Return :func:`items` with the path of each table's file, known by its content; others have no path."""
    tables = {}
    for job in jobs:
        for path in job["outputs"]:
            if path.endswith(".tex") and "/tables/" in path and Path(path).is_file():
                tables[path] = Path(path).read_text(encoding="utf-8").strip()
    floats = items(main_tex)
    for item in floats:
        if item["kind"] == "table":
            same = [path for path, text in tables.items() if text in item["body"]]
            # Equal tables of two template sets stand under labels that say which is which.
            same.sort(key=lambda path: Path(path).parent.name not in (item["label"] or ""))
            item["path"] = same[0] if same else None
    return floats


def numbers(jobs: Iterable[dict]) -> dict[str, dict]:
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


def find(target: str, jobs: list[dict], main_tex: str | Path = MAIN) -> list[dict]:
    """Return what ``target`` names.

    Args:
        target: A path; ``figure 3`` or ``table 2``; ``FILE.csv:ROW:COLUMN`` for a cell (ROW: a number from 1, or
            ``column=value`` pairs with commas); or the id of a number of the text, which may leave out study and
            templates.

    Returns:
        ``title``, ``path``, ``rows`` (the columns that choose each cell: one for a cell or a number, all of the CSV
        file beside a figure or table, ``{}`` for the whole of another file) and ``column`` of a cell, or None.

    Raises:
        UserError: If nothing has that name.
    """
    numbered = re.fullmatch(r"(figure|fig|table|tab)\.?\s*(\d+)(:.*)?", target.strip(), flags=re.IGNORECASE)
    if numbered:
        kind = "figure" if numbered[1].lower().startswith("fig") else "table"
        item = next(
            (i for i in items_with_paths(jobs, main_tex) if i["kind"] == kind and i["number"] == int(numbered[2])), None
        )
        if item is None:
            raise UserError(f"{main_tex}: there is no {kind} {numbered[2]}")
        if numbered[3]:
            # The file may have more rows than are printed, and in another order.
            table = Path(item["path"]).with_suffix(".csv") if item["path"] else "its"
            raise UserError(
                f"{target}: name a cell by its file, with the row as the file counts it: {table}:ROW:COLUMN"
            )
        return [_whole(f"{kind} {numbered[2]} ({item['label']})", item["path"] or main_tex)]
    outputs = {path for job in jobs for path in [*job["inputs"], *job["outputs"]]}
    if target in outputs or Path(target).exists():
        return [_whole(target, target)]
    if re.fullmatch(r".+\.csv:.+", target):
        return [_cell(target)]
    known = numbers(jobs)
    same = [name for name in known if name == target or (name.endswith(f".{target}") and name.count(".") >= 2)]
    exact = [name for name in same if name.split(".", 2)[2] == target or name == target]
    if not (exact or same):
        raise UserError(
            f"{target}: no file, figure, table, cell or number of this run{did_you_mean(target, [*known, *outputs])}"
        )
    return [
        {
            "title": f"number {name} = {known[name]['text']}, from {known[name]['source']} "
            f"{_pairs(known[name]['cell'])}",
            "path": known[name]["path"] or _setting(known[name]["source"]) or known[name]["file"],
            "rows": [known[name]["wildcards"] | known[name]["cell"]],
            "column": None,
        }
        for name in exact or same
    ]


def _setting(source: str) -> str | None:
    """Return the source of a number that comes from no table: the configuration, or a default of the code."""
    return source if source == CONFIG or source.startswith("scripts/") else None


def _whole(title: str, path: str | Path) -> dict[str, Any]:
    beside = Path(path).with_suffix(".csv")
    drawn = Path(path).suffix in (".pdf", ".png", ".tex", ".csv") and beside.is_file()
    rows = files.read_csv(beside).to_dict("records") if drawn else []
    return {"title": title, "path": path, "rows": rows or [{}], "column": None}


def _cell(text: str) -> dict[str, Any]:
    match = re.fullmatch(r"(.+?\.csv):(.+)", text)
    path, rest = match.groups() if match else ("", "")
    # A head may hold colons of its own, a row's number or columns may not.
    row, colon, column = rest.partition(":")
    if not (row and colon and column):
        raise UserError(f"{text}: is not a cell; write FILE.csv:ROW:COLUMN")
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file, so it has no cell {rest}")
    table = files.read_csv(path)
    if column not in table.columns:
        raise UserError(f"{path}: has no column '{column}'{did_you_mean(column, table.columns)}")
    if row.isdigit():
        chosen = table.iloc[int(row) - 1 : int(row)] if int(row) else table.iloc[:0]
    else:
        chosen = table
        for pair in row.split(","):
            name, _, value = pair.partition("=")
            if name not in table.columns:
                raise UserError(f"{path}: has no column '{name}'{did_you_mean(name, table.columns)}")
            chosen = chosen[chosen[name].map(plain_cell) == value]
    if len(chosen) != 1:
        raise UserError(
            f"{path}: '{row}' chooses {count_noun(len(chosen), 'row')}; "
            "give one row's number, or columns that choose one"
        )
    cells = {name: plain_cell(value) for name, value in chosen.iloc[0].items()}
    return {
        "title": f"cell {column} = {cells[column]} of {path}, {_pairs(cells)}",
        "path": path,
        "rows": [chosen.iloc[0].to_dict()],
        "column": column,
    }


def _pairs(cell: dict[Hashable, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in cell.items())


def model_names(row: dict[str, Any] | None, jobs: Sequence[dict]) -> set[str] | None:
    """Return the models and systems that a row is about, by name or by label; None if it is about all."""
    if not row:
        return None
    known = [job["wildcards"][kind] for job in jobs for kind in ("model", "system") if kind in job["wildcards"]]
    names = dict(zip(known, known, strict=True))
    for job in jobs:
        described = job["params"].get("models")
        if isinstance(described, dict):
            names |= {facts["label"]: name for name, facts in described.items()}
    models = {names[str(value)] for value in row.values() if str(value) in names}
    return models or None


def ranges(values: Iterable[int]) -> str:
    """Return whole numbers as text: ``1-4, 7``."""
    spans = []
    for value in values:
        if spans and value == spans[-1][1] + 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def affected_jobs(name: str, jobs: list[dict], where: Callable = Path) -> tuple[list[dict], tuple | None]:
    """Return the jobs that a change of ``name`` makes run again, in order, and the line of a template file, if any.

    Args:
        name: A module or script, an input file (with ``:ROW`` for a line, as an editor counts them), or a model.
        where: Path of an input to where it lies.

    Returns:
        The line is (file, number); a file in an archive follows the archive and a colon.

    Raises:
        UserError: If no job depends on it, or the line is not one of the file's data rows.
    """
    path, colon, row = name.rpartition(":")
    numbered = bool(colon and row.isdigit())
    path = path if numbered else name
    archive = path.partition(":")[0]
    first = [
        job
        for job in jobs
        if job["outputs"]
        and (
            (archive in job["inputs"] and not _unused(where(path), row, job["params"].get("_rows", {}).get(path)))
            or path in job["params"].get("_code", {})
            or name in (job["wildcards"].get("model"), job["wildcards"].get("system"))
        )
    ]
    if not first and not (numbered and any(archive in job["inputs"] for job in jobs)):
        known = {p for job in jobs for p in [*job["inputs"], *job["params"].get("_code", {})]}
        known |= {job["wildcards"][kind] for job in jobs for kind in ("model", "system") if kind in job["wildcards"]}
        raise UserError(f"{name}: no job of this run depends on it{did_you_mean(path, known)}")
    if numbered and path == archive:
        rows = data_rows(where(path))
        if int(row) not in rows:
            raise UserError(
                f"{path}: line {row} is not a data row; data rows are the lines {ranges(sorted(rows)) or 'none'}"
            )
    outputs = {path for job in first for path in job["outputs"]}
    later = [job for job in graph.jobs_after(jobs, outputs) if job["outputs"]]
    line = (path, int(row)) if numbered else None
    return first + [job for job in later if job not in first], line


def _unused(path: Path, row: str, used: dict | None) -> bool:
    """Return whether a line of a table is none of the rows ``used``, known by their first cells."""
    if used is None or not row.isdigit():
        return False
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return any(line.partition("\t")[0] not in used for line in lines[int(row) - 1 : int(row)])


def affected_items(
    name: str, reruns: list[dict], jobs: list[dict], main_tex: str | Path = MAIN, uses: Callable | None = None
) -> dict[str, list[str]]:
    """Return what of the paper may change when ``reruns`` run: labels of figures and tables, ids of numbers.

    A number that is about other models than the changed one cannot move.

    Args:
        uses: Tells of a path with the rows that choose cells of it whether what changed is behind them.
    """
    outputs = {path for job in reruns for path in job["outputs"]}
    models = {job["wildcards"]["model"] for job in jobs if "model" in job["wildcards"]}
    uses = uses or (lambda path, rows: True)
    touched = {"figures": [], "tables": [], "numbers": []}
    if Path(main_tex).is_file():
        for item in items_with_paths(jobs, main_tex):
            if item["path"] in outputs and uses(item["path"], _whole("", item["path"])["rows"]):
                touched[f"{item['kind']}s"].append(f"{item['kind']} {item['number']} ({item['path']})")
    for key, entry in numbers(jobs).items():
        other = name in models and entry["cell"].get("model") in models - {name}
        if entry["path"] in outputs and not other and uses(entry["path"], [entry["wildcards"] | entry["cell"]]):
            touched["numbers"].append(key)
    return touched
