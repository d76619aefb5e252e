"""Draw prompted accuracy beside accuracy by likelihood, on the same instances (cf. paper Figure 11a)."""

from matplotlib.patches import Patch

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures, prompting_figures

COLUMNS = [
    "prompted", "scored", "n_distractors", "n", "n_prompts", "prompted_accuracy", "lowest", "highest",
    "scored_accuracy",
]  # fmt: skip
SCORED = {"color": "#000000", "marker": "s", "linestyle": (0, (4, 1.5))}


@plotting.style()
def draw(frame, models, chance, human):
    """Draw a panel for each pair of a prompted and a scored model; return the figure."""
    pairs = list(dict.fromkeys(zip(frame.prompted, frame.scored, strict=True)))
    drawn, axes, columns = prompting_figures.panels(len(pairs), columns=3)
    for i, (ax, (prompted, scored)) in enumerate(zip(axes, pairs, strict=True)):
        rows = frame[(frame.prompted == prompted) & (frame.scored == scored)]
        colour = plotting.model_style(models[prompted])["color"]
        ax.plot(rows.n_distractors, rows.prompted_accuracy, color=colour, marker="o", markersize=3.5)
        ax.fill_between(rows.n_distractors, rows.lowest, rows.highest, color=colour, alpha=0.18, linewidth=0)
        ax.plot(rows.n_distractors, rows.scored_accuracy, markersize=3.5, **SCORED)
        label = models[prompted]["label"]
        ax.set_title(label if prompted == scored else f"{label} and\n{models[scored]['label']}")
        figures.distractor_axis(ax)
        ax.set_xlabel(figures.DISTRACTORS)
        plotting.fraction_axis(ax.yaxis)
        if i % columns == 0:
            ax.set_ylabel("Accuracy")
    handles = [
        plotting.handle({"color": plotting.GREY, "marker": "o", "markersize": 3.5}, "prompted, mean over prompts"),
        plotting.handle(SCORED | {"markersize": 3.5}, "scored by likelihood"),
        Patch(facecolor=plotting.GREY, alpha=0.25, linewidth=0, label="range over prompts"),
        plotting.chance_line(axes, chance),
        plotting.human_line(axes, human),
    ]
    plotting.legend_below(drawn, handles, 2 if columns == 1 else 5)
    return drawn


def main(
    *, prompted_against_scored: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict
):
    """Draw the figure; ``models`` has the prompted and the scored ones."""
    frame = figures.read(prompted_against_scored, COLUMNS, prompted=models, scored=models)
    plotting.save(draw(frame, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
