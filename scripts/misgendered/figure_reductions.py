"""Draw the accuracy by the mean of a candidate's losses and by their sum."""

from matplotlib.lines import Line2D

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import ALL, TYPES, present


@plotting.style()
def draw(frame, models, chance):
    """Draw a row for each model and type of pronouns, from the mean (filled) to the sum (open).

    Parameters
    ----------
    frame : DataFrame
        From :func:`scripts.misgendered.lib.analyses.reductions.reductions`, of single models and types.
    models : dict
    chance : float
    """
    types = present(TYPES, frame.pronoun_type)
    names = [name for name in models if name in set(frame.model)]
    drawn = plotting.figure(plotting.COLUMN, 0.2 * len(names) * len(types) + 0.28 * len(types) + 0.45)
    grid = drawn.subplots(len(types), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (kind, label) in zip(grid, types.items(), strict=True):
        rows = frame[frame.pronoun_type == kind].set_index("model")
        colour = figures.TYPE_LOOKS[kind]["color"]
        for y, name in enumerate(names):
            row = rows.loc[name]
            ends = (row.accuracy_mean, row.accuracy_sum)
            ax.hlines(y, *sorted(ends), color=colour, linewidth=1)
            look = {"marker": figures.TYPE_LOOKS[kind]["marker"], "markersize": 4.5, "markeredgecolor": colour}
            ax.plot([ends[1]], [y], markerfacecolor="white", linestyle="none", markeredgewidth=0.8, **look)
            ax.plot([ends[0]], [y], markerfacecolor=colour, linestyle="none", markeredgewidth=0.3, **look)
        ax.set_title(label)
        ax.set_yticks(range(len(names)), [models[name]["label"] for name in names])
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        plotting.fraction_axis(ax.xaxis)
    grid[-1].set_xlabel(figures.ACCURACY)
    filled = {"linestyle": "none", "color": plotting.GREY, "marker": "o"}
    handles = [
        Line2D([], [], label="mean of the losses", **filled),
        Line2D([], [], label="sum", markerfacecolor="white", **filled),
        plotting.chance_line(grid, chance, along="x"),
    ]
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(*, reductions: str, pdf: str, png: str, csv: str, models: dict, chance: float):
    """Draw the figure; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(reductions, ["accuracy_sum"])
    frame = frame[frame.model.isin(models) & (frame.pronoun_type != ALL)]
    plotting.save(draw(frame, models, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
