"""Predictions, one model at a time: a run of all 3.3 million instances and many models does not fit into memory."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from scripts.core import files

if TYPE_CHECKING:
    import pyarrow.parquet

KEYS = ["model", "shots"]


class ByModel:
    """Predictions of one set of templates, read for one model at a time.

    Args:
        source: A file of predictions, or predictions.
        columns: Those that are needed besides the model and the number of examples.
        shots: Only those with so many examples in the prompt.

    Attributes:
        pairs (list of tuple): Number of examples and model, in the order in which they appear.
    """

    def __init__(self, source: str | Path | pd.DataFrame, columns: Sequence[str], shots: int | None = None):
        self.source, self.shots = source, shots
        self.columns = list(dict.fromkeys([*KEYS, *columns]))
        if isinstance(source, pd.DataFrame):
            self.groups = None
            pairs = [(int(shots), model) for model, shots in _distinct(source)]
        else:
            self.groups = []
            with files.open_parquet(source, self.columns) as file:
                for number in range(file.num_row_groups):
                    here = {(int(shots), model) for model, shots in _distinct(_read(file, number, KEYS).to_pandas())}
                    self.groups.append(here)
                pairs = [pair for here in self.groups for pair in here] if all(map(_single, self.groups)) else None
                if pairs is None:
                    pairs = [(int(shots), model) for model, shots in _distinct(file.read(KEYS).to_pandas())]
        self.pairs = [pair for pair in dict.fromkeys(pairs) if shots is None or pair[0] == shots]

    @property
    def models(self) -> list[str]:
        """The models, in the order in which they appear."""
        return list(dict.fromkeys(model for _, model in self.pairs))

    def only(self, shots: int) -> "ByModel":
        """Return the predictions with so many examples in the prompt alone."""
        return ByModel(self.source, self.columns, shots)

    def __iter__(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each model with its predictions, texts as categories in their order."""
        for shots, model in self.pairs:
            yield model, self.read(shots, model)

    def read(self, shots: int, model: str) -> pd.DataFrame:
        """Return the predictions of one model with so many examples."""
        if self.groups is None:
            table = self.source
            assert isinstance(table, pd.DataFrame), "a file has groups"
            return table[(table.model == model) & (table.shots == shots)][self.columns].reset_index(drop=True)
        assert not isinstance(self.source, pd.DataFrame), "a table has no groups"
        parts = []
        with files.open_parquet(self.source, self.columns) as file:
            for number, here in enumerate(self.groups):
                if (shots, model) in here:
                    part = _read(file, number, self.columns)
                    parts.append(part if len(here) == 1 else _matching(part, shots, model))
        return categories(parts)


def read_columns(path: str | Path, columns: Sequence[str], models: Collection[str] | None = None) -> pd.DataFrame:
    """Return some columns of all predictions of a file, texts as categories in their order.

    Args:
        models: Only those of these models.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = []
    with files.open_parquet(path, columns) as file:
        for number in range(file.num_row_groups):
            part = _read(file, number, columns)
            if models is not None:
                part = part.filter(pc.is_in(part["model"].cast(pa.string()), pa.array(list(models), pa.string())))
            parts.append(part)
    return categories(parts)


def categories(parts: "Iterable[pyarrow.Table]") -> pd.DataFrame:
    """Return Arrow tables as one table; texts become categories in the order of the alphabet."""
    import pyarrow as pa

    frame = pa.concat_tables(parts).unify_dictionaries().to_pandas()
    for name in frame.select_dtypes("category"):
        kinds = frame[name].cat.categories
        if not kinds.is_monotonic_increasing:
            frame[name] = frame[name].cat.reorder_categories(sorted(kinds))
    return frame


def _read(file: "pyarrow.parquet.ParquetFile", number: int, columns: Sequence[str]):
    """Return columns of a row group, text as dictionaries."""
    import pyarrow as pa

    table = file.read_row_group(number, columns=columns)
    for place, field in enumerate(table.schema):
        # Identifiers hardly repeat.
        if pa.types.is_string(field.type) and field.name != "instance_id":
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()).dictionary_encode())
    return table.replace_schema_metadata(None)


def _matching(table: "pyarrow.Table", shots: int, model: str):
    import pyarrow as pa
    import pyarrow.compute as pc

    same = pc.equal(table["model"].cast(pa.string()), model)
    return table.filter(pc.and_(same, pc.equal(table["shots"], shots)))


def _distinct(frame: pd.DataFrame):
    return frame[KEYS].drop_duplicates().itertuples(index=False, name=None)


def _single(pairs: Collection[tuple[int, str]]):
    return len(pairs) == 1
