"""Draw accuracy against confidence, by pronoun set: the reliability of what a model is sure of."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures
from scripts.ruff.lib.analyses.normalisation import STUDY

COLUMNS = ["model", "normalisation", "factor", "level", "bin", "n", "confidence", "accuracy"]


@plotting.style()
def draw(frame, models, pronoun_sets, chance):
    """Draw a panel for each model with a curve for each pronoun set and one over all of them; return the figure.

    Parameters
    ----------
    frame : DataFrame
        Bins of confidence with :data:`COLUMNS`; those with few instances are left out.
    models : dict
    pronoun_sets : list of dict
        ``set`` and ``label``.
    chance : float
        The least confidence and the accuracy of a random pick.
    """
    note = f"bins of fewer than {plotting.FEWEST}: left out"
    few = [plotting.note_handle(note)] if (frame.n < plotting.FEWEST).any() else []
    frame = plotting.enough(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    names = [name for name in figures.ordered(models) if name in set(frame.model)]
    sets = [one["set"] for one in pronoun_sets]
    colours, markers = plotting.pronoun_colours(sets), plotting.pronoun_markers(sets)
    looks = {name: {"color": colours[name], "marker": markers[name], "linestyle": "-"} for name in sets}
    looks["all"] = {"color": "#000000", "marker": "none", "linestyle": (0, (4, 1.5)), "linewidth": 1.6}
    drawn, panels, left, lowest = figures.model_panels(models, names)
    for ax, name in zip(panels, names, strict=True):
        ax.plot([0, 1], [0, 1], color=plotting.GREY, linewidth=0.9, zorder=1.5)
        for level, look in looks.items():
            rows = frame[(frame.model == name) & (frame.level == level)].sort_values("bin")
            ax.plot(rows.confidence, rows.accuracy, markersize=3.5, **look)
        plotting.fraction_axis(ax.xaxis)
        plotting.fraction_axis(ax.yaxis)
    for ax in lowest:
        ax.set_xlabel("Confidence")
    for ax in left:
        ax.set_ylabel("Accuracy")
    handles = [plotting.handle(looks[one["set"]], one["label"]) for one in pronoun_sets]
    handles.append(plotting.handle(looks["all"], "all sets"))
    handles.append(plotting.handle({"color": plotting.GREY, "linestyle": "-"}, "right as often as sure"))
    handles.append(plotting.chance_line(panels, chance))
    plotting.legend_below(drawn, handles + few, 2 if len(names) < 3 else 4)
    return drawn


def main(*, calibration_bins: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list, chance: float):
    """Draw the figure under the study's normalisation; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(calibration_bins, COLUMNS, model=models)
    frame = frame[(frame.normalisation == STUDY) & frame.factor.isin(["all", "pronoun"])]
    order = ["all", *(one["set"] for one in pronoun_sets)]
    frame = figures.in_order(frame, model=models, level=order, bin=None)
    plotting.save(draw(frame, models, pronoun_sets, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
