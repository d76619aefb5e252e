"""The paper's tables (rule ``underspecification_tables``).

Cells are written as they are printed (LaTeX and CSV); full precision is in the tables that they are made from.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from scripts.core.data.estimate_rows import RELEASED_OUTPUTS
from scripts.core.paper import published
from scripts.core.paper.formats import MISSING_MARK, format_interval, format_number
from scripts.core.paper.tables import write_cells
from scripts.core.workflow.job import run_named
from scripts.underspecification import detection, study
from scripts.underspecification.detection import CROSS_VALIDATED, FIXED, METRIC, METRIC_OF_BOTH
from scripts.underspecification.instances import COREFERENTS
from scripts.underspecification.study import SET_LABELS
from scripts.underspecification.templates import GENDERS, GROUPS

VARIANTS = {(METRIC, "1"): "a", (METRIC_OF_BOTH, "2"): "b"}
"""Of Table 2, by metric and dates at an end, lettered as in the caption: as described, and as its numbers were made."""
RATES = {"TPR": "TPR", "TNR": "TNR", "BA": "balanced accuracy"}
HEADS = {(FIXED, metric): f"here: {short}" for short, metric in RATES.items()} | {
    ("", "AUC"): "here: AUC",
    (CROSS_VALIDATED, "balanced accuracy"): "cross-validated: BA",
    (CROSS_VALIDATED, "threshold"): "cross-validated: threshold",
}
"""Choices of the threshold and metrics to the heads of the table of detection."""
MASSES = {"top": "top tokens", "full": "vocabulary", "written": "top tokens at written words"}
"""Accumulations as the table of probabilities calls them."""


def tables(*, estimates: str, curves: str, metrics: str, printed: str, tex: list[str], csv: list[str]) -> None:
    """Write the tables of all parts, by folder and name of their files; ``printed`` are the published numbers."""
    numbers = published.read_published(printed)
    paths = {"estimates": estimates, "curves": curves, "metrics": metrics}
    read = {name: study.order_rows(study.read_table(path)) for name, path in paths.items()}
    for made in zip(tex, csv, strict=True):
        part, name = Path(made[0]).with_suffix("").parts[-2:]
        measured, means, moves = (table[table.part == part] for table in read.values())
        left = 2
        if name == "metric":
            cells, left = tabulate_example(moves, numbers), 6
        elif name == "word_group_probabilities":
            cells, left = tabulate_probabilities(means), 3
        elif name == "detection":
            cells = tabulate_rates(measured, numbers)
        else:
            cells = {"slopes": tabulate_slopes, "independence": tabulate_independence}[name](measured)
        # The CSV alone has single prompts of a model that has their mean, and the occupation where it is one.
        shown = drop_single_prompts(cells) if name == "slopes" else cells.drop(columns="Occupation", errors="ignore")
        write_cells(*made, cells, left, list(cells.columns[:left]), shown)


def tabulate_slopes(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Method 1: slopes and r for dates and places, of each prompt and of the mean of several."""
    rows = study.pick_slopes(estimates, metric=["slope", "r"], gender=GENDERS)
    heads = [f"{v}s, {g}: {m}" for v in ("date", "place") for g in GENDERS for m in ("slope", "r")]
    rows = rows.assign(
        head=rows.variable + "s, " + rows.gender + ": " + rows.metric,
        Prompt=rows.prompt.where(~rows.prompt.str.contains("|", regex=False), "mean"),
        text=[format_number(value, 2, signed=True) for value in rows.value],
    )
    return pivot_cells(rows, ["label", "Prompt"], heads)


def pivot_cells(rows: pd.DataFrame, keys: list[str], heads: Sequence[str]) -> pd.DataFrame:
    """Return the cells of rows with a ``text`` below each ``head``, by keys in the order in which they come."""
    wide = rows.pivot(index=keys, columns="head", values="text").reindex(columns=list(heads)).fillna(MISSING_MARK)
    wide = wide.loc[list(dict.fromkeys(rows[keys].itertuples(index=False, name=None)))]
    return wide.rename_axis(columns=None).reset_index().rename(columns={"label": "Model"})


def drop_single_prompts(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of :func:`tabulate_slopes` without single prompts of a model that has their mean."""
    several = set(cells[cells.Prompt == "mean"].Model)
    return cells[(cells.Prompt == "mean") | ~cells.Model.isin(several)]


def sort_by_set(rows: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with ``Set``, what tables call the evaluation set, in their order."""
    ranks = {name: place for place, name in enumerate(SET_LABELS)}
    names = [study.set_label(*key) for key in zip(rows.evaluation_set, rows.templates, strict=True)]
    rows = rows.assign(Set=names, rank=rows.evaluation_set.map(ranks), own=rows.templates != "replica")
    return rows.sort_values(["rank", "own"], kind="stable")


def tabulate_rates(estimates: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 3, each model on each set: the printed rates (where any is), and ours beside them.

    Beyond the study there are the area under the curve, and balanced accuracy with the cross-validated threshold.
    """
    rows = sort_by_set(study.pick_rates(estimates, metric=[*RATES.values(), "AUC", "threshold"]))
    decimals = rows.metric.map({"threshold": 2}).fillna(3).astype(int)
    heads = [HEADS.get(key) for key in zip(rows.choice, rows.metric, strict=True)]
    rows = rows.assign(
        head=pd.Series(heads, rows.index),
        text=[format_number(value, places) for value, places in zip(rows.value, decimals, strict=True)],
    ).dropna(subset="head")
    accuracy = rows[rows["head"] == HEADS[FIXED, "balanced accuracy"]]
    bounds = [format_interval(low, high, 2, between="–") for low, high in zip(accuracy.low, accuracy.high, strict=True)]
    released = accuracy.loc[accuracy.kind == RELEASED_OUTPUTS, ["Set", "label", "evaluation_set"]]
    beside = released.merge(printed_rates(printed), on=["evaluation_set", "label"])
    cells = pd.concat([accuracy.assign(head="here: interval", text=bounds), rows, beside])
    order = [*(f"printed: {short}" for short in RATES), *(f"here: {short}" for short in RATES), "here: interval"]
    cells = pivot_cells(cells, ["Set", "label"], [*order, *(head for head in HEADS.values() if head not in order)])
    names = {m: f"{m} (printed: {other})" for m, other in study.PRINTED_AS.items() if m in set(released.label)}
    # Without released outputs nothing is printed to stand beside, nor cross-validated over a single occupation.
    silent = [head for head in cells if head not in order[3:] and (cells[head] == MISSING_MARK).all()]
    return cells.assign(Model=cells.Model.replace(names)).drop(columns=silent)


def printed_rates(printed: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3: ``evaluation_set``, ``label`` (as files name the model), ``head`` and ``text``."""
    rows = printed[printed.source == "Table 3"]
    of = rows["row"].str.extract(r"(?P<set>.+) \| (?P<label>.+)")
    return pd.DataFrame(
        {
            "evaluation_set": of["set"].map({label: name for name, label in SET_LABELS.items()}),
            "label": of.label.replace({shown: model for model, shown in study.PRINTED_AS.items()}),
            "head": "printed: " + rows.column,
            "text": rows.value,
        }
    )


def tabulate_independence(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of r between level and change over occupations: a row for each set and model."""
    rows = sort_by_set(study.pick_rates(estimates, metric=list(detection.LEVELS.values())))
    level = rows.metric.map({metric: f"{name} level" for name, metric in detection.LEVELS.items()})
    values = rows.assign(head=level + ": r", text=[format_number(value, 2, signed=True) for value in rows.value])
    bounds = [format_interval(low, high, 2, signed=True) for low, high in zip(rows.low, rows.high, strict=True)]
    heads = [f"{name} level: {what}" for name in detection.LEVELS for what in ("r", "interval")]
    return pivot_cells(
        pd.concat([values, rows.assign(head=level + ": interval", text=bounds)]), ["Set", "label"], heads
    )


def tabulate_example(metrics: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 2: the metric of the eight sentences about one occupation, in both variants.

    Printed numbers stand in parentheses behind ours where the study has them.
    """
    rows = study.pick_metrics(metrics, evaluation_set="winogender", gender=["female", ""], dates=["1", "2"])
    occupations = sorted(rows.occupation.unique())
    occupation = study.OCCUPATION if study.OCCUPATION in occupations else occupations[0]
    rows = rows[(rows.occupation == occupation) & (rows.templates == rows.templates.iloc[0])]
    known = printed_metrics(printed)
    rows = rows.merge(known, on=["label", "item"], how="left")
    rows = rows.assign(
        Variant=[VARIANTS.get(key) for key in zip(rows.metric, rows.dates, strict=True)],
        sentence=study.sentence_kinds(rows),
        text=[
            format_number(value, 1) + (f" ({cell})" if kind == RELEASED_OUTPUTS and isinstance(cell, str) else "")
            for value, cell, kind in zip(rows.value, rows.printed, rows.kind, strict=True)
        ],
    ).dropna(subset="Variant")
    models = [name for name in rows.label.unique() if name in set(known.label)] or list(rows.label.unique())
    wide = rows.pivot(index=["Variant", "sentence"], columns="label", values="text").reindex(columns=models)
    variants = sorted(rows.Variant.unique())
    sentences = [(variant, sentence) for variant in variants for sentence in study.SENTENCES["winogender"]]
    wide = wide.reindex(sentences).fillna(MISSING_MARK).rename(columns=_head)
    variant, sentence = (pd.Series(wide.index.get_level_values(name)) for name in wide.index.names)
    participant, code = sentence.str[:-2], sentence.str[-1].astype(int)
    facts = pd.DataFrame(
        {
            "Occupation": occupation,
            "Var.": variant,
            "ID": sentence.map(study.SENTENCE_IDS),
            "Participant": participant,
            "Pronoun": code.map(dict(enumerate(COREFERENTS))),
            "WS": sentence.isin(study.SPECIFIED).map({True: "yes", False: "no"}),
        }
    )
    return pd.concat([facts, wide.reset_index(drop=True)], axis=1)


def printed_metrics(printed: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2: ``label``, ``item`` (of the sentences about a doctor), ``printed`` (text)."""
    rows = printed[printed.source == "Table 2"]
    of = rows["row"].str.extract(r"\d+ \| (?P<coreferent>\w+) \| (?P<participant>\w+) \|")
    codes = of.coreferent.map({name: str(code) for code, name in enumerate(COREFERENTS)})
    items = "doctor_" + of.participant.replace("patient", "other") + "_" + codes
    return pd.DataFrame({"label": rows.column, "item": items, "printed": rows.value})


def _head(model: str) -> str:
    """Return a head that stands under one of the model's family, where the study has several of it."""
    facts = study.MODELS.get(model)
    if facts is None:
        return model
    family, variant = (facts.group, facts.size) if facts.size else model.rpartition(" ")[::2]
    return f"{family}: {variant}" if family else model


def tabulate_probabilities(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the mean mass of each gender over MGC: most probable tokens, whole vocabulary, at written words alone."""
    known = [name for name in GROUPS if name in set(curves.gender)]
    heads = [f"{variable}s: {gender}" for variable in ("date", "place") for gender in known]
    rows = curves.assign(head=curves.variable + "s: " + curves.gender, Prompt=curves.prompt)
    keys = ["label", "Prompt", "accumulation", "head"]
    means = rows.groupby(keys, sort=False).probability.mean().reset_index()
    means = means.assign(text=[format_number(value, 3) for value in means.probability])
    orders = {"label": study.order_labels(means.label), "Prompt": ["mask", "A", "B", "C"], "accumulation": list(MASSES)}
    means = means.sort_values(keys[:3], key=lambda names: names.map(orders[str(names.name)].index), kind="stable")
    cells = pivot_cells(means, keys[:3], heads).rename(columns={"accumulation": "Mass of"})
    return cells.assign(**{"Mass of": cells["Mass of"].map(MASSES)})


if __name__ == "__main__":
    run_named()
