"""The numbers that the MISGENDERED section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

import numpy as np
import pandas as pd

from scripts.core.options import offered
from scripts.core.paper.formats import interval, number, percent
from scripts.core.paper.numbers import count, entry
from scripts.misgendered.lib import study
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.labels import ALL, TYPES

KEYS = {
    "draws": "misgendered.bootstrap.draws",
    "few_shot_draws": "misgendered.few_shot.draws",
}
"""Settings to their keys in config.yaml."""
LEVEL = 95
"""Coverage of the intervals, in percent."""


def from_instances(loaded):
    """Return what the full set is made from.

    Parameters
    ----------
    loaded : scripts.misgendered.lib.instances.Instances

    Returns
    -------
    dict
        ``size.forms``, ``.groups``, ``.types``, ``.full`` (rows over all declarations), ``.one`` (of one declaration),
        ``.combinations``, ``.declaration_types``, ``.declared.fewest`` and ``.most``, ``.templates.all``, ``.smallest``
        and of each form, ``.names.all`` and of each class, ``.shared`` (forms that several groups have).
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
        "shared": sum(len(groups) > 1 for form in study.FORMS for groups in offered(loaded.groups, form).values()),
    }
    values |= {f"templates.{form}": size for form, size in of_form.items()}
    for name_class in study.NAME_CLASSES:
        values[f"names.{name_class}"] = sum(entry["name_class"] == name_class for entry in loaded.names)
    return {f"size.{name}": count(value, "selected.parquet", size=name) for name, value in values.items()}


SCORED = ("scored.instances", "scored.models", "scored.templates", "scored.names", "ties")


def scored_facts(table):
    """Count what predictions are of, as :func:`from_predictions` names it.

    Returns
    -------
    dict
        ``chance`` is the accuracy of a random pick: the mean share of an instance's candidates that are right. With
        the eleven groups it is a little above one in eleven, because e and ey share *em* and *emself*, so that two
        forms have ten candidates.
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
        facts |= {"scored.examples.most": max(shots for shots, _ in source.pairs)}
        facts |= {"scored.examples.instances": max(sizes)}
    return facts


def from_predictions(table):
    """Return what was scored: ``scored.instances``, ``.models``, ``.templates``, ``.names``; ``ties``; ``chance``.

    ``table`` are predictions or their file, of which one model is read at a time.
    """
    source = "predictions.parquet"
    scored = scored_facts(table)
    numbers = {name: count(scored[name], source, column=name) for name in SCORED}
    if "scored.examples.most" in scored:
        for name in ("scored.examples.most", "scored.examples.instances"):
            numbers[name] = count(scored[name], source, column="shots")
    chance = scored["chance"]
    return numbers | {
        "chance": entry(chance, percent(chance, 1), source, column="chance"),
        "setting.level": entry(LEVEL, f"{LEVEL}", "accuracy.csv", column="ci_low"),
    }


def _accuracy(row, **cell):
    ends = interval(100 * row.ci_low, 100 * row.ci_high, 1)
    return entry(float(row.accuracy), percent(row.accuracy, 1), "accuracy.csv", **cell), entry(
        ends, ends, "accuracy.csv", **cell
    )


def from_accuracy(frame):
    """Return the accuracies that the text names, of the mean over the run's models.

    Parameters
    ----------
    frame : DataFrame
        The rows of one set of templates, without examples.

    Returns
    -------
    dict
        ``accuracy.<type>`` and ``accuracy.<type>.interval``; ``accuracy.<factor>.<level>.<type>`` of declaration types,
        numbers and forms; for each type ``group.<type>.best`` and ``.worst`` (with ``label``, that of all that are
        equal, and ``tied``, how many besides one); and ``names.<group>.<class>``.
    """
    pooled = ["declaration_type", "declaration_number", "pronoun_type", "group", "form", "name_class"]
    rows = frame[frame.model == ALL]

    def split(*kept):
        chosen = np.ones(len(rows), dtype=bool)
        for column in pooled:
            chosen &= ((rows[column] != ALL) == (column in kept)).to_numpy()
        return rows[chosen]

    numbers = {}
    for row in split("pronoun_type").itertuples():
        name = f"accuracy.{row.pronoun_type}"
        numbers[name], numbers[f"{name}.interval"] = _accuracy(row, model=ALL, pronoun_type=row.pronoun_type)
    for factor in ("declaration_type", "declaration_number", "form"):
        for row in split(factor, "pronoun_type").itertuples():
            level = getattr(row, factor)
            name = f"accuracy.{factor}.{level}.{row.pronoun_type}"
            cell = {"model": ALL, "pronoun_type": row.pronoun_type, factor: level}
            numbers[name], numbers[f"{name}.interval"] = _accuracy(row, **cell)
    groups = split("group", "pronoun_type")
    for kind in TYPES:
        part = groups[groups.pronoun_type == kind].sort_values(["accuracy", "group"], ascending=[False, True])
        if len(part):
            for end, row in (("best", part.iloc[0]), ("worst", part.iloc[-1])):
                cell = {"model": ALL, "group": row.group}
                value = entry(float(row.accuracy), percent(row.accuracy, 1), "accuracy.csv", **cell)
                *others, last = part.group[part.accuracy == row.accuracy]
                label = f"{', '.join(others)} and {last}" if others else last
                numbers[f"group.{kind}.{end}"] = value | {"label": label, "tied": len(others)}
    for row in split("group", "name_class", "pronoun_type").itertuples():
        if row.pronoun_type != "neo":
            cell = {"model": ALL, "group": row.group, "name_class": row.name_class}
            numbers[f"names.{row.group}.{row.name_class}"], _ = _accuracy(row, **cell)
    return numbers


def _difference(row, source, **cell):
    return {
        "": entry(float(row.difference), percent(row.difference, 1, signed=True), source, **cell),
        ".interval": entry(clear(row), interval(100 * row.ci_low, 100 * row.ci_high, 1, signed=True), source, **cell),
    }


def clear(row):
    """Return the sign of a difference if its interval leaves out zero, else 0."""
    return 1 if row.ci_low > 0 else -1 if row.ci_high < 0 else 0


def from_reductions(table):
    """Return ``sum.<type>`` (sum minus mean, points) and ``.interval`` over all models, ``sum.other_pick``, who wins.

    ``sum.models.moved``: models whose place by accuracy on neo-pronouns is another by the sum; ``sum.neo.up`` and
    ``sum.neo.down``: models that are clearly better or worse on them.
    """
    source, numbers = "reductions.csv", {}
    for row in table[table.model == ALL].itertuples():
        kind = row.pronoun_type
        for suffix, value in _difference(row, source, model=ALL, pronoun_type=kind).items():
            numbers[f"sum.{kind}{suffix}"] = value
    whole = table[(table.model == ALL) & (table.pronoun_type == ALL)].iloc[0]
    numbers["sum.other_pick"] = entry(float(whole.other_pick), percent(whole.other_pick, 1), source, model=ALL)
    neo = table[(table.model != ALL) & (table.pronoun_type == "neo")]
    moved = neo.accuracy_mean.rank(ascending=False) != neo.accuracy_sum.rank(ascending=False)
    numbers["sum.models.moved"] = count(moved.sum(), source, pronoun_type="neo")
    signs = [clear(row) for row in neo.itertuples()]
    numbers["sum.neo.up"] = count(signs.count(1), source, pronoun_type="neo")
    numbers["sum.neo.down"] = count(signs.count(-1), source, pronoun_type="neo")
    return numbers


def from_other_scores(normalisation, calibration, power):
    """Return what the mean over bytes changes, how sure models are and what samples can show.

    Ids are ``bytes.other_pick`` (share of picks, over all models), ``bytes.<type>`` (points) with ``.interval``; of
    sums, over all models, ``ece.<type>`` with ``.interval`` and ``.chance`` (percent); ``detectable.<type>`` (points,
    the lowest over models), and ``needed.<type>`` (instances for a difference of five points, the highest).
    """
    numbers = {}
    rows = normalisation[
        (normalisation.model == ALL) & (normalisation.group == ALL) & (normalisation.normalisation == "bytes")
    ]
    for row in rows.itertuples():
        cell = {"model": ALL, "pronoun_type": row.pronoun_type, "group": ALL, "normalisation": "bytes"}
        if row.pronoun_type == ALL:
            value = entry(row.flipped, percent(row.flipped, 1), "normalisation.csv", **cell)
            numbers["bytes.other_pick"] = value
            continue
        difference = entry(row.difference, percent(row.difference, 1, signed=True), "normalisation.csv", **cell)
        sign = 1 if row.difference_low > 0 else -1 if row.difference_high < 0 else 0
        ends = interval(100 * row.difference_low, 100 * row.difference_high, 1, signed=True)
        numbers[f"bytes.{row.pronoun_type}"] = difference
        numbers[f"bytes.{row.pronoun_type}.interval"] = entry(sign, ends, "normalisation.csv", **cell)
    rows = calibration[(calibration.model == ALL) & (calibration.group == ALL) & (calibration.normalisation == "sum")]
    for row in rows.itertuples():
        cell = {"model": ALL, "pronoun_type": row.pronoun_type, "group": ALL, "normalisation": "sum"}
        name, ends = f"ece.{row.pronoun_type}", interval(100 * row.ci_low, 100 * row.ci_high, 1)
        numbers[name] = entry(row.ece, percent(row.ece, 1), "calibration.csv", **cell)
        numbers[f"{name}.interval"] = entry(ends, ends, "calibration.csv", **cell)
        numbers[f"{name}.chance"] = entry(row.ece_by_chance, percent(row.ece_by_chance, 1), "calibration.csv", **cell)
    for kind, part in power.groupby("pronoun_type", sort=False):
        least, most = part.detectable_pair.min(), part.needed_5.max()
        numbers[f"detectable.{kind}"] = entry(least, percent(least, 1), "power.csv", pronoun_type=kind)
        numbers[f"needed.{kind}"] = count(most, "power.csv", pronoun_type=kind)
    return numbers


def from_declared_forms(table):
    """Return ``declared.<type>`` (points, over all models and the three forms) with ``.interval``."""
    numbers = {}
    for row in table[(table.model == ALL) & (table.form == ALL)].itertuples():
        kind = row.pronoun_type
        for suffix, value in _difference(row, "declared_forms.csv", model=ALL, pronoun_type=kind, form=ALL).items():
            numbers[f"declared.{kind}{suffix}"] = value
    return numbers


def from_fertility(table):
    """Return of each subset of forms how many models have a slope, a clearly falling one and a clearly rising one.

    Ids are ``fertility.<subset>.models``, ``.falling``, ``.rising``, with an underscore for a blank; and with a single
    model ``.slope`` (points for each token) and ``.interval``.
    """
    numbers, source = {}, "regressions.csv"
    for subset, part in table.groupby("subset", sort=False):
        name = f"fertility.{subset.replace(' ', '_')}"
        signs = [clear(row) for row in part.itertuples()]
        numbers[f"{name}.models"] = count(part.slope.notna().sum(), source, subset=subset)
        numbers[f"{name}.rising"] = count(signs.count(1), source, subset=subset)
        numbers[f"{name}.falling"] = count(signs.count(-1), source, subset=subset)
        if len(part) == 1:
            row = part.iloc[0]
            ends = interval(100 * row.ci_low, 100 * row.ci_high, 1, signed=True)
            numbers[f"{name}.slope"] = entry(row.slope, percent(row.slope, 1, signed=True), source, subset=subset)
            numbers[f"{name}.interval"] = entry(signs[0], ends, source, subset=subset)
    return numbers


def from_mixed_model(table):
    """Return ``mixed.<factor>.<level>`` with ``.interval`` and ``mixed.random.<factor>``; ``mixed.n``.

    ``mixed.converged`` is 0 without estimates.
    """
    source = "mixed_model.csv"
    converged = bool(table.converged.all())
    numbers = {
        "mixed.n": count(table.n.max(), source, column="n"),
        "mixed.converged": count(converged, source, column="converged"),
    }
    if not converged:
        return numbers
    for row in table.itertuples():
        level = str(row.level).removesuffix(".0")
        name = f"mixed.random.{row.factor}" if row.kind == "random" else f"mixed.{row.factor}.{level}"
        signed = row.kind == "fixed"
        cell = {"kind": row.kind, "factor": row.factor, "level": level}
        numbers[name] = entry(row.estimate, number(row.estimate, 2, signed), source, **cell)
        ends = interval(row.ci_low, row.ci_high, 2, signed)
        numbers[f"{name}.interval"] = entry(clear(row), ends, source, **cell)
    return numbers


def from_examples(summary):
    """Return ``examples.sd.most``: the largest SD over draws of the examples, in points, if there is any."""
    rows = summary[(summary.shots > 0) & summary.sd.notna()]
    if rows.empty:
        return {}
    row = rows.loc[rows.sd.idxmax()]
    cell = {"model": row.model, "shots": int(row.shots), "pronoun_type": row.pronoun_type}
    return {"examples.sd.most": entry(float(row.sd), percent(row.sd, 1), "accuracy_over_draws.csv", **cell)}


def from_choices(table):
    """Return of each choice that is made the other way what changes, over all models.

    ``choice.<name>.other_pick`` (share of picks), ``.n`` (instances) and, for each type of pronouns, ``.<type>``
    (points) with ``.interval``.
    """
    numbers = {}
    for row in table[(table.model == ALL) & (table.pronoun_type != ALL)].itertuples():
        name = f"choice.{row.choice.partition(':')[0]}.{row.pronoun_type}"
        cell = {"choice": row.choice, "model": ALL, "pronoun_type": row.pronoun_type}
        for suffix, value in _difference(row, "choices.csv", **cell).items():
            numbers[f"{name}{suffix}"] = value
    for row in table[(table.model == ALL) & (table.pronoun_type == ALL)].itertuples():
        name = f"choice.{row.choice.partition(':')[0]}.other_pick"
        value = entry(float(row.other_pick), percent(row.other_pick, 1), "choices.csv", choice=row.choice)
        numbers[name] = value | {"label": row.choice.partition(": ")[2]}
        models = table[(table.choice == row.choice) & (table.model != ALL)].model.nunique()
        size = count(row.n // max(models, 1), "choices.csv", choice=row.choice)
        numbers[f"choice.{row.choice.partition(':')[0]}.n"] = size
    return numbers


def from_wordings(table):
    """Return ``wordings.templates`` (templates times declarations) and ``wordings.changed`` (those that differ)."""
    total, same = table.templates.sum(), table.same.sum()
    return {
        "wordings.templates": count(total, "wordings.csv", column="templates"),
        "wordings.changed": count(total - same, "wordings.csv", column="same"),
    }


def from_averages(table):
    """Return how many of the printed averages each set of weights explains: ``averages.six.fit``, ``.seven.fit``."""
    rows = table[table.weights.str.startswith(("six", "seven"))]
    numbers = {}
    for name in ("six", "seven"):
        part = rows[rows.weights.str.startswith(name)].groupby("weights").fits
        fits = part.sum().max()
        numbers[f"averages.{name}.fit"] = count(fits, "printed_averages.csv", weights=name)
        numbers[f"averages.{name}.of"] = count(part.size().max(), "printed_averages.csv", weights=name)
    return numbers


def from_corpora(counts):
    """Return of each corpus of documents ``corpus.<name>.total`` with ``label``, and the documents of he, she and xe.

    Ids of these are ``corpus.<name>.<group>``; ``corpora`` is how many corpora of documents there are.
    """
    rows = counts[(counts.quantity == "documents") & (counts.form == "nom")]
    source = "corpus_counts.csv"
    numbers = {"corpora": count(rows.corpus.nunique(), source, quantity="documents")}
    for name, part in rows.groupby("corpus", sort=False):
        total = count(part.total.max(), source, corpus=name, column="total")
        numbers[f"corpus.{name}.total"] = total | {"label": part.label.iloc[0]}
        neo = part[part.pronoun_type == "neo"]
        for group, value in part.set_index("group")["count"].items():
            numbers[f"corpus.{name}.{group}"] = count(value, source, corpus=name, group=group, form="nom")
        if len(neo):
            numbers[f"corpus.{name}.neo"] = count(neo["count"].max(), source, corpus=name, pronoun_type="neo")
    return numbers
