"""From a row of a summary (:mod:`scripts.core.data.estimate_rows`) back to the instances that it was computed from.

Its identity says which output of which model it was computed from, and its factors which instances. Rows of figures and
tables that are made of a summary, and the paper's numbers, have the identity of its rows.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import plain_cell
from scripts.core.errors import UserError
from scripts.core.provenance import graph
from scripts.core.provenance.tables import Tables, identifiers

if TYPE_CHECKING:
    import pyarrow


class EstimateOrigins(Tables):
    """The way from rows of summaries to instances.

    Args:
        jobs, where: As of :class:`Tables`.
        outcomes: Of each study the tables with what became of each instance (``outcomes`` of its declaration).
    """

    def __init__(self, jobs: list[dict], where: Callable = Path, outcomes: dict[str, dict] | None = None):
        super().__init__(jobs, where)
        self.outcomes = outcomes or {}
        self._summaries = {}

    def _estimate(self, path: str, row: dict) -> dict | None:
        """Return the row of a summary that a row is, or was made from, by its identity; None for other rows.

        Raises:
            UserError: If no summary that the file was made from has the row.
        """
        if set(estimate_rows.COLUMNS) <= row.keys():
            return row
        if "study" not in row and {*estimate_rows.ESTIMATED, "metric"} <= row.keys():
            # A study's own estimates, and figures and numbers that are made of them.
            found = {name: value for name, value in row.items() if name not in estimate_rows.UNTRACED}
            return found | {"study": Path(path).parts[1], "part": row.get("part", row["templates"]), "debiasing": ""}
        if not {*estimate_rows.IDENTITY[:3], "metric"} <= row.keys():
            return None
        candidates = [path, *self.makers.get(path, {}).get("inputs", [])]
        summaries = {one: estimates for one in candidates if (estimates := self._estimates(one))}
        for names, estimates in summaries.values():
            found = estimates.get(tuple(plain_cell(row.get(name)) for name in names))
            if found:
                return found
        if summaries:
            named = ", ".join(filter(None, (plain_cell(row[name]) for name in row)))
            raise UserError(
                f"{path}: {next(iter(summaries))} has no row for {named}; make the file again: snakemake {path}"
            )
        return None

    def _estimates(self, path: str) -> tuple[list[str], dict[tuple, dict]] | None:
        """Return the columns that tell the rows of a summary apart, and its rows by their cells; None for others."""
        if path not in self._summaries:
            self._summaries[path] = None
            table = files.read_csv(path) if path.endswith(".csv") and Path(path).is_file() else pd.DataFrame()
            if set(estimate_rows.COLUMNS) <= set(table):
                names = estimate_rows.identity(table)
                rows = table.to_dict("records")
                self._summaries[path] = names, {tuple(plain_cell(row[name]) for name in names): row for row in rows}
        return self._summaries[path]

    def of_estimate(self, row: dict[str, Any], row_of: tuple[str, int] | None = None) -> list[dict]:
        """Return the lines of template files behind a row of a summary, for each table as ``_of_table`` does."""
        chosen = self.instances_of(row)
        return [entry for table, mask in chosen.items() for entry in self._of_table(table, mask, row_of)]

    def instances_of(self, row: dict) -> "dict[str, pyarrow.BooleanArray]":
        """Return the rows of instances, or of texts made from them, behind a row of a summary.

        The outputs of the row's model in its way of scoring lead to the instances; these are narrowed by the factors,
        and by the identifiers in whatever on the way, or among the study's outcomes, has further factors.

        Args:
            row: With the columns of a summary, as :func:`scripts.core.files.read_csv` reads them.

        Returns:
            Table to which of its rows; tables without such a row are left out.

        Raises:
            UserError: If the run has no outputs of that model, and its study does not say where there are others.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        said = {name: plain_cell(row[name]) for name in row}
        facts = {name: said[name].split("|") for name in estimate_rows.factors(row) if said[name]}
        # No model stands for all of them.
        models = said["model"].split("|") if said["model"] else []
        known = self.outcomes.get(said["study"], {})
        levels = {name: values[0] for name, values in facts.items()}
        outcomes = [path.format(**said | levels) for path in known.get(said["scoring"], known.get("", []))]
        room = f"results/{said['study']}/{estimate_rows.OUTPUT_FOLDERS.get(said['scoring'])}/"
        upstream = {path for outcome in outcomes if outcome in self.makers for path in self._needs(outcome)}
        if not known:
            upstream = {path for path, job in self.makers.items() if said["part"] in job["wildcards"].values()}
        outputs = sorted(
            path
            for path in upstream
            if path.startswith(room)
            and Path(path).suffix in (".parquet", ".jsonl")
            and (not models or Path(path).stem in models)
        )
        if not outputs and not outcomes:
            raise UserError(f"{said['study']}, {said['part']}: this run has no outputs of {said['model']} below {room}")
        nearest, others = self._reached(outputs or outcomes[:1], facts)
        if not outputs:
            # Outputs that were brought are of the instances; texts and samples that this run made of them are no part.
            nearest = [table for table in nearest if not self._needs(table).intersection(nearest)]
        groups = {}
        # Instances stand in several tables, of which each has a part; so do outputs.
        alternatives = [others, outputs, *([path] for path in outcomes)]
        for place, table in [(place, table) for place, tables in enumerate(alternatives) for table in tables]:
            columns = self._schema(table).get("columns", [])
            closed = facts.keys() & self.makers.get(table, {}).get("wildcards", {}).keys()
            if table in nearest or not columns or not (facts.keys() & set(columns) or closed or table in outputs):
                continue
            mask = self._matching(table, facts)
            for key in identifiers(columns):
                found = groups.setdefault((place, key), ([], []))
                found[0].append(self._column(table, key))
                found[1].append(self._column(table, key).filter(mask))
        chosen = {}
        for table in nearest:
            mask = self._matching(table, facts)
            for (_, key), (every, kept) in groups.items():
                if key not in self._schema(table)["columns"]:
                    continue
                column = self._column(table, key)
                # Identifiers of another kind of thing say nothing of these.
                if pc.any(pc.is_in(column, value_set=pa.concat_arrays([a.cast(pa.string()) for a in every]))).as_py():
                    values = pa.concat_arrays([a.cast(pa.string()) for a in kept])
                    mask = pc.and_(mask, pc.is_in(column, value_set=values))
            if pc.any(mask).as_py():
                chosen[table] = mask
        return chosen

    def _matching(self, table: str, facts: dict[str, list[str]]) -> "pyarrow.BooleanArray":
        """Return which rows of a table have a value of each fact that is one of its columns."""
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = self._schema(table)["columns"]
        mask = pa.array([True] * len(self._column(table, columns[0])))
        for name in [name for name in facts if name in columns]:
            mask = pc.and_(mask, pc.fill_null(self._matches(table, name, facts[name]), False))
        return mask

    def _reached(self, paths: Iterable[str], facts: dict[str, list[str]]) -> tuple[list[str], list[str]]:
        """Return the tables with origins that are met first on the ways upstream, and those behind them."""

        def is_closed(job: dict) -> bool:
            return any(name in facts and value not in facts[name] for name, value in job["wildcards"].items())

        ways = {path: job["inputs"] for path, job in self.makers.items() if not is_closed(job)}
        reached = graph.ancestors(ways, paths)
        having = [path for path in reached if path in ways and self._schema(path).get("origins")]
        first = set(graph.ancestors({path: ways[path] for path in ways.keys() - set(having)}, paths))
        return [path for path in having if path in first], [path for path in having if path not in first]
