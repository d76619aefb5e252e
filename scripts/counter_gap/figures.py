"""The figures of Counter-GAP, each by the function of its rule."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from scripts.core import files
from scripts.core.paper import plotting
from scripts.core.workflow.job import run_named
from scripts.counter_gap.lib import figures
from scripts.counter_gap.lib.figures import FEMININE, MASCULINE
from scripts.counter_gap.lib.study import WITHOUT, label, main_scoring, read_set

SUBSETS = {
    "": {"all": "all"},
    "source": {"gutenberg": "Gutenberg", "bookcorpus": "BookCorpus"},
    "case of the pronoun": {"nominative": "nominative", "accusative": "accusative", "possessive": "possessive"},
    "distance of the right name": {"near": "near", "middle": "middle", "far": "far"},
}
"""Title of each group of subsets, and its subsets with their labels."""
FEWEST = 20
"""Smaller subsets are not drawn: a few quadruples that agree would make an interval without width."""
LEANING = 0.35
"""Opacity of leanings."""
CANCELLING = [("lean", "M"), ("lean", "F"), ("acc_diff", "all"), ("delta_i", "all")]
PLACES = {"original": (0, 1), "control": (0, 0), "swap-1": (1, 1), "swap-2": (1, 0)}
NAMES = {"original": "original", "control": "control", "swap-1": "swap 1", "swap-2": "swap 2"}
PAIRS = [
    ("original", "control", "within"),
    ("swap-1", "swap-2", "within"),
    ("original", "swap-1", "across"),
    ("control", "swap-2", "across"),
    ("original", "swap-2", "across"),
    ("control", "swap-1", "across"),
]
ARROWS = {"within": ("black", 1.8, "within genders"), "across": ("#C00000", 0.9, "across genders")}
"""Colour, width and label of each inconsistency's arrows."""
CURVES = {
    "i_across": (figures.ACROSS, "^", 3.0, 7.0, "inconsistency across genders"),
    "delta_i": (figures.DELTA_I, "s", 2.2, 5.0, figures.DELTA_I_LABEL),
    "acc_diff": (figures.ACC_DIFF, "o", 0.9, 3.0, figures.ACC_DIFF_LABEL),
}
"""Colour, marker, widths of line and marker, label; narrow over wide, because curves lie on one another."""
TRUE_GAP = {"color": plotting.CATEGORIES[1], "linestyle": (0, (1, 1.2)), "linewidth": 1.2}
SETTINGS = {
    "one direction": "every passage leans to masculine",
    "both directions": "half of the passages lean each way",
    "names only": "no bias, only names",
}


def prepare_breakdown(frame: pd.DataFrame, sizes: pd.Series) -> pd.DataFrame:
    """Return the rows of large enough subsets, with their ``quadruples``; an interval without width is missing.

    ``frame`` has the rows of metrics.csv on Delta I, ``sizes`` the quadruples of each subset.
    """
    frame = frame.assign(quadruples=frame.subset.map(sizes))
    frame = frame[frame.quadruples >= FEWEST].reset_index(drop=True)
    bounds = ["ci_low", "ci_high"]
    frame[bounds] = frame[bounds].where(frame.ci_low < frame.ci_high)
    return frame


@plotting.style()
def draw_breakdown(frame: pd.DataFrame, sizes: pd.Series) -> Figure:
    """Draw a group of marks for each subset; filled are all quadruples, open those without the artefact."""
    systems = list(dict.fromkeys(frame.system))
    colours = figures.colours(systems)
    groups = [(title, [s for s in labels if (frame.subset == s).any()], labels) for title, labels in SUBSETS.items()]
    groups = [group for group in groups if group[1]]
    drawn = plotting.figure(plotting.PAGE, 2.5)
    ax = drawn.subplots()
    places, ticks, start = {}, [], 0.0
    for number, (title, subsets, labels) in enumerate(groups):
        if number:
            ax.axvline(start - 0.7, color="#BFBFBF", linewidth=0.7)
        for subset in subsets:
            places[subset] = start
            quadruples = [sizes[s] for s in (subset, subset + WITHOUT) if s in sizes]
            ticks.append(f"{labels[subset]}\n{' / '.join(f'{n:,}' for n in quadruples)}")
            start += 1
        ax.text(
            places[subsets[0]] / 2 + places[subsets[-1]] / 2, 1.01, title, transform=ax.get_xaxis_transform(),
            ha="center", va="bottom", fontsize=7,
        )  # fmt: skip
        start += 0.4
    width = 0.8 / len(systems)
    for i, system in enumerate(systems):
        of_system = frame[frame.system == system].set_index("subset")
        for suffix, filled, shift in (("", True, -0.2), (WITHOUT, False, 0.2)):
            shown = [s for s in places if s + suffix in of_system.index]
            if not shown:
                continue
            rows = of_system.loc[[s + suffix for s in shown]]
            x = np.array([places[s] for s in shown]) + (i - (len(systems) - 1) / 2 + shift) * width
            errors = 100 * np.abs(np.array([rows.value - rows.ci_low, rows.ci_high - rows.value]))
            ax.errorbar(
                x, 100 * rows.value, yerr=np.nan_to_num(errors), fmt="none", color=colours[system], elinewidth=0.7
            )
            for with_interval, marker in ((True, "o"), (False, "D")):
                chosen = rows.ci_low.notna().to_numpy() == with_interval
                ax.plot(
                    x[chosen], 100 * rows.value[chosen], marker, color=colours[system], markersize=3.2,
                    markerfacecolor=colours[system] if filled else "white",
                )  # fmt: skip
    ax.axhline(0, color=plotting.GREY, linewidth=0.7)
    ax.set_xlim(-0.6, start - 0.8)
    ax.set_xticks(list(places.values()), ticks)
    ax.set_ylabel(r"$\Delta I$ (percentage points)")
    handles = [plotting.handle({"color": colours[s], "marker": "o", "linestyle": "none"}, s) for s in systems]
    handles += [plotting.interval_handle("95% interval")]
    if any(subset + WITHOUT in set(frame.subset) for subset in places):
        handles.append(plotting.point_handle("without artefact"))
    if frame.ci_low.isna().any():
        look = {"color": plotting.GREY, "marker": "D", "linestyle": "none", "markersize": 3.2}
        handles.append(plotting.handle(look, "no interval: all quadruples alike"))
    plotting.legend_below(drawn, handles, 6)
    return drawn


def figure_breakdown(*, metrics: str, subset_sizes: str, pdf: str, png: str, csv: str, templates: str) -> None:
    """Draw Delta I by source, case and distance, with and without the quadruples that the conversion spoilt.

    It shows the systems without debiasing on the set of quadruples ``templates``.
    """
    frame = main_scoring(read_set(metrics, templates))
    wanted = frame.subset.isin([s + suffix for labels in SUBSETS.values() for s in labels for suffix in ("", WITHOUT)])
    frame = frame[(frame.metric == "delta_i") & (frame.debiasing == "none") & wanted].reset_index(drop=True)
    sizes = files.read_csv(subset_sizes)
    sizes = sizes[sizes.data == templates].set_index("subset").quadruples
    frame = figures.rules_last(prepare_breakdown(frame, sizes))
    plotting.save(draw_breakdown(frame, sizes), frame, pdf, png, csv)


@plotting.style()
def draw_cancellation(frame: pd.DataFrame) -> Figure:
    """Draw one row for each system; return the figure.

    The left panel has a direction: leanings to either side and their difference. Delta I has none and its own panel.
    """
    names = list(dict.fromkeys(frame.label))
    drawn = plotting.figure(plotting.PAGE, 0.8 + 0.24 * len(names))
    axes = drawn.subplots(1, 2, sharey=True, width_ratios=(1.9, 1))
    y = np.arange(len(names))[::-1]
    for metric, group, colour, sign in (("lean", "M", MASCULINE, 1), ("lean", "F", FEMININE, -1)):
        leanings = frame[(frame.metric == metric) & (frame.group == group)].value
        axes[0].barh(y, sign * 100 * leanings, height=0.62, color=colour, alpha=LEANING, linewidth=0)
    for ax, metric, marker, colour in (
        (axes[0], "acc_diff", "o", figures.ACC_DIFF),
        (axes[1], "delta_i", "s", figures.DELTA_I),
    ):
        rows = frame[frame.metric == metric]
        errors = 100 * np.abs(np.array([rows.value - rows.ci_low, rows.ci_high - rows.value]))
        ax.errorbar(
            100 * rows.value, y, xerr=errors, fmt=marker, color=colour, markersize=3.5, elinewidth=0.8, capsize=1.5,
        )  # fmt: skip
        ax.axvline(0, color=plotting.GREY, linewidth=0.7)
        ax.grid(axis="y", visible=False)
        ax.grid(axis="x", visible=True)
    axes[0].set_yticks(y, names)
    axes[0].set(
        title="Difference of accuracies: leanings cancel",
        xlabel="Mean leaning (percentage points)\nto feminine ← | → to masculine",
    )
    axes[1].set(title="Difference of inconsistencies", xlabel=r"$\Delta I$ (percentage points)")
    handles = [
        plotting.patch_handle(to_rgba(MASCULINE, LEANING), "leaning to masculine"),
        plotting.patch_handle(to_rgba(FEMININE, LEANING), "leaning to feminine"),
        plotting.handle({"color": figures.ACC_DIFF, "marker": "o", "linestyle": "none"}, figures.ACC_DIFF_LABEL),
        plotting.handle({"color": figures.DELTA_I, "marker": "s", "linestyle": "none"}, figures.DELTA_I_LABEL),
        plotting.interval_handle("95% interval", "_"),
    ]
    plotting.legend_below(drawn, handles, 5)
    return drawn


def figure_cancellation(*, metrics: str, pdf: str, png: str, csv: str, templates: str) -> None:
    """Draw how leanings towards either gender cancel in the accuracy difference, beside Delta I.

    It is of the set of quadruples ``templates``.
    """
    frame = main_scoring(read_set(metrics, templates))
    wanted = np.array([pair in CANCELLING for pair in zip(frame.metric, frame.group, strict=True)])
    frame = figures.rules_last(frame[(frame.subset == "all") & wanted])
    frame["label"] = [label(row) for row in files.rows(frame)]
    plotting.save(draw_cancellation(frame), frame, pdf, png, csv)


@plotting.style()
def draw_inconsistencies(frame: Any) -> Figure:
    """Draw the four instances and an arrow for each pair; return the figure."""
    drawn = plotting.figure(plotting.COLUMN, 1.9)
    ax = drawn.subplots()
    ax.axis("off")
    ax.set(xlim=(-0.42, 1.42), ylim=(-0.25, 1.45))
    boxes = {}
    for role, (x, y) in PLACES.items():
        colour = (MASCULINE, FEMININE)[x]
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colour, "linewidth": 1.1}
        boxes[role] = ax.text(x, y, NAMES[role], ha="center", va="center", fontsize=8, bbox=box).get_bbox_patch()
    for row in frame.itertuples():
        colour, width, _ = ARROWS[row.inconsistency]
        # Above the boxes, so that these have their places when the arrows are cut off at their edges.
        ax.add_patch(
            FancyArrowPatch(
                PLACES[row.first], PLACES[row.second], patchA=boxes[row.first], patchB=boxes[row.second],
                arrowstyle="<->", mutation_scale=8, color=colour, linewidth=width, shrinkA=1.5, shrinkB=1.5, zorder=4,
            )
        )  # fmt: skip
    for x, text in enumerate(("one gender", "the other gender")):
        ax.text(x, 1.4, text, ha="center", va="center", fontsize=8)
    handles = [Line2D([], [], color=c, linewidth=width, label=text) for c, width, text in ARROWS.values()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def figure_inconsistencies(*, pdf: str, png: str, csv: str) -> None:
    """Draw which pairs of a quadruple each inconsistency compares (paper Figure 1); the CSV lists its arrows."""
    frame = pd.DataFrame(PAIRS, columns=["first", "second", "inconsistency"])
    plotting.save(draw_inconsistencies(frame), frame, pdf, png, csv)


@plotting.style()
def draw_simulation(frame: pd.DataFrame) -> Figure:
    """Draw one panel for each setting; return the figure."""
    drawn = plotting.figure(plotting.PAGE, 2.3)
    axes = drawn.subplots(1, len(SETTINGS), sharey=True)
    for ax, (setting, title) in zip(axes, SETTINGS.items(), strict=True):
        part = frame[frame.setting == setting]
        x = "strength" if setting == "names only" else "true_gap"
        for metric, (colour, marker, width, size, _) in CURVES.items():
            rows = part[part.metric == metric]
            look = {"color": colour, "marker": marker, "linewidth": width, "markersize": size}
            ax.plot(rows[x], rows.value, markeredgecolor="white", markeredgewidth=0.3, **look)
            ax.fill_between(rows[x], rows.low.clip(-1, 1), rows.high.clip(-1, 1), color=colour, alpha=0.18, linewidth=0)
        squared = part[part.metric == "delta_i"]
        ax.plot(squared[x], squared.true_squared, zorder=3, **TRUE_GAP)
        ax.set(title=title, xlabel="Effect of names (SD)" if x == "strength" else "True gap (mean absolute, share)")
    axes[0].set_ylabel("Value of the metric (share)")
    handles = [
        plotting.handle({"color": colour, "marker": marker, "linewidth": width, "markersize": size}, label)
        for colour, marker, width, size, label in CURVES.values()
    ]
    handles.append(Line2D([], [], label=r"mean squared true gap, which $\Delta I$ estimates", **TRUE_GAP))
    plotting.legend_below(drawn, [*handles, plotting.patch_handle("#D5D5D5", "95% of the data sets")], 3)
    return drawn


def figure_simulation(*, simulation: str, pdf: str, png: str, csv: str) -> None:
    """Draw what the metrics say of simulated systems whose bias is known; every row of the table is drawn."""
    frame = files.read_csv(simulation)
    plotting.save(draw_simulation(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run_named()
