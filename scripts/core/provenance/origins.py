"""From a cell of a result back to the lines of the template files that it was made from.

Instances and texts say which lines they come from (:mod:`scripts.core.provenance.tables`). What lies between a result
and them is joined by identifiers, the columns ``id`` and ``*_id``:

- *facts* are what is known of a cell: the columns that choose it, the wildcards of the job that made it, and
  ``@column``, the column that it is in. A column of a cell narrows the tables on the way upstream that have a column of
  that name. A value that none of them has narrows nothing: it is a word such as *all*.
- A study says in its declaration (``traced``) where its tables use other names, as a list of
  ``{"files": glob, "when": {column: regular expression}, "without": [column], "then": {column: value or values}}``. If
  the file and all columns of ``when`` match, and no column of ``without`` is there, those of ``when`` are replaced by
  ``then``; names in braces there are columns or named groups. A value of ``then`` that no table has leaves nothing. Of
  ``then``, ``@path`` (globs) chooses among tables of instances, and ``@file`` is the file to go on from, with
  ``@cells``, further columns as ``a=b;c=d``.
- A wildcard keeps apart what is made for each of its values: a fact of the same name closes the way to the others.

A row of a summary needs none of this (:mod:`scripts.core.provenance.estimate_origins`).
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.core.data.estimate_rows import plain_cell
from scripts.core.provenance import graph
from scripts.core.provenance.estimate_origins import EstimateOrigins
from scripts.core.provenance.tables import identifiers

if TYPE_CHECKING:
    import pyarrow


def facts_of(row: dict, column: str | None = None) -> dict[str, list[str]]:
    """Return the facts of a cell.

    Args:
        row: Columns to values, or to lists of them. Fractions and the cell itself choose nothing.
        column: The column that the cell is in.
    """
    facts = {}
    for name, value in row.items():
        values = value if isinstance(value, list) else [value]
        if name == column or any(isinstance(v, float) and not v.is_integer() for v in values if v == v):
            continue
        facts["@column" if name == "column" else name] = [plain_cell(v) for v in values]
    return facts | ({"@column": [column]} if column else {})


def translate(facts: dict[str, list[str]], path: str, told: list[dict]) -> tuple[str, dict, set]:
    """Return facts in the names of tables of instances, and which of them are said by the study.

    Args:
        path: The file that the cell is in.
        told: As the module says.

    Returns:
        The first is the file to go on from.
    """
    said = set()
    for entry in told:
        when = entry.get("when", {})
        if not fnmatch.fnmatch(path, entry["files"]) or not when.keys() <= facts.keys():
            continue
        if any(name in facts for name in entry.get("without", ())):
            continue
        matches = [(name, re.fullmatch(pattern, facts[name][0])) for name, pattern in when.items()]
        if not all(match and len(facts[name]) == 1 for name, match in matches):
            continue
        words = {name: values[0] for name, values in facts.items() if values}
        for _, match in matches:
            words |= match.groupdict() if match else {}
        facts = {name: values for name, values in facts.items() if name not in when}
        for name, values in entry["then"].items():
            name = name.format(**words)
            facts[name] = [v.format(**words) for v in ([values] if isinstance(values, str) else values)]
            said.add(name)
        if "@file" in facts:
            words |= dict.fromkeys(("templates",), (facts.get("templates") or [""])[0])
            on = facts.pop("@file")[0].format(**words)
            cells = dict(pair.split("=", 1) for pair in facts.pop("@cells", [""])[0].split(";") if "=" in pair)
            # What chose the row of a comparison does not choose rows of the table that it compares.
            kept = {
                name: values for name, values in facts.items() if name in {*entry["then"], "templates"} and any(values)
            }
            return translate(kept | {name: [value] for name, value in cells.items()}, on, told)
    return path, facts, said


class Origins(EstimateOrigins):
    """The way from results to lines of template files, through the tables of a run.

    Args:
        jobs, where, outcomes: As of :class:`EstimateOrigins`.
        told: What the studies say of their tables.
    """

    def __init__(
        self, jobs: list[dict], told: list[dict], where: Callable = Path, outcomes: dict[str, dict] | None = None
    ):
        super().__init__(jobs, where, outcomes)
        self.told = told
        self.models = {}
        for job in jobs:
            described = job["params"].get("models") if isinstance(job["params"], dict) else None
            for name, entry in described.items() if isinstance(described, dict) else ():
                if isinstance(entry, dict) and "label" in entry:
                    self.models[name] = {"name": name, **entry}

    def origins_of(
        self, path: str, rows: Sequence[dict] = ({},), column: str | None = None, row_of: tuple[str, int] | None = None
    ) -> list[dict]:
        """Return the lines of template files behind cells of a file.

        Args:
            rows: The columns that choose each cell; an empty one chooses everything.
            column: The column that the cells are in.
            row_of: Look only at instances that were made from this line of this file.

        Returns:
            ``file``, ``rows`` (sorted list of int, as an editor counts them), ``table`` (that has the instances or
            texts; None for a file that is read directly) and ``count`` (of its rows).
        """
        estimates = [row for row in (self._estimate(path, row) for row in rows) if row]
        if estimates:
            return _joined([self.of_estimate(row, row_of) for row in estimates])
        wildcards = self.makers.get(path, {}).get("wildcards", {})
        beside = Path(path).with_suffix(".csv").as_posix()
        # A figure's cells are in the CSV file beside it.
        path = beside if any(rows) and beside in self.makers else path
        wildcard_facts = {name: [value] for name, value in wildcards.items()}
        told = [translate(wildcard_facts | facts_of(row, column), path, self.told) for row in rows]
        # A missing value chooses only where the study says so.
        told = [(on, {n: v for n, v in facts.items() if n in said or any(v)}, said) for on, facts, said in told]
        origins = []
        for start in dict.fromkeys(entry[0] for entry in told):
            parts = [(facts, said) for on, facts, said in told if on == start]
            # What narrows a whole figure is what each of its cells says of a column, together.
            common = set.intersection(*(set(facts) for facts, _ in parts))
            facts = {name: sorted({v for row, _ in parts for v in row[name]}) for name in sorted(common)}
            tables, direct = self._walk(start, self._with_models(facts))
            origins += self._lines(tables, direct, facts, set().union(*(names for _, names in parts)), row_of)
        return origins

    def _with_models(self, facts: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return facts with the names and labels of models; a model's other properties choose models too."""
        chosen = None
        for name, values in facts.items():
            keys = ("name", "label") if name.lower() == "model" else (name,)
            same = {m for m, entry in self.models.items() for key in keys if str(entry.get(key)) in values}
            if same and (name.lower() == "model" or not any(name in s for s in self._schemas.values())):
                chosen = same if chosen is None else chosen & same
        if chosen is None:
            return facts
        labels = {self.models[name]["label"] for name in chosen}
        return {k: v for k, v in facts.items() if k.lower() != "model"} | {"model": sorted(chosen | labels)}

    def _walk(self, path: str, facts: dict[str, list[str]]) -> tuple[list[str], list[str]]:
        """Return the tables on the way upstream, the nearest first, and the files at its end that no job made."""
        known = {}
        for job in self.jobs:
            for name, value in job["wildcards"].items():
                known.setdefault(name, set()).add(value)

        def is_closed(job: dict) -> bool:
            return any(
                name in facts and value not in facts[name] and known[name] & set(facts[name])
                for name, value in job["wildcards"].items()
            )

        ways = {
            made: job["inputs"]
            for made, job in self.makers.items()
            if not (is_closed(job) or self._schema(made).get("origins"))
        }
        reached = graph.ancestors(ways, [path])
        direct = [path for path in reached if path not in self.makers and path.endswith(".tsv")]
        made = [self.makers[path] for path in reached if path in self.makers]
        made = [path for job in made if not is_closed(job) for path in job["outputs"]]
        tables = [path for path in dict.fromkeys(made) if path.endswith(".parquet") and self._schema(path)]
        globs = facts.get("@path")
        if globs:
            kept = [t for t in tables if any(fnmatch.fnmatch(t, glob) for glob in globs)]
            tables = kept or tables
        return tables, direct

    def _lines(
        self,
        tables: list[str],
        direct: list[str],
        facts: dict[str, list[str]],
        said: set[str],
        row_of: tuple[str, int] | None,
    ) -> list[dict]:
        import pyarrow as pa
        import pyarrow.compute as pc

        facts = self._with_models(facts)
        columns = {name for table in tables for name in self._schema(table)["columns"]}
        facts = {n if n in columns else n.lower() if n.lower() in columns else n: v for n, v in facts.items()}
        masks = {}
        for name, values in facts.items():
            having = [t for t in tables if name in self._schema(t)["columns"]]
            matching = {table: self._matches(table, name, values) for table in having}
            first = [t for t in having if not any(t in self._needs(other) for other in having if other != t)]
            if name in said or any(pc.any(mask).as_py() for mask in matching.values()):
                # On the way to instances, behind the first, a column of this name may mean something else.
                matching = {
                    table: mask
                    for table, mask in matching.items()
                    if table in first or self._schema(table)["origins"] or pc.any(mask).as_py()
                }
                for table, mask in matching.items():
                    masks[table] = pc.and_(masks[table], mask) if table in masks else mask
        having = [table for table in tables if self._schema(table)["origins"]]
        # Texts have the lines of their instances, which then only narrow them.
        used = [table for table in tables if table not in having]
        speaking = {table: masks.get(table) for table in used}
        having = [
            t for t in having if not any(self._is_contained(t, o) and self._covers(o, t, speaking) for o in having)
        ]
        groups = {}
        for table in masks.keys() - set(having):
            for key in identifiers(self._schema(table)["columns"]):
                kept = self._column(table, key).filter(masks[table]).unique()
                groups.setdefault((self.makers[table]["rule"], key), []).append(kept)
        allowed = {
            group: pa.concat_arrays([pa.array(p, pa.string()) for p in parts]) for group, parts in groups.items()
        }
        origins = []
        for table in having:
            mask = masks.get(table)
            for (_, key), values in allowed.items():
                if key in self._schema(table)["columns"]:
                    same = pc.is_in(self._column(table, key), value_set=values)
                    mask = same if mask is None else pc.and_(mask, same)
            origins += self._of_table(table, mask, row_of)
        known = {entry["file"] for entry in origins}
        origins += [entry for path in direct if path not in known for entry in self._of_file(path, facts, row_of)]
        return origins

    def _is_contained(self, table: str, other: str) -> bool:
        """Tell whether another table, made from this one or with it, has all of its lines and further ones."""
        one, two = (set(self._schema(t)["origins"].items()) for t in (table, other))
        return one < two and (table in self._needs(other) or self.makers[table] is self.makers[other])

    def _covers(self, texts: str, instances: str, used: dict[str, "pyarrow.BooleanArray | None"]) -> bool:
        """Tell whether all instances that the chosen rows of ``used`` tables speak of are among those of some texts.

        Other systems may have read the instances themselves, and texts may have been made from a sample.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        for key in identifiers(self._schema(instances)["columns"]):
            speaking = [table for table in used if key in self._schema(table)["columns"]]
            if key not in self._schema(texts)["columns"] or not speaking:
                continue
            columns = [(self._column(table, key), used[table]) for table in speaking]
            chosen = [column if mask is None else column.filter(mask) for column, mask in columns]
            named = pa.concat_arrays([column.unique().cast(pa.string()) for column in chosen])
            own = pc.is_in(named, value_set=self._column(instances, key).cast(pa.string()))
            known = pc.is_in(named, value_set=self._column(texts, key).cast(pa.string()))
            if pc.any(pc.and_not(own, known)).as_py():
                return False
        return True


def _joined(lists: Iterable[list[dict]]) -> list[dict]:
    """Merge the entries of several answers of :meth:`Origins.origins_of`; lines of a file and table together."""
    found = {}
    for entry in (entry for entries in lists for entry in entries):
        first = found.setdefault((entry["file"], entry["table"]), entry | {"rows": [], "count": 0})
        first["rows"] = sorted({*first["rows"], *entry["rows"]})
        # Rows of several estimates overlap; what is counted is those of the largest.
        first["count"] = max(first["count"], entry["count"])
    return list(found.values())
