"""Draw accuracy by case and pronoun set, a panel for each system, beside chance (paper Figure 3)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.templates import CASES
from scripts.winopron.lib import figures, study, tidy

ANY = "any"
"""What stands for the pronoun set of systems that do not read pronouns."""
BY_LIKELIHOOD = "By likelihood"


def prepare(metrics, templates):
    """Return the rows to draw: accuracy by ``case`` and ``pronoun_set`` on sentences about two people.

    Rules are left out where there are other systems. What models take by likelihood is the same with every pronoun set:
    they have one row for each case, with the set :data:`ANY`.
    """
    frame = figures.rows(metrics, templates, entities="double", metric="accuracy")
    frame = figures.drawn(frame[frame.split.isin(CASES) | frame.split.str.contains(", ")])
    parts = frame.split.str.split(", ", expand=True).reindex(columns=[0, 1])
    frame = frame.assign(case=parts[0], pronoun_set=parts[1].fillna(ANY))
    return frame[frame.system.map(study.by_likelihood) == (frame.pronoun_set == ANY)].reset_index(drop=True)


def marks(frame):
    """Return what is drawn: a panel of every system, and one of all that resolve by likelihood.

    Returns
    -------
    tuple
        Title to looks with their rows; looks of pronoun sets; looks of systems that resolve by likelihood.
    """
    alone = [name for name in study.ordered(frame.system) if not study.by_likelihood(name)]
    panels = {}
    looks = figures.pronoun_looks([name for name in frame.pronoun_set.unique() if name != ANY])
    for system in alone:
        rows = frame[frame.system == system]
        panels[system] = [(look, rows[rows.pronoun_set == name]) for name, look in looks.items()]
    scored = figures.likelihood_looks([name for name in study.ordered(frame.system) if study.by_likelihood(name)])
    if scored:
        panels[BY_LIKELIHOOD] = [(look, frame[frame.system == name]) for name, look in scored.items()]
    return panels, looks, scored


@plotting.style()
def draw(frame):
    """Draw the panels; up to two share a column."""
    panels, looks, scored = marks(frame)
    down, across = figures.panels(len(panels))
    narrow = len(panels) <= 2
    drawn = plotting.figure(plotting.COLUMN if narrow else plotting.PAGE, 1.35 * down + 0.2)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for ax, (title, of_panel) in zip(axes.flat, panels.items(), strict=False):
        step = 0.8 / len(of_panel)
        for place, (look, rows) in enumerate(of_panel):
            rows = rows.set_index("case").reindex(CASES)
            x = np.arange(len(CASES)) + (place - (len(of_panel) - 1) / 2) * step
            errors = plotting.error_bars(rows.value, rows.ci_low, rows.ci_high)
            ax.errorbar(x, rows.value, yerr=errors, fmt="none", ecolor=look["color"], elinewidth=0.8)
            edge = {"markeredgecolor": "black", "markeredgewidth": 0.7} if look in scored.values() else {}
            ax.plot(x, rows.value, markersize=3.6, **look, **edge)
        ax.set_title(title)
        ax.set_xlim(-0.6, len(CASES) - 0.4)
        plotting.fraction_axis(ax.yaxis)
    figures.label_cases(axes, len(panels), short=across > 3 or (narrow and across > 1))
    for ax in axes[:, 0]:
        ax.set_ylabel("Accuracy")
    chance = plotting.chance_line(axes.flat[: len(panels)], 0.5)
    handles = [plotting.handle(look, label) for label, look in looks.items()] + figures.likelihood_handles(scored)
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(figures.INTERVAL), chance], 6)
    return drawn


def main(*, metrics: str, pdf: str, png: str, csv: str, templates: str):
    """Draw the figure for the template set ``templates``."""
    frame = prepare(tidy.metrics(metrics), templates)
    plotting.save(draw(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
