"""From a headline row of a run's summary to the outcome of each instance behind it."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.provenance.origins import plain_cell
from scripts.core.workflow.studies import PairedOutcomes

OWN_TEMPLATES = "replica"
"""The set of templates whose texts may be shown; those of all others are named by their ids alone."""
KEYS = ("instance_id", "id", "text_id")
"""Columns that identify an instance or text; the first that a table has."""
CONTENT = ("text", "options", "gold", "answer", "a", "b", "a_coref", "b_coref", "role", "gender")
"""Columns of instances that make two of one id the same."""
TOLERANCE = 1e-6
"""By so much may an estimate from the outcomes differ from the summary's, which is rounded."""
PART = "continuation_log_probability"
"""The column of scores that partial likelihoods compare."""


class Run:
    """The tables of a run in its folder; each is read once.

    Attributes:
        folder: The run's folder.
        summary: The rows of its summary, or of those of some studies.
    """

    def __init__(self, folder: Path, summaries: Sequence[str] = ("results/paper/summary.csv",)):
        self.folder = Path(folder)
        self.summary = estimate_rows.read([self.folder / path for path in summaries])
        self._tables, self._instances = {}, {}

    def headlines(self, model: str | None) -> pd.DataFrame:
        """Return the headline rows, of all models or one; what has no value is no estimate."""
        rows = self.summary[self.summary.headline & self.summary.value.notna()]
        return rows if model is None else rows[rows.model == model]

    def table(self, path: str) -> pd.DataFrame | None:
        """Return a Parquet file, or None if the run does not have it."""
        if path not in self._tables:
            place = self.folder / path
            self._tables[path] = files.read_parquet(place) if place.is_file() else None
        return self._tables[path]

    def instances(self, study: str, key: str, ids: set[str]) -> pd.DataFrame:
        """Return instances or texts by their ids, with ``digest`` of their :data:`CONTENT` and, where there are, texts.

        A sample that models read outranks the tables that it was drawn from.
        """
        found = self._instances.setdefault((study, key), {})
        wanted = ids - found.keys()
        base = self.folder / "results" / study
        paths = [*base.glob("instances/**/*.parquet"), *base.glob("texts/**/*.parquet")]
        for path in sorted(paths, key=lambda path: (path.stem != "selected", str(path))) if wanted else ():
            if key not in pq.read_schema(path).names:
                continue
            table = pq.read_table(path)
            same = pc.is_in(table.column(key), value_set=_array(sorted(wanted)))
            for row in table.filter(same).to_pylist():
                text = [[name, row[name]] for name in CONTENT if name in row]
                digest = hashlib.sha256(repr(text).encode()).hexdigest()[:16]
                found.setdefault(row[key], row | {"digest": digest})
            wanted -= found.keys()
        frame = pd.DataFrame([found[name] for name in sorted(ids & found.keys())])
        return frame.set_index(key) if len(frame) else pd.DataFrame({"digest": []})

    def find(self, study: str, ids: set[str]) -> dict[str, dict]:
        """Return those of some instances that :meth:`instances` has read."""
        read = {name: row for (of, _), rows in self._instances.items() if of == study for name, row in rows.items()}
        return {name: read[name] for name in ids & read.keys()}

    def probabilities(self, row: pd.Series) -> dict[str, dict[str, float]]:
        """Return the share of each option in an instance's likelihood; empty where a row rests on no scores."""
        path = f"results/{row.study}/scores/{row.part}/{row.model}.parquet"
        scores = self.table(path) if estimate_rows.OUTPUT_FOLDERS.get(row.scoring) == "scores" else None
        if scores is None:
            return {}
        column = PART if row.scoring == estimate_rows.PARTIAL and PART in scores else "log_probability"
        best = scores.groupby("instance_id")[column].transform("max")
        weight: Any = np.exp(scores[column] - best)
        share = weight / weight.groupby(scores.instance_id).transform("sum")
        found = {}
        for name, option, value in zip(scores.instance_id, scores.option, share, strict=True):
            found.setdefault(name, {})[option] = round(float(value), 4)
        return found


def _array(values: Sequence[str]):
    import pyarrow as pa

    return pa.array(values, pa.string())


def outcomes(run: Run, row: pd.Series, tables: dict, declared: PairedOutcomes) -> pd.DataFrame | str:
    """Return the outcomes behind a row of a run's summary, or why there are none, in words.

    Args:
        run: The run.
        row: The row.
        tables: The study's outcomes, by the way of scoring.
        declared: What the study says of the row's metric.

    Returns:
        ``id``, ``row`` (what identifies the outcome), ``unit``, ``cluster``, ``value``, ``digest``, ``prediction`` and,
        where the statistic needs them, ``by`` and ``sign``.
    """
    said = {name: plain_cell(row[name]) for name in row.index}
    facts = {name: said[name].split("|") for name in estimate_rows.factors(row.index) if said[name]}
    path = tables.get(said["scoring"], tables.get("", [""]))[0].format(**said)
    frame = run.table(path)
    if frame is None:
        return f"{path} is not in this run"
    key = next((name for name in KEYS if name in frame), None)
    lacking = [name for name in (*declared.where, declared.value, *declared.prediction) if name not in frame]
    if key is None or lacking:
        return f"{path} has no column {(lacking or [KEYS[0]])[0]}"
    for column, texts in declared.where.items():
        present = frame[column].map(plain_cell)
        wanted = [text.format(**said).strip(" ,") for text in texts]
        frame = frame[present == next((text for text in wanted if (present == text).any()), None)]
    for column, levels in facts.items():
        if column in frame:
            frame = frame[frame[column].map(plain_cell).isin(levels)]
    known: Any = run.instances(said["study"], key, set(frame[key].map(str)))
    if len(known) < frame[key].nunique() or not len(frame):
        return f"the instances behind {path} are not in this run"
    known = known.loc[frame[key].map(str)].set_index(frame.index)
    needed = [*declared.unit, *declared.cluster, *([declared.by] if declared.by else []), *declared.signs]
    frame = frame.assign(
        **{name: known[name] for name in (*facts, *needed) if name in known.columns.difference(frame.columns)}
    )
    if lacking := [name for name in needed if name not in frame]:
        return f"{path} and its instances have no column {lacking[0]}"
    kept = pd.Series(True, index=frame.index)
    for column, levels in facts.items():
        if column in frame:
            kept &= frame[column].map(plain_cell).isin(levels)
    rows = pd.DataFrame(
        {
            "id": frame[key].map(str),
            "row": _joined(frame, dict.fromkeys([key, *declared.unit])),
            "unit": _joined(frame, declared.unit),
            "cluster": _joined(frame, declared.cluster),
            "value": frame[declared.value].astype(float),
            "digest": known.digest,
            "prediction": _joined(frame, declared.prediction) if declared.prediction else "",
        }
    )
    if declared.by:
        rows["by"] = frame[declared.by]
    for column, levels in declared.signs.items():
        rows["sign"] = frame[column].map(plain_cell).map(levels)
        kept &= rows.sign.notna()
    return rows[kept]


def _joined(frame: pd.DataFrame, columns: Iterable[str]):
    """Return the cells of some columns as one text."""
    texts = [frame[name].map(plain_cell) for name in columns]
    joined = texts[0]
    for text in texts[1:]:
        joined = joined + " / " + text
    return joined


def reproduces_value(units: pd.DataFrame, row: pd.Series) -> bool:
    """Tell whether units make the value of a row of the summary; if not, the outcomes mean something else."""
    return bool(len(units)) and abs(units.value.mean() - row.value) <= TOLERANCE * max(1.0, abs(row.value))


def changed_predictions(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the outcomes whose prediction differs, of instances that are the same in both runs.

    Returns:
        ``id``, ``prediction_a``, ``prediction_b``, ``value_a``, ``value_b``; an instance stands there once.
    """
    both = first.merge(second, on=["row", "id", "digest"], suffixes=("_a", "_b"))
    both = both[both.prediction_a != both.prediction_b]
    return both.drop_duplicates(["id", "prediction_a", "prediction_b"])
