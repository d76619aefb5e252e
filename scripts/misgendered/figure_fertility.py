"""Draw the accuracy on each form against the tokens that it costs."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import TYPES, present

COLUMNS = 4


@plotting.style()
def draw(cells, lines, models, chance):
    """Draw a panel for each model, a point for each form of each group, and the line of the regression.

    Parameters
    ----------
    cells : DataFrame
        From :func:`scripts.misgendered.lib.analyses.fertility.by_form`.
    lines : DataFrame
        From :func:`scripts.misgendered.lib.analyses.fertility.regressions`.
    models : dict
    chance : float
    """
    names = [name for name in models if name in set(cells.model)]
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    drawn = plotting.figure(plotting.COLUMN if columns < 3 else plotting.PAGE, 1.7 * rows + 0.1)
    grid = drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    types = present(TYPES, cells.pronoun_type)
    for ax, name in zip(grid.flat, names, strict=False):
        part = cells[cells.model == name].sort_values(["tokens", "accuracy", "group", "form"])
        # Forms of as many tokens and the same accuracy would hide each other.
        beside = part.groupby([part.tokens.round(2), part.accuracy.round(3)]).cumcount()
        for kind in types:
            shown = part.pronoun_type == kind
            look = figures.TYPE_LOOKS[kind] | {"linestyle": "none"}
            ax.plot(part.tokens[shown] + 0.06 * beside[shown], part.accuracy[shown], markersize=3.5, alpha=0.8, **look)
        line = lines[(lines.model == name) & (lines.subset == "all groups")].iloc[0]
        if not np.isnan(line.slope):
            ends = np.array([part.tokens.min(), part.tokens.max()])
            height = part.accuracy.mean() + line.slope * (ends - part.tokens.mean())
            ax.plot(ends, height, color=plotting.GREY, linewidth=1.1)
        ax.set_title(models[name]["label"])
        plotting.fraction_axis(ax.yaxis)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    for ax in grid.flat[len(names) :]:
        ax.set_axis_off()
    for ax in grid[-1]:
        ax.set_xlabel("Tokens of the form")
    for ax in grid[:, 0]:
        ax.set_ylabel(figures.ACCURACY)
    handles = [*figures.type_handles(types), plotting.chance_line(grid.flat[: len(names)], chance)]
    handles.append(plotting.handle({"color": plotting.GREY}, "least squares"))
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(*, fertility: str, regressions: str, pdf: str, png: str, csv: str, models: dict, chance: float):
    """Draw the figure; ``chance`` is the accuracy of a random pick."""
    cells, lines = figures.read(fertility, ["tokens"]), figures.read(regressions, ["slope"])
    plotting.save(draw(cells, lines, models, chance), cells, pdf, png, csv)


if __name__ == "__main__":
    run(main)
