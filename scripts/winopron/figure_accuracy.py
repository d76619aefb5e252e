"""Draw accuracy by case and pronoun set, a panel for each system, beside chance (paper Figure 3)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.templates import CASES
from scripts.winopron.lib import figures, study, tidy


def prepare(metrics, templates):
    """Return the rows to draw: accuracy by ``case`` and ``pronoun_set`` on sentences about two people.

    Rules are left out where there are other systems.
    """
    frame = figures.rows(metrics, templates, entities="double", metric="accuracy")
    frame = figures.drawn(frame[frame.split.str.contains(", ")])
    parts = frame.split.str.split(", ", expand=True)
    return frame.assign(case=parts[0], pronoun_set=parts[1]).reset_index(drop=True)


@plotting.style()
def draw(frame):
    """Draw the panels."""
    systems = study.ordered(frame.system)
    looks = figures.pronoun_looks(frame.pronoun_set.unique())
    down, across = figures.panels(len(systems))
    drawn = plotting.figure(plotting.COLUMN if len(systems) == 1 else plotting.PAGE, 1.35 * down + 0.2)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    step = 0.8 / len(looks)
    for ax, system in zip(axes.flat, systems, strict=False):
        of_system = frame[frame.system == system]
        for place, (pronoun_set, look) in enumerate(looks.items()):
            rows = of_system[of_system.pronoun_set == pronoun_set].set_index("case").reindex(CASES)
            x = np.arange(len(CASES)) + (place - (len(looks) - 1) / 2) * step
            errors = plotting.error_bars(rows.value, rows.ci_low, rows.ci_high)
            ax.errorbar(x, rows.value, yerr=errors, fmt="none", ecolor=look["color"], elinewidth=0.8)
            ax.plot(x, rows.value, markersize=3.6, **look)
        ax.set_title(system)
        plotting.fraction_axis(ax.yaxis)
    figures.label_cases(axes, len(systems))
    for ax in axes[:, 0]:
        ax.set_ylabel("Accuracy")
    chance = plotting.chance_line(axes.flat[: len(systems)], 0.5)
    handles = [plotting.handle(look, label) for label, look in looks.items()]
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(figures.INTERVAL), chance], 6)
    return drawn


def main(*, metrics: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the figure for the template set ``templates``."""
    frame = prepare(tidy.metrics(metrics), templates)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
