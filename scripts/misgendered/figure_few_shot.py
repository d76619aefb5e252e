"""Draw accuracy against the number of examples in the prompt (Table 13 as curves)."""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import TYPES, present

COLUMNS = 3


@plotting.style()
def draw(summary, by_draw, models, chance):
    """Draw a panel for each model: the mean over draws of the examples as a curve, each draw as an open point.

    Parameters
    ----------
    summary : DataFrame
        ``model``, ``shots``, ``pronoun_type``, ``accuracy``, ``sd``, ``draws``.
    by_draw : DataFrame
        ``model``, ``shots``, ``draw``, ``pronoun_type``, ``accuracy``.
    models : dict
    chance : float
    """
    if summary.empty:
        return plotting.nothing_drawn()
    names = [name for name in models if name in set(summary.model)]
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    drawn = plotting.figure(plotting.COLUMN if columns < COLUMNS else plotting.PAGE, 1.7 * rows)
    grid = drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    types = present(TYPES, summary.pronoun_type)
    for ax, name in zip(grid.flat, names, strict=False):
        for kind in types:
            look = figures.TYPE_LOOKS[kind]
            curve = summary[(summary.model == name) & (summary.pronoun_type == kind)].sort_values("shots")
            plotting.curve(ax, curve.shots, curve.accuracy, curve.accuracy - curve.sd, curve.accuracy + curve.sd, look)
            points = by_draw[(by_draw.model == name) & (by_draw.pronoun_type == kind) & (by_draw.shots > 0)]
            ax.plot(
                points.shots, points.accuracy, linestyle="none", marker=look["marker"], markersize=3,
                markerfacecolor="white", markeredgecolor=look["color"], markeredgewidth=0.6,
            )  # fmt: skip
        ax.set_title(models[name]["label"])
        plotting.fraction_axis(ax.yaxis)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    for ax in grid.flat[len(names) :]:
        ax.set_axis_off()
    for ax in grid[-1]:
        ax.set_xlabel("Examples in the prompt")
    for ax in grid[:, 0]:
        ax.set_ylabel(figures.ACCURACY)
    handles = [plotting.handle(figures.TYPE_LOOKS[kind], label) for kind, label in types.items()]
    handles.append(plotting.point_handle("one draw of the examples"))
    if summary.sd.notna().any():
        handles += plotting.shading(f"± SD over {int(summary.draws.max())} draws")
    handles.append(plotting.chance_line(grid.flat[: len(names)], chance))
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(
    *,
    accuracy_over_draws: str,
    accuracy_by_draw: str,
    accuracy: str,
    pdf: str,
    png: str,
    csv: str,
    templates: str,
    models: dict,
    chance: float,
):
    """Draw the figure; without examples it shows the declaration that examples use, from ``accuracy``.

    Accuracies on few instances (:data:`scripts.core.plotting.FEWEST`) are left out.
    """
    summary = figures.read(accuracy_over_draws, ["sd"])
    by_draw = figures.read(accuracy_by_draw, ["draw"])
    kept = {"declaration_type", "declaration_number", "pronoun_type"}
    base = figures.pooled(figures.read(accuracy, ["shots"]), templates, kept)
    base = base[
        (base.declaration_type == "explicit") & (base.declaration_number == "5") & base.model.isin(set(summary.model))
    ]
    shared = ["model", "shots", "pronoun_type", "accuracy", "n"]
    summary = summary[(summary.shots > 0) & (summary.n * summary.draws >= plotting.FEWEST)]
    frame = base[shared].assign(draws=1, sd=float("nan"))
    columns = [*shared, "draws", "sd"]
    frame = pd.concat([frame[columns], summary[columns]], ignore_index=True)
    frame = frame.sort_values(["model", "pronoun_type", "shots"], ignore_index=True)
    frame = frame[frame.n * frame.draws >= plotting.FEWEST]
    by_draw = plotting.enough(by_draw)
    plotting.save(draw(frame, by_draw, models, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
