"""Accuracy against model size (paper Figure 8)."""

import math

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import count_parameters
from scripts.ruff import curves, study
from scripts.ruff.curves import Drawn, prepare_rows


def scaling(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Return accuracies with the fewest and the most distractors, with each model's size, architecture and family."""
    rows = prepare_rows(study.pick(tables["estimates"], n_distractors=..., **study.SCORED))
    rows = rows[rows.n_distractors.isin([rows.n_distractors.min(), rows.n_distractors.max()])]
    facts = pd.DataFrame.from_dict(run.models, orient="index")[["family", "architecture", "parameters"]]
    return rows.join(facts, on="model").sort_values(["n_distractors", "parameters"], kind="stable", ignore_index=True)


@curves.draws
def draw_scaling(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw one point for each model, joined within its family; few distractors above many.

    Error bars are 95 % bootstrap intervals over occupations.
    """
    models = run.drawn
    if alone := plotting.one_size(models):
        return alone
    ends = sorted(frame.n_distractors.unique())
    families = {}
    for facts in models.values():
        families.setdefault((facts["family"], facts["architecture"]), palette.family_style(facts))
    order = list(palette.ARCHITECTURES)
    families = dict(sorted(families.items(), key=lambda item: order.index(item[0][1])))
    drawn = plotting.new_figure(plotting.COLUMN, 1.65 * len(ends) + 0.25)
    grid = drawn.subplots(len(ends), 1, sharex=True, squeeze=False)[:, 0]
    for ax, n in zip(grid, ends, strict=True):
        for (family, architecture), look in families.items():
            rows = frame[(frame.family == family) & (frame.architecture == architecture) & (frame.n_distractors == n)]
            rows = rows.sort_values("parameters")
            colours = [palette.model_style(models[m])["color"] for m in rows.model]
            ax.plot(rows.parameters, rows.value, **{**look, "marker": "none"})
            bars = plotting.error_bars(rows.value, rows.low, rows.high)
            ax.errorbar(rows.parameters, rows.value, bars, fmt="none", ecolor=colours, elinewidth=0.8)
            points = {"s": 18, "c": colours, "marker": look["marker"], "edgecolor": "white", "linewidth": 0.3}
            ax.scatter(rows.parameters, rows.value, zorder=3, **points)
        ax.set_title(f"{n} distractor{'' if n == 1 else 's'}")
        ax.set_ylabel("Accuracy")
        plotting.fraction_axis(ax.yaxis)
    ax.set_xscale("log")
    smallest, most = math.log10(frame.parameters.min()), math.log10(frame.parameters.max())
    ax.set_xlim(10 ** math.floor(smallest), 10 ** math.ceil(most))
    ax.xaxis.set_major_locator(LogLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda count, _: count_parameters(count)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Size (parameters)")
    handles = [
        plotting.line_handle(look, f"{family} ({architecture})") for (family, architecture), look in families.items()
    ]
    handles += [*run.references(grid), plotting.interval_handle(curves.BOOTSTRAP)]
    plotting.legend_below(drawn, handles + run.dropped, 2)
    return drawn
