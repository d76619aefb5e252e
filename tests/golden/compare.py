"""Golden files: what replays made once, and how what they make now differs from it, cell by cell."""

import csv
import fnmatch
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.tsv"
RENAMED = HERE / "renamed.yaml"
TEXTS = (".csv", ".json", ".tex")
SAMPLES = ("results/*/instances/*.parquet", "results/*/texts/*.parquet", "results/*/prompts/*.parquet")
"""Parquet files with the texts that models read; of these there are digests alone."""
VOLATILE = {
    "results/logs/*": "times, paths",
    "results/benchmarks/*": "times, memory",
    "results/provenance/*": "times, digests of code, versions, machines",
    "results/upstream/*": "the authors' files as they are",
    "results/paper/summary.json": "the rows of summary.csv",
}
"""Files that differ from run to run, or say nothing of the project's code, and why. What typesets the paper and its
provenance (rules paper_provenance, paper_pdf, card_pdf) is not made at all."""
RELATIVE, ABSOLUTE = 1e-6, 1e-12
"""Two decimals this close are the same: optimizers and linear algebra differ that much from machine to machine."""
WORDS, LETTERS = 3, 40
"""The longest text of a cell that is stored of what was made from the authors' files."""
LARGEST = 1_000_000
"""Characters of the longest text that is stored; of longer ones, rows for every sentence, there are digests alone."""
SHOWN = 12
"""Differences of one file that are shown; the others are counted."""
_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?")


class Renamed:
    """What a change only renamed: files, and columns of tables (keys of JSON)."""

    def __init__(self, files: dict | None = None, columns: dict | None = None):
        self.files, self.columns = files or {}, columns or {}

    @classmethod
    def read(cls, path: Path = RENAMED) -> "Renamed":
        """Read ``renamed.yaml``."""
        return cls(**yaml.safe_load(path.read_text(encoding="utf-8")))

    def file(self, name: str) -> str:
        """Return the new name of a file; itself if it has none."""
        for old, new in self.files.items():
            if name == old or (old.endswith("/") and name.startswith(old)):
                return new + name.removeprefix(old)
        return name

    def column(self, name: str, column: str) -> str:
        """Return the new name of a column of the file that is called ``name`` now."""
        return self.columns.get(name, {}).get(column, column)


def snapshot(run: Path, listed: list[str] = (), mask: bool = False) -> dict[str, tuple[str, str | None]]:
    """Return what a run made: of each file the digest and the text.

    Args:
        run: Its folder, which holds ``results``.
        listed: Files that the run did not make.
        mask: Whether texts are left out (:func:`masked`), as they are for whatever is made from the authors' files.

    Returns:
        Digests and texts by file; the text is None where only the digest is stored.
    """
    made = {}
    for path in sorted((run / "results").rglob("*")):
        name = path.relative_to(run).as_posix()
        if name in listed or any(fnmatch.fnmatch(name, pattern) for pattern in VOLATILE):
            continue
        if path.suffix in TEXTS:
            text = path.read_text(encoding="utf-8")
            kept = text if len(text) <= LARGEST else None
            made[name] = digest(text), masked(name, text) if mask and kept else kept
        elif any(fnmatch.fnmatch(name, pattern) for pattern in SAMPLES):
            table = pq.read_table(path)
            made[name] = digest(json.dumps([table.column_names, *table.to_pylist()], default=str)), None
    return made


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def masked(name: str, text: str) -> str | None:
    """Return a table or JSON with digests in place of texts that could quote the authors; None for other files."""
    if name.endswith(".json"):
        return json.dumps(_masked(json.loads(text)))
    if not name.endswith(".csv"):
        return None
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(_masked(rows_of(text)))
    return written.getvalue()


def _masked(value):
    if isinstance(value, dict):
        return {_masked(key): _masked(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_masked(member) for member in value]
    long = isinstance(value, str) and (len(value.split()) > WORDS or (len(value) > LETTERS and " " in value))
    return f"#{digest(value)[:8]}" if long else value


def rows_of(text: str) -> list[list[str]]:
    """Return the rows of a CSV, the header first."""
    return list(csv.reader(io.StringIO(text)))


def load(part: str, folder: Path = HERE) -> dict[str, tuple[str, str | None]]:
    """Return a part of the golden files as :func:`snapshot` does; empty if there is none."""
    if not (folder / DIGESTS.name).exists():
        return {}
    with (folder / DIGESTS.name).open(encoding="utf-8", newline="") as file:
        digests = {row["file"]: row["sha256"] for row in csv.DictReader(file, delimiter="\t") if row["part"] == part}
    texts = {}
    if digests:
        texts = dict(zip(*pq.read_table(folder / f"{part}.parquet").to_pydict().values(), strict=True))
    return {name: (value, texts.get(name)) for name, value in digests.items()}


def store(parts: dict[str, dict], folder: Path = HERE) -> None:
    """Write the golden files of all parts, of which those that are empty have none."""
    lines = ["part\tfile\tsha256"]
    for part, made in filter(itemgetter(1), parts.items()):
        lines += [f"{part}\t{name}\t{value}" for name, (value, _) in made.items()]
        texts = {name: text for name, (_, text) in made.items() if text is not None}
        table = pa.table(
            {"file": pa.array(list(texts), pa.string()), "text": pa.array(list(texts.values()), pa.string())}
        )
        pq.write_table(table, folder / f"{part}.parquet", compression="zstd", compression_level=19)
    (folder / DIGESTS.name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(old: dict, new: dict, renamed: Renamed) -> list[str]:
    """Return in one line each how files differ: file, row, column, old and new value.

    Args:
        old: As stored (:func:`snapshot`).
        new: As made now.
        renamed: Applied to ``old`` first.
    """
    lines = []
    old = {renamed.file(name): value for name, value in old.items()}
    # What others are computed from comes first.
    for name in sorted(old.keys() | new.keys(), key=lambda name: ("/analysis/" not in name, name)):
        if name not in new:
            lines.append(f"{name}: is no longer made")
        elif name not in old:
            lines.append(f"{name}: is new")
        else:
            (known, before), (value, after) = old[name], new[name]
            if before is None or after is None:
                found = ["differs (its text is not stored)"] if known != value else []
            else:
                kind = {".csv": _of_tables, ".json": _of_json}.get(Path(name).suffix, _of_lines)
                found = list(kind(name, before, after, renamed))
            lines += [f"{name}: {line}" for line in found[:SHOWN]]
            if len(found) > SHOWN:
                lines.append(f"{name}: {len(found) - SHOWN} more differences")
    return lines


def same(old: str, new: str) -> bool:
    """Tell whether two cells are equal: as texts, or as decimals within the tolerance."""
    if old == new:
        return True
    if not (_FLOAT.fullmatch(old) and _FLOAT.fullmatch(new)):
        return False
    return math.isclose(float(old), float(new), rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _of_tables(name: str, old: str, new: str, renamed: Renamed) -> Iterator[str]:
    (header, *before), (now, *after) = (rows_of(text) or [[]] for text in (old, new))
    header = [renamed.column(name, column) for column in header]
    yield from (f"column {column} is missing" for column in header if column not in now)
    yield from (f"column {column} is new" for column in now if column not in header)
    places = [(column, header.index(column), now.index(column)) for column in header if column in now]
    if [column for column in now if column in header] != [column for column, _, _ in places]:
        yield f"order of columns: {', '.join(header)} -> {', '.join(now)}"
    pairs = list(enumerate(zip(before, after, strict=False), 1))
    if len(before) != len(after):
        yield f"{len(before)} rows -> {len(after)} rows"
        keyed = [_keyed(rows, [place[side] for place in places]) for side, rows in ((1, before), (2, after))]
        yield from (
            f"row {row} ({_label(key)}) is missing" for key, (row, _) in keyed[0].items() if key not in keyed[1]
        )
        yield from (f"row {row} ({_label(key)}) is new" for key, (row, _) in keyed[1].items() if key not in keyed[0])
        pairs = [(row, (keyed[0][key][1], cells)) for key, (row, cells) in keyed[1].items() if key in keyed[0]]
    for row, (known, cells) in pairs:
        for column, here, there in places:
            if not same(known[here], cells[there]):
                label = _label([*(cell for cell in known if not _number(cell)), 0])
                yield f"row {row} ({label}), {column}: {known[here]} -> {cells[there]}"


def _keyed(rows: list[list[str]], places: list[int]) -> dict[tuple, tuple[int, list[str]]]:
    """Return rows, with their numbers, by their cells that are no decimals, and which of several with these it is."""
    seen, keyed = Counter(), {}
    for number, row in enumerate(rows, 1):
        key = tuple(row[place] for place in places if not _FLOAT.fullmatch(row[place]))
        keyed[*key, seen[key]] = number, row
        seen[key] += 1
    return keyed


def _number(cell: str) -> bool:
    return not cell or bool(_FLOAT.fullmatch(cell))


def _label(key: list) -> str:
    """Return the first cells of a key, whose last member counts rows with the same cells."""
    return ", ".join([cell for cell in key[:-1] if cell][:4])


def _of_json(name: str, old: str, new: str, renamed: Renamed) -> Iterator[str]:
    before = dict(_leaves(json.loads(old), lambda key: renamed.column(name, key)))
    after = dict(_leaves(json.loads(new), str))
    for key in dict.fromkeys([*before, *after]):
        if key not in after:
            yield f"key {key} is missing"
        elif key not in before:
            yield f"key {key} is new"
        elif not same(before[key], after[key]):
            yield f"{key}: {before[key]} -> {after[key]}"


def _leaves(value, rename, path=()) -> Iterator[tuple[str, str]]:
    members = value.items() if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else ()
    if not members:
        yield ".".join(path), json.dumps(value, ensure_ascii=False)
    for key, member in members:
        yield from _leaves(member, rename, (*path, rename(str(key))))


def _of_lines(name: str, old: str, new: str, renamed: Renamed) -> Iterator[str]:
    before, after = old.splitlines(), new.splitlines()
    for kind, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for place in range(max(end - start, last - first)):
            known = before[start + place] if start + place < end else "(no line)"
            line = after[first + place] if first + place < last else "(no line)"
            yield f"line {first + place + 1}: {known.strip()} -> {line.strip()}"
