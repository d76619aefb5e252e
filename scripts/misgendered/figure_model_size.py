"""Draw accuracy against the number of parameters, by type of pronouns (Figure 3)."""

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import TYPES, present


def parameters(value, _):
    """Return a number of parameters as a tick's label: ``350M``, ``1B``."""
    return f"{value / 1e9:.3g}B" if value >= 1e9 else f"{value / 1e6:.3g}M"


@plotting.style()
def draw(frame, models, chance):
    """Draw a panel for each type of pronouns and a line for each family.

    Parameters
    ----------
    frame : DataFrame
        ``model``, ``pronoun_type``, ``accuracy``, ``ci_low``, ``ci_high``, ``parameters``.
    models : dict
    chance : float
    """
    if frame.empty:
        return plotting.nothing_drawn()
    types = present(TYPES, frame.pronoun_type)
    drawn = plotting.figure(plotting.COLUMN, 1.25 * len(types) + 0.3)
    grid = drawn.subplots(len(types), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    families = {}
    for name, facts in sorted(models.items(), key=lambda entry: entry[1]["parameters"]):
        families.setdefault(facts["family"], []).append(name)
    handles = []
    for family, names in families.items():
        look = plotting.family_style(models[names[0]])
        for ax, kind in zip(grid, types, strict=True):
            rows = frame[(frame.pronoun_type == kind)].set_index("model").loc[names]
            ax.plot(rows.parameters, rows.accuracy, markeredgecolor="white", markeredgewidth=0.3, **look)
            ax.vlines(rows.parameters, rows.ci_low, rows.ci_high, color=look["color"], linewidth=0.9)
        handles.append(plotting.handle(look, family))
    for ax, label in zip(grid, types.values(), strict=True):
        ax.set_title(label)
        ax.set_xscale("log")
        plotting.fraction_axis(ax.yaxis, 0.5)
        ax.set_ylabel(figures.ACCURACY)
        ax.margins(x=0.12)
    grid[-1].xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    grid[-1].xaxis.set_major_formatter(FuncFormatter(parameters))
    grid[-1].xaxis.set_minor_formatter(NullFormatter())
    if len({models[name]["parameters"] for name in models}) == 1:
        # A logarithmic axis around one size has no tick of its own.
        grid[-1].set_xticks([next(iter(models.values()))["parameters"]])
    grid[-1].set_xlabel("Parameters")
    handles += [plotting.chance_line(grid, chance), plotting.interval_handle(figures.INTERVAL)]
    plotting.legend_below(drawn, handles, 4)
    return drawn


def main(*, accuracy: str, pdf: str, png: str, csv: str, templates: str, models: dict, chance: float):
    """Draw the figure; ``chance`` is the accuracy of a random pick. Models whose size is not known are left out."""
    known = {name: facts for name, facts in models.items() if facts["parameters"]}
    frame = figures.pooled(figures.read(accuracy, ["pronoun_type"]), templates, {"pronoun_type"})
    frame = plotting.enough(frame[frame.model.isin(known)])
    frame = frame.assign(parameters=frame.model.map({name: facts["parameters"] for name, facts in known.items()}))
    plotting.save(draw(frame, known, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
