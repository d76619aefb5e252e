"""Draw how leanings towards either gender cancel in the accuracy difference, beside Delta I."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.counter_gap.lib import figures
from scripts.counter_gap.lib.analyses.metrics import read_set
from scripts.counter_gap.lib.figures import FEMININE, MASCULINE

WANTED = [("lean", "M"), ("lean", "F"), ("acc_diff", "all"), ("delta_i", "all")]


@plotting.style()
def draw(frame):
    """Draw one row for each system; return the figure.

    The left panel has a direction: leanings to either side and their difference. Delta I has none and its own panel.
    """
    names = list(dict.fromkeys(frame.label))
    drawn = plotting.figure(plotting.PAGE, 0.8 + 0.24 * len(names))
    axes = drawn.subplots(1, 2, sharey=True, width_ratios=(1.9, 1))
    y = np.arange(len(names))[::-1]
    for metric, group, colour, sign in (("lean", "M", MASCULINE, 1), ("lean", "F", FEMININE, -1)):
        leanings = frame[(frame.metric == metric) & (frame.group == group)].value
        axes[0].barh(y, sign * 100 * leanings, height=0.62, color=colour, alpha=0.35, linewidth=0)
    for ax, metric, marker, colour in (
        (axes[0], "acc_diff", "o", figures.ACC_DIFF),
        (axes[1], "delta_i", "s", figures.DELTA_I),
    ):
        rows = frame[frame.metric == metric]
        errors = 100 * np.abs(np.array([rows.value - rows.ci_low, rows.ci_high - rows.value]))
        ax.errorbar(
            100 * rows.value, y, xerr=errors, fmt=marker, color=colour, markersize=3.5, elinewidth=0.8, capsize=1.5,
        )  # fmt: skip
        ax.axvline(0, color=plotting.GREY, linewidth=0.7)
        ax.grid(axis="y", visible=False)
        ax.grid(axis="x", visible=True)
    axes[0].set_yticks(y, names)
    axes[0].set(title="with a direction", xlabel="Mean leaning (percentage points)\nto feminine ← | → to masculine")
    axes[1].set(title="without a direction", xlabel=r"$\Delta I$ (percentage points)")
    handles = [
        plotting.patch_handle("#99C6E0", "leaning to masculine"),
        plotting.patch_handle("#EEBF99", "leaning to feminine"),
        plotting.handle(
            {"color": figures.ACC_DIFF, "marker": "o", "linestyle": "none"}, r"$\mathrm{Acc}_\mathrm{Diff}$"
        ),
        plotting.handle({"color": figures.DELTA_I, "marker": "s", "linestyle": "none"}, r"$\Delta I$"),
        plotting.interval_handle("95 % interval", "_"),
    ]
    plotting.legend_below(drawn, handles, 5)
    return drawn


def main(*, metrics: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the figure for the set of quadruples ``templates``."""
    frame = figures.main_scoring(read_set(metrics, templates))
    wanted = np.array([pair in WANTED for pair in zip(frame.metric, frame.group, strict=True)])
    frame = frame[(frame.subset == "all") & wanted].reset_index(drop=True)
    frame["label"] = [figures.label(row) for row in frame.itertuples()]
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
