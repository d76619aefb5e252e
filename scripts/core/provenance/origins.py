"""From rows of estimates back to the instances that they were computed from, and on to lines of template files.

An estimate (:mod:`scripts.core.data.estimate_rows`) says by its identity which outputs of which model it was computed
from, and by its factors which instances of these. Rows of figures and tables that are made of estimates, and the
paper's numbers, have the identity of their estimates.

Instances, and texts made from them, say in the metadata ``origins`` of their Parquet file which of their columns count
lines of which files (``{"task_row": "task.tsv"}``; a column may hold a list, and a name in braces is that of the column
which holds the file's name).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import IDENTIFIERS, plain_cell
from scripts.core.errors import UserError
from scripts.core.provenance import graph


class Origins:
    """The way from the files of a run to instances and lines of templates; each table is read when it is asked for.

    Args:
        jobs: As :mod:`scripts.provenance.expected_jobs` prints them.
        outcomes: Of each study the tables with what became of each instance (``outcomes`` of its declaration).
        where: Path of an input to where it lies (:func:`scripts.core.provenance.job_records.locate_path`).
    """

    def __init__(self, jobs: list[dict], outcomes: Mapping[str, dict], where: Callable[[str], Path] = Path):
        self.makers, self.graph = graph.index_makers(jobs), graph.inputs_of(jobs)
        self.outcomes, self.where = outcomes, where
        self._schemas, self._columns, self._values, self._upstream = {}, {}, {}, {}
        self._estimates, self._shared, self._ids, self._numbers = {}, {}, {}, {}

    def origins_of(self, path: str, rows: Sequence[dict] = ()) -> list[dict]:
        """Return the lines of template files behind rows of a file; rows that are no estimates have those of the file.

        Args:
            rows: Columns to values; none: the whole file.

        Returns:
            ``file``, ``rows`` (sorted list of int, as an editor counts them), ``table`` (that has the instances or
            texts; None for a file that a job on the way reads directly) and ``count`` (of the table's rows).

        Raises:
            UserError: If the summary that a row is made of lacks it.
        """
        chosen, direct = {}, []
        estimates = [estimate for row in rows if (estimate := self.estimate_of(path, row))]
        if estimates and len(estimates) == len(rows):
            for estimate in estimates:
                for table, mask in self.instances_of(estimate).items():
                    chosen[table] = chosen.get(table, False) | mask
        else:
            nearest, _ = self._instances_behind([path])
            chosen = {table: self._matching(table, {}) for table in nearest}
            cut = {made: inputs for made, inputs in self.graph.items() if made not in nearest}
            direct = [p for p in graph.ancestors(cut, [path]) if p not in self.makers and p.endswith(".tsv")]
        found = [entry for table, mask in chosen.items() for entry in self._lines(table, mask)]
        for read in direct:
            lines = data_lines(self.where(read))
            found += [{"file": read, "rows": lines, "table": None, "count": len(lines)}]
        return found

    def estimate_of(self, path: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the estimate that a row of a file is, or is made of, with ``study`` and ``part``; None for other rows.

        Raises:
            UserError: If the file is made of a summary that lacks the row.
        """
        if not {"model", "metric"} <= row.keys():
            return None
        places = {"study": Path(path).parts[1], "part": row.get("templates")}
        for table in [path, *self.graph.get(path, ())]:
            if read := self._read_estimates(table):
                keys, known = read
                if found := known.get(tuple(plain_cell(row.get(name)) for name in keys)):
                    return places | found
                # A study's figures draw means and references, too, which are no estimates.
                if "study" in row and row.keys() >= {*keys}:
                    named = ", ".join(filter(None, (plain_cell(row[name]) for name in row)))
                    raise UserError(f"{path}: {table} has no row for {named}; make the file again: snakemake {path}")
        return None

    def _read_estimates(self, path: str) -> tuple[list[str], dict[tuple, dict]] | None:
        """Return the identity and factors of a table's rows, as names and as rows by their cells; None for others."""
        if path not in self._estimates:
            self._estimates[path] = None
            table = files.read_csv(path) if path.endswith(".csv") and Path(path).is_file() else pd.DataFrame()
            # A study's own, or those of a summary.
            if Path(path).name == "estimates.csv" or {*estimate_rows.COLUMNS} <= {*table}:
                apart = {*estimate_rows.UNTRACED, *estimate_rows.VALUES, *estimate_rows.DESCRIPTIVE_COLUMNS}
                keys = [name for name in table if name not in apart]
                rows = table[keys].to_dict("records")
                self._estimates[path] = keys, {tuple(map(plain_cell, row.values())): row for row in rows}
        return self._estimates[path]

    def instances_of(self, estimate: Mapping[str, Any]) -> dict[str, pd.Series]:
        """Return the rows of instances, or of texts made from them, behind an estimate.

        The outputs of its model in its way of scoring lead to the instances (of several, or without a model of all);
        these are narrowed by the factors, and by the identifiers in whatever on the way, or among the study's outcomes,
        has further factors.

        Args:
            estimate: As :meth:`estimate_of` returns it, or a row of a summary.

        Returns:
            Table to which of its rows; tables without such a row are left out.

        Raises:
            UserError: If the run has no outputs of that model, and its study does not say where there are others.
        """
        said = {name: plain_cell(value) for name, value in estimate.items()}
        study, scoring = said["study"], said.get("scoring", "")
        facts = estimate_rows.levels(said)
        if facts.get("templates") == [said["part"]]:
            # The part is in the outcomes' names; sets that belong to it may have names of their own.
            del facts["templates"]
        known = self.outcomes.get(study, {})
        outcomes = estimate_rows.outcome_tables(said, known)
        folder = f"results/{study}/{estimate_rows.OUTPUT_FOLDERS.get(scoring)}/"
        behind = {path for outcome in outcomes if outcome in self.makers for path in self._needs(outcome)}
        if not known:
            behind = {path for path, job in self.makers.items() if said["part"] in job["wildcards"].values()}
        outputs = sorted(
            path
            for path in behind
            if path.startswith(folder)
            and Path(path).suffix in (".parquet", ".jsonl")
            and (not said["model"] or Path(path).stem in said["model"].split("|"))
        )
        if not outputs and not outcomes:
            raise UserError(f"{study}, {said['part']}: this run has no outputs of {said['model']} below {folder}")
        nearest, others = self._instances_behind(outputs or outcomes[:1], facts)
        if not outputs:
            # Outputs that were brought are of the instances; texts and samples that this run made of them are no part.
            nearest = [table for table in nearest if not self._needs(table).intersection(nearest)]
        # Instances stand in several tables, of which each has a part; so do outputs.
        alternatives = [[table for table in others if table not in nearest], outputs, *([path] for path in outcomes)]
        chosen = {}
        for table in nearest:
            mask = self._matching(table, facts)
            for tables in alternatives:
                speaking = [other for other in tables if other in outputs or self._speaks_of(other, facts)]
                for key in self._schema(table).keys() & {*IDENTIFIERS}:
                    column, having = self._identifiers(table, key), [o for o in speaking if key in self._schema(o)]
                    # Identifiers of another kind of thing say nothing of these.
                    if any(self._share(table, other, key) for other in having):
                        # Columns of what a model put out are no factors: an answer is its text.
                        told = {other: {} if other in outputs else facts for other in having}
                        ids = [self._identifiers(other, key)[self._matching(other, told[other])] for other in having]
                        mask &= column.isin(pd.concat(ids))
            if mask.any():
                chosen[table] = mask
        return chosen

    def _speaks_of(self, table: str, facts: dict) -> bool:
        """Tell whether a table, or the file as one of several, has some factor."""
        return bool(facts.keys() & {*self._schema(table), *self.makers.get(table, {}).get("wildcards", {})})

    def _share(self, table: str, other: str, key: str) -> bool:
        """Tell whether two tables name some identifier both."""
        if (table, other, key) not in self._shared:
            names = self._identifiers(table, key), self._identifiers(other, key)
            self._shared[table, other, key] = bool(names[0].isin(names[1]).any())
        return self._shared[table, other, key]

    def _instances_behind(self, paths: Iterable[str], facts: Mapping[str, list] | None = None) -> tuple[list, list]:
        """Return the tables with origins that are met first on the ways upstream, and those behind them.

        What was made for another value of a fact that is a wildcard is not on these ways.
        """
        facts = facts or {}
        ways = {
            path: job["inputs"]
            for path, job in self.makers.items()
            if all(value in facts.get(name, [value]) for name, value in job["wildcards"].items())
        }
        having = [path for path in graph.ancestors(ways, paths) if path in ways and self._origins(path)]
        first = set(graph.ancestors({path: ways[path] for path in ways.keys() - set(having)}, paths))
        return [path for path in having if path in first], [path for path in having if path not in first]

    def _lines(self, table: str, mask: pd.Series) -> list[dict]:
        """Return the lines that rows of a table were made from, by file."""
        parts = []
        for column, name in self._origins(table).items():
            lines = self._column(table, column)[mask].explode().dropna()
            owners = self._column(table, name[1:-1])[lines.index] if name.startswith("{") else name
            parts.append(pd.DataFrame({"row": lines.astype(int), "name": owners}))
        every = pd.concat(parts)
        every["file"] = every.name.map({name: self._file(table, name) for name in every.name.unique()})
        lines, count = every.groupby("file", sort=False).row.unique(), int(mask.sum())
        return [
            {"file": file, "rows": sorted(rows.tolist()), "table": table, "count": count}
            for file, rows in lines.items()
        ]

    def _matching(self, table: str, facts: Mapping[str, list[str]]) -> pd.Series:
        """Return which rows of a table have a value of each fact that is one of its columns."""
        schema = self._schema(table)
        mask = pd.Series(True, index=self._column(table, next(iter(schema))).index)
        for name in facts.keys() & schema.keys():
            if (table, name) not in self._values:
                self._values[table, name] = pd.factorize(self._column(table, name))
            codes, values = self._values[table, name]
            wanted = [code for code, value in enumerate(values) if plain_cell(value) in facts[name]]
            mask &= pd.Series(codes).isin(wanted)
        return mask

    def _origins(self, table: str) -> dict[str, str]:
        self._schema(table)
        return self._schemas[table][1]

    def _schema(self, table: str) -> dict[str, Any]:
        """Return the columns of a Parquet file that hold single values; none of another file or a missing one."""
        if table not in self._schemas:
            self._schemas[table] = {}, {}
            if table.endswith(".parquet") and Path(table).is_file():
                import pyarrow as pa
                import pyarrow.parquet as pq

                columns = {field.name: field for field in pq.read_schema(table) if not pa.types.is_nested(field.type)}
                self._schemas[table] = columns, files.parquet_metadata(table).get("origins") or {}
        return self._schemas[table][0]

    def _column(self, table: str, name: str) -> pd.Series:
        if (table, name) not in self._columns:
            self._columns[table, name] = pd.read_parquet(table, columns=[name])[name].reset_index(drop=True)
        return self._columns[table, name]

    def _identifiers(self, table: str, key: str) -> pd.Series:
        """Return a column of identifiers as numbers, the same in all tables: texts take long to look up."""
        if (table, key) not in self._ids:
            codes, values = pd.factorize(self._column(table, key))
            numbers = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
            # What is missing has the code -1.
            self._ids[table, key] = pd.Series(np.array([*numbers, -1])[codes])
        return self._ids[table, key]

    def _needs(self, path: str) -> set[str]:
        """Return everything that a file is made from."""
        if path not in self._upstream:
            self._upstream[path] = set(graph.ancestors(self.graph, self.graph[path]))
        return self._upstream[path]

    def _file(self, table: str, name: str) -> str:
        """Return the path of an input upstream by its name, behind which a file in an archive follows a colon."""
        archive, colon, member = name.partition(":")
        same = sorted(path for path in self._needs(table) if Path(path).name == archive)
        return (same[0] if same else archive) + colon + member


def data_lines(path: str | Path) -> list[int]:
    """Return which lines, from 1, of a tab-separated file with a header are its data rows."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); restore it") from error
    start = next((n for n, line in enumerate(lines) if line.rstrip("\r") != "#" and not line.startswith("# ")), 0)
    return [n for n, line in enumerate(lines[start + 1 :], start + 2) if line.rstrip("\r")]
