"""The figures of Counter-GAP."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from scripts.core import files
from scripts.core.paper import palette, plotting
from scripts.core.workflow.job import run_named
from scripts.counter_gap import study

MASCULINE, FEMININE = palette.pronoun_colours(["he", "she"]).values()
"""Genders have the colours of their pronouns."""
LEANINGS = {"lean_masculine": (MASCULINE, 1), "lean_feminine": (FEMININE, -1)}
"""Metrics to the colour and side of their bars."""
OPACITY = 0.35
"""Of leanings."""
POINTS = {"acc_diff": ("o", palette.CATEGORIES[0]), "delta_i": ("s", palette.CATEGORIES[4])}
"""Metrics to their marks; subscripts in the legend would be too small to read."""
PLACES = {"original": (0, 1), "control": (0, 0), "swap-1": (1, 1), "swap-2": (1, 0)}
PAIRS = [
    ("original", "control", "within"),
    ("swap-1", "swap-2", "within"),
    ("original", "swap-1", "across"),
    ("control", "swap-2", "across"),
    ("original", "swap-2", "across"),
    ("control", "swap-1", "across"),
]
ARROWS = {"within": ("black", 1.8), "across": ("#C00000", 0.9)}
"""Colour and width of each inconsistency's arrows."""


def figures(*, estimates: str, pdf: list, png: list, csv: list, labels: dict) -> None:
    """Draw Figure 1 of the paper, ``inconsistencies``, and each set's ``cancellation``.

    The latter shows how leanings to either gender cancel in the accuracy difference, and Delta I.
    """
    table = study.read_estimates(estimates, labels, alpha=0)
    for paths in zip(pdf, png, csv, strict=True):
        templates, name = Path(paths[0]).parts[-2:]
        if name == "inconsistencies.pdf":
            rows = pd.DataFrame(PAIRS, columns=["first", "second", "inconsistency"])
            drawn = draw_inconsistencies(rows)
        else:
            rows = study.main_outputs(table[table.templates == templates])
            rows = study.pick(rows, metric=[*LEANINGS, *POINTS])
            rows = rows.assign(label=[study.full_label(row) for row in files.iterate_rows(rows)])
            drawn = draw_cancellation(rows)
        plotting.save_figure(drawn, rows, *paths)


@plotting.figure_style()
def draw_cancellation(frame: pd.DataFrame) -> Figure:
    """Draw one row for each system; return the figure.

    The left panel has a direction: leanings to either side and their difference. Delta I has none and its own panel.
    """
    names = list(dict.fromkeys(frame.label))
    drawn = plotting.new_figure(plotting.PAGE, 0.8 + 0.24 * len(names))
    axes = drawn.subplots(1, 2, sharey=True, width_ratios=(1.9, 1))
    y = np.arange(len(names))[::-1]
    for metric, (colour, side) in LEANINGS.items():
        leanings = frame[frame.metric == metric].value
        axes[0].barh(y, side * 100 * leanings, height=0.62, color=colour, alpha=OPACITY, linewidth=0)
    for ax, (metric, (marker, colour)) in zip(axes, POINTS.items(), strict=True):
        rows = frame[frame.metric == metric]
        errors = 100 * np.abs(np.array([rows.value - rows.low, rows.high - rows.value]))
        ax.errorbar(
            100 * rows.value, y, xerr=errors, fmt=marker, color=colour, markersize=3.5, elinewidth=0.8, capsize=1.5,
        )  # fmt: skip
        ax.axvline(0, color=plotting.GREY, linewidth=0.7)
        ax.grid(axis="y", visible=False)
        ax.grid(axis="x", visible=True)
    axes[0].set_yticks(y, names)
    axes[0].set(
        title="Difference of accuracies: leanings cancel",
        xlabel="Mean leaning (percentage points)\nto feminine ← | → to masculine",
    )
    axes[1].set(title="Difference of inconsistencies", xlabel="ΔI (percentage points)")
    called = {"acc_diff": "accuracy: masculine minus feminine", "delta_i": "ΔI (across minus within)"}
    handles = [
        plotting.patch_handle(to_rgba(MASCULINE, OPACITY), "leaning to masculine"),
        plotting.patch_handle(to_rgba(FEMININE, OPACITY), "leaning to feminine"),
        *(
            plotting.line_handle({"color": colour, "marker": marker, "linestyle": "none"}, called[metric])
            for metric, (marker, colour) in POINTS.items()
        ),
        plotting.interval_handle("95% interval", "_"),
    ]
    plotting.legend_below(drawn, handles, 5)
    return drawn


@plotting.figure_style()
def draw_inconsistencies(frame: pd.DataFrame) -> Figure:
    """Draw the four instances and an arrow for each pair; return the figure."""
    drawn = plotting.new_figure(plotting.COLUMN, 1.9)
    ax = drawn.subplots()
    ax.axis("off")
    ax.set(xlim=(-0.42, 1.42), ylim=(-0.25, 1.45))
    boxes = {}
    for role, (x, y) in PLACES.items():
        colour = (MASCULINE, FEMININE)[x]
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colour, "linewidth": 1.1}
        text = ax.text(x, y, role.replace("-", " "), ha="center", va="center", fontsize=8, bbox=box)
        boxes[role] = text.get_bbox_patch()
    for first, second, inconsistency in frame.itertuples(index=False):
        colour, width = ARROWS[inconsistency]
        # Above the boxes, so that these have their places when the arrows are cut off at their edges.
        ax.add_patch(
            FancyArrowPatch(
                PLACES[first], PLACES[second], patchA=boxes[first], patchB=boxes[second], arrowstyle="<->",
                mutation_scale=8, color=colour, linewidth=width, shrinkA=1.5, shrinkB=1.5, zorder=4,
            )
        )  # fmt: skip
    for x, text in enumerate(("one gender", "the other gender")):
        ax.text(x, 1.4, text, ha="center", va="center", fontsize=8)
    handles = [Line2D([], [], color=c, linewidth=width, label=f"{of} genders") for of, (c, width) in ARROWS.items()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


if __name__ == "__main__":
    run_named()
