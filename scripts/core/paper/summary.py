"""One tidy table of estimates over all studies: what was measured, of which model or system, on what, and how surely.

Each study writes its rows (the ``summary`` of its declaration); the paper's overview, cards, exports and
``results/paper/summary.csv`` are made from all of them. Labels are made here, where a row is printed; nothing reads
them back. The instances behind a row follow from its identity and its factors (:mod:`scripts.core.provenance.origins`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.errors import UserError, nearest
from scripts.core.normalisation import LABELS as NORMALISATIONS
from scripts.core.paper import formats

MODEL, SYSTEM, HEURISTIC, RELEASED_OUTPUTS = "model", "system", "heuristic", "released"
KINDS = (MODEL, SYSTEM, HEURISTIC, RELEASED_OUTPUTS)
"""Whose a value is: a language model of this run, a coreference system, a rule in place of one, or outputs that the
study's authors released."""
PROBABILITY, PROMPTED, CLUSTERS, DISTRIBUTION = "probability", "prompted", "clusters", "distribution"
FULL, PARTIAL = "full likelihood", "partial likelihood"
ROOMS = {
    PROBABILITY: "scores",
    FULL: "scores",
    PARTIAL: "scores",
    PROMPTED: "answers",
    CLUSTERS: "clusters",
    DISTRIBUTION: "distributions",
}
"""Ways in which an output becomes a decision, to the folder below ``results/<study>/`` with the outputs."""
IDENTITY = ["study", "part", "model", "kind", "scoring", "debiasing"]
"""``study`` and ``model`` by their names in the workflow, ``part`` that of the study (a set of templates, a source)."""
VALUES = ["value", "unit", "low", "high", "level", "n", "n_unit"]
ABOUT = ["label", "demonstration", "headline"]
"""What figures call the model; whether it shows the machinery alone; whether the paper's overview has the row."""
COLUMNS = [*IDENTITY, "metric", *VALUES, *ABOUT]
"""The columns that every summary has. All others, between ``metric`` and ``value``, are factors under the names that
instances have for them. An empty factor is pooled; ``a|b`` pools these levels."""
LEVEL = 0.95
UNITS = {
    "instances": ("instance_id", "id", "seed"),
    "pairs of people": ("pair",),
    "quadruples": ("quadruple",),
    "sentences": ("item",),
    "answers": ("text_id",),
    "clusters": (),
    "forms": (),
}
"""What ``n`` counts, to those columns of instances whose combinations it counts; none: something else."""
RUN, RELEASED, BASELINE, DEMONSTRATION = "run", "released", "baseline", "demonstration"
"""What the overview says of a row: a model or system of this run; outputs that the study's authors released; a rule in
place of a system; a model that shows the machinery."""
LEVELS = {
    "evaluation_set": {"mgc": "", "winogender": "Winogender"},
    "entities": {"double": "two people", "single": "one person"},
    "gender": {"M": "masculine", "F": "feminine"},
    "normalisation": {name: f"by {label}" for name, label in NORMALISATIONS.items()},
    "original_gender": {"M": "M2F", "F": "F2M"},
    "pronoun_type": {"binary": "binary pronouns", "neutral": "they", "neo": "neo-pronouns"},
    "role": {"original|control": "original", "swap-1|swap-2": "counterfactual"},
    "setting": {"fidelity": ""},
    "shots": {"0": ""},
    "variable": {"date": "over dates", "place": "over places"},
}
"""Levels of factors whose own names would not be read: what is printed."""
ASKED = "prompt"
"""The factor that is told with the model."""
FIRST = ("evaluation_set", "templates", "variable")
"""Factors whose levels are told before others."""
ASIDE = (ASKED, "templates")
"""Factors that say how and from what a row was made, and not of which part it is."""
VALUE = "Value [95 % interval]"
"""The overview's column of values."""
FEW = 8
"""Up to this many models the overview shows each; of more, those with the lowest and the highest value."""


def factors(columns: Iterable[str]) -> list[str]:
    """Return the columns of a summary that are factors, in their order."""
    return [name for name in columns if name not in COLUMNS]


def write(path: str | Path, study: str, rows: list[dict]) -> None:
    """Write a study's rows.

    Args:
        path: The CSV file.
        study: Its name.
        rows: ``part``, ``model``, ``kind``, ``scoring``, ``metric``, ``value``, ``n``, ``n_unit``, ``label``, and
            factors by their names. Where a row does not say it, ``unit`` is a share, ``debiasing`` empty,
            ``demonstration`` and ``headline`` are false, and there is no interval.

    Raises:
        ValueError: For an unknown kind, scoring or unit of ``n``, an interval without one of its ends or whose ends are
            the wrong way round, and two rows of the same identity, metric and factors.
    """
    named = list(dict.fromkeys(name for row in rows for name in row if name not in COLUMNS))
    usual = {"study": study, "unit": "share", "debiasing": "", "demonstration": False, "headline": False}
    frame = pd.DataFrame([usual | row for row in rows])
    frame = frame.reindex(columns=[*IDENTITY, "metric", *named, *VALUES, *ABOUT])
    frame[named] = frame[named].astype(object).where(frame[named].notna(), "")
    for name in named:
        frame[name] = frame[name].map(lambda value: f"{value:.0f}" if isinstance(value, float) else str(value))
    frame["level"] = frame.low.map(lambda low: None if pd.isna(low) else LEVEL).astype(float)
    files.write_csv(path, checked(frame, path))


def checked(frame: pd.DataFrame, path: str | Path) -> pd.DataFrame:
    """Return a study's rows if they are what a summary can hold.

    Raises:
        ValueError: If they are not; names the row.
    """
    for row in frame.itertuples():
        where = f"{path}: {row.label}, {row.metric}"
        for column, known in (("kind", KINDS), ("scoring", ("", *ROOMS)), ("n_unit", tuple(UNITS))):
            if (value := getattr(row, column)) not in known:
                raise ValueError(f"{where}: {column} '{value}'{nearest(str(value), known)}")
        if pd.isna(row.low) != pd.isna(row.high):
            raise ValueError(f"{where}: one end of the interval is missing")
        if pd.notna(row.low) and not row.low <= row.high:
            raise ValueError(f"{where}: the interval ends before it begins")
    key = [*IDENTITY, "metric", *factors(frame)]
    twins = frame[frame.duplicated(key)]
    if not twins.empty:
        raise ValueError(f"{path}: two rows for {', '.join(filter(None, map(str, twins.iloc[0][key])))}")
    return frame


def read(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the rows of all studies in the order of ``paths``; words that are missing are empty.

    Raises:
        UserError: If a file lacks a column.
    """
    frames = []
    for path in paths:
        frame = files.read_csv(path, dtype=str)
        lacking = [column for column in COLUMNS if column not in frame]
        if lacking:
            raise UserError(f"{path}: column '{lacking[0]}' is missing; delete the file and run again")
        frames.append(frame)
    named = list(dict.fromkeys(name for frame in frames for name in factors(frame)))
    table = pd.concat(frames, ignore_index=True).reindex(columns=[*IDENTITY, "metric", *named, *VALUES, *ABOUT])
    numbers = ["value", "low", "high", "level", "n"]
    words = [name for name in table if name not in numbers]
    table[words] = table[words].fillna("")
    for name in numbers:
        table[name] = pd.to_numeric(table[name])
    for name in ("demonstration", "headline"):
        table[name] = table[name] == "True"
    return table


def at(frame: pd.DataFrame, **levels: str) -> pd.DataFrame:
    """Return the rows with these values; factors that are not named are pooled, or :data:`ASIDE`.

    Examples:
        >>> table = pd.DataFrame({"metric": ["accuracy"] * 2, "case": ["", "nominative"]})
        >>> at(table, metric="accuracy").index.tolist(), at(table, case="nominative").index.tolist()
        ([0], [1])
    """
    wanted = {name: "" for name in factors(frame) if name not in ASIDE} | levels
    chosen = pd.Series(True, index=frame.index)
    for name, value in wanted.items():
        chosen &= (frame[name] == str(value)) if name in frame else (value == "")
    return frame[chosen]


def what(row: Mapping[str, object]) -> str:
    """Return the metric of a row with the levels of its factors in words.

    Examples:
        >>> what({"metric": "accuracy", "n_distractors": "1", "pronoun": "xe", "value": 0.5})
        'accuracy, 1 distractor, xe'
        >>> what({"metric": "AUC", "evaluation_set": "winogender", "shots": "2", "case": ""})
        'AUC, Winogender, 2 shots'
    """
    named = sorted(factors(row), key=lambda name: name not in FIRST)
    told = [_word(name, str(row[name])) for name in named if row[name] and name != ASKED]
    return ", ".join(filter(None, [str(row["metric"]), *told]))


def _word(name: str, level: str) -> str:
    if level in LEVELS.get(name, {}):
        return LEVELS[name][level]
    if not level.isdigit():
        return level
    noun = name.removeprefix("n_").replace("_", " ")
    return f"{level if level != '0' else 'no'} {noun.removesuffix('s') if level == '1' else noun}"


def who(row: Mapping[str, object]) -> str:
    """Return what a row is of: a model or system, what it was debiased by, how it decided and how it was asked."""
    asked = f"prompt {row[ASKED]}" if row.get(ASKED) else ""
    likelihood = row["scoring"] if row["scoring"] in (FULL, PARTIAL) else ""
    return ", ".join(filter(None, [row["label"], row["debiasing"], likelihood, asked]))


def status(row: Mapping[str, object]) -> str:
    """Return what the overview says of a row."""
    if row["kind"] == HEURISTIC:
        return BASELINE
    if row["kind"] == RELEASED_OUTPUTS:
        return RELEASED
    return DEMONSTRATION if row["demonstration"] else RUN


def beside(names: list[str], models: dict, **given: object) -> dict:
    """Return the start of a row that is no headline, about one model, a pair of them, or all of the run together.

    Args:
        names: Of the models that the row is about; the second is what the first is compared with. None: all of the run.
        models: Name to ``label`` and ``demonstration``.
        given: Further columns.
    """
    facts = [models[name] for name in names]
    # Of all models together, those that are more than demonstrations decide.
    shown = any(one["demonstration"] for one in facts) or (
        not facts and all(m["demonstration"] for m in models.values())
    )
    return {
        "model": names[0] if names else "",
        **({"compared_with": names[1]} if len(names) > 1 else {}),
        "kind": MODEL,
        "label": " – ".join(one["label"] for one in facts) or "all models",
        "demonstration": shown,
        **given,
    }


def overview(frame: pd.DataFrame, labels: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the overview: the headline rows, of many models those with the lowest and the highest value.

    Args:
        frame: From :func:`read`.
        labels: Studies to their labels.

    Returns:
        The cells (columns of text: ``Study``, ``Data``, ``Model or system``, ``Metric``, :data:`VALUE`, ``n``,
        ``Status``), and the row of ``frame`` that each is of.
    """
    rows, places = [], []
    table = frame[frame.headline]
    shown = [
        {"what": what(row), "who": who(row), "place": place, **row}
        for place, row in zip(table.index, table.to_dict("records"), strict=True)
    ]
    groups: dict[tuple, list[dict]] = {}
    for row in shown:
        groups.setdefault((row["study"], row["part"], row["what"]), []).append(row)
    for same in groups.values():
        chosen = [(row["who"], row) for row in same]
        if len(same) > FEW:
            ends = sorted(same, key=lambda row: (pd.isna(row["value"]), row["value"]))
            chosen = [
                (f"{word} of {len(same)}: {row['who']}", row)
                for word, row in zip(("lowest", "highest"), (ends[0], ends[-1]), strict=True)
            ]
        for name, row in chosen:
            places.append(row["place"])
            rows.append(
                {
                    "Study": labels[row["study"]],
                    "Data": row["part"],
                    "Model or system": name,
                    "Metric": row["what"],
                    VALUE: formats.number(row["value"], 3) + _interval(row),
                    "n": f"{formats.number(row['n'], 0)} {row['n_unit']}",
                    "Status": status(row),
                }
            )
    columns = ["Study", "Data", "Model or system", "Metric", VALUE, "n", "Status"]
    return pd.DataFrame(rows, columns=columns), frame.loc[places].reset_index(drop=True)


def _interval(row):
    return "" if pd.isna(row["low"]) else f" [{formats.interval(row['low'], row['high'], 3, between=', ')}]"
