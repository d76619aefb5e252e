"""One tidy table over all studies: what was measured, on which data, for which model or system, and how surely.

Each study writes its rows (the ``summary`` of its declaration); the paper's overview and ``results/paper/summary.csv``
are made from all of them.
"""

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, nearest
from scripts.core.paper import formats

RUN, RELEASED, BASELINE, DEMONSTRATION = "run", "released", "baseline", "demonstration"
STATUSES = (RUN, RELEASED, BASELINE, DEMONSTRATION)
"""A model or system of this run; outputs that the study's authors released; a rule in place of a system; a model that
shows the machinery."""
COLUMNS = ["study", "data", "model", "metric", "group", "value", "ci_low", "ci_high", "n", "status", "headline"]
"""``group``: what the value is of, ``all`` or a part such as a pronoun set; ``n``: of the unit that intervals resample;
``headline``: whether the paper's overview shows it."""
VALUE = "Value [95 % interval]"
"""The overview's column of values."""
FEW = 8
"""Up to this many models the overview shows each; of more, those with the lowest and the highest value."""


def write(path, study, rows):
    """Write a study's rows.

    Parameters
    ----------
    path : str or Path
    study : str
        Its label.
    rows : list of dict or DataFrame
        :data:`COLUMNS` without ``study``. An interval that there is not may be left out.

    Raises
    ------
    ValueError
        For a row with another key, an unknown status, or an interval that its value is outside of.
    """
    frame = pd.DataFrame(rows).assign(study=study)
    unknown = sorted(set(frame) - set(COLUMNS))
    if unknown:
        raise ValueError(f"no columns of a summary: {', '.join(unknown)}")
    files.write_csv(path, checked(frame.reindex(columns=COLUMNS), path))


def checked(frame, path):
    """Return a study's rows if they are what a summary can hold.

    Raises
    ------
    ValueError
        If they are not; names the row.
    """
    for row in frame.itertuples():
        where = f"{path}: {row.model}, {row.metric}, {row.group}"
        if row.status not in STATUSES:
            raise ValueError(f"{where}: status '{row.status}'{nearest(str(row.status), STATUSES)}")
        if pd.isna(row.ci_low) != pd.isna(row.ci_high):
            raise ValueError(f"{where}: one end of the interval is missing")
        if pd.notna(row.ci_low) and not row.ci_low <= row.ci_high:
            raise ValueError(f"{where}: the interval ends before it begins")
    key = ["study", "data", "model", "metric", "group"]
    twins = frame[frame.duplicated(key)]
    if not twins.empty:
        raise ValueError(f"{path}: two rows for {', '.join(map(str, twins.iloc[0][key]))}")
    return frame


def beside(names, models, data):
    """Return a function that makes a row of what is no headline, about one model, several, or all of the run together.

    Parameters
    ----------
    names : sequence of str
        Of the models that the row is about; none: all of the run.
    models : dict
        Name to ``label`` and ``demonstration``.
    data : str

    Returns
    -------
    callable
        Of ``metric``, ``group``, ``value``, ``n`` and both ends of the interval, to a row as :func:`write` takes them.
    """
    facts = [models[name] for name in names]
    # Of all models together, those that are more than demonstrations decide.
    shown = any(one["demonstration"] for one in facts) or (
        not facts and all(m["demonstration"] for m in models.values())
    )

    def made(metric, group, value, n, low=None, high=None):
        return {
            "data": data, "model": " – ".join(one["label"] for one in facts) or "all models", "metric": metric,
            "group": group, "value": value, "ci_low": low, "ci_high": high, "n": n,
            "status": DEMONSTRATION if shown else RUN, "headline": False,
        }  # fmt: skip

    return made


def read(paths):
    """Return the rows of all studies in the order of ``paths``.

    Raises
    ------
    UserError
        If a file lacks a column.
    """
    frames = []
    for path in paths:
        frame = files.read_csv(path)
        lacking = [column for column in COLUMNS if column not in frame]
        if lacking:
            raise UserError(f"{path}: column '{lacking[0]}' is missing; delete the file and run again")
        frames.append(frame[COLUMNS])
    # Studies without rows have columns without a type, which would take the others' with them.
    filled = [frame for frame in frames if not frame.empty]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=COLUMNS)


def overview(frame):
    """Return the cells of the overview: the headline rows, many models as their lowest and their highest.

    Parameters
    ----------
    frame : DataFrame
        From :func:`read`.

    Returns
    -------
    DataFrame of str
        ``Study``, ``Data``, ``Model or system``, ``Metric``, :data:`VALUE`, ``n``, ``Status``.
    """
    rows = []
    # Empty cells of a group would drop out of it.
    shown = frame[frame.headline.astype(bool)].fillna({"group": "", "data": ""})
    for _, same in shown.groupby(["study", "data", "metric", "group"], sort=False):
        chosen = [(row.model, row) for row in same.itertuples()]
        if len(same) > FEW:
            ends = same.sort_values("value", kind="stable")
            chosen = [
                (f"{word} of {len(same)}: {row.model}", row)
                for word, row in zip(("lowest", "highest"), ends.iloc[[0, -1]].itertuples(), strict=True)
            ]
        for name, row in chosen:
            metric = row.metric if row.group in ("", "all") else f"{row.metric}, {row.group}"
            rows.append(
                {
                    "Study": row.study,
                    "Data": row.data,
                    "Model or system": name,
                    "Metric": metric,
                    VALUE: formats.number(row.value, 3) + _interval(row),
                    "n": formats.number(row.n, 0),
                    "Status": row.status,
                }
            )
    return pd.DataFrame(rows, columns=["Study", "Data", "Model or system", "Metric", VALUE, "n", "Status"])


def _interval(row):
    return "" if pd.isna(row.ci_low) else f" [{formats.interval(row.ci_low, row.ci_high, 3, between=', ')}]"
