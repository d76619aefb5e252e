"""The figures of the greetings."""

from pathlib import Path

import pandas as pd
import seaborn.objects as so
from matplotlib.figure import Figure

from scripts.core.paper import palette, plotting
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.greetings.estimates import read_estimates


def figures(*, estimates: str, pdf: list, png: list, csv: list, templates: str, labels: dict, chance: float) -> None:
    """Draw the figures of a template set that their files name."""
    rows = read_estimates(estimates, labels).rename(columns={"clusters": "n"})
    rows = plotting.drop_small_cells(rows[(rows.templates == templates) & (rows.pronoun != POOLED)])
    for paths in zip(pdf, png, csv, strict=True):
        drawn = plotting.nothing_drawn() if rows.empty else FIGURES[Path(paths[0]).stem](rows, chance)
        plotting.save_figure(drawn, rows, *paths)


@plotting.figure_style()
def draw_accuracy(rows: pd.DataFrame, chance: float) -> Figure:
    """Draw a panel for each model, and in it a bar with its interval for each introduced pronoun set, with chance."""
    plot = (
        so.Plot(rows, x="pronoun", y="value", ymin="low", ymax="high", color="pronoun")
        .facet("label", wrap=plotting.panel_columns(rows.model.nunique()))
        .add(so.Bar(alpha=1, edgewidth=0))
        .add(so.Range(color=plotting.GREY))
        .scale(color=palette.pronoun_colours(rows.pronoun.unique()))
        .label(x="", y="Accuracy")
    )
    drawn = plotting.draw_plot(plot, plotting.COLUMN, 1.5)
    plotting.legend_below(
        drawn, [plotting.chance_line(drawn.axes, chance), plotting.interval_handle("95% interval")], 2
    )
    return drawn


FIGURES = {"accuracy": draw_accuracy}


if __name__ == "__main__":
    run_named()
