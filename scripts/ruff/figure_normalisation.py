"""Draw the accuracy on each pronoun set under each normalisation of the scores."""

import textwrap

from scripts.core import normalisation as core
from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "factor", "level", "normalisation", "n", "accuracy", "ci_low", "ci_high"]
APART = 2
"""Up to this many models pronoun sets stand below each other with intervals; of more they share a line."""
ALL = {"color": plotting.GREY, "marker": "|"}


@plotting.style()
def draw(frame, models, pronoun_sets, chance):
    """Draw a panel for each normalisation and in it a row for each model; return the figure.

    Parameters
    ----------
    frame : DataFrame
        Rows over all instances and over each pronoun set, with :data:`COLUMNS`.
    models : dict
    pronoun_sets : list of dict
        ``set`` and ``label``.
    chance : float
    """
    few = plotting.left_out(frame, models)
    frame = plotting.enough(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    names = [name for name in figures.ordered(models) if name in set(frame.model)]
    sets = [one["set"] for one in pronoun_sets]
    colours, markers = plotting.pronoun_colours(sets), plotting.pronoun_markers(sets)
    looks = {name: {"color": colours[name], "marker": markers[name]} for name in sets} | {"all": ALL}
    apart = len(names) <= APART
    columns = 2 if apart else len(core.LABELS)
    lines = -(-len(core.LABELS) // columns)
    row = 0.12 * len(looks) if apart else 0.2
    drawn = plotting.figure(plotting.COLUMN if apart else plotting.PAGE, lines * (row * len(names) + 0.35) + 0.35)
    grid = drawn.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    step = 0.8 / len(looks) if apart else 0
    for ax, (kind, label) in zip(grid.flat, core.LABELS.items(), strict=True):
        part = frame[frame.normalisation == kind]
        for place, (level, look) in enumerate(looks.items()):
            rows = part[part.level == level]
            y = [names.index(name) + step * (place - (len(looks) - 1) / 2) for name in rows.model]
            bars = plotting.error_bars(rows.accuracy, rows.ci_low, rows.ci_high) if apart else None
            size = 6 if level == "all" else 3.5
            ax.errorbar(rows.accuracy, y, xerr=bars, linestyle="none", elinewidth=0.8, markersize=size, **look)
        ax.set_title(label if len(label) < 20 else "minus context-free")
        ax.set_yticks(range(len(names)), [_label(models[name]["label"], apart) for name in names])
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        plotting.fraction_axis(ax.xaxis, 0.5)
        ax.set_xlim(-0.06, 1.06)
    for ax in grid[-1]:
        ax.set_xlabel("Accuracy")
    line = {"linestyle": "none", "markersize": 4}
    handles = [plotting.handle(looks[one["set"]] | line, one["label"]) for one in pronoun_sets]
    handles.append(plotting.interval_handle("all sets"))
    handles.append(plotting.chance_line(grid.flat, chance, along="x"))
    if apart:
        handles.append(plotting.interval_handle(figures.BOOTSTRAP, "_"))
    plotting.legend_below(drawn, handles + few, 2 if apart else 4)
    return drawn


def _label(label, narrow):
    return "\n".join(textwrap.wrap(label, 14)) if narrow else label


def main(*, normalisation: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list, chance: float):
    """Draw the figure; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(normalisation, COLUMNS, model=models, normalisation=core.LABELS)
    frame = frame[frame.factor.isin(["all", "pronoun"])]
    order = ["all", *(one["set"] for one in pronoun_sets)]
    frame = figures.in_order(frame, normalisation=core.LABELS, model=models, level=order)
    plotting.save(draw(frame, models, pronoun_sets, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
