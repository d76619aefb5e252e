"""Draw the probability of gendered pronouns against dates or places, with fitted lines (Figures 3, 6, 7 and 8)."""

import numpy as np

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification import figures

MAIN = [
    ("BERT-base", "mask"), ("Flan-UL2-20B", "A"), ("GPT-3", "A"), ("GPT-3.5 SFT", "A"), ("GPT-3.5 RLHF", "A"),
    ("RoBERTa-base", "mask"), ("Flan-UL2-20B", "B"), ("GPT-3", "B"), ("GPT-3.5 SFT", "B"), ("GPT-3.5 RLHF", "B"),
]  # fmt: skip
"""Panels of Figures 3 and 6."""
COLUMNS = 5
SHORT = {"Democratic Republic of Congo": "DR Congo"}


@plotting.style()
def draw(curves, slopes, models):
    """Draw one panel for each model and prompt.

    Parameters
    ----------
    curves, slopes : DataFrame
        From :mod:`scripts.underspecification.correlation`, for one variable; both with ``accumulation`` top.
    models : dict
        The run's models by their labels.
    """
    shown = figures.panels(curves)
    colours = figures.colours()
    columns = min(COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    width = plotting.PAGE if columns > 2 else plotting.COLUMN * 1.5
    drawn = plotting.figure(width, (1.55 if rows > 1 else 2.0) * rows)
    axes = np.atleast_1d(drawn.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    lines = slopes.set_index(["model", "prompt", "gender", "metric"]).value
    for ax, (model, prompt) in zip(axes, shown, strict=False):
        own = curves[(curves.model == model) & (curves.prompt == prompt)]
        for gender in figures.genders(own):
            part = own[own.gender == gender].sort_values("position")
            if part.empty:
                continue
            colour = colours[gender]
            look = {"color": colour, "marker": figures.MARKERS[gender], "linestyle": "none", "markersize": 2.2}
            ax.plot(part.position, part.probability, markeredgewidth=0, alpha=0.75, **look)
            slope, intercept = (lines[model, prompt, gender, name] for name in ("slope", "intercept"))
            ends = np.array([part.position.min(), part.position.max()])
            ax.plot(ends, intercept + slope * ends, color=colour, linewidth=1.1)
        ax.set_title(figures.panel_label(model, prompt), fontsize=7)
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    first = curves.drop_duplicates("position").sort_values("position")
    ticks = first.iloc[np.unique(np.linspace(0, len(first) - 1, min(len(first), 4)).round().astype(int))]
    for index, ax in enumerate(axes[: len(shown)]):
        labels = [SHORT.get(str(value), str(value)) for value in ticks.value]
        ax.set_xticks(ticks.position, labels, rotation=45, ha="right", rotation_mode="anchor", fontsize=6)
        # The lowest panel of each column carries the labels.
        ax.tick_params(labelbottom=index + columns >= len(shown))
        if index % columns == 0:
            ax.set_ylabel("probability (%)")
    low, high = axes[0].get_ylim()
    axes[0].set_ylim(low, max(high, 1))
    handles = [
        plotting.handle(
            {"color": colours[g], "marker": figures.MARKERS[g], "linestyle": "-", "linewidth": 1.1}, figures.LABELS[g]
        )
        for g in figures.genders(curves)
    ]
    plotting.legend_below(drawn, handles, 4)
    figures.demonstration(drawn, curves.model.unique(), models)
    return drawn


def main(*, curves: str, slopes: str, pdf: str, png: str, csv: str, variable: str, choice: str, models: dict):
    """Draw ``variable`` (date or place) for all models, or with the ``choice`` main for those of the study's main text.

    ``models`` are the run's, with their facts.
    """
    facts = {entry["label"]: entry for entry in models.values()}
    lines, points = (figures.read(path, variable) for path in (slopes, curves))
    points = points[(points.variable == variable) & (points.accumulation == "top")]
    if choice == "main":
        keys = points[["model", "prompt"]].apply(tuple, axis=1)
        points = points[keys.isin(MAIN)]
    points = points.reset_index(drop=True)
    lines = lines[(lines.variable == variable) & (lines.accumulation == "top")]
    shown = points.merge(
        lines[lines.metric.isin(["slope", "intercept", "r"])]
        .pivot(index=["model", "prompt", "gender"], columns="metric", values="value")
        .reset_index(),
        on=["model", "prompt", "gender"],
        how="left",
    )
    plotting.save(draw(points, lines, facts), shown, pdf, png, csv)


if __name__ == "__main__":
    run(main)
