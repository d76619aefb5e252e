"""What figures of prompted models share: boxes over prompts, looks of methods and outcomes."""

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch

from scripts.core import plotting
from scripts.ruff.lib import figures
from scripts.ruff.lib.analyses.answers import OUTCOMES
from scripts.ruff.lib.prompts import VANILLA

METHOD_COLOURS = plotting.CATEGORIES
"""Vanilla prompting first, then kinds of chains of thought; none is the colour of a model beside it."""
OUTCOME_COLOURS = dict(zip(OUTCOMES, ("#000000", "#E69F00", "#56B4E9", "#C8C8C8", "#8C8C8C"), strict=True))
OUTCOME_LABELS = {
    "right": "right",
    "wrong": "wrong",
    "wrong_case": "wrong case",
    "several": "several pronouns",
    "none": "no pronoun",
}
KIND_LABELS = {"open": "open prompts", "options": "prompts that list options"}


def method_label(method):
    """Return how a method is called in legends."""
    return "vanilla" if method == VANILLA else f"chain of thought ({method.capitalize()})"


def method_colours(methods):
    """Return a colour for each method; vanilla comes first in ``methods``."""
    return {method: METHOD_COLOURS[i % len(METHOD_COLOURS)] for i, method in enumerate(methods)}


def boxes(ax, frame, series, colours):
    """Draw a box over prompts for each number of distractors and each level of a column, and every prompt as a point.

    Boxes run from the first to the third quartile with a line at the median; whiskers reach the farthest prompts.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    frame : DataFrame
        ``n_distractors``, ``accuracy`` and the column ``series``; a row for each prompt.
    series : str
    colours : dict of str
        Level of ``series`` to its colour, in the order of the boxes.
    """
    counts = sorted(frame.n_distractors.unique())
    width = 0.8 / len(colours)
    if not len(plotting.enough(frame)):
        note = f"fewer than {plotting.FEWEST} instances:\nnothing drawn"
        ax.text(0.5, 0.5, note, ha="center", va="center", fontsize=7, transform=ax.transAxes)
    frame = plotting.enough(frame)
    for i, (level, colour) in enumerate(colours.items()):
        for x, count in enumerate(counts):
            values = frame[(frame[series] == level) & (frame.n_distractors == count)].accuracy.to_numpy()
            if not len(values):
                continue
            at = x + (i - (len(colours) - 1) / 2) * width
            look = {"color": colour, "linewidth": 0.9}
            ax.boxplot(
                values, positions=[at], widths=0.75 * width, whis=(0, 100), showfliers=False, patch_artist=True,
                manage_ticks=False, medianprops=look | {"linewidth": 1.6}, whiskerprops=look, capprops=look,
                boxprops={"facecolor": to_rgba(colour, 0.25), "edgecolor": colour, "linewidth": 0.9},
            )  # fmt: skip
            # Prompts with the same accuracy stand beside each other, around the middle of the box.
            same = [values == value for value in values]
            rank = np.array([mask[:j].sum() - (mask.sum() - 1) / 2 for j, mask in enumerate(same)])
            step = width * min(0.07, 0.6 / max(mask.sum() for mask in same))
            look = {
                "markersize": plotting.SMALLEST_MARKER,
                "color": colour,
                "markeredgecolor": "white",
                "markeredgewidth": 0.2,
            }
            ax.plot(at + step * rank, values, linestyle="none", marker="o", clip_on=False, zorder=3, **look)
    ax.set_xticks(range(len(counts)), [str(count) for count in counts])
    ax.set_xlim(-0.6, len(counts) - 0.4)
    plotting.fraction_axis(ax.yaxis)


def box_handle(colour, label):
    """Return the legend handle of boxes in ``colour``."""
    return Patch(facecolor=to_rgba(colour, 0.25), edgecolor=colour, linewidth=0.9, label=label)


def panels(count, columns=2, height=1.7):
    """Return a figure with ``count`` panels that share their y axis, and the panels; ``columns`` to a row at most."""
    columns = min(count, columns)
    lines = -(-count // columns)
    drawn = plotting.figure(plotting.COLUMN if columns == 1 else plotting.PAGE, height * lines + 0.2)
    grid = drawn.subplots(lines, columns, sharey=True, squeeze=False)
    for ax in grid.flat[count:]:
        ax.set_axis_off()
    return drawn, list(grid.flat[:count]), columns


def draw_methods(frame, models, methods, chance, human):
    """Draw accuracies of each model by number of distractors, a box for each of ``methods`` (Figures 12 and 13)."""
    names = [name for name in models if name in set(frame.model)]
    colours = method_colours(methods)
    drawn, axes, columns = panels(len(names))
    for i, (ax, name) in enumerate(zip(axes, names, strict=True)):
        boxes(ax, frame[frame.model == name], "method", colours)
        ax.set_title(models[name]["label"])
        ax.set_xlabel(figures.DISTRACTORS)
        if i % columns == 0:
            ax.set_ylabel("Accuracy")
    handles = [box_handle(colour, method_label(method)) for method, colour in colours.items()]
    handles += [plotting.chance_line(axes, chance), plotting.human_line(axes, human)]
    plotting.legend_below(drawn, handles, 2 if columns == 1 else 4)
    return drawn


COLUMNS = ["model", "method", "answer", "n_distractors", "prompt", "kind", "n", "accuracy"]


def read_methods(path, models, methods, answer):
    """Read the rows of the models with chains of thought: vanilla answers, and the others read at ``answer``."""
    frame = figures.read(path, COLUMNS, method=methods)
    thinking = set(frame[frame.method != VANILLA].model)
    wanted = frame.answer.eq("final") if answer == "final" else frame.answer.eq("chain") | frame.method.eq(VANILLA)
    frame = frame[frame.model.isin(thinking) & wanted]
    # Vanilla answers on more samples than chains were elicited on are no comparison.
    thought = frame[frame.method != VANILLA].set_index(["model", "n_distractors"]).index
    frame = frame[frame.set_index(["model", "n_distractors"]).index.isin(thought)]
    return figures.in_order(frame, model=models, method=methods, n_distractors=None, prompt=None)
