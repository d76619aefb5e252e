"""Draw accuracy against model size, by architecture, with the fewest and the most distractors (paper Figure 8)."""

import math

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "family", "architecture", "parameters", "n_distractors", "n", "accuracy", "ci_low", "ci_high"]


def _size(count, _=None):
    """Return a power of ten as a size: 100M, 1B."""
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:g}{unit}"
    return f"{count:g}"


@plotting.style()
def draw(frame, models, chance, human):
    """Draw one point for each model, joined within its family; few distractors above many; return the figure.

    Error bars are 95 % bootstrap intervals over occupations.
    """
    few = plotting.left_out(frame, models)
    frame = plotting.enough(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    models = {name: facts for name, facts in models.items() if name in set(frame.model)}
    ends = sorted(frame.n_distractors.unique())
    families = {}
    for facts in models.values():
        families.setdefault((facts["family"], facts["architecture"]), plotting.family_style(facts))
    order = list(plotting.ARCHITECTURES)
    families = dict(sorted(families.items(), key=lambda item: order.index(item[0][1])))
    drawn = plotting.figure(plotting.COLUMN, 1.65 * len(ends) + 0.25)
    grid = drawn.subplots(len(ends), 1, sharex=True, squeeze=False)[:, 0]
    for ax, n in zip(grid, ends, strict=True):
        for (family, architecture), look in families.items():
            rows = frame[(frame.family == family) & (frame.architecture == architecture) & (frame.n_distractors == n)]
            rows = rows.sort_values("parameters")
            colours = [plotting.model_style(models[m])["color"] for m in rows.model]
            ax.plot(rows.parameters, rows.accuracy, **{**look, "marker": "none"})
            bars = plotting.error_bars(rows.accuracy, rows.ci_low, rows.ci_high)
            ax.errorbar(rows.parameters, rows.accuracy, bars, fmt="none", ecolor=colours, elinewidth=0.8)
            ax.scatter(
                rows.parameters,
                rows.accuracy,
                s=18,
                c=colours,
                marker=look["marker"],
                edgecolor="white",
                linewidth=0.3,
                zorder=3,
            )
        ax.set_title(f"{n} distractor{'' if n == 1 else 's'}")
        ax.set_ylabel("Accuracy")
        plotting.fraction_axis(ax.yaxis)
    ax.set_xscale("log")
    ax.set_xlim(
        10 ** math.floor(math.log10(frame.parameters.min())), 10 ** math.ceil(math.log10(frame.parameters.max()))
    )
    ax.xaxis.set_major_locator(LogLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(_size))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Size (parameters)")
    handles = [plotting.handle(look, f"{family} ({architecture})") for (family, architecture), look in families.items()]
    handles += [plotting.chance_line(grid, chance), plotting.human_line(grid, human)]
    handles.append(plotting.interval_handle(figures.BOOTSTRAP))
    handles += few
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(*, scaling: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict):
    """Draw the figure; ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3)."""
    frame = figures.read(scaling, COLUMNS, model=models)
    plotting.save(draw(frame, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
