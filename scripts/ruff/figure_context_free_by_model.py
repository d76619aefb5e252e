"""Draw how often each model picks each pronoun set without any context (paper Figure 10)."""

import pandas as pd
from matplotlib.ticker import MultipleLocator

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "pronoun", "n_templates", "count"]
RANDOM = "random"


def select(counts, models, sets):
    """Return the counts of the random baseline, equal for every set, followed by those of each model."""
    templates = int(counts.n_templates.max())
    baseline = pd.DataFrame(
        {"model": RANDOM, "pronoun": list(sets), "n_templates": templates, "count": templates / len(sets)}
    )
    return pd.concat(
        [baseline, figures.in_order(counts, model=figures.ordered(models), pronoun=sets)], ignore_index=True
    )


@plotting.style()
def draw(frame, models, labels):
    """Draw one stacked bar for each model, below the random baseline; return the figure."""
    panels = figures.model_rows(models, (RANDOM, "random baseline"))
    drawn, grid = figures.rows_figure(panels, plotting.COLUMN, 0.18, 0.35)
    colours = plotting.pronoun_colours(labels)
    templates = frame.n_templates.max()
    counts = frame.set_index(["model", "pronoun"])["count"]
    for ax, panel in zip(grid, panels, strict=True):
        for y, key in enumerate(panel.keys):
            left = 0
            for pronoun, colour in colours.items():
                count = counts[key, pronoun]
                ax.barh(y, count, left=left, height=0.82, color=colour, edgecolor="white", linewidth=0.4)
                # A number needs about a tenth of the axis.
                if count >= 0.1 * templates:
                    look = {"color": plotting.text_colour(colour), "fontsize": 7}
                    ax.text(left + count / 2, y, f"{count:g}", ha="center", va="center_baseline", **look)
                left += count
        ax.set_xlim(0, templates)
        ax.xaxis.set_major_locator(MultipleLocator(templates / len(labels)))
    grid[-1].set_xlabel(f"Predictions (of {templates} sentences)")
    handles = [plotting.patch_handle(colour, labels[pronoun]) for pronoun, colour in colours.items()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(*, context_free: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list):
    """Draw the figure; the baseline gives every one of ``pronoun_sets`` the same number of sentences."""
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    counts = figures.read(context_free, COLUMNS, model=models, pronoun=labels)
    frame = select(counts, models, labels)
    plotting.save(draw(frame, models, labels), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
