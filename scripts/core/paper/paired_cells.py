"""Cells of the tables on pairs of models, on what samples can show and on mixed models, which all studies share."""

from collections.abc import Callable, Mapping

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import MISSING_MARK, interval, number, p_text
from scripts.core.paper.tables import blank_repeats, change_points
from scripts.core.statistics.paired import PLANNED_DIFFERENCES

FEW_PAIRS = 12
"""Up to this many pairs all of them are shown; of more, those whose accuracies differ most over all instances."""
FEW_MODELS = 4
"""Up to this many models all parts of the sample are shown; of more, the whole sample."""


def pairs(table: pd.DataFrame, models: dict, by: str, head: str, levels: dict) -> pd.DataFrame:
    """Return the cells of differences between models.

    Args:
        table: From :func:`scripts.core.statistics.paired.every_pair`, with the column ``by``.
        models: Model to ``label``.
        by: What rows are split by; ``all`` pools everything.
        head: What the column is called.
        levels: Levels to their labels.

    Returns:
        All cells are text.
    """
    overall = table[table[by].astype(str) == "all"]
    furthest = overall.reindex(overall.difference.abs().sort_values(ascending=False, kind="stable").index)
    rows = []
    for pair in furthest[:FEW_PAIRS].sort_index().itertuples():
        of_pair = table[(table.model_a == pair.model_a) & (table.model_b == pair.model_b)]
        for level, label in levels.items():
            for row in of_pair[of_pair[by].astype(str) == level].itertuples():
                ends = interval(row.ci_low, row.ci_high, 2, signed=True)
                difference = number(row.difference, 2, signed=True)
                p = p_text(row.p_holm, smallest=0.001, decimals=3).removeprefix("= ")
                rows.append(
                    {
                        "Models": f"{models[row.model_a]['label']} – {models[row.model_b]['label']}",
                        head: label,
                        "n": number(row.n, 0),
                        "Difference": difference + ("" if ends == MISSING_MARK else f" [{ends}]"),
                        "p": p if pd.notna(row.p_holm) else MISSING_MARK,
                        "Discordant": number(row.discordant, 2),
                        "Detectable": number(row.detectable, 2),
                    }
                )
    cells = pd.DataFrame(rows)
    return cells.assign(Models=blank_repeats(cells.Models))


def power(
    table: pd.DataFrame, models: Mapping[str, dict], by: str, head: str, levels: Mapping[str, str]
) -> pd.DataFrame:
    """Return the cells of what samples can show.

    Parameters as for :func:`pairs`, with the rows of each model (:func:`scripts.core.statistics.paired.plan_sample`).
    """
    shown = levels if len(models) <= FEW_MODELS else {level: label for level, label in levels.items() if level == "all"}
    rows = []
    for name, facts in models.items():
        for level, label in shown.items():
            for row in table[(table.model == name) & (table[by].astype(str) == level)].to_dict("records"):
                rows.append(
                    {
                        "Model": facts["label"],
                        head: label,
                        "n": number(row["n"], 0),
                        "Accuracy": number(row["accuracy"], 2),
                        "Correlation": number(row["correlation"], 2),
                        "From a number": number(row["detectable"], 2),
                        "From a model": number(row["detectable_pair"], 2),
                        **{f"{effect} points": number(row[f"needed_{effect}"], 0) for effect in PLANNED_DIFFERENCES},
                    }
                )
    cells = pd.DataFrame(rows)
    return cells.assign(Model=blank_repeats(cells.Model, change_points(cells.Model)))


def mixed_model(table: pd.DataFrame, effect: Callable) -> pd.DataFrame:
    """Return the cells of a mixed model: log odds with intervals; or why there are none.

    Args:
        table: From :func:`scripts.core.statistics.mixed_effects.table`.
        effect: Returns the label of a row's effect.
    """
    if not table.converged.all():
        return pd.DataFrame({"Effect": ["none"], "Log odds": [MISSING_MARK], "Interval": [table.reason.iloc[0]]})
    rows = []
    for row in files.rows(table.fillna({"level": ""})):
        signed = row.kind == "fixed"
        ends = interval(row.ci_low, row.ci_high, 2, signed)
        rows.append((effect(row), number(row.estimate, 2, signed), ends))
    return pd.DataFrame(rows, columns=["Effect", "Log odds", "Interval"])
