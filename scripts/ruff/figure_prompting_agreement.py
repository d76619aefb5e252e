"""Draw how often two prompts get the same answer (not a figure of the study)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures, prompting_figures
from scripts.ruff.lib.prompts import VANILLA

COLUMNS = ["model", "method", "prompt_a", "prompt_b", "n", "both", "same", "agreement"]


@plotting.style()
def draw(frame, models):
    """Draw a matrix of prompts for each model; pairs without an instance that both answer are left white."""
    drawn, axes, columns = prompting_figures.panels(len(models), columns=3, height=2.2)
    names = list(dict.fromkeys([*frame.prompt_a, *frame.prompt_b]))
    for i, (ax, model) in enumerate(zip(axes, figures.ordered(models), strict=True)):
        values = np.full((len(names), len(names)), np.nan)
        for row in frame[frame.model == model].itertuples(index=False):
            a, b = names.index(row.prompt_a), names.index(row.prompt_b)
            values[a, b] = values[b, a] = row.agreement
        image = ax.imshow(values, vmin=0, vmax=1, cmap="cividis")
        for (a, b), value in np.ndenumerate(values):
            # In one of several panels a number would be wider than its cell.
            if columns == 1 and not np.isnan(value):
                colour = plotting.text_colour(image.cmap(image.norm(value)))
                ax.text(b, a, f"{100 * value:.0f}", ha="center", va="center", fontsize=7, color=colour)
        ax.set_xticks(range(len(names)), names)
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.set_title(models[model]["label"])
        ax.set_xlabel("Prompt")
        if i % columns == 0:
            ax.set_ylabel("Prompt")
    drawn.colorbar(image, ax=axes, label="Same answer, %", shrink=0.8, format=lambda share, _: f"{100 * share:.0f}")
    return drawn


def main(*, prompted_agreement: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure for vanilla prompting."""
    frame = figures.read(prompted_agreement, COLUMNS, model=models)
    frame = frame[frame.method == VANILLA].drop(columns="method").astype({"prompt_a": str, "prompt_b": str})
    frame = figures.in_order(frame, model=models)
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
