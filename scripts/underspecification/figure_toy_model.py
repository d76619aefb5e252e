"""Draw the toy model's graphs and what selection does to its correlations (Figure 2)."""

from matplotlib.patches import Circle, FancyArrowPatch

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.core.paper.formats import number
from scripts.underspecification.lib.analyses import toy_model

PLACES = {"W": (0.1, 0.75), "G": (0.9, 0.75), "S": (0.5, 0.95), "X": (0.25, 0.2), "Y": (0.75, 0.2)}
ARROWS = {
    "well-specified": [("W", "S"), ("G", "S"), ("W", "X"), ("G", "X"), ("X", "Y"), ("G", "Y")],
    "unspecified": [("W", "S"), ("G", "S"), ("W", "X"), ("G", "Y")],
}
SHOWN = (("W", "G"), ("W", "Y"), ("X", "Y"))
LOOKS = {
    "all": {"color": "#B8B8B8", "marker": "o", "markersize": 3, "alpha": 0.5},
    "selected": {"color": "#882255", "marker": "^", "markersize": 3.5},
}


def graph(ax, task):
    """Draw the causal graph of a task."""
    ax.set(xlim=(-0.05, 1.05), ylim=(0, 1.15), aspect="equal")
    ax.axis("off")
    for start, end in ARROWS[task]:
        ax.add_patch(
            FancyArrowPatch(
                PLACES[start], PLACES[end], arrowstyle="-|>", mutation_scale=8, shrinkA=8, shrinkB=8, linewidth=0.8,
                color="black",
            )
        )  # fmt: skip
    for name, place in PLACES.items():
        shade = "#FBD9C2" if name == "S" else "white"
        ax.add_patch(Circle(place, 0.095, facecolor=shade, edgecolor="black", linewidth=0.8, zorder=3))
        ax.text(*place, name, ha="center", va="center", fontsize=8, zorder=4)
    ax.set_title(task)


@plotting.style()
def draw(correlations, points):
    """Draw a row for each task: its graph and three pairs of variables, all draws in grey, those selected on top."""
    drawn = plotting.figure(plotting.PAGE, 4.0)
    axes = drawn.subplots(2, 4)
    values = correlations.set_index(["task", "population", "a", "b"])
    for row, task in zip(axes, toy_model.TASKS, strict=True):
        graph(row[0], task)
        for ax, (a, b) in zip(row[1:], SHOWN, strict=True):
            text = []
            for population in toy_model.POPULATIONS:
                part = points[(points.task == task) & (points.selected if population == "selected" else True)]
                look = {"linestyle": "none", "markeredgewidth": 0, "rasterized": True}
                ax.plot(part[a], part[b], **look, **LOOKS[population])
                cell = values.loc[(task, population, a, b)]
                simulated, exact = (number(cell[kind], 3, True) for kind in ("simulated", "exact"))
                text.append(f"{population}: {simulated} ({exact})")
            ax.set_title("\n".join(text), fontsize=7)
            ax.set(xlabel=f"{a} (no unit)", ylabel=f"{b} (no unit)")
            ax.grid(False)
    shown = points.groupby("task").size().max()
    share = 100 * points.selected.mean()
    draws = correlations.draws.max()
    labels = {"all": f"the first {shown:,} of {draws:,} draws", "selected": f"those selected ({share:.1f} %)"}
    handles = [plotting.handle(LOOKS[p] | {"linestyle": "none"}, labels[p]) for p in toy_model.POPULATIONS]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(*, correlations: str, points: str, pdf: str, png: str, csv: str):
    """Draw ``points`` with the simulated and, in parentheses, the exact correlation."""
    table, drawn = files.read_csv(correlations), files.read_csv(points)
    plotting.save(draw(table, drawn), table, pdf, png, csv)


if __name__ == "__main__":
    run(main)
