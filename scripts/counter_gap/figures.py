"""The figures of Counter-GAP."""

from typing import Any

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
NAMES = {"original": "original", "control": "control", "swap-1": "swap 1", "swap-2": "swap 2"}
PAIRS = [
    ("original", "control", "within"),
    ("swap-1", "swap-2", "within"),
    ("original", "swap-1", "across"),
    ("control", "swap-2", "across"),
    ("original", "swap-2", "across"),
    ("control", "swap-1", "across"),
]
ARROWS = {"within": ("black", 1.8, "within genders"), "across": ("#C00000", 0.9, "across genders")}
"""Colour, width and label of each inconsistency's arrows."""


def figure(*, estimates: str, pdf: str, png: str, csv: str, figure: str, labels: dict) -> None:
    """Draw one of the study's figures; ``labels`` are what figures call systems.

    ``inconsistencies`` is Figure 1 of the paper, and its CSV lists its arrows. ``<set of quadruples>/cancellation``
    shows how leanings towards either gender cancel in the accuracy difference, and Delta I.
    """
    templates, _, name = figure.rpartition("/")
    if name == "inconsistencies":
        rows = pd.DataFrame(PAIRS, columns=["first", "second", "inconsistency"])
        drawn = draw_inconsistencies(rows)
    else:
        rows = study.with_systems(study.read_estimates(estimates, alpha=0), labels)
        rows = study.main_outputs(rows[rows.templates == templates])
        rows = study.pick(rows, metric=[*LEANINGS, *POINTS])
        rows["label"] = [study.full_label(row) for row in files.iterate_rows(rows)]
        drawn = draw_cancellation(rows)
    plotting.save_figure(drawn, rows, pdf, png, csv)


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
def draw_inconsistencies(frame: Any) -> Figure:
    """Draw the four instances and an arrow for each pair; return the figure."""
    drawn = plotting.new_figure(plotting.COLUMN, 1.9)
    ax = drawn.subplots()
    ax.axis("off")
    ax.set(xlim=(-0.42, 1.42), ylim=(-0.25, 1.45))
    boxes = {}
    for role, (x, y) in PLACES.items():
        colour = (MASCULINE, FEMININE)[x]
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colour, "linewidth": 1.1}
        boxes[role] = ax.text(x, y, NAMES[role], ha="center", va="center", fontsize=8, bbox=box).get_bbox_patch()
    for row in frame.itertuples():
        colour, width, _ = ARROWS[row.inconsistency]
        # Above the boxes, so that these have their places when the arrows are cut off at their edges.
        ax.add_patch(
            FancyArrowPatch(
                PLACES[row.first], PLACES[row.second], patchA=boxes[row.first], patchB=boxes[row.second],
                arrowstyle="<->", mutation_scale=8, color=colour, linewidth=width, shrinkA=1.5, shrinkB=1.5, zorder=4,
            )
        )  # fmt: skip
    for x, text in enumerate(("one gender", "the other gender")):
        ax.text(x, 1.4, text, ha="center", va="center", fontsize=8)
    handles = [Line2D([], [], color=c, linewidth=width, label=text) for c, width, text in ARROWS.values()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


if __name__ == "__main__":
    run_named()
