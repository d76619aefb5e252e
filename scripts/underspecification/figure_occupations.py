"""Draw the task specification metric of every sentence over occupations (Figures 5 and 9 to 14)."""

import itertools

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from scripts.core import plotting
from scripts.core.job import run
from scripts.underspecification.lib import figures, findings, study
from scripts.underspecification.lib.readers import read_rows

STEPS = (2, 6, 20)
"""Factors of the threshold at which the colours change: with 0.5 points at 1, 3 and 10."""
COLOURS = ("#EDEDED", "#FBD48A", "#F08A3C", "#B5301F", "#4A0A3A")
"""Up to the threshold, and in steps above it: from light to dark, so that they also differ without their hues."""
NUMBERS = {
    "man_0": "1", "woman_0": "2", "someone_0": "3", "other_0": "4", "man_1": "5", "woman_1": "6", "someone_1": "7",
    "other_1": "8", "female_0": "f", "male_0": "m", "unspecified_0": "–",
}  # fmt: skip
"""Kinds of sentences as columns call them: the IDs of the study's Table 2, and what a simplified sentence gives."""
XLABELS = {
    "winogender": "ID of the sentence",
    "simplified": "gender given",
}
SPECIFIED = ("man_1", "woman_1", "female_0", "male_0")
ROW, CELL, NARROWEST = 0.115, 0.125, 0.85
"""Height of an occupation, width of a sentence, least width of a model, in inches."""


def select(metric, evaluation_set, part):
    """Return the rows of one figure: the female metric between the outer dates, for one part of the models."""
    rows = metric[
        (metric.evaluation_set == evaluation_set)
        & (metric.gender == "female")
        & (metric.dates == 1)
        & (metric.accumulation == "top")
        & metric.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    if part in study.MODELS:
        rows = rows[rows.model == part]
    elif part != study.RUN:
        rows = rows[rows.model.isin([m for m, facts in study.MODELS.items() if facts.group in study.PARTS[part]])]
    return rows.assign(kind=figures.kinds_of_sentences(rows)).reset_index(drop=True)


def limits(threshold):
    """Return where the colours change, in percentage points, the threshold first."""
    # Without a threshold above zero any change at all is above it.
    return [threshold, *(step * (threshold or 0.5) for step in STEPS)]


@plotting.style()
def draw(frame, evaluation_set, share, threshold):
    """Draw a block for each model: a row for each occupation, a cell for each sentence, its colour the metric.

    A model alone gets two blocks, one for each half of many occupations.

    Parameters
    ----------
    frame : DataFrame
        From :func:`select`.
    evaluation_set : str
    share : dict of str to float
        Women among those who have each occupation, in percent; empty if it is not known.
    threshold : float
        In percentage points.
    """
    names = study.order(frame.model)
    occupations = sorted(frame.occupation.unique(), key=lambda name: (share.get(name, 0), name))
    # Well-specified sentences first, as in the legends of other figures, with a gap behind them.
    columns = list(figures.KINDS[evaluation_set])
    gap = sum(kind in SPECIFIED for kind in columns)
    halves = 2 if len(names) == 1 and len(occupations) > 30 else 1
    size = -(-len(occupations) // halves)
    blocks = [(name, occupations[i : i + size]) for name in names for i in range(0, len(occupations), size)]
    labelled = halves if halves > 1 else 1
    # A block is at least as wide as its title.
    width = max(CELL * (len(columns) + 1), NARROWEST) * len(blocks) + 0.95 * labelled + 0.12 * len(blocks)
    drawn = plotting.figure(plotting.COLUMN if width <= plotting.COLUMN else plotting.PAGE, ROW * size + 0.75)
    axes = drawn.subplots(1, len(blocks), squeeze=False)[0]
    edges = limits(threshold)
    norm = BoundaryNorm([-1, *np.nextafter(edges, np.inf), np.inf], len(COLOURS))
    wide = frame.pivot(index=["model", "occupation"], columns="kind", values=["metric", "undefined"])
    for number, (ax, (name, shown)) in enumerate(zip(axes, blocks, strict=True)):
        values = wide["metric"].loc[name].reindex(index=shown, columns=columns).to_numpy(dtype=float)
        nothing = wide["undefined"].loc[name].reindex(index=shown, columns=columns).eq(True).to_numpy()
        x = np.array([i + (i >= gap) * 0.5 for i in range(len(columns))])
        for part in (slice(None, gap), slice(gap, None)):
            left = np.append(x[part], x[part][-1] + 1) - 0.5
            ax.pcolormesh(
                left, np.arange(len(shown) + 1) - 0.5, values[:, part], cmap=ListedColormap(COLOURS), norm=norm,
                edgecolors="white", linewidth=0.4,
            )  # fmt: skip
        for dark in (False, True):
            row, column = np.nonzero(nothing & ((values > edges[2]) == dark))
            look = {"color": "white" if dark else plotting.GREY, "markersize": 3, "markeredgewidth": 0.5}
            ax.plot(x[column], row, linestyle="none", marker="x", **look)
        ax.set(xlim=(-0.6, x[-1] + 0.6), ylim=(size - 0.5, -0.5))
        ax.set_xticks(x, [NUMBERS[kind] for kind in columns], fontsize=7)
        ax.set_xlabel(XLABELS[evaluation_set], fontsize=7)
        ax.tick_params(length=0, pad=1.5)
        ax.spines[:].set_visible(False)
        ax.grid(False)
        first = number == 0 or halves > 1
        ax.set_yticks(range(len(shown)), shown if first else [], fontsize=7)
        title = figures.panel_label(name)
        if halves > 1:
            title = title if number == 0 else ""
        ax.set_title(title.replace("-20B", "").replace(" denoiser", "\ndenoiser"), fontsize=7)
    signs = [
        f"≤ {edges[0]:g}",
        *(f"{a:g} to {b:g}" for a, b in itertools.pairwise(edges)),
        f"> {edges[-1]:g}",
    ]
    handles = [plotting.patch_handle(c, f"{s} points") for c, s in zip(COLOURS, signs, strict=True)]
    if frame.undefined.any():
        look = {"color": plotting.GREY, "marker": "x", "linestyle": "none", "markersize": 3}
        handles.append(plotting.handle(look, "no gendered word at one of the dates"))
        handles[-1].set_markeredgecolor(plotting.GREY)
    # A few rows are not as high as the whole label.
    order = " by share of women" if share and size > 12 else ""
    axes[0].set_ylabel(f"occupation{order}", fontsize=7)
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(
    *,
    metric: str,
    pdf: str,
    png: str,
    csv: str,
    evaluation_set: str,
    part: str,
    threshold: float,
    shares: str | None = None,
):
    """Draw one ``part`` of the models; ``shares`` (TSV) has the share of women by occupation, where it was fetched."""
    frame = select(read_rows(metric, "the metric"), evaluation_set, part)
    share = findings.read_shares(shares) if shares else {}
    plotting.save(draw(frame, evaluation_set, share, threshold), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
