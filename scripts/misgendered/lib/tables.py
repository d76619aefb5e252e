"""What the tables of MISGENDERED are made of: factors and values of those that are grids, cells of the others."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from scripts.core.data.templates import PronounSet
from scripts.core.paper.formats import MANY_UNITS, MISSING_MARK
from scripts.core.paper.grid import Column, Factor, value
from scripts.core.paper.tables import blank_repeats
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import NAME_CLASSES, SHORT, TYPES, present

if TYPE_CHECKING:
    from scripts.misgendered.lib.templates import Template

NAMES_SHOWN = 10
"""Names at either end of the ranking (Table 9)."""
FEWEST = 10
"""A name with fewer instances is not ranked in print: one instance would move it by over ten percentage points."""
TEMPLATE_WIDTHS = [0.1, 0.86]
"""Columns of Table 14, in parts of the width of the text."""
EXCERPT_WIDTHS = [0.1, 0.22, 0.58]
"""Columns of Table 12."""
DIFFERENCE = value("difference", signed=True, ends=("ci_low", "ci_high"))


def accuracy(row: Mapping) -> str:
    """Return an accuracy in percent with its interval; of :data:`MANY_UNITS` instances or more it has a decimal."""
    return value("accuracy", int(row["n"] >= MANY_UNITS), ends=("ci_low", "ci_high"), between="–")(row)


def accuracies(column: str, levels: Mapping) -> list[Column]:
    """Return two columns for each level of a factor: its accuracies, and how many instances each rests on."""
    cells = {"accuracy": accuracy, "n": value("n", 0, scale=1)}
    return [
        Column(f"{label}: {head}", cell, {column: level})
        for level, label in levels.items()
        for head, cell in cells.items()
    ]


def of_panels(models: dict) -> Factor:
    """Return the factor of models, or of their mean where there are many, for which figures have panels."""
    return Factor("Model", "model", figures.panels(models), alone=False)


def of_models(models: dict, alone: bool = False) -> Factor:
    """Return the factor of all models."""
    return Factor("Model", "model", {name: facts["label"] for name, facts in models.items()}, alone)


def of_types(table: pd.DataFrame, more: dict | None = None) -> Factor:
    """Return the factor of the types of pronouns that a table has, behind ``more`` levels."""
    return Factor("Type", "pronoun_type", (more or {}) | present(TYPES, table.pronoun_type))


def pronouns(groups: dict[str, PronounSet]) -> pd.DataFrame:
    """Return the cells of Table 1: the forms of each pronoun group.

    Args:
        groups: Group to its forms, from :func:`scripts.misgendered.lib.study.select_groups`.
    """
    order = [g for kind in TYPES for g in groups if groups[g].type == kind]
    rows = [[TYPES[groups[g].type], *(groups[g][form] for form in SHORT)] for g in order]
    frame = pd.DataFrame(rows, columns=["Type", *SHORT.values()])
    return frame.assign(Type=blank_repeats(frame.Type))


def declarations(ways: dict[int, Sequence[str]]) -> pd.DataFrame:
    """Return the cells of Table 2: the forms that each combination declares.

    Args:
        ways: Number of a combination to its forms.
    """
    rows = [(len(forms), ", ".join(SHORT[form] for form in forms)) for forms in ways.values()]
    return pd.DataFrame(rows, columns=["Forms", "Declared"])


def models(facts: dict[str, dict]) -> pd.DataFrame:
    """Return the cells of Table 3: the run's models."""
    rows = [
        (entry["family"], entry["label"], entry["architecture"], f"{entry['parameters'] / 1e6:,.0f}M")
        if entry["parameters"]
        else (entry["family"], entry["label"], entry["architecture"], MISSING_MARK)
        for entry in facts.values()
    ]
    return pd.DataFrame(rows, columns=["Family", "Model", "Architecture", "Parameters"])


def ranking_ends(names: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the first and the last :data:`NAMES_SHOWN` ranked names, fewer of either if they would overlap."""
    count = min(NAMES_SHOWN, len(names) // 2)
    return names.head(count), names.tail(count).iloc[::-1]


def names(best: pd.DataFrame, worst: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 9: the names at either end of the ranking, with intervals."""
    columns = {}
    for head, frame in (("Best", best), ("Worst", worst)):
        columns[f"{head}: name"] = frame["name"].tolist()
        columns[f"{head}: class"] = frame.name_class.map(NAME_CLASSES).tolist()
        columns[f"{head}: accuracy"] = [accuracy(row) for row in frame.to_dict("records")]
        columns[f"{head}: n"] = [f"{n}" for n in frame.n]
    return pd.DataFrame(columns)


def templates(rows: "Iterable[Template]") -> pd.DataFrame:
    """Return the cells of Table 14: the templates of each form."""
    order = sorted(rows, key=lambda row: list(SHORT).index(row.form))
    frame = pd.DataFrame([(SHORT[row.form], row.text) for row in order], columns=["Form", "Template"])
    return frame.assign(Form=blank_repeats(frame.Form))


def excerpts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 12: excerpts from the corpora."""
    heads = {"word": "Word", "label": "Corpus", "excerpt": "Excerpt"}
    return table.rename(columns=heads)[list(heads.values())]
