"""Draw both consistencies of every system beside chance (the numbers of paper Table 3)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.winopron.lib import figures, study, tidy
from scripts.winopron.lib.analyses.consistency import GROUPS, POOLED

TITLES = {"pronoun_consistency": "all pronoun\nsets right", "disambiguation_consistency": "both endings\nright"}
"""Titles of the panels: what has to be right together."""


def prepare(metrics, templates):
    """Return the rows to draw, with ``chance``; prompted systems as single prompts, which have the paper's chance."""
    frame = figures.rows(metrics[metrics.pairing != POOLED], templates, entities="double", metric=list(GROUPS))
    chances = figures.rows(metrics, templates, entities="double", metric=[f"{name}_chance" for name in GROUPS])
    chance = chances[chances.pairing != POOLED].drop_duplicates("metric").set_index("metric").value
    return frame.assign(chance=frame.metric.map(lambda name: chance[f"{name}_chance"]))


def places(labels):
    """Return the heights of labels one above the other: those of two lines have twice the room."""
    room = np.array([1.0 + 0.9 * ("\n" in label) for label in labels])
    return np.cumsum(room) - (room + room[0]) / 2


@plotting.style()
def draw(frame):
    """Draw a row for each system, a panel for each consistency."""
    systems = study.ordered(frame.system)[::-1]
    # Open points say which systems are rules.
    labels = [system.removesuffix(" (rule)").replace(", ", ",\n") for system in systems]
    lines = len(labels) + sum("\n" in label for label in labels)
    drawn = plotting.figure(plotting.COLUMN, 0.65 + 0.18 * lines)
    axes = drawn.subplots(1, 2, sharey=True)
    for ax, (metric, title) in zip(axes, TITLES.items(), strict=True):
        rows = frame[frame.metric == metric].set_index("system").loc[systems]
        y = places(labels)
        known = rows.ci_low.notna().to_numpy()
        bars = rows[known]
        # With caps, and over the points: with sixty pairs of people intervals are hardly longer than a point.
        ax.errorbar(
            bars.value, y[known], xerr=plotting.error_bars(bars.value, bars.ci_low, bars.ci_high), fmt="none",
            ecolor=plotting.GREY, elinewidth=0.8, capsize=2, zorder=3,
        )  # fmt: skip
        for place, system, value in zip(y, systems, rows.value, strict=True):
            filled = "white" if study.is_rule(system) else "black"
            ax.plot(value, place, "ok", markerfacecolor=filled, markersize=3, markeredgewidth=0.7, clip_on=False)
        ax.axvline(rows.chance.iloc[0], color=plotting.GREY, linestyle=(0, (1, 1.2)), linewidth=0.9)
        ax.set_title(title, loc="center")
        ax.grid(axis="x")
        plotting.fraction_axis(ax.xaxis, 0.5)
        ax.set_yticks(y, labels)
        ax.set_ylim(-0.7, y[-1] + 0.9)
    look = {"color": plotting.GREY, "linestyle": (0, (1, 1.2)), "linewidth": 0.9}
    handles = [plotting.point_handle("rule")] if any(map(study.is_rule, systems)) else []
    handles += [plotting.handle(look, "fair coins"), plotting.interval_handle("95 % interval", "_")]
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(*, metrics: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the figure for the template set ``templates``."""
    frame = prepare(tidy.metrics(metrics), templates)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
