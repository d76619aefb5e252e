"""The tables of a run, and which of their rows were made from which lines of template files.

Instances and texts say where they come from: the metadata ``origins`` of their Parquet file names the columns that
count lines of files (``{"task_row": "task.tsv"}``; a column may hold a list, and a name in braces is that of the column
which holds the file's name).
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.provenance import graph

if TYPE_CHECKING:
    import pyarrow

MISSING = ""
"""The value of a fact that chooses the rows where a column is missing."""


def identifiers(columns: Iterable[str]) -> list[str]:
    """Return the columns that tables are joined by."""
    return [name for name in columns if name == "id" or name.endswith("_id")]


class Tables:
    """The tables that jobs make, each read when it is asked for.

    Args:
        jobs: As :mod:`scripts.provenance.expected_jobs` prints them.
        where: Path of an input to where it lies (:func:`scripts.core.provenance.job_records.resolve`).
    """

    def __init__(self, jobs: list[dict], where: Callable = Path):
        self.jobs, self.where = jobs, where
        self.makers, self.graph = graph.makers(jobs), graph.inputs_of(jobs)
        self._schemas, self._columns, self._upstream = {}, {}, {}

    def _of_table(self, table: str, mask: "pyarrow.BooleanArray | None", row_of: tuple[str, int] | None) -> list[dict]:
        import pyarrow.compute as pc

        origins = self._schema(table)["origins"]
        if row_of:
            using = None
            for column, name in origins.items():
                same = self._of_row(table, column, name, *row_of)
                if same is not None:
                    using = same if using is None else pc.or_(using, same)
            if using is None:
                return []
            mask = using if mask is None else pc.and_(mask, using)
        lines_of_files = {}
        count = len(self._column(table, next(iter(origins)))) if mask is None else pc.sum(mask).as_py() or 0
        if not count:
            return []
        for column, name in origins.items():
            lines = self._column(table, column)
            lines = lines if mask is None else lines.filter(mask)
            if name.startswith("{"):
                owners = self._column(table, name[1:-1])
                owners = (owners if mask is None else owners.filter(mask)).to_pylist()
                for owner, line in zip(owners, lines.to_pylist(), strict=True):
                    lines_of_files.setdefault(self._file(table, owner), set()).add(line)
                continue
            if "list" in str(lines.type):
                lines = pc.list_flatten(lines)
            path = self._file(table, name)
            lines_of_files.setdefault(path, set()).update(lines.unique().to_pylist())
        return [
            {"file": path, "rows": sorted(lines - {None}), "table": table, "count": count}
            for path, lines in lines_of_files.items()
            if lines - {None}
        ]

    def _of_row(self, table: str, column: str, name: str, path: str, row: int) -> "pyarrow.BooleanArray | None":
        """Return which rows of a table come from a line of a file, None if the column counts lines of another."""
        import pyarrow as pa
        import pyarrow.compute as pc

        lines = self._column(table, column)
        if name.startswith("{"):
            same = pa.array([self._file(table, owner) == path for owner in self._column(table, name[1:-1]).to_pylist()])
            return pc.and_(same, pc.equal(lines, row))
        if self._file(table, name) != path:
            return None
        if "list" not in str(lines.type):
            return pc.fill_null(pc.equal(lines, row), False)
        owners = pc.list_parent_indices(lines).filter(pc.equal(pc.list_flatten(lines), row))
        return pc.is_in(pa.array(range(len(lines)), pa.int64()), value_set=owners.cast(pa.int64()))

    def _of_file(self, path: str, facts: dict[str, list[str]], row_of: tuple[str, int] | None) -> list[dict]:
        """Return the lines of a template file that a result reads directly, narrowed by the file's own columns."""
        rows = data_rows(self.where(path))
        chosen = rows
        for name, values in facts.items():
            same = {n: cells for n, cells in chosen.items() if cells.get(name, cells.get(name.lower())) in values}
            chosen = same or chosen
        lines = sorted(chosen)
        if row_of:
            lines = [n for n in lines if (path, n) == row_of]
        return [{"file": path, "rows": lines, "table": None, "count": len(lines)}] if lines else []

    def _schema(self, table: str) -> dict[str, Any]:
        """Return ``columns`` and ``origins`` of a Parquet file; nothing for another file or a missing one."""
        if table not in self._schemas:
            self._schemas[table] = {}
            if table.endswith(".parquet") and Path(table).is_file():
                import pyarrow.parquet as pq

                columns = pq.read_schema(table).names
                self._schemas[table] = {
                    "columns": columns,
                    "origins": files.parquet_metadata(table).get("origins") or {},
                }
        return self._schemas[table]

    def made_from(self, path: str, row: int) -> dict[str, int]:
        """Return how many rows of each table of instances or texts come from a line of a file."""
        row_counts = {}
        for table in [p for job in self.jobs for p in job["outputs"] if self._schema(p).get("origins")]:
            lines = self._of_table(table, None, (path, row))
            if lines:
                row_counts[table] = lines[0]["count"]
        return row_counts

    def _column(self, table: str, name: str) -> "pyarrow.Array":
        if (table, name) not in self._columns:
            import pyarrow.parquet as pq

            column = pq.read_table(table, columns=[name]).column(0).combine_chunks()
            self._columns[table, name] = (
                column if not hasattr(column, "dictionary_decode") else column.dictionary_decode()
            )
        return self._columns[table, name]

    def _matches(self, table: str, name: str, values: list[str]) -> "pyarrow.BooleanArray":
        """Return in which rows of a table a column has one of some values, given as text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._column(table, name)
        read = {"b": lambda v: {"True": True, "False": False}.get(v), "i": _number, "f": _number}
        kind = "b" if pa.types.is_boolean(column.type) else "i" if pa.types.is_integer(column.type) else (
            "f" if pa.types.is_floating(column.type) else "s"
        )  # fmt: skip
        wanted = [read[kind](v) for v in values] if kind in read else values
        wanted = [v for v in wanted if v is not None and v != MISSING]
        if kind == "i":
            wanted = [int(v) for v in wanted if v == int(v)]
        if pa.types.is_nested(column.type):
            return pa.array([True] * len(column))
        chosen = pc.is_in(column, value_set=pa.array(wanted, column.type))
        return pc.or_(chosen, pc.is_null(column)) if MISSING in values else chosen

    def _needs(self, table: str) -> set[str]:
        """Return everything that a file is made from."""
        if table not in self._upstream:
            self._upstream[table] = set(graph.ancestors(self.graph, self.graph[table]))
        return self._upstream[table]

    def _file(self, table: str, name: str) -> str:
        """Return the path of an input upstream by its name, behind which a file in an archive follows a colon."""
        archive, colon, member = name.partition(":")
        same = sorted(path for path in self._needs(table) if Path(path).name == archive)
        return (same[0] if same else archive) + colon + member


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def data_rows(path: str | Path) -> dict[int, dict[str, str]]:
    """Return the data rows of a tab-separated file with a header: line from 1 to its cells by column."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 text ({error}); restore it") from error
    lines = [line.removesuffix("\r") for line in lines]
    start = next((n for n, line in enumerate(lines) if line != "#" and not line.startswith("# ")), len(lines))
    header = lines[start].split("\t") if start < len(lines) else []
    return {
        n: dict(zip(header, line.split("\t"), strict=False))
        for n, line in enumerate(lines[start + 1 :], start + 2)
        if line
    }
