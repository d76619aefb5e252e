"""Draw each model's accuracy without distractors by pronoun set, with tests between sets (paper Figure 6)."""

from itertools import pairwise

import pandas as pd
from matplotlib.lines import Line2D

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.paper.formats import MISSING
from scripts.ruff.lib import figures, study

ACCURACY = ["model", "n_distractors", "factor", "level", "n", "accuracy", "ci_low", "ci_high"]
TESTS = ["model", "pronoun_a", "pronoun_b", "mean_a", "mean_b", "p_holm", "significant_holm"]
ALL = "all"


def select(accuracy, tests, models, sets):
    """Return what is drawn, one row for each model and pronoun set.

    With more than one model, the rows of the model ``all`` come first: the means that the tests over all models
    compare, which have no interval.

    Parameters
    ----------
    accuracy, tests : DataFrame
        Accuracies without distractors, and the pairwise tests.
    models : dict
    sets : iterable of str

    Returns
    -------
    DataFrame
        ``model``, ``pronoun``, ``accuracy``, ``low``, ``high``, ``n``, and of the test against the next pronoun set
        ``next_pronoun``, ``p_holm`` and ``significant_holm`` (missing for the last set).
    """
    rows = accuracy[accuracy.factor == "pronoun"].rename(
        columns={"level": "pronoun", "ci_low": "low", "ci_high": "high"}
    )
    if len(models) > 1:
        pooled = tests[tests.model == ALL]
        means = {**dict(zip(pooled.pronoun_b, pooled.mean_b, strict=True))}
        means |= dict(zip(pooled.pronoun_a, pooled.mean_a, strict=True))
        rows = pd.concat([rows, pd.DataFrame({"model": ALL, "pronoun": list(means), "accuracy": means.values()})])
    adjacent = pd.DataFrame(list(pairwise(sets)), columns=["pronoun_a", "pronoun_b"])
    marks = tests.merge(adjacent).rename(columns={"pronoun_a": "pronoun", "pronoun_b": "next_pronoun"})
    rows = rows.merge(marks, on=["model", "pronoun"], how="left")
    columns = ["model", "pronoun", "accuracy", "low", "high", "n", "next_pronoun", "p_holm", "significant_holm"]
    return figures.in_order(rows[columns].astype({"n": "Int64"}), model=[ALL, *figures.ordered(models)], pronoun=sets)


def _mark(row):
    if pd.isna(row.next_pronoun):
        return None
    if pd.isna(row.p_holm):
        return MISSING
    return "∗" if row.significant_holm else "n.s."


@plotting.style()
def draw(frame, models, labels, chance, human):
    """Draw one point for each model and pronoun set with its interval; return the figure.

    Columns beside the axes say whether neighbouring sets differ significantly.
    """
    few = len(models) <= plotting.FEW
    pooled = len(study.pooled(models))
    few_instances = plotting.left_out(frame, models)
    frame = frame[frame.n.isna() | (frame.n >= plotting.FEWEST)]
    models = {name: facts for name, facts in models.items() if name in set(frame.model)}
    if not models:
        return plotting.nothing_drawn()
    first = (ALL, f"mean of {pooled} model{'' if pooled == 1 else 's'}") if ALL in set(frame.model) else None
    panels = figures.model_rows(models, first)
    row_height, width = (0.42, plotting.COLUMN) if few else (0.19, plotting.PAGE)
    drawn, grid = figures.rows_figure(panels, width, row_height, 0.55)
    colours, markers = plotting.pronoun_colours(labels), plotting.pronoun_markers(labels)
    sets = list(labels)
    column = 0.3 if few else 0.5
    for ax, panel in zip(grid, panels, strict=True):
        for y, key in enumerate(panel.keys):
            if y % 2:
                ax.axhspan(y - 0.5, y + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
            for row in frame[frame.model == key].itertuples(index=False):
                place = sets.index(row.pronoun)
                at = y + 0.6 * ((place + 0.5) / len(sets) - 0.5)
                look = {"color": colours[row.pronoun], "marker": markers[row.pronoun]}
                bars = plotting.error_bars([row.accuracy], [row.low], [row.high])
                ax.errorbar(row.accuracy, at, xerr=bars, elinewidth=0.8, **look)
                mark = _mark(row)
                if mark:
                    _beside(ax, column * (place + 0.6), y, mark, va="center")
        plotting.fraction_axis(ax.xaxis)
    for place, (a, b) in enumerate(pairwise(sets)):
        head = f"{a}–\n{b}" if few else f"{a}–{b}"
        _beside(grid[0], column * (place + 0.6), -0.6, head, va="bottom")
    grid[-1].set_xlabel("Accuracy without distractors")
    handles = [Line2D([], [], color=colours[p], marker=markers[p], linestyle="none", label=labels[p]) for p in sets]
    handles += [plotting.chance_line(grid, chance, "x"), plotting.human_line(grid, human, "x")]
    if frame.low.notna().any():
        handles.append(plotting.interval_handle(figures.BOOTSTRAP, "_"))
    handles.append(Line2D([], [], linestyle="none", marker=(6, 2, 0), color="black", label="sets differ (Welch, Holm)"))
    plotting.legend_below(drawn, handles + few_instances, 2 if few else 4)
    return drawn


def _beside(ax, inches, y, text, va):
    """Write ``text`` to the right of the axes, ``inches`` from their edge, at the row ``y``."""
    ax.annotate(
        text, (1, y), (72 * inches, 0), xycoords=("axes fraction", "data"), textcoords="offset points", ha="center",
        va=va, fontsize=7, annotation_clip=False,
    )  # fmt: skip


def main(
    *,
    accuracy: str,
    pronoun_tests: str,
    pdf: str,
    png: str,
    csv: str,
    models: dict,
    pronoun_sets: list,
    chance: float,
    human: float | dict,
):
    """Draw the figure; ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3)."""
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    accuracies = figures.read_without_distractors(accuracy, ACCURACY, models)
    tests = figures.read(pronoun_tests, TESTS, pronoun_a=labels, pronoun_b=labels)
    frame = select(accuracies, tests, models, labels)
    plotting.save(draw(frame, models, labels, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
