"""Draw how often each pronoun set is picked without any context, averaged over models (paper Figure 4)."""

import pandas as pd

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

SUMMARY = ["architecture", "pronoun", "n_models", "mean_count", "sd_count"]
COUNTS = ["model", "pronoun", "n_templates", "count"]


def select(counts, summary, models, sets):
    """Return what is drawn: ``pronoun``, ``model`` (``all`` for the mean), ``count``, ``sd``, ``n_models``."""
    means = summary[summary.architecture == "all"].rename(columns={"mean_count": "count", "sd_count": "sd"})
    frame = pd.concat([means.assign(model="all"), counts.assign(n_models=1)], ignore_index=True)
    frame = figures.in_order(frame, pronoun=sets, model=["all", *models])
    return frame[["pronoun", "model", "count", "sd", "n_models"]]


@plotting.style()
def draw(frame, models, labels, templates):
    """Draw the means as bars, single models as points, and what a random choice would give; return the figure.

    Error bars are the SD over the models of the mean; one has none. Points are set apart along x in registry order.
    """
    drawn = plotting.figure(plotting.COLUMN, 2.2)
    ax = drawn.subplots()
    colours = plotting.pronoun_colours(labels)
    means = frame[frame.model == "all"].set_index("pronoun")
    many = len(labels) > 3
    several = len(models) > 1
    pooled = int(means.n_models.max())
    for x, pronoun in enumerate(labels):
        mean = means.loc[pronoun]
        ax.bar(x, mean["count"], width=0.7, color=colours[pronoun], zorder=1)
        if several:
            points = frame[(frame.pronoun == pronoun) & (frame.model != "all")]
            apart = [x + 0.5 * (i / (len(points) - 1) - 0.5) for i in range(len(points))]
            ax.scatter(apart, points["count"], s=9, color="white", edgecolor=plotting.GREY, linewidth=0.6, zorder=3)
            if pooled > 1:
                bars = templates * plotting.error_bars(
                    [mean["count"] / templates],
                    [(mean["count"] - mean.sd) / templates],
                    [(mean["count"] + mean.sd) / templates],
                )
                ax.errorbar(x, mean["count"], bars, color="black", linewidth=1, capsize=2.5, zorder=4)
    ax.set_xticks(range(len(labels)), [label.replace("/", "/\n") if many else label for label in labels.values()])
    ax.set_ylim(bottom=0)
    ax.set_ylabel(f"Predictions (of {templates} sentences)")
    handles = [plotting.reference_line([ax], templates / len(labels), "random", (0, (1, 1.2)))]
    if several:
        if pooled > 1:
            handles.append(plotting.interval_handle(f"mean ± SD over {pooled} models"))
        handles.append(plotting.point_handle("one model"))
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(
    *, context_free: str, context_free_summary: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list
):
    """Draw the figure; the random line gives every one of ``pronoun_sets`` the same number of sentences."""
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    counts = figures.read(context_free, COUNTS, model=models, pronoun=labels)
    summary = figures.read(context_free_summary, SUMMARY, pronoun=labels)
    frame = select(counts, summary, models, labels)
    plotting.save(draw(frame, models, labels, int(counts.n_templates.max())), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
