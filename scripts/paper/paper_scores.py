"""Draw the accuracies of the same options by other scores, and write their table."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import FULL, PARTIAL
from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import MISSING_MARK, format_percent
from scripts.core.paper.tables import write_table
from scripts.core.workflow.job import run
from scripts.paper.score_changes import SCORES, select_accuracies, select_drawn

LOOKS = dict(zip(SCORES, zip(palette.CATEGORIES[:4], "os^v", strict=True), strict=False))
LOOKS |= {FULL: ("#000000", "D"), PARTIAL: (plotting.GREY, "P")}
"""Colour and marker of each score."""
WIDTH = 30
"""Letters in a line above a panel."""
FEW = 6
"""Up to this many models of a study the table has a row for each."""
LINE, HEAD, AXIS, TALLEST = 0.3, 0.35, 0.75, 6.0
"""Height of a line, of a panel's title, of axis and legend, and of all lines of many models, in inches."""


@plotting.figure_style()
def draw(frame: pd.DataFrame) -> Figure:
    """Draw accuracies by score, a mark each: lines are pronouns or, in a panel for each pronoun, models if several."""
    frame = plotting.drop_small_cells(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    by_model = frame.label.nunique() > 1
    panels = [rows for _, rows in frame.groupby(["study", "level"] if by_model else ["study"], sort=False)]
    axis, line = ("level", "label") if by_model else ("study_label", "level")
    lines = [list(dict.fromkeys(rows[line])) for rows in panels]
    counts = [len(names) for names in lines]
    if by_model:
        drawn, axes = _panels_by_study(frame, panels)
    else:
        drawn = plotting.new_figure(plotting.COLUMN, LINE * sum(counts) + HEAD * len(panels) + AXIS)
        grid = {"height_ratios": counts}
        axes = list(drawn.subplots(len(panels), 1, sharex=True, squeeze=False, gridspec_kw=grid)[:, 0])
        axes[-1].set_xlabel("Accuracy")
    for ax, rows, names in zip(axes, panels, lines, strict=True):
        _draw_panel(ax, rows, names, line)
        ax.set_title("\n".join(textwrap.wrap(rows[axis].iloc[0], WIDTH)))
    plotting.legend_below(drawn, _handles(frame), 2 if not by_model else 4)
    return drawn


def _panels_by_study(frame: pd.DataFrame, panels: list[pd.DataFrame]) -> tuple[Figure, list]:
    """Return a figure with a row of axes for each study, one for each of its levels."""
    studies = list(dict.fromkeys(frame.study))
    of_study = [[rows for rows in panels if rows.study.iloc[0] == study] for study in studies]
    counts = [rows[0].label.nunique() for rows in of_study]
    line = min(LINE, TALLEST / sum(counts))
    drawn = plotting.new_figure(plotting.PAGE, line * sum(counts) + 2 * HEAD * len(studies) + AXIS)
    axes: list = []
    for part, members, study in zip(
        drawn.subfigures(len(studies), 1, squeeze=False, height_ratios=[count + 2 for count in counts])[:, 0],
        of_study, studies, strict=True,
    ):  # fmt: skip
        axes += list(part.subplots(1, len(members), sharex=True, sharey=True, squeeze=False)[0])
        part.supxlabel(f"{frame[frame.study == study].study_label.iloc[0]}: accuracy", fontsize=8)
    return drawn, axes


def _draw_panel(ax: Any, rows: pd.DataFrame, names: list[str], line: str) -> None:
    scores = [name for name in SCORES if name in set(rows.score)]
    for place, name in enumerate(scores):
        of_score = rows[rows.score == name]
        y = [names.index(one) + 0.7 * ((place + 0.5) / len(scores) - 0.5) for one in of_score[line]]
        bars = plotting.error_bars(of_score.accuracy, of_score.low, of_score.high)
        colour, marker = LOOKS[name]
        look = {"color": colour, "marker": marker, "markersize": 3.5, "elinewidth": 0.8}
        ax.errorbar(of_score.accuracy, y, xerr=bars, linestyle="none", **look)
    chance = rows.chance.iloc[0]
    if pd.notna(chance):
        plotting.chance_line([ax], chance, along="x")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x")
    plotting.fraction_axis(ax.xaxis)


def _handles(frame: pd.DataFrame) -> list:
    met = set(frame.score)
    handles = [
        plotting.line_handle({"color": LOOKS[name][0], "marker": LOOKS[name][1], "linestyle": "none"}, label)
        for name, label in SCORES.items()
        if name in met
    ]
    if frame.chance.notna().any():
        handles.append(plotting.interval_handle("chance"))
    if frame.low.notna().any():
        handles.append(plotting.interval_handle("95% interval", "_"))
    return handles


def cells(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return the table's cells: accuracies in percent over all instances, a row for each study and model.

    A study of more than :data:`FEW` models has one row with the lowest and the highest.
    """
    pooled = accuracies.drop_duplicates(["study", "part", "model", "score"])
    found = []
    for (_, part), rows in pooled.groupby(["study", "part"], sort=False):
        several = pooled[pooled.study == rows.study.iloc[0]].part.nunique() > 1
        study = rows.study_label.iloc[0] + (f" ({part})" if several else "")
        wide = rows.pivot(index="model", columns="score", values="accuracy").reindex(rows.model.drop_duplicates())
        if len(wide) > FEW:
            ends = wide.reindex(columns=list(SCORES)).agg(["min", "max"])
            told = [" to ".join(dict.fromkeys(format_percent(end, 1) for end in ends[name])) for name in SCORES]
            found.append([study, f"{len(wide)} models", *told])
            continue
        labels: Any = rows.drop_duplicates("model").set_index("model").label
        for model, values in wide.iterrows():
            told = [format_percent(values.get(name, np.nan), 1) for name in SCORES]
            found.append([study, labels[model], *told])
    made = pd.DataFrame(found, columns=["Study", "Model", *SCORES.values()])
    made = made.loc[:, [name in ("Study", "Model") or (made[name] != MISSING_MARK).any() for name in made]]
    return made.assign(Study=made.Study.where(made.Study != made.Study.shift(), ""))


def main(*, summary_csv: str, pdf: str, png: str, csv: str, table_tex: str, table_csv: str, studies: list) -> None:
    """Draw the figure and write the table, of whose CSV file every accuracy by each score is a row.

    Args:
        summary_csv: The summary over all studies.
        studies: ``key``, ``label`` and ``chances`` (metric to chance).
    """
    accuracies = select_accuracies(estimate_rows.read_estimates([summary_csv]), studies)
    frame = select_drawn(accuracies)
    plotting.save_figure(draw(frame), frame, pdf, png, csv)
    write_table(table_tex, table_csv, cells(accuracies), left=2, rows=accuracies)


if __name__ == "__main__":
    run(main)
