"""Draw the accuracy on each form against the tokens that it costs."""

from matplotlib.ticker import MaxNLocator

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures
from scripts.ruff.lib.analyses.normalisation import STUDY

COLUMNS = ["model", "normalisation", "pronoun", "case", "extra_tokens", "accuracy", "n"]
BESIDE = 0.07
"""How far apart, in tokens, marks stand that cost the same."""


@plotting.style()
def draw(frame, models, pronoun_sets, chance):
    """Draw a panel for each model and a mark for each form, pronoun sets side by side; return the figure.

    Parameters
    ----------
    frame : DataFrame
        A row for each form with :data:`COLUMNS`.
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
    drawn, panels, left, lowest = figures.model_panels(models, names)
    for ax, name in zip(panels, names, strict=True):
        for place, one in enumerate(sets):
            rows = frame[(frame.model == name) & (frame.pronoun == one)]
            x = rows.extra_tokens + BESIDE * (place - (len(sets) - 1) / 2)
            look = {"color": colours[one], "marker": markers[one], "markeredgecolor": "white", "markeredgewidth": 0.4}
            ax.plot(x, rows.accuracy, linestyle="none", markersize=4.5, **look)
        plotting.fraction_axis(ax.yaxis)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlim(-0.5, max(1.0, frame.extra_tokens.max()) + 0.5)
    for ax in lowest:
        ax.set_xlabel("Extra tokens")
    for ax in left:
        ax.set_ylabel("Accuracy")
    look = {"linestyle": "none"}
    handles = [
        plotting.handle(look | {"color": colours[one["set"]], "marker": markers[one["set"]]}, one["label"])
        for one in pronoun_sets
    ]
    handles.append(plotting.chance_line(panels, chance))
    plotting.legend_below(drawn, handles + few, 2 if len(names) < 3 else 4)
    return drawn


def main(*, fertility: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list, chance: float):
    """Draw the figure under the study's normalisation; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(fertility, COLUMNS, model=models)
    frame = frame[frame.normalisation == STUDY]
    order = [one["set"] for one in pronoun_sets]
    frame = figures.in_order(frame, model=models, pronoun=order, case=None)
    plotting.save(draw(frame, models, pronoun_sets, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
