"""Draw accuracy on the replica templates against accuracy on the official ones (not in the paper)."""

from matplotlib.lines import Line2D

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

SIDES = [f"{value}_{side}" for side in ("replica", "official") for value in ("accuracy", "ci_low", "ci_high")]
COLUMNS = ["model", "n_distractors", *SIDES, "difference"]


@plotting.style()
def draw(frame, models):
    """Draw one point for each model, a panel for each number of distractors; return the figure.

    Bars are 95 % bootstrap intervals over occupations. On the diagonal both template sets give the same accuracy.
    Above :data:`scripts.core.plotting.FEW` models, shapes stand for architectures and the legend names families.
    """
    few = len(models) <= plotting.FEW
    counts = sorted(frame.n_distractors.unique())
    columns = min(3, len(counts))
    lines = -(-len(counts) // columns)
    width = plotting.COLUMN if few else plotting.PAGE
    side = (width - 0.5) / 3
    drawn = plotting.figure(width, (side + 0.1) * lines + 0.5)
    grid = drawn.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    looks = {m: _point(facts, few) for m, facts in models.items()}
    for ax, n in zip(grid.flat, counts, strict=False):
        ax.axline((0, 0), slope=1, color=plotting.GREY, linewidth=0.7, zorder=1)
        for row in frame[frame.n_distractors == n].itertuples(index=False):
            look = looks[row.model]
            bars = {"color": look["color"], "linewidth": 0.7, "alpha": 0.6}
            ax.hlines(row.accuracy_replica, row.ci_low_official, row.ci_high_official, **bars)
            ax.vlines(row.accuracy_official, row.ci_low_replica, row.ci_high_replica, **bars)
            ax.plot(row.accuracy_official, row.accuracy_replica, markeredgecolor="white", markeredgewidth=0.3, **look)
        ax.set_title(f"{n} distractor{'' if n == 1 else 's'}")
        ax.set_aspect("equal")
        ax.grid(visible=True, axis="x")
        for axis in (ax.xaxis, ax.yaxis):
            plotting.fraction_axis(axis, 0.5 if few else 0.25)
    for ax in grid.flat[len(counts) :]:
        ax.set_axis_off()
    for ax in grid[:, 0]:
        ax.set_ylabel("Accuracy, replica", fontsize=7)
    for ax in grid.flat[max(0, len(counts) - columns) : len(counts)]:
        ax.set_xlabel("Accuracy, official", fontsize=7)
        ax.tick_params(axis="x", labelbottom=True)
    named = {}
    for m in figures.ordered(models):
        if few:
            named[models[m]["label"]] = looks[m]
        else:
            named[models[m]["family"]] = {**plotting.family_style(models[m]), "linestyle": "none"}
    handles = [plotting.handle(look, label) for label, look in named.items()]
    handles.append(Line2D([], [], color=plotting.GREY, linewidth=0.7, label="equal"))
    handles.append(plotting.interval_handle("95 % bootstrap over occupations", "+"))
    plotting.legend_below(drawn, handles, 2 if few else 5)
    return drawn


def _point(facts, few):
    look = {**plotting.model_style(facts), "linestyle": "none"}
    return look if few else {**look, "marker": plotting.SHAPES[facts["architecture"]]}


def main(*, template_comparison: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure."""
    frame = figures.read(template_comparison, COLUMNS, model=models)
    frame = figures.in_order(frame, model=models, n_distractors=None)
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
