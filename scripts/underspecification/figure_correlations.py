"""Draw the probability of gendered pronouns against dates or places, with fitted lines (Figures 3, 6, 7 and 8)."""

import numpy as np
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification.lib import figures
from scripts.underspecification.lib.readers import read_rows

MAIN = [
    ("BERT-base", "mask"), ("Flan-UL2-20B", "A"), ("GPT-3", "A"), ("GPT-3.5 SFT", "A"), ("GPT-3.5 RLHF", "A"),
    ("RoBERTa-base", "mask"), ("Flan-UL2-20B", "B"), ("GPT-3", "B"), ("GPT-3.5 SFT", "B"), ("GPT-3.5 RLHF", "B"),
]  # fmt: skip
"""Panels of Figures 3 and 6."""
COLUMNS = 5
YEARS = 50
"""Years between ticks; every other one is labelled."""
TOP = 100
XLABELS = {"date": "date (year)", "place": "place (by rank)"}
MARK = 3
"""Size of a mark in points."""
BESIDE = 1.2
"""How far apart the marks of neighbouring genders stand, in points, so that none hides another."""


def ticks(curves, variable):
    """Return positions with a tick and their labels: round years, or each place with the names of the outer two.

    Parameters
    ----------
    curves : DataFrame
        ``position`` and ``value``.
    variable : str
        ``date`` or ``place``.
    """
    grid = curves.drop_duplicates("position").sort_values("position")
    if variable == "place":
        names = [str(value) for value in grid.value]
        return grid.position.to_numpy(), [names[0], *[""] * (len(names) - 2), names[-1]]
    years = grid.value.astype(int).to_numpy()
    first = -(-years[0] // YEARS) * YEARS
    shown = np.arange(first, years[-1] + 1, YEARS)
    # Labels of all of them would touch.
    return np.interp(shown, years, grid.position), [f"{year}" if year % (2 * YEARS) == 0 else "" for year in shown]


def inside(positions, values):
    """Return the part of a line between 0 and 100 percent: positions and values of its ends."""
    positions, values = np.asarray(positions, dtype=float), np.asarray(values, dtype=float)
    ends = np.clip(values, 0, TOP)
    if values[0] == values[1]:
        return positions, ends
    order = np.argsort(values)
    return np.interp(ends, values[order], positions[order]), ends


def of_panel(curves, model, prompt):
    """Return the rows of one model and prompt."""
    return curves[(curves.model == model) & (curves.prompt == prompt)]


@plotting.style()
def draw(curves, variable):
    """Draw one panel for each model and prompt, each with its own scale.

    A model that never gives a pronoun any probability has no panel; the legend names it.

    Parameters
    ----------
    curves : DataFrame
        From :func:`scripts.underspecification.lib.analyses.correlation.curves`, for one variable, with
        ``accumulation`` top.
    variable : str
        ``date`` or ``place``.
    """
    shown, empty = [], []
    for (model, prompt), panel in ((key, of_panel(curves, *key)) for key in figures.panels(curves)):
        (shown if panel.probability.max() > 0 else empty).append((model, prompt))
    shown = shown or empty
    colours = figures.colours()
    columns = min(COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    width = plotting.PAGE if columns > 2 else plotting.COLUMN
    drawn = plotting.figure(width, (1.3 if rows > 1 else 1.8) * rows)
    axes = np.atleast_1d(drawn.subplots(rows, columns)).ravel()
    places, labels = ticks(curves, variable)
    for index, (ax, (model, prompt)) in enumerate(zip(axes, shown, strict=False)):
        panel = of_panel(curves, model, prompt)
        for gender in figures.genders(panel):
            part = panel[panel.gender == gender].sort_values("position")
            if part.empty:
                continue
            colour = colours[gender]
            look = {"color": colour, "marker": figures.MARKERS[gender], "linestyle": "none", "markersize": MARK}
            beside = offset_copy(ax.transData, drawn, x=figures.beside(gender) * BESIDE, units="points")
            ax.plot(part.position, part.probability, markeredgewidth=0, alpha=0.75, transform=beside, **look)
            low, high = (part[name].clip(0, TOP) for name in ("fit_low", "fit_high"))
            ax.fill_between(part.position, low, high, color=colour, alpha=0.25, linewidth=0)
            line = inside(part.position.iloc[[0, -1]], part.fit.iloc[[0, -1]])
            ax.plot(*line, color=colour, linewidth=1.1, linestyle=figures.LINES[gender])
        ax.set_title(figures.panel_label(model, prompt), fontsize=7)
        # Nothing that is drawn is above 100; an almost empty panel must not be blown up.
        highest = max(panel.probability.max(), panel.fit_high.clip(0, TOP).max(), 1)
        ax.set_ylim(-0.05 * highest, 1.08 * highest)
        ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        ax.set_xticks(places, labels if index + columns >= len(shown) else [""] * len(labels), fontsize=7)
        if variable == "place":
            for label, side in zip(ax.get_xticklabels()[:: len(places) - 1], ("left", "right"), strict=True):
                label.set_horizontalalignment(side)
        ax.tick_params(axis="y", labelsize=7)
        if index + columns >= len(shown):
            ax.set_xlabel(XLABELS[variable], fontsize=7)
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    for ax in axes[: len(shown) : columns]:
        ax.set_ylabel("probability (%)")
    handles = [
        plotting.handle(
            {"color": colours[g], "marker": figures.MARKERS[g], "linestyle": figures.LINES[g], "linewidth": 1.1},
            figures.LABELS[g],
        )
        for g in figures.genders(curves)
    ]
    handles += [plotting.patch_handle("#BFBFBF", "95 % interval of the line")]
    if shown != empty and empty:
        names = "\n".join(figures.panel_label(*key) for key in empty)
        handles += [plotting.note_handle(f"not drawn, no pronoun at any {variable}:\n{names}")]
    plotting.legend_below(drawn, handles, 5)
    return drawn


def main(*, curves: str, slopes: str, pdf: str, png: str, csv: str, variable: str, choice: str):
    """Draw ``variable`` (date or place) for all models, or with the ``choice`` main for those of the study's main text.

    Slope, intercept and r of each line are added to the CSV from
    ``slopes``.
    """
    lines, points = (read_rows(path, variable) for path in (slopes, curves))
    points = points[(points.variable == variable) & (points.accumulation == "top")]
    if choice == "main":
        keys = points[["model", "prompt"]].apply(tuple, axis=1)
        points = points[keys.isin(MAIN)]
    points = points.reset_index(drop=True)
    lines = lines[(lines.variable == variable) & (lines.accumulation == "top")]
    shown = points.merge(
        lines[lines.metric.isin(["slope", "intercept", "r"])]
        .pivot(index=["model", "prompt", "gender"], columns="metric", values="value")
        .reset_index(),
        on=["model", "prompt", "gender"],
        how="left",
    )
    plotting.save(draw(points, variable), shown, pdf, png, csv)


if __name__ == "__main__":
    run(main)
