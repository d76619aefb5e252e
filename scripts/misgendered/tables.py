"""The paper's tables of results: cells (LaTeX) and the rows behind them (CSV)."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import MANY_UNITS, MISSING_MARK, format_interval, format_number, format_percent, with_sd
from scripts.core.paper.tables import write_table
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.study import (
    CLASS_LABELS,
    DECLARATION_TYPES,
    FORM_LABELS,
    TYPES,
    estimates_by,
    forms_declared,
    levels_in,
)

NAMES_SHOWN = 10
"""Names at either end of the ranking (Table 9)."""
FEWEST = 10
"""A name with fewer instances is not ranked in print: one instance would move it by over ten percentage points."""
Table = tuple[pd.DataFrame, pd.DataFrame, int]
"""The tidy rows of a table, its cells, and how many of its first columns are text."""


def tables(
    *, estimates: str, tex: list[str], csv: list[str], templates: str, models: dict
) -> None:  # fmt: skip
    """Write the tables of a template set's results that their files name; ``models`` are name to facts."""
    rows = study.read_table(estimates)
    rows = rows[rows.templates == templates]
    for paths in zip(tex, csv, strict=True):
        name = Path(paths[0]).stem
        tidy, cells, left = TABLES[name](rows, models)
        if cells.empty:
            files.write_csv(paths[1], tidy)
            files.write_text(paths[0], "% This table has no rows in this run.\n")
        else:
            align = "llrrllrr" if name == "name_ranks" else None
            write_table(*paths, blank_labels(cells, left), left, rows=tidy, align=align)


def format_accuracy(row: Mapping) -> str:
    """Return an accuracy in percent with its interval; of :data:`MANY_UNITS` instances or more it has a decimal."""
    decimals = int(row["below"] >= MANY_UNITS)
    ends = format_interval(100 * row["low"], 100 * row["high"], decimals, between="–")
    return format_percent(row["value"], decimals) + ("" if ends == MISSING_MARK else f" ({ends})")


def with_printed_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with what is printed of them: ``accuracy`` and ``n``."""
    texts = [format_accuracy(row) for row in rows.to_dict("records")]
    return rows.assign(accuracy=texts, n=[format_number(n, 0) for n in rows.below])


def pivot(
    rows: pd.DataFrame, factors: Mapping[str, tuple[str, Mapping]], column: str, levels: Mapping, values: list[str]
) -> pd.DataFrame:
    """Return cells: ``factors`` make the rows, the first varying slowest, and the ``levels`` of a column the columns.

    A factor's head has its column and the levels of that with how they are printed. ``values`` are columns of text, or
    ``accuracy`` and ``n`` of estimates; of several each has a column of its own for each level.
    """
    rows = with_printed_cells(rows) if "accuracy" in values else rows
    heads = {
        head: pd.Categorical(rows[name].map(labels), list(dict.fromkeys(labels.values())), ordered=True)
        for head, (name, labels) in factors.items()
    }
    wide = rows.assign(**heads).pivot(index=list(heads), columns=column, values=values).sort_index()
    order = [(value, level) for level in levels for value in values]
    wide = wide.reindex(columns=pd.MultiIndex.from_tuples(order)).fillna(MISSING_MARK)
    wide.columns = [levels[level] if len(values) == 1 else f"{levels[level]}: {value}" for value, level in order]
    return wide.reset_index().astype(dict.fromkeys(heads, str))


def blank_labels(cells: pd.DataFrame, left: int) -> pd.DataFrame:
    """Return cells in which labels that repeat those above are left out, but in the last of the first columns."""
    labels, heads = cells.copy(), list(cells.columns[:left])
    for place, head in enumerate(heads[:-1]):
        known = heads[: place + 1]
        cells[head] = labels[head].mask((labels[known] == labels[known].shift()).all(axis=1), "")
    return cells


def panels(models: Mapping[str, Mapping]) -> dict[str, str]:
    """Return the models that have panels and columns, with their labels: all, or of more than a few their mean."""
    if len(models) <= study.FEW:
        return {name: facts["label"] for name, facts in models.items()}
    return {POOLED: f"Mean over {len(models)} models"}


def select_panels(rows: pd.DataFrame, models: Mapping[str, Mapping]) -> tuple[pd.DataFrame, dict]:
    """Return the rows of these models, and the factor of models if there are several."""
    shown = panels(models)
    return rows[rows.model.isin(shown)], {"Model": ("model", shown)} if len(shown) > 1 else {}


def zero_shot(estimates: pd.DataFrame, models: dict) -> Table:
    """Table 4: the accuracy by type of pronouns, of each model and of their mean."""
    rows, whole = estimates_by(estimates, "pronoun_type"), estimates_by(estimates)
    mean = {POOLED: f"Mean over {len(models)} models"} if len(models) > 1 else {}
    labels = {name: facts["label"] for name, facts in models.items()} | mean
    shown = rows[rows.model.isin(labels)]
    cells = pivot(
        shown, {"Model": ("model", labels)}, "pronoun_type", levels_in(TYPES, rows.pronoun_type), ["accuracy"]
    )
    sizes = {
        labels[name]: format_number(n, 0) for name, n in zip(whole.model, whole.below, strict=True) if name in labels
    }
    return rows, cells.assign(n=cells.Model.map(sizes)), 1


def by_type(head: str, column: str, levels: Mapping[str, str]) -> Callable:
    """Tables 5, 6 and 8: the accuracy by a factor and the type of pronouns."""

    def made(estimates: pd.DataFrame, models: dict) -> Table:
        rows = estimates_by(estimates, column, "pronoun_type")
        shown, factors = select_panels(rows, models)
        known = levels or {level: str(forms_declared(level)) for level in sorted(shown[column])}
        factors |= {head: (column, levels_in(known, shown[column]))}
        cells = pivot(shown, factors, "pronoun_type", levels_in(TYPES, rows.pronoun_type), ["accuracy", "n"])
        return rows, cells, len(factors)

    return made


def groups(estimates: pd.DataFrame, models: dict) -> Table:
    """Table 7: the accuracy on each pronoun group, the best of each type first."""
    rows = estimates_by(estimates, "group")
    shown = panels(models)
    first = rows[rows.model == next(iter(shown))].sort_values(["value", "group"], ascending=[False, True])
    factors = {
        "Type": ("pronoun_type", levels_in(TYPES, first.pronoun_type)),
        "Group": ("group", {group: group for group in first.group}),
    }
    heads = shown if len(shown) > 1 else dict.fromkeys(shown, "Accuracy")
    sizes = dict(zip(first.group, first.below, strict=True))
    cells = pivot(rows[rows.model.isin(shown)], factors, "model", heads, ["accuracy"])
    return rows, cells.assign(n=[format_number(sizes[group], 0) for group in cells.Group]), 2


def name_class(estimates: pd.DataFrame, models: dict) -> Table:
    """Table 10: the accuracy on she, he and they, and on neopronouns together, by class of names."""
    rows = pd.concat(
        [estimates_by(estimates, "group", "name_class"), estimates_by(estimates, "pronoun_type", "name_class")]
    )
    shown, factors = select_panels(rows[(rows.group == POOLED) == (rows.pronoun_type == "neo")], models)
    named = {group: group for group in shown.group.unique() if group != POOLED} | {POOLED: "neopronouns"}
    factors |= {"Pronouns": ("group", named)}
    cells = pivot(shown, factors, "name_class", levels_in(CLASS_LABELS, rows.name_class), ["accuracy", "n"])
    return rows, cells, len(factors)


def name_ranks(estimates: pd.DataFrame, models: dict) -> Table:
    """Table 9: the names with the highest and the lowest accuracy on neopronouns, over all models.

    Those of few instances are in the CSV alone.
    """
    rows = rank_names(estimates)
    known = with_printed_cells(rows[rows.below >= FEWEST])
    count = min(NAMES_SHOWN, len(known) // 2)
    cells = {}
    for head, end in (("Best", known.head(count)), ("Worst", known.tail(count).iloc[::-1])):
        named = {"name": end["name"], "class": end.name_class.map(CLASS_LABELS), "accuracy": end.accuracy, "n": end.n}
        cells |= {f"{head}: {name}": list(of) for name, of in named.items()}
    return rows, pd.DataFrame(cells), 1


def rank_names(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies by name with their ``rank``, best first and equal names by the alphabet.

    Ranks go from 1; equal accuracies share the mean of theirs.
    """
    rows = estimates_by(estimates, "name", "name_class", "pronoun_type", model=POOLED)
    rows = rows.assign(rank=rows.value.rank(ascending=False))
    return rows.sort_values(["value", "name"], ascending=[False, True], ignore_index=True)


def few_shot(estimates: pd.DataFrame, models: dict) -> Table:
    """Table 13: accuracies by examples in the prompt, with standard deviations over draws of the examples."""
    rows = study.by_examples(estimates)
    seen = {name: facts["label"] for name, facts in models.items() if name in set(rows[rows.shots != "0"].model)}
    kinds = levels_in(TYPES, rows.pronoun_type)
    factors = {
        "Type": ("pronoun_type", {kind: kinds[kind] for kind in kinds if kind != "binary"} or kinds),
        "Examples": ("shots", {number: number for number in sorted(set(rows.shots), key=int)}),
    }
    texts = [with_sd(100 * value, 100 * sd, 1) for value, sd in zip(rows.value, rows.sd, strict=True)]
    shown = rows.assign(text=texts)
    shown = shown[shown.model.isin(seen) & shown.pronoun_type.isin(factors["Type"][1])]
    return rows, pivot(shown, factors, "model", seen, ["text"]), 2


TABLES = {
    "zero_shot": zero_shot,
    "declaration_type": by_type("Declaration", "declaration_type", DECLARATION_TYPES),
    "declaration_number": by_type("Forms", "declaration_number", {}),
    "groups": groups,
    "forms": by_type("Form", "form", FORM_LABELS),
    "name_ranks": name_ranks,
    "name_class": name_class,
    "few_shot": few_shot,
}
"""What makes the tidy rows and the cells of each, and how many of its first columns are text."""


if __name__ == "__main__":
    run_named()
