"""Draw which pronoun set a model prefers after each introduction, by the sentences about others (not in the paper)."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex, to_rgb

from scripts.core import files, plotting, statistics
from scripts.core.job import run
from scripts.ruff.lib import figures, study

COLUMNS = ["model", "n_distractors", "pronoun", "preferred", "count", "n", "share", "low", "high"]
PALE = 0.35
"""How much of its colour a pronoun set keeps where it is not the one of the introduction."""


def select(predictions: pd.DataFrame, model: str, sets: list[str], draws: int, seed: int) -> pd.DataFrame:
    """Count what a model prefers on instances with an introduction.

    Args:
        predictions: ``setting``, ``model``, ``n_distractors``, ``pronoun`` (of the introduction), ``prediction`` and
            ``occupation``.
        model: Its name.
        sets: Pronoun sets in their order.
        draws: Of the bootstrap over occupations.
        seed: Of the bootstrap.

    Returns:
        :data:`COLUMNS`, a row for each number of distractors, introduction and preference. The shares of one
        introduction add up to 1; the share that keeps to the introduction has an interval.
    """
    rows = predictions[(predictions.setting == "fidelity") & (predictions.model == model)]
    found = []
    for (n, pronoun), part in rows.groupby(["n_distractors", "pronoun"]):
        for preferred in sets:
            kept = part.prediction == preferred
            by_occupation = kept.groupby(part.occupation.to_numpy()).agg(["sum", "size"])
            ends = (
                statistics.cluster_bootstrap(by_occupation["sum"], by_occupation["size"], draws, seed)
                if preferred == pronoun
                else (np.nan, np.nan)
            )
            found.append((model, int(n), pronoun, preferred, int(kept.sum()), len(part), kept.mean(), *ends))
    frame = pd.DataFrame(found, columns=COLUMNS)
    return figures.in_order(frame, pronoun=sets, n_distractors=None, preferred=sets)


def pale(colour: str) -> str:
    """Return a colour mixed with white."""
    return to_hex(PALE * np.array(to_rgb(colour)) + (1 - PALE))


@plotting.style()
def draw(frame, labels, chance):
    """Draw a panel for each introduction: bars of all preferences, the right one below and solid."""
    frame = plotting.enough(frame)
    panels = [name for name in labels if name in set(frame.pronoun)]
    if not panels:
        return plotting.nothing_drawn()
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    colours = plotting.pronoun_colours(labels)
    drawn = plotting.figure(plotting.COLUMN, 1.15 * down + 0.35)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for ax, introduced in zip(axes.flat, panels, strict=False):
        rows = frame[frame.pronoun == introduced]
        base = dict.fromkeys(sorted(rows.n_distractors.unique()), 0.0)
        # Bars of what was never preferred would only be lines.
        for preferred in [introduced, *(name for name in labels if name != introduced)]:
            of_set = rows[(rows.preferred == preferred) & (rows["count"] > 0)]
            colour = colours[preferred] if preferred == introduced else pale(colours[preferred])
            bottom = of_set.n_distractors.map(base)
            ax.bar(of_set.n_distractors, of_set.share, 0.8, bottom, color=colour, edgecolor="white", linewidth=0.4)
            base |= dict(zip(of_set.n_distractors, bottom + of_set.share, strict=True))
        right = rows[rows.preferred == introduced]
        bars = plotting.error_bars(right.share, right.low, right.high)
        ax.errorbar(right.n_distractors, right.share, yerr=bars, fmt="none", ecolor="black", elinewidth=0.8)
        ax.set_title(f"introduced with {introduced}")
        plotting.fraction_axis(ax.yaxis)
        ax.set_xticks(sorted(frame.n_distractors.unique()))
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
        # The panel above closes its column.
        axes[-2, 1].tick_params(labelbottom=True)
        axes[-2, 1].set_xlabel(figures.DISTRACTORS)
    for ax in axes[-1, : len(panels) - across * (down - 1)]:
        ax.set_xlabel(figures.DISTRACTORS)
    for ax in axes[:, 0]:
        ax.set_ylabel("Share")
    handles = [plotting.patch_handle(colours[name], labels[name]) for name in labels]
    handles += [plotting.chance_line(axes.flat[: len(panels)], chance), plotting.interval_handle(figures.BOOTSTRAP)]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(
    *,
    predictions: str,
    pdf: str,
    png: str,
    csv: str,
    models: dict,
    pronoun_sets: list,
    chance: float,
    draws: int,
    seed: int,
):
    """Draw what one of ``models`` prefers: the decoder with the most parameters, else the encoder.

    ``predictions`` are those on instances with an introduction; ``chance`` is the accuracy of a random pick.
    """
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    columns = ["setting", "model", "n_distractors", "pronoun", "prediction", "occupation"]
    frame = select(files.read_parquet(predictions, columns=columns), study.foremost(models), list(labels), draws, seed)
    plotting.save(draw(frame, labels, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
