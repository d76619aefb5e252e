"""Draw each model's accuracy with an introduction and no distractor (paper Figure 5)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "n_distractors", "factor", "n", "accuracy", "ci_low", "ci_high"]


@plotting.style()
def draw(frame, models, chance, human):
    """Draw one bar for each model with its interval; return the figure."""
    few = plotting.left_out(frame, models)
    frame = plotting.enough(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    panels = figures.model_rows({name: facts for name, facts in models.items() if name in set(frame.model)})
    drawn, grid = figures.rows_figure(panels, plotting.COLUMN, 0.17, 0.35)
    values = frame.set_index("model")
    for ax, panel in zip(grid, panels, strict=True):
        rows = values.loc[panel.keys]
        colours = [plotting.model_style(models[m])["color"] for m in panel.keys]
        places = range(len(rows))
        ax.barh(places, rows.accuracy, height=0.75, color=colours, zorder=1)
        bars = plotting.error_bars(rows.accuracy, rows.low, rows.high)
        ax.errorbar(rows.accuracy, places, xerr=bars, fmt="none", color="black", linewidth=0.8, capsize=1.5)
        for y, value in zip(places, rows.accuracy, strict=True):
            ax.annotate(
                f"{value:.2f}", (1, y), (2, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                va="center_baseline", fontsize=7,
            )  # fmt: skip
        plotting.fraction_axis(ax.xaxis)
        ax.set_xlim(left=0)
    grid[-1].set_xlabel("Accuracy without distractors")
    handles = [plotting.chance_line(grid, chance, "x"), plotting.human_line(grid, human, "x")]
    handles.append(plotting.interval_handle(figures.BOOTSTRAP, "_"))
    plotting.legend_below(drawn, handles + few, 3)
    return drawn


def main(*, accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict):
    """Draw the figure; ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3)."""
    frame = figures.read_without_distractors(accuracy, COLUMNS, models)
    frame = frame[frame.factor == "all"].drop(columns=["factor", "n_distractors"])
    frame = frame.rename(columns={"ci_low": "low", "ci_high": "high"})
    frame = figures.in_order(frame, model=figures.ordered(models))
    plotting.save(draw(frame, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
