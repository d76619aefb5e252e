"""Find what a reader points at: a figure or table of the paper by its number, a table's cell, a number by its id."""

import json
import re
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError, nearest

MAIN = "results/paper/main.tex"
APPENDIX = ("sections/provenance", "sections/currency")
"""What ``scripts/paper_provenance.py`` writes: where everything comes from, and whether it is current."""


def items(main_tex):
    """Return the numbered figures and tables of a paper in the order of its source.

    Parameters
    ----------
    main_tex : str or Path
        LaTeX numbers floats in the order in which it reads them, also when it moves them.

    Returns
    -------
    list of dict
        ``kind``, ``number``, ``label``, ``body`` (the environment's source, or for a caption outside of one what
        follows it up to the next) and ``path`` (of a figure's file).
    """
    folder = Path(main_tex).parent
    text = _source(Path(main_tex))
    starts = list(re.finditer(r"\\begin\{(figure|table)\}|\\captionof\{(figure|table)\}", text))
    found, counts = [], {"figure": 0, "table": 0}
    for match, following in zip(starts, [*starts[1:], None], strict=True):
        kind = match[1] or match[2]
        end = following.start() if following else len(text)
        body = text[match.end() : text.index(rf"\end{{{kind}}}", match.end()) if match[1] else end]
        counts[kind] += 1
        label = re.search(r"\\label\{([^}]+)\}", body)
        graphic = re.search(r"\\includegraphics(?:\[[^]]*\])?\{([^}]+)\}", body)
        path = _normal(folder / graphic[1]) if graphic and kind == "figure" else None
        found.append(
            {"kind": kind, "number": counts[kind], "label": label and label[1], "body": body, "path": path},
        )
    return found


def _source(path):
    """Return a LaTeX file with the files that it inputs in their places."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read; make the paper first: snakemake paper") from error
    return re.sub(
        r"\\input\{([^}]+)\}",
        # What is written from this very answer is not looked at: it has no figures and no numbered tables.
        lambda match: "" if match[1] in APPENDIX else _source(_tex(path.parent / match[1])),
        text,
    )


def _tex(path):
    return path if path.suffix == ".tex" else path.with_name(f"{path.name}.tex")


def _normal(path):
    parts = []
    for part in Path(path).parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def located(jobs, main_tex=MAIN):
    """Return :func:`items` with the path of each table's file, known by its content; others have no path."""
    tables = {}
    for job in jobs:
        for path in job["outputs"]:
            if path.endswith(".tex") and "/tables/" in path and Path(path).is_file():
                tables[path] = Path(path).read_text(encoding="utf-8").strip()
    found = items(main_tex)
    for item in found:
        if item["kind"] == "table":
            same = [path for path, text in tables.items() if text in item["body"]]
            # Equal tables of two template sets stand under labels that say which is which.
            same.sort(key=lambda path: Path(path).parent.name not in (item["label"] or ""))
            item["path"] = same[0] if same else None
    return found


def numbers(jobs):
    """Return ``{id: entry}`` for every number of the paper's text.

    Ids are ``<study>.<templates>.<id in the file>`` for a ``paper_numbers.json``, which belongs to one set of
    templates, and ``<study>.<id in the file>`` for the JSON file beside a table over all of them.

    An entry is that of the file, with ``file`` and ``path``, the table that its cell is in (None for a number of
    config.yaml).
    """
    found = {}
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
                    found[f"{prefix}.{name}"] = entry | {"file": path, "path": sources.get(entry["source"])}
    return found


def find(target, jobs, main_tex=MAIN):
    """Return what ``target`` names.

    Parameters
    ----------
    target : str
        A path; ``figure 3`` or ``table 2``; either followed by ``:ROW:COLUMN`` for a cell of the CSV file beside it
        (ROW: a number from 1, or ``column=value`` pairs with commas); or the id of a number of the text, which may
        leave out study and templates.

    Returns
    -------
    list of dict
        ``title``, ``path`` and, for a cell or a number, ``row``: the columns that choose it; ``path`` may be None.

    Raises
    ------
    UserError
        If nothing has that name.
    """
    numbered = re.fullmatch(r"(figure|fig|table|tab)\.?\s*(\d+)(:.*)?", target.strip(), flags=re.IGNORECASE)
    if numbered:
        kind = "figure" if numbered[1].lower().startswith("fig") else "table"
        item = next((i for i in located(jobs, main_tex) if i["kind"] == kind and i["number"] == int(numbered[2])), None)
        if item is None:
            raise UserError(f"{main_tex}: there is no {kind} {numbered[2]}")
        if item["path"] is None:
            return [{"title": f"{kind} {numbered[2]} ({item['label']})", "path": main_tex}]
        if numbered[3]:
            return [_cell(f"{Path(item['path']).with_suffix('.csv')}{numbered[3]}")]
        return [{"title": f"{kind} {numbered[2]} ({item['label']})", "path": item["path"]}]
    outputs = {path for job in jobs for path in [*job["inputs"], *job["outputs"]]}
    if target in outputs or Path(target).exists():
        return [{"title": target, "path": target}]
    if re.fullmatch(r".+\.csv:[^:]+:[^:]+", target):
        return [_cell(target)]
    known = numbers(jobs)
    same = [name for name in known if name == target or (name.endswith(f".{target}") and name.count(".") >= 2)]
    exact = [name for name in same if name.split(".", 2)[2] == target or name == target]
    if not (exact or same):
        raise UserError(
            f"{target}: no file, figure, table, cell or number of this run{nearest(target, [*known, *outputs])}"
        )
    return [
        {
            "title": f"number {name} = {known[name]['text']}, from {known[name]['source']} "
            f"{_pairs(known[name]['cell'])}",
            "path": known[name]["path"] or known[name]["file"],
            "row": known[name]["cell"],
        }
        for name in exact or same
    ]


def _cell(text):
    path, row, column = re.fullmatch(r"(.+\.csv):([^:]+):([^:]+)", text).groups()
    table = files.read_csv(path)
    if column not in table.columns:
        raise UserError(f"{path}: has no column '{column}'{nearest(column, table.columns)}")
    if row.isdigit():
        chosen = table.iloc[int(row) - 1 : int(row)] if int(row) else table.iloc[:0]
    else:
        chosen = table
        for pair in row.split(","):
            name, _, value = pair.partition("=")
            if name not in table.columns:
                raise UserError(f"{path}: has no column '{name}'{nearest(name, table.columns)}")
            chosen = chosen[chosen[name].map(_plain) == value]
    if len(chosen) != 1:
        raise UserError(f"{path}: {len(chosen)} rows are '{row}'; give one row's number, or columns that choose one")
    cells = {name: _plain(value) for name, value in chosen.iloc[0].items()}
    return {"title": f"cell {column} = {cells[column]} of {path}, {_pairs(cells)}", "path": path, "row": cells}


def _plain(value):
    """Return a cell as a reader writes it: whole numbers without a fraction."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _pairs(cell):
    return ", ".join(f"{key}={value}" for key, value in cell.items())


def model_names(row, jobs):
    """Return the models that a row is about, by name or by label; None if it is about all."""
    if not row:
        return None
    names = {job["wildcards"]["model"]: job["wildcards"]["model"] for job in jobs if "model" in job["wildcards"]}
    for job in jobs:
        described = job["params"].get("models")
        if isinstance(described, dict):
            names |= {facts["label"]: name for name, facts in described.items()}
    found = {names[str(value)] for value in row.values() if str(value) in names}
    return found or None


def template_rows(row, path, jobs):
    """Return the data rows of template files behind a row of results.

    Instances say in columns ``<name>_index`` which row of ``<name>.tsv`` they were made from. The predictions that a
    table is made from are those that agree with its row wherever both have a column.

    Parameters
    ----------
    row : dict
        Columns that choose a cell.
    path : str
        The table.
    jobs : list of dict

    Returns
    -------
    dict
        Template file to ``{"rows": sorted list of int from 1, "instances": int}``.
    """
    makers = {output: job for job in jobs for output in job["outputs"]}
    waiting, seen, sources, tables = [path], set(), {}, []
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current.endswith(".tsv"):
            sources[Path(current).stem] = current
        if Path(current).name == "predictions.parquet":
            tables.append(current)
        waiting += makers.get(current, {}).get("inputs", [])
    found = {}
    for table in tables:
        if not Path(table).is_file():
            continue
        frame = files.read_parquet(table)
        for column, value in row.items():
            column, value = (row["factor"], row.get("level")) if column == "level" else (column, value)
            if column in frame.columns and not isinstance(value, list):
                same = frame[column].map(_plain) == str(value)
                # An aggregate has a word such as "all" where predictions have a value.
                frame = frame[same] if same.any() else frame
        for name, source in sources.items():
            if f"{name}_index" in frame.columns:
                rows = sorted(int(n) + 1 for n in frame[f"{name}_index"].dropna().unique())
                found[source] = {"rows": rows, "instances": int(frame.instance_id.nunique())}
    return found


def ranges(values):
    """Return whole numbers as text: ``1-4, 7``."""
    spans = []
    for value in values:
        if spans and value == spans[-1][1] + 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def affected(name, jobs, follows):
    """Return the jobs that a change of ``name`` makes run again, in order.

    Parameters
    ----------
    name : str
        A module or script, an input file (with ``:ROW`` for a template row), or a model.
    jobs : list of dict
    follows : function
        :func:`scripts.core.audit.follows`.

    Raises
    ------
    UserError
        If no job depends on it.
    """
    path = re.sub(r":\d+$", "", name)
    first = [
        job
        for job in jobs
        if job["outputs"]
        and (path in job["inputs"] or path in job["params"].get("_code", {}) or job["wildcards"].get("model") == name)
    ]
    if not first:
        known = {p for job in jobs for p in [*job["inputs"], *job["params"].get("_code", {})]}
        known |= {job["wildcards"]["model"] for job in jobs if "model" in job["wildcards"]}
        raise UserError(f"{name}: no job of this run depends on it{nearest(name, known)}")
    outputs = {path for job in first for path in job["outputs"]}
    later = [job for job in follows(jobs, outputs) if job["outputs"]]
    return first + [job for job in later if job not in first]


def moved(name, reruns, jobs, main_tex=MAIN):
    """Return what of the paper may change when ``reruns`` run: labels of figures and tables, ids of numbers.

    A number that is about other models than the changed one cannot move.
    """
    outputs = {path for job in reruns for path in job["outputs"]}
    models = {job["wildcards"]["model"] for job in jobs if "model" in job["wildcards"]}
    found = {"figures": [], "tables": [], "numbers": []}
    if Path(main_tex).is_file():
        for item in located(jobs, main_tex):
            if item["path"] in outputs:
                found[f"{item['kind']}s"].append(f"{item['kind']} {item['number']} ({item['path']})")
    for key, entry in numbers(jobs).items():
        other = name in models and entry["cell"].get("model") in models - {name}
        if entry["path"] in outputs and not other:
            found["numbers"].append(key)
    return found
