"""The numbers that the MISGENDERED section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core.paper.formats import MISSING_MARK, interval, number, percent
from scripts.core.paper.numbers import count, entry
from scripts.misgendered.lib import study
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.resampling import rows_at
from scripts.misgendered.lib.labels import ALL, TYPES

if TYPE_CHECKING:
    from scripts.misgendered.lib.instances import Instances

KEYS = {
    "draws": "misgendered.bootstrap.draws",
    "few_shot_draws": "misgendered.few_shot.draws",
}
"""Settings to their keys in config.yaml."""
LEVEL = 95
"""Coverage of the intervals, in percent."""


def from_instances(loaded: "Instances") -> dict:
    """Return what the full set is made from.

    Returns:
        ``size.forms``, ``.groups``, ``.types``, ``.full`` (rows over all declarations), ``.one`` (of one declaration),
        ``.combinations``, ``.declaration_types``, ``.declared.fewest`` and ``.most``, ``.templates.all``, ``.smallest``
        and of each form, ``.names.all`` and of each class.
    """
    rows = loaded.templates.rows
    of_form = {form: sum(row.form == form for row in rows) for form in study.FORMS}
    declared = [len(way.forms) for way in loaded.declarations]
    values = {
        "forms": sum(map(bool, of_form.values())),
        "groups": len(loaded.groups),
        "types": len({forms.type for forms in loaded.groups.values()}),
        "full": loaded.size * len(loaded.declarations),
        "one": loaded.size,
        "combinations": len({way.number for way in loaded.declarations}),
        "declaration_types": len({way.kind for way in loaded.declarations}),
        "declared.fewest": min(declared),
        "declared.most": max(declared),
        "templates.all": len(rows),
        "templates.smallest": min(filter(None, of_form.values())),
        "names.all": len(loaded.names),
    }
    values |= {f"templates.{form}": size for form, size in of_form.items()}
    for name_class in study.NAME_CLASSES:
        values[f"names.{name_class}"] = sum(entry["name_class"] == name_class for entry in loaded.names)
    return {f"size.{name}": count(value, "selected.parquet", size=name) for name, value in values.items()}


SCORED = ("scored.instances", "scored.models", "scored.templates", "scored.names", "ties")


def scored_facts(table: str | Path | pd.DataFrame) -> dict:
    """Count what predictions are of, as :func:`from_predictions` names it.

    Returns:
        ``chance`` is the accuracy of a random pick: the mean share of an instance's candidates that are right. With the
        eleven groups it is a little above one in eleven, because e and ey share *em* and *emself*, so that two forms
        have ten candidates.
    """
    columns = ["instance_id", "form", "template_index", "name", "draw", "tie", "chance"]
    every, known, templates, names, ties, sizes = [], {}, set(), set(), 0, []
    source = ByModel(table, columns)
    for shots, model in source.pairs:
        rows = source.read(shots, model)
        # Models mostly have the same instances.
        if not any(rows.instance_id.equals(other) for other in known.get(shots, [])):
            known.setdefault(shots, []).append(rows.instance_id)
            every.append(rows[["instance_id", "chance"]].drop_duplicates("instance_id"))
        if shots:
            sizes.append(int(rows.groupby("draw").size().max()))
            continue
        pairs = rows[["form", "template_index"]].drop_duplicates()
        templates |= set(pairs.astype(object).itertuples(index=False, name=None))
        names |= set(rows.name.unique())
        ties += int(rows.tie.sum())
    facts = {
        "scored.instances": pd.concat(known.get(0, [pd.Series(dtype=object)])).nunique(),
        "scored.models": len({model for shots, model in source.pairs if not shots}),
        "scored.templates": len(templates),
        "scored.names": len(names),
        "ties": ties,
        "chance": float(np.mean(pd.concat(every, ignore_index=True).drop_duplicates("instance_id").chance)),
    }
    if sizes:
        facts["scored.examples.instances"] = max(sizes)
    return facts


def from_predictions(table: str | Path | pd.DataFrame) -> dict:
    """Return what was scored: ``scored.instances``, ``.models``, ``.templates``, ``.names``; ``ties``; ``chance``.

    ``table`` are predictions or their file, of which one model is read at a time.
    """
    source = "predictions.parquet"
    scored = scored_facts(table)
    numbers = {name: count(scored[name], source, column=name) for name in SCORED}
    if "scored.examples.instances" in scored:
        numbers["scored.examples.instances"] = count(scored["scored.examples.instances"], source, column="shots")
    chance = scored["chance"]
    return numbers | {
        "chance": entry(chance, percent(chance, 1), source, column="chance"),
        "setting.level": entry(LEVEL, f"{LEVEL}", "accuracy.csv", column="ci_low"),
    }


def share(row: Mapping | pd.Series, column: str, source: str, *keys: str) -> dict:
    """Return the entry of a share in percent, whose row of the table has these ``keys``."""
    return entry(row[column], percent(row[column], 1), source, **{key: row[key] for key in keys})


def estimate(
    name: str,
    row: Mapping,
    column: str,
    source: str,
    cell: Mapping[str, Any],
    *,
    ends: Sequence[str] = ("ci_low", "ci_high"),
    signed: bool = True,
) -> dict:
    """Return a value of a row and, as ``<name>.interval``, its interval, which is its text."""
    low, high = (row[end] for end in ends)
    text = interval(100 * low, 100 * high, 1, signed).replace(MISSING_MARK, "no interval")
    return {
        name: entry(row[column], number(100 * row[column], 1, signed), source, **cell),
        f"{name}.interval": entry(text, text, source, **cell),
    }


def estimates(
    table: pd.DataFrame,
    source: str,
    name: str,
    column: str = "difference",
    by: Sequence[str] = ("model", "pronoun_type"),
    levels: Mapping[str, Any] | None = None,
    **given: Any,
) -> dict:
    """Return :func:`estimate` of each row with the given ``levels``.

    ``name`` has columns in braces, and the columns ``by`` identify a row.
    """
    found = {}
    row: Any
    for row in table[rows_at(table, **(levels or {}))].to_dict("records"):
        found |= estimate(name.format(**row), row, column, source, {key: row[key] for key in by}, **given)
    return found


def changes(table: pd.DataFrame, source: str, name: str, by: Sequence[str], before: str, after: str) -> dict:
    """Return ``<name>.before`` and ``<name>.after``, two accuracies of each row, as :func:`estimates` names it."""
    found = {}
    row: Any
    for row in table.to_dict("records"):
        for when, column in (("before", before), ("after", after)):
            found[f"{name.format(**row)}.{when}"] = share(row, column, source, *by)
    return found


def from_accuracy(frame: pd.DataFrame) -> dict:
    """Return the accuracies that the text names, of the mean over the run's models.

    Args:
        frame: The rows of one set of templates, without examples.

    Returns:
        ``accuracy.<type>`` and ``accuracy.<type>.interval``; and of neo-pronouns ``group.neo.best`` with its interval
        (and ``label``, that of all that are equal, and ``clear``, whether its interval is above that of every other).
    """
    pooled = ["declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class"]
    rows, source = frame[frame.model == ALL], "accuracy.csv"

    def split(*kept: str):
        return rows[np.logical_and.reduce([(rows[column] != ALL) == (column in kept) for column in pooled])]

    numbers = estimates(split("pronoun_type"), source, "accuracy.{pronoun_type}", column="accuracy", signed=False)
    groups = split("group", "pronoun_type")
    neo = groups[groups.pronoun_type == "neo"]
    best = neo[neo.accuracy == neo.accuracy.max()].sort_values("group")
    if len(best):
        *others, last = best.group
        label = f"{', '.join(others)} and {last}" if others else last
        row, rest = best.iloc[0], neo[neo.group != last]
        name, cell = "group.neo.best", {key: row[key] for key in ("model", "group")}
        numbers |= estimate(name, row.to_dict(), "accuracy", source, cell, signed=False)
        numbers[name] |= {"label": label, "clear": bool((row.ci_low > rest.ci_high).all())}
    return numbers


def from_other_scores(table: pd.DataFrame) -> dict:
    """Return what the sum of losses and their mean over bytes change, over all models.

    Ids are ``<score>.other_pick`` (share of picks), ``<score>.<type>`` (points) with ``.interval``, ``.before`` and
    ``.after`` (accuracies); and
    ``sum.models.moved``, models whose place by accuracy on neo-pronouns is another by the sum.
    """
    numbers, source = {}, "normalisation.csv"
    by, ends = ("model", "pronoun_type", "group", "normalisation"), ("difference_low", "difference_high")
    for score in ("sum", "bytes"):
        levels = {"model": ALL, "group": ALL, "normalisation": score, "pronoun_type": list(TYPES)}
        numbers |= estimates(table, source, f"{score}.{{pronoun_type}}", by=by, levels=levels, ends=ends)
        rows = table[rows_at(table, **levels)].assign(before=lambda rows: rows.accuracy - rows.difference)
        numbers |= changes(rows, source, f"{score}.{{pronoun_type}}", by, "before", "accuracy")
        (row,) = table[rows_at(table, **levels | {"pronoun_type": ALL})].to_dict("records")
        numbers[f"{score}.other_pick"] = share(row, "flipped", source, *by)
    neo = table[(table.model != ALL) & (table.group == ALL) & (table.pronoun_type == "neo")]
    places = neo.pivot(index="model", columns="normalisation", values="accuracy").rank(ascending=False)
    moved = int((places["tokens"] != places["sum"]).sum()) if len(places) else 0
    return numbers | {"sum.models.moved": count(moved, source, pronoun_type="neo")}


def from_examples(summary: pd.DataFrame) -> dict:
    """Return ``examples.sd.most``: the largest SD over draws of the examples, in points, if there is any."""
    rows = summary[(summary.shots > 0) & summary.sd.notna()]
    if rows.empty:
        return {}
    row = rows.loc[[rows.sd.idxmax()]].to_dict("records")[0]
    return {"examples.sd.most": share(row, "sd", "accuracy_over_draws.csv", "model", "shots", "pronoun_type")}


def from_choices(table: pd.DataFrame) -> dict:
    """Return of each choice that is made the other way what changes, over all models.

    ``choice.<name>.other_pick`` (share of picks), ``.n`` (instances) and, for each type of pronouns, ``.<type>``
    (points) with ``.interval``, ``.before`` and ``.after`` (accuracies).
    """
    numbers, source = {}, "choices.csv"
    for choice, part in table.groupby("choice", sort=False):
        name, levels = f"choice.{choice}", {"model": ALL, "pronoun_type": list(TYPES)}
        by = ("choice", "made", "model", "pronoun_type")
        numbers |= estimates(part, source, f"{name}.{{pronoun_type}}", by=by, levels=levels)
        numbers |= changes(
            part[rows_at(part, **levels)], source, f"{name}.{{pronoun_type}}", by, "accuracy", "otherwise"
        )
        whole = part[rows_at(part, model=ALL, pronoun_type=ALL)].iloc[0]
        numbers[f"{name}.other_pick"] = share(whole, "other_pick", source, "choice", "made")
        models = part.model[part.model != ALL].nunique()
        numbers[f"{name}.n"] = count(whole.n // max(models, 1), source, choice=choice, made=whole.made)
    return numbers


def from_corpora(counts: pd.DataFrame) -> dict:
    """Return ``corpora``, how many corpora of documents there are."""
    return {"corpora": count(counts.corpus.nunique(), "corpus_counts.csv", column="corpus")}
