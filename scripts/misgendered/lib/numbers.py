"""The numbers that the MISGENDERED section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core import files
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
UNSIGNED: dict[str, Any] = {"signed": False, "sign": False}
"""How accuracies and errors are printed (:func:`estimate`)."""
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
    sign: bool = True,
) -> dict:
    """Return a value of a row and, as ``<name>.interval``, its interval.

    The value of the interval is the ``sign`` that it is clear to have or, without one, its text. Where all draws agree
    there is none, and its text says so.
    """
    low, high = (row[end] for end in ends)
    text = interval(100 * low, 100 * high, 1, signed).replace(MISSING_MARK, "no interval")
    return {
        name: entry(row[column], number(100 * row[column], 1, signed), source, **cell),
        f"{name}.interval": entry(clear_sign(low, high) if sign else text, text, source, **cell),
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


def clear_sign(low: float, high: float) -> int:
    """Return the sign of a difference if its interval leaves out zero, else 0."""
    return 1 if low > 0 else -1 if high < 0 else 0


def from_accuracy(frame: pd.DataFrame) -> dict:
    """Return the accuracies that the text names, of the mean over the run's models.

    Args:
        frame: The rows of one set of templates, without examples.

    Returns:
        ``accuracy.<type>`` and ``accuracy.<type>.interval``; and of neo-pronouns ``group.neo.best`` (with ``label``,
        that of all that are equal, and ``tied``, how many besides one).
    """
    pooled = ["declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class"]
    rows, source = frame[frame.model == ALL], "accuracy.csv"

    def split(*kept: str):
        return rows[np.logical_and.reduce([(rows[column] != ALL) == (column in kept) for column in pooled])]

    numbers = estimates(split("pronoun_type"), source, "accuracy.{pronoun_type}", column="accuracy", **UNSIGNED)
    groups = split("group", "pronoun_type")
    best = groups[groups.pronoun_type == "neo"]
    best = best[best.accuracy == best.accuracy.max()].sort_values("group")
    if len(best):
        *others, last = best.group
        label = f"{', '.join(others)} and {last}" if others else last
        value = share(best.iloc[0], "accuracy", source, "model", "group")
        numbers["group.neo.best"] = value | {"label": label, "tied": len(others)}
    return numbers


def from_reductions(table: pd.DataFrame) -> dict:
    """Return ``sum.<type>`` (sum minus mean, points) and ``.interval`` over all models, ``sum.other_pick``, who wins.

    ``sum.models.moved``: models whose place by accuracy on neo-pronouns is another by the sum.
    """
    source = "reductions.csv"
    numbers = estimates(table, source, "sum.{pronoun_type}", levels={"model": ALL})
    whole = table[(table.model == ALL) & (table.pronoun_type == ALL)].iloc[0]
    numbers["sum.other_pick"] = share(whole, "other_pick", source, "model")
    neo = table[(table.model != ALL) & (table.pronoun_type == "neo")]
    moved = neo.accuracy_mean.rank(ascending=False) != neo.accuracy_sum.rank(ascending=False)
    numbers["sum.models.moved"] = count(moved.sum(), source, pronoun_type="neo")
    return numbers


def from_other_scores(normalisation: pd.DataFrame, calibration: pd.DataFrame, power: pd.DataFrame) -> dict:
    """Return what the mean over bytes changes, how sure models are and what samples can show.

    Ids are ``bytes.other_pick`` (share of picks, over all models), ``bytes.<type>`` (points) with ``.interval``; of
    sums, over all models, ``ece.all`` with ``.interval`` and ``.chance`` (percent); ``detectable.all`` (points, the
    lowest over models), and ``needed.all`` (instances for a difference of five points, the highest).
    """
    by = ("model", "pronoun_type", "group", "normalisation")
    levels = {"model": ALL, "group": ALL, "normalisation": "bytes", "pronoun_type": list(TYPES)}
    ends = ("difference_low", "difference_high")
    numbers = estimates(normalisation, "normalisation.csv", "bytes.{pronoun_type}", by=by, levels=levels, ends=ends)
    (row,) = normalisation[rows_at(normalisation, **levels | {"pronoun_type": ALL})].to_dict("records")
    numbers["bytes.other_pick"] = share(row, "flipped", "normalisation.csv", *by)
    levels = {"model": ALL, "pronoun_type": ALL, "group": ALL, "normalisation": "sum"}
    numbers |= estimates(calibration, "calibration.csv", "ece.all", "ece", by, levels, **UNSIGNED)
    (row,) = calibration[rows_at(calibration, **levels)].to_dict("records")
    numbers["ece.all.chance"] = share(row, "ece_by_chance", "calibration.csv", *by)
    whole = power[power.pronoun_type == ALL]
    least = whole.detectable_pair.min()
    numbers["detectable.all"] = entry(least, percent(least, 1), "power.csv", pronoun_type=ALL)
    numbers["needed.all"] = count(whole.needed_5.max(), "power.csv", pronoun_type=ALL)
    return numbers


def from_declared_forms(table: pd.DataFrame) -> dict:
    """Return ``declared.<type>`` (points, over all models and the three forms) with ``.interval``."""
    by, levels = ("model", "pronoun_type", "form"), {"model": ALL, "form": ALL}
    return estimates(table, "declared_forms.csv", "declared.{pronoun_type}", by=by, levels=levels)


def from_fertility(table: pd.DataFrame) -> dict:
    """Return of each subset of forms how many models have a slope, a clearly falling one and a clearly rising one.

    Ids are ``fertility.<subset>.models``, ``.falling``, ``.rising``, with an underscore for a blank; and with a single
    model ``.slope`` (points for each token) and ``.interval``.
    """
    numbers, source = {}, "regressions.csv"
    subset: Any
    for subset, part in table.groupby("subset", sort=False):
        name = f"fertility.{subset.replace(' ', '_')}"
        signs = list(map(clear_sign, part.ci_low, part.ci_high))
        numbers[f"{name}.models"] = count(part.slope.notna().sum(), source, subset=subset)
        numbers[f"{name}.rising"] = count(signs.count(1), source, subset=subset)
        numbers[f"{name}.falling"] = count(signs.count(-1), source, subset=subset)
        if len(part) == 1:
            slope = estimate("slope", part.iloc[0].to_dict(), "slope", source, {"subset": subset})
            numbers |= {f"{name}.slope": slope["slope"], f"{name}.interval": slope["slope.interval"]}
    return numbers


def from_mixed_model(table: pd.DataFrame) -> dict:
    """Return ``mixed.random.<factor>`` (standard deviations) and ``mixed.n``.

    ``mixed.converged`` is 0 without estimates.
    """
    source = "mixed_model.csv"
    converged = bool(table.converged.all())
    numbers = {
        "mixed.n": count(table.n.max(), source, column="n"),
        "mixed.converged": count(converged, source, column="converged"),
    }
    for row in files.rows(table[table.kind == "random"]) if converged else ():
        cell = {"kind": row.kind, "factor": row.factor, "level": str(row.level)}
        numbers[f"mixed.random.{row.factor}"] = entry(row.estimate, number(row.estimate, 2), source, **cell)
    return numbers


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
    (points) with ``.interval``.
    """
    numbers, source = {}, "choices.csv"
    for choice, part in table.groupby("choice", sort=False):
        name, levels = f"choice.{choice}", {"model": ALL, "pronoun_type": list(TYPES)}
        by = ("choice", "made", "model", "pronoun_type")
        numbers |= estimates(part, source, f"{name}.{{pronoun_type}}", by=by, levels=levels)
        whole = part[rows_at(part, model=ALL, pronoun_type=ALL)].iloc[0]
        numbers[f"{name}.other_pick"] = share(whole, "other_pick", source, "choice", "made")
        models = part.model[part.model != ALL].nunique()
        numbers[f"{name}.n"] = count(whole.n // max(models, 1), source, choice=choice, made=whole.made)
    return numbers


def from_wordings(table: pd.DataFrame) -> dict:
    """Return ``wordings.templates`` (templates times declarations) and ``wordings.changed`` (those that differ)."""
    total, same = table.templates.sum(), table.same.sum()
    return {
        "wordings.templates": count(total, "wordings.csv", column="templates"),
        "wordings.changed": count(total - same, "wordings.csv", column="same"),
    }


def from_averages(table: pd.DataFrame) -> dict:
    """Return how many of the printed averages each set of weights explains: ``averages.six.fit``, ``.seven.fit``."""
    numbers, source = {}, "printed_averages.csv"
    for name, combinations in (("six", 6), ("seven", 7)):
        part = table[table.combinations == combinations].groupby("weights").fits
        numbers[f"averages.{name}.fit"] = count(part.sum().max(), source, combinations=combinations)
        numbers[f"averages.{name}.of"] = count(part.size().max(), source, combinations=combinations)
    return numbers


def from_corpora(counts: pd.DataFrame) -> dict:
    """Return ``corpora``, how many corpora of documents there are."""
    documents = counts[(counts.quantity == "documents") & (counts.form == "nom")]
    return {"corpora": count(documents.corpus.nunique(), "corpus_counts.csv", quantity="documents")}
