"""Draw how much oftener she than he is resolved to an occupation, over the share of women in it."""

import numpy as np

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.core.paper.formats import interval, number
from scripts.winopron.lib import figures, study, tidy

KEYS = ["templates", "system", "conversion", "pronoun_set", "compared_with"]


def prepare(differences, agreements, templates):
    """Return the rows to draw: an occupation each, with the correlation of its system, where there is one."""
    defined = agreements[agreements.pearson.notna() & (agreements.pronoun_set == study.FEMININE)]
    known = differences[differences.women.notna() & (differences.templates == templates)]
    return study.corrected(known.merge(defined[[*KEYS, "pearson", "ci_low", "ci_high"]], on=KEYS))


def said(rows):
    """Return the correlation of a panel's rows, in words."""
    of_system = rows.iloc[0]
    return f"r = {number(of_system.pearson, 2)} ({interval(of_system.ci_low, of_system.ci_high, 2)})"


@plotting.style()
def draw(frame):
    """Draw a panel for each system, with the line of least squares."""
    systems = study.ordered(frame.system)
    if not systems:
        return plotting.nothing_drawn()
    down, across = figures.panels(len(systems))
    drawn = plotting.figure(plotting.COLUMN if len(systems) <= 2 else plotting.PAGE, 1.6 * down + 0.2)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for place, ax in enumerate(axes.flat):
        ax.set_visible(place < len(systems))
        ax.tick_params(axis="x", labelbottom=place + across >= len(systems))
    for ax, system in zip(axes.flat, systems, strict=False):
        rows = frame[frame.system == system]
        ax.axhline(0, color=plotting.GREY, linewidth=0.6)
        ax.plot(rows.women, rows.difference, "o", color="black", markersize=3, alpha=0.5, markeredgewidth=0)
        slope, height = np.polyfit(rows.women, rows.difference, 1)
        ends = np.array([rows.women.min(), rows.women.max()])
        ax.plot(ends, height + slope * ends, color=plotting.CATEGORIES[1], linewidth=1.2)
        ax.set_title(f"{system}\n{said(rows)}", fontsize=7)
        ax.set_xlim(-0.03, 1.03)
        plotting.fraction_axis(ax.xaxis, 0.5)
        ax.yaxis.set_major_formatter(lambda value, _: number(value, 2).rstrip("0").rstrip("."))
    drawn.supxlabel("Share of women in the occupation", fontsize=8)
    drawn.supylabel("Resolved to the occupation,\nshe less he (share)", fontsize=8)
    return drawn


def main(*, women_share: str, women_share_occupations: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the figure for the template set ``templates``.

    ``women_share`` has the agreement of each system's bias with the share of women (CSV), ``women_share_occupations``
    the differences of each occupation (CSV).
    """
    frame = prepare(files.read_csv(women_share_occupations), tidy.women_share(women_share), templates)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
