"""Draw accuracy against confidence, by type of pronouns: the reliability of what a model is sure of."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import ALL, TYPES, present

NORMALISATION = "sum"
"""Of sums a softmax is a probability; that of means is flat whatever the model knows."""


@plotting.style()
def draw(frame, models, chance):
    """Draw a panel for each model, or for all of many, with a curve for each type of pronouns; return the figure.

    Parameters
    ----------
    frame : DataFrame
        From :func:`scripts.misgendered.lib.analyses.calibration.bins`, of the panels and of single types; bins of few
        instances are left out.
    models : dict
    chance : float
    """
    note = f"bins of fewer than {plotting.FEWEST}: left out"
    few = [plotting.note_handle(note)] if (frame.n < plotting.FEWEST).any() else []
    frame = plotting.enough(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    shown, types = figures.panels(models), present(TYPES, frame.pronoun_type)
    drawn = plotting.figure(plotting.COLUMN if len(shown) < figures.FEW else plotting.PAGE, 2.1)
    grid = drawn.subplots(1, len(shown), sharex=True, sharey=True, squeeze=False)[0]
    for ax, (model, title) in zip(grid, shown.items(), strict=True):
        ax.plot([0, 1], [0, 1], color=plotting.GREY, linewidth=0.9, zorder=1.5)
        for kind in types:
            rows = frame[(frame.model == model) & (frame.pronoun_type == kind)].sort_values("bin")
            ax.plot(rows.confidence, rows.accuracy, markersize=3.5, **figures.TYPE_LOOKS[kind])
        ax.set_title(title)
        plotting.fraction_axis(ax.xaxis)
        plotting.fraction_axis(ax.yaxis)
        ax.set_xlabel("Confidence")
    grid[0].set_ylabel(figures.ACCURACY)
    handles = [plotting.handle(figures.TYPE_LOOKS[kind], label) for kind, label in types.items()]
    handles.append(plotting.handle({"color": plotting.GREY, "linestyle": "-"}, "right as often as sure"))
    handles.append(plotting.chance_line(grid, chance))
    plotting.legend_below(drawn, handles + few, 2)
    return drawn


def main(*, calibration_bins: str, pdf: str, png: str, csv: str, models: dict, chance: float):
    """Draw the figure, of sums of losses; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(calibration_bins, ["bin", "confidence", "accuracy"])
    frame = frame[frame.model.isin(figures.panels(models)) & (frame.normalisation == NORMALISATION)]
    frame = frame[(frame.group == ALL) & (frame.pronoun_type != ALL)]
    plotting.save(draw(frame, models, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
