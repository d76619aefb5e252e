"""Draw which pairs of a quadruple each inconsistency compares (paper Figure 1)."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from scripts.core import plotting
from scripts.core.job import run
from scripts.counter_gap.lib.figures import FEMININE, MASCULINE

PLACES = {"original": (0, 1), "control": (0, 0), "swap-1": (1, 1), "swap-2": (1, 0)}
NAMES = {
    "original": r"original $x_o$",
    "control": r"control $x_c$",
    "swap-1": r"swap 1 $\tilde{x}_o$",
    "swap-2": r"swap 2 $\tilde{x}_c$",
}
PAIRS = [
    ("original", "control", "within"),
    ("swap-1", "swap-2", "within"),
    ("original", "swap-1", "across"),
    ("control", "swap-2", "across"),
    ("original", "swap-2", "across"),
    ("control", "swap-1", "across"),
]
LOOKS = {"within": ("black", 1.8, "within genders"), "across": ("#C00000", 0.9, "across genders")}
"""Colour, width and label of each inconsistency's arrows."""


@plotting.style()
def draw(frame):
    """Draw the four instances and an arrow for each pair; return the figure."""
    drawn = plotting.figure(plotting.COLUMN, 1.9)
    ax = drawn.subplots()
    ax.axis("off")
    ax.set(xlim=(-0.42, 1.42), ylim=(-0.25, 1.45))
    boxes = {}
    for role, (x, y) in PLACES.items():
        colour = (MASCULINE, FEMININE)[x]
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colour, "linewidth": 1.1}
        boxes[role] = ax.text(x, y, NAMES[role], ha="center", va="center", fontsize=8, bbox=box).get_bbox_patch()
    for row in frame.itertuples():
        colour, width, _ = LOOKS[row.inconsistency]
        # Above the boxes, so that these have their places when the arrows are cut off at their edges.
        ax.add_patch(
            FancyArrowPatch(
                PLACES[row.first], PLACES[row.second], patchA=boxes[row.first], patchB=boxes[row.second],
                arrowstyle="<->", mutation_scale=8, color=colour, linewidth=width, shrinkA=1.5, shrinkB=1.5, zorder=4,
            )
        )  # fmt: skip
    for x, text in enumerate(("one gender", "the other gender")):
        ax.text(x, 1.4, text, ha="center", va="center", color=(MASCULINE, FEMININE)[x], fontsize=8)
    handles = [Line2D([], [], color=c, linewidth=width, label=text) for c, width, text in LOOKS.values()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(*, pdf: str, png: str, csv: str):
    """Draw the figure; the CSV lists its arrows."""
    frame = pd.DataFrame(PAIRS, columns=["first", "second", "inconsistency"])
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
