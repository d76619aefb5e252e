"""The figures of WinoPron, each by the function that the wildcard ``figure`` names (rules/winopron.smk)."""

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.data.estimate_rows import HEURISTIC, PARTIAL
from scripts.core.data.templates import CASES
from scripts.core.paper import plotting
from scripts.core.paper.formats import number
from scripts.core.workflow.job import run_named
from scripts.winopron import study
from scripts.winopron.study import CASE_LABELS, CORRECTED, LIKELIHOODS, TOGETHER, pick

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

INTERVAL = "95% interval"


def figure(*, estimates: str, pdf: str, png: str, csv: str, figure: str, templates: str, labels: dict) -> None:
    """Draw one of the figures of a template set; ``labels`` are what figures call systems."""
    select, draw = FIGURES[figure]
    rows = study.with_systems(study.read_table(estimates), labels)
    rows = select(rows[(rows.templates == templates) & (rows.entities == "double") & (rows.reading == CORRECTED)])
    plotting.save(draw(rows), rows, pdf, png, csv)


def accuracies(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the accuracies by case and pronoun set.

    Rules are left out where there are other systems: what they come to is known beforehand. What models take by
    likelihood is the same with every pronoun set, and has one row for each case.
    """
    rows = pick(rows, metric="accuracy", case=CASES, pronoun_set=...)
    rules = rows.kind == HEURISTIC
    rows = rows[~rules | bool(rules.all())]
    return rows[rows.scoring.isin(LIKELIHOODS) == (rows.pronoun_set == "")]


@plotting.style()
def draw_accuracies(rows: "pd.DataFrame") -> "Figure":
    """Draw accuracy by case and pronoun set beside chance (paper Figure 3).

    A panel for each system, and one for all that resolve by likelihood; up to two share a column.
    """
    looks = pronoun_looks(rows.pronoun_set[rows.pronoun_set != ""].unique())
    likelihood = rows.scoring.isin(LIKELIHOODS)
    by_likelihood = likelihood_looks(rows[likelihood])
    panels = {
        str(system): [(look, of_system[of_system.pronoun_set == name]) for name, look in looks.items()]
        for system, of_system in rows[~likelihood].groupby("system", observed=True)
    }
    if by_likelihood:
        panels["By likelihood"] = [(look, rows[rows.system == name]) for name, look in by_likelihood.items()]
    narrow = len(panels) <= 2
    drawn, axes = panel_grid(len(panels), 1.35, narrow)
    across = axes.shape[1]
    for ax, (title, series) in zip(axes.flat, panels.items(), strict=False):
        step = 0.8 / len(series)
        for place, (look, of_series) in enumerate(series):
            of_series = of_series.set_index("case").reindex(CASES)
            x = np.arange(len(CASES)) + (place - (len(series) - 1) / 2) * step
            errors = plotting.error_bars(of_series.value, of_series.low, of_series.high)
            ax.errorbar(x, of_series.value, yerr=errors, fmt="none", ecolor=look["color"], elinewidth=0.8)
            edge = {"markeredgecolor": "black", "markeredgewidth": 0.7} if look in by_likelihood.values() else {}
            ax.plot(x, of_series.value, markersize=3.6, **look, **edge)
        ax.set_title(title)
        ax.set_xlim(-0.6, len(CASES) - 0.4)
        plotting.fraction_axis(ax.yaxis)
    label_cases(axes, len(panels), short=across > 3 or (narrow and across > 1))
    for ax in axes[:, 0]:
        ax.set_ylabel("Accuracy")
    chance = plotting.chance_line(axes.flat[: len(panels)], 0.5)
    handles = [plotting.handle(look, label) for label, look in looks.items()]
    handles += likelihood_handles(rows[likelihood], by_likelihood)
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(INTERVAL), chance], 6)
    return drawn


def biases(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the shares of positive and negative bias of each form, but those of few template pairs."""
    rows = pick(rows, metric=["positive", "negative"], case=CASES, pronoun_set=...)
    return rows[(rows.pronoun_set != "") & (rows.below >= plotting.FEWEST)]


@plotting.style()
def draw_biases(rows: "pd.DataFrame") -> "Figure":
    """Draw positive bias upwards and negative bias downwards beside that of fair coins (paper Figure 5).

    A panel for each system: the shares of attempted and solvable template pairs.
    """
    systems = [str(name) for name in rows.system.sort_values().unique()]
    if not systems:
        return plotting.nothing_drawn()
    looks = pronoun_looks(rows.pronoun_set.unique())
    cases = [case for case in CASES if case in set(rows["case"])]
    drawn, axes = panel_grid(len(systems), 1.5, len(systems) == 1)
    step = 0.8 / len(looks)
    for ax, system in zip(axes.flat, systems, strict=False):
        of_system = rows[rows.system == system]
        # Sets without a share in this case leave no gap.
        shown = {
            case: [name for name in looks if name in set(of.pronoun_set)] for case, of in of_system.groupby("case")
        }
        for pronoun_set, metric in itertools.product(looks, ("positive", "negative")):
            bars = of_system[(of_system.pronoun_set == pronoun_set) & (of_system.metric == metric)]
            x = [
                cases.index(case) + (shown[case].index(pronoun_set) - (len(shown[case]) - 1) / 2) * step
                for case in bars["case"]
            ]
            errors = plotting.error_bars(bars.value, bars.low, bars.high)
            upwards = metric == "positive"
            ax.bar(
                x, bars.value if upwards else -bars.value, step * 0.9, color=looks[pronoun_set]["color"],
                yerr=errors if upwards else errors[::-1], error_kw={"elinewidth": 0.7, "ecolor": "#333333"},
            )  # fmt: skip
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set_title(system)
        # Also where a system has bars in one case alone.
        ax.set_xlim(-0.6, len(cases) - 0.4)
        ax.yaxis.set_major_formatter(lambda value, _: number(value, 2, signed=True).rstrip("0").rstrip("."))
    label_cases(axes, len(systems), short=axes.shape[1] > 3, cases=cases)
    # One for all rows: it is longer than a panel is high.
    drawn.supylabel("Share: negative | positive", fontsize=8)
    coins = rows.chance.iloc[0]
    plotting.chance_line(axes.flat[: len(systems)], -coins)
    chance = plotting.chance_line(axes.flat[: len(systems)], coins)
    handles = [plotting.patch_handle(look["color"], label) for label, look in looks.items()]
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(INTERVAL), chance], 6)
    return drawn


CONSISTENCIES = {"pronoun_consistency": "all pronoun\nsets right", "disambiguation_consistency": "both endings\nright"}
"""Consistencies to the titles of their panels: what has to be right together."""


def consistencies(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return both consistencies, of prompted systems by single prompts, which have the paper's chance."""
    rows = pick(rows, metric=list(CONSISTENCIES), prompts=...)
    return rows[rows.prompts != TOGETHER]


@plotting.style()
def draw_consistencies(rows: "pd.DataFrame") -> "Figure":
    """Draw both consistencies of every system beside chance, a row for each system (the numbers of paper Table 3)."""
    systems = list(rows.system.sort_values().unique())[::-1]
    rules = set(rows.system[rows.kind == HEURISTIC])
    # Open points say which systems are rules.
    labels = [str(system).removesuffix(" (rule)").replace(", ", ",\n") for system in systems]
    lines = len(labels) + sum("\n" in label for label in labels)
    drawn = plotting.figure(plotting.COLUMN, 0.65 + 0.18 * lines)
    axes = drawn.subplots(1, 2, sharey=True)
    # Labels of two lines have twice the room.
    room = np.array([1.0 + 0.9 * ("\n" in label) for label in labels])
    y = np.cumsum(room) - (room + room[0]) / 2
    look = {"color": plotting.GREY, "linestyle": (0, (1, 1.2)), "linewidth": 0.9}
    for ax, (metric, title) in zip(axes, CONSISTENCIES.items(), strict=True):
        points = rows[rows.metric == metric].set_index("system").loc[systems]
        known = points.low.notna().to_numpy()
        bars = points[known]
        # With caps, and over the points: with sixty pairs of people intervals are hardly longer than a point.
        ax.errorbar(
            bars.value, y[known], xerr=plotting.error_bars(bars.value, bars.low, bars.high), fmt="none",
            ecolor=plotting.GREY, elinewidth=0.8, capsize=2, zorder=3,
        )  # fmt: skip
        for place, system, value in zip(y, systems, points.value, strict=True):
            filled = "white" if system in rules else "black"
            ax.plot(value, place, "ok", markerfacecolor=filled, markersize=3, markeredgewidth=0.7, clip_on=False)
        ax.vlines(points.chance, y - 0.45, y + 0.45, **look)
        ax.set_title(title, loc="center")
        ax.grid(axis="x")
        plotting.fraction_axis(ax.xaxis, 0.5)
        ax.set_yticks(y, labels)
        ax.set_ylim(-0.7, y[-1] + 0.9)
    handles = [plotting.point_handle("rule")] if rules else []
    handles += [plotting.handle(look, "chance"), plotting.interval_handle(INTERVAL, "_")]
    plotting.legend_below(drawn, handles, 3)
    return drawn


FIGURES = {
    "accuracy": (accuracies, draw_accuracies),
    "bias": (biases, draw_biases),
    "consistency": (consistencies, draw_consistencies),
}
"""Which rows are drawn, and the function that draws them."""


def pronoun_looks(pronoun_sets: Iterable[str]) -> dict[str, dict]:
    """Return the look of each pronoun set's marks, by its label, such as he/him/his."""
    keys = {label: study.short(label) for label in pronoun_sets}
    colour, marker = plotting.pronoun_colours(keys.values()), plotting.pronoun_markers(keys.values())
    return {label: {"color": colour[key], "marker": marker[key], "linestyle": "none"} for label, key in keys.items()}


def likelihood_looks(rows: "pd.DataFrame") -> dict[str, dict]:
    """Return the look of each system that resolves by likelihood: a mark for each model, open with partial scoring."""
    markers = dict(zip(rows.model.unique(), itertools.cycle(plotting.MARKERS), strict=False))
    systems = rows.drop_duplicates("system").sort_values("system")
    return {
        str(row.system): {
            "color": "black", "marker": markers[row.model], "linestyle": "none",
            "markerfacecolor": "white" if row.scoring == PARTIAL else "black",
        }
        for row in systems.itertuples()
    }  # fmt: skip


def likelihood_handles(rows: "pd.DataFrame", looks: dict[str, dict]) -> list:
    """Return legend handles for :func:`likelihood_looks`: one for each model, and what open marks are."""
    first: Any = rows.drop_duplicates("model").itertuples()
    handles = [plotting.handle(looks[str(row.system)] | {"markerfacecolor": "black"}, row.label) for row in first]
    return handles + ([plotting.point_handle("partial scoring")] if (rows.scoring == PARTIAL).any() else [])


def panel_grid(number: int, height: float, narrow: bool) -> "tuple[Figure, np.ndarray]":
    """Return a figure with a grid for a number of panels of a height, in a column or over the page, and its axes."""
    columns = min(number, 4 if number > 9 or number in (7, 8) else 3 if number > 4 or number == 3 else 2)
    rows = -(-number // columns)
    drawn = plotting.figure(plotting.COLUMN if narrow else plotting.PAGE, height * rows + 0.2)
    return drawn, drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)


def label_cases(axes: "np.ndarray", number: int, short: bool, cases: Sequence[str] = CASES) -> None:
    """Write the cases under every panel with none below it, and hide the places that ``number`` panels leave empty.

    Args:
        axes: Of all panels, shape (rows, columns).
        short: Whether there is room for abbreviations alone.
        cases: Those that have a place.
    """
    across = axes.shape[1]
    labels = [CASE_LABELS[case] for case in cases] if short else cases
    for place, ax in enumerate(axes.flat):
        ax.set_visible(place < number)
        ax.set_xticks(range(len(cases)), labels)
        ax.tick_params(axis="x", labelbottom=place + across >= number)


if __name__ == "__main__":
    run_named()
