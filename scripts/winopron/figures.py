"""The figures of WinoPron: a function picks the rows of each and another draws them (rules/winopron.smk)."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import seaborn.objects as so
from matplotlib.ticker import FixedFormatter

from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.data.templates import CASES
from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import format_number
from scripts.core.workflow.job import run_named
from scripts.winopron import study
from scripts.winopron.study import CASE_LABELS, CORRECTED, LIKELIHOODS, TOGETHER, pick

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

INTERVAL = "95% interval"


def figures(
    *, estimates: str, pdf: list[str], png: list[str], csv: list[str], templates: str, labels: dict[str, str],
    demonstrations: list[str],
) -> None:  # fmt: skip
    """Draw the figures of a template set that their files name; ``labels`` are what figures call systems.

    Demonstrations, models and systems that say nothing of others, are drawn where there is nothing else.
    """
    rows = study.with_systems(study.read_table(estimates), labels)
    rows = rows[(rows.templates == templates) & (rows.entities == "double") & (rows.reading == CORRECTED)]
    for paths in zip(pdf, png, csv, strict=True):
        select, draw = FIGURES[Path(paths[0]).stem]
        drawn = select(rows)
        shown = ~drawn.model.isin(demonstrations)
        if (shown & (drawn.kind != HEURISTIC)).any():
            drawn = drawn[shown]
        plotting.save_figure(draw(drawn), drawn, *paths)


def select_accuracies(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the accuracies by case and pronoun set.

    Rules are left out where there are other systems: their accuracies are known beforehand. Resolution by likelihood
    is the same with every pronoun set, and has one row for each case.
    """
    rows = pick(rows, metric="accuracy", case=CASES, pronoun_set=...)
    rules = rows.kind == HEURISTIC
    rows = rows[~rules | bool(rules.all())]
    return rows[rows.scoring.isin(LIKELIHOODS) == (rows.pronoun_set == "")]


ANY = "by likelihood: any pronoun"
"""What the legend calls accuracies that are the same with every pronoun set."""
SCORINGS = {"clusters": "coreference", "": "answers of a file"}
"""Ways of scoring to what rows call them, where their own names would not be understood."""
MARK, LINE, MOST_ROWS, FEW_ROWS = 0.085, 0.13, 12, 6
"""Height of a mark and of a line of text in inches; up to how many rows there is one for each system, and up to how
many the figure has the width of a column."""


@plotting.figure_style()
def draw_accuracies(rows: "pd.DataFrame") -> "Figure":
    """Draw accuracy by case and pronoun set with chance (paper Figure 3): a column for each case.

    A row for each system and way of scoring, with a mark for each pronoun set. Of many systems there is a row for each
    way of scoring, with a mark for each system and pronoun set and without intervals, which would lie on one another.
    """
    looks = pronoun_looks(dict.fromkeys(rows.pronoun_set[rows.pronoun_set != ""]))
    marks = max(len(looks), 1)
    if (rows.pronoun_set == "").any():
        looks[ANY] = {"color": "black", "marker": "o", "linestyle": "none"}
    scoring = rows.scoring.replace(SCORINGS)
    many = rows.system.nunique() > MOST_ROWS
    alone = rows.label.nunique() == 1 and scoring.nunique() > 1
    labels = scoring if many or alone else broken_labels(rows)
    number = labels.nunique()
    rows = rows.assign(series=rows.pronoun_set.replace("", ANY), row=labels)
    dodge = so.Dodge("fill", gap=0.15, by=["color"])
    plot = (
        so.Plot(rows, y="row", x="value", xmin="low", xmax="high", **dict.fromkeys(plotting.LOOK, "series"))
        .facet("case", order=[case for case in CASES if case in set(rows["case"])])
        .add(so.Dots(pointsize=3.5, stroke=0.7, fillalpha=0.4 if many else 1), dodge, orient="y")
        .scale(**plotting.scales(looks))
        .label(x="", y="")
    )
    handles = [plotting.line_handle(look, name) for name, look in looks.items()]
    if not many:
        plot = plot.add(so.Range(linewidth=0.8), dodge, orient="y")
        handles.append(plotting.interval_handle(INTERVAL, "_"))
    height = 0.06 + max(LINE * (1 + labels.str.count("\n").max()), MARK * marks)
    narrow = number <= FEW_ROWS
    drawn = plotting.draw_plot(plot, plotting.COLUMN if narrow else plotting.PAGE, 0.5 + height * number)
    for ax in drawn.axes:
        ax.grid(visible=True, axis="x")
        # Lines between rows and none through their middle.
        ax.grid(visible=False, axis="y")
        ax.set_ylim(number - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.hlines([place + 0.5 for place in range(number - 1)], 0, 1, colors="#E6E6E6", linewidth=0.5)
        plotting.fraction_axis(ax.xaxis, 0.5)
    drawn.axes[len(drawn.axes) // 2].set_xlabel(
        f"Accuracy of each of {rows.system.nunique()} systems" if many else "Accuracy"
    )
    handles.append(plotting.chance_line(drawn.axes, rows.chance.iloc[0], along="x"))
    plotting.legend_below(drawn, handles, 3 if narrow else 6)
    return drawn


def select_biases(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the shares of positive and negative bias of each form, but those of few template pairs."""
    rows = pick(rows, metric=["positive", "negative"], case=CASES, pronoun_set=...)
    return rows[(rows.pronoun_set != "") & (rows.below >= plotting.FEWEST)]


@plotting.figure_style()
def draw_biases(rows: "pd.DataFrame") -> "Figure":
    """Draw positive bias upwards and negative bias downwards beside that of fair coins (paper Figure 5).

    A panel for each system: the shares of attempted and solvable template pairs.
    """
    if rows.empty:
        return plotting.nothing_drawn()
    looks = pronoun_looks(rows.pronoun_set.unique())
    systems = [str(name) for name in rows.system.unique()]
    width, columns = plotting.COLUMN if len(systems) == 1 else plotting.PAGE, plotting.panel_columns(len(systems))
    plot = (
        so.Plot(rows.assign(system=rows.system.astype(str)), x="case", color="pronoun_set")
        .facet("system", order=systems, wrap=columns)
        .scale(x=cases_scale(rows["case"], width / columns), color=plotting.scales(looks)["color"])
        .label(x="", y="")
    )
    # Sets without a share in one case leave no gap.
    dodge = so.Dodge("drop", gap=0.1, by=["color"])
    for metric, sign in (("positive", 1), ("negative", -1)):
        shares = sign * rows[rows.metric == metric][["value", "low", "high"]]
        at: dict[str, Any] = {"y": shares.value, "ymin": shares.low, "ymax": shares.high}
        plot = plot.add(so.Bar(alpha=1, edgewidth=0), dodge, **at)
        plot = plot.add(so.Range(color="#333333", linewidth=0.7), dodge, **at)
    drawn = plotting.draw_plot(plot, width, 1.5)
    for ax in drawn.axes:
        ax.axhline(0, color="black", linewidth=0.6)
        ax.yaxis.set_major_formatter(lambda value, _: format_number(value, 2, signed=True).rstrip("0").rstrip("."))
    # One for all rows: it is longer than a panel is high.
    drawn.supylabel("Share: negative | positive", fontsize=8)
    coins = rows.chance.iloc[0]
    plotting.chance_line(drawn.axes, -coins)
    chance = plotting.chance_line(drawn.axes, coins)
    handles = [plotting.patch_handle(look["color"], label) for label, look in looks.items()]
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(INTERVAL), chance], 6)
    return drawn


CONSISTENCIES = {"pronoun_consistency": "all pronoun\nsets right", "disambiguation_consistency": "both endings\nright"}
"""Consistencies to the titles of their panels: what has to be right together."""


def select_consistencies(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return both consistencies, of prompted systems by single prompts, which have the paper's chance."""
    rows = pick(rows, metric=list(CONSISTENCIES), prompts=...)
    return rows[rows.prompts != TOGETHER]


@plotting.figure_style()
def draw_consistencies(rows: "pd.DataFrame") -> "Figure":
    """Draw both consistencies of every system beside chance, a row for each system (the numbers of paper Table 3)."""
    # Open points say which systems are rules.
    labels = broken_labels(rows).str.removesuffix("\n(rule)")
    rows = rows.assign(metric=rows.metric.map(CONSISTENCIES), label=labels, rule=rows.kind == HEURISTIC)
    row = 0.25 if labels.str.contains("\n").any() else 0.18
    caps = so.Dash(color=plotting.GREY, width=0.3, linewidth=0.8)
    plot = (
        so.Plot(rows, y="label", x="value", xmin="low", xmax="high")
        .facet("metric", order=list(CONSISTENCIES.values()))
        .add(so.Dash(color=plotting.GREY, width=0.9, linewidth=0.9, linestyle=plotting.CHANCE), x="chance")  # pyright: ignore[reportArgumentType]: stubs lack dashes
        .add(so.Dots(color="black", pointsize=3, stroke=0.7, fillalpha=1), fillcolor="rule")
        # Over the points: with sixty pairs of people intervals are hardly longer than a point.
        .add(so.Range(color=plotting.GREY, linewidth=0.8))
        .add(caps, x="low")
        .add(caps, x="high")
        .scale(fillcolor={True: "white", False: "black"})  # pyright: ignore[reportArgumentType]: stubs lack dicts
        .label(x="", y="")
    )
    drawn = plotting.draw_plot(plot, plotting.COLUMN, 0.45 + row * labels.nunique())
    for ax in drawn.axes:
        ax.grid(visible=True)
        plotting.fraction_axis(ax.xaxis, 0.5)
    handles = [plotting.point_handle("rule")] if rows.rule.any() else []
    chance = {"color": plotting.GREY, "linestyle": plotting.CHANCE, "linewidth": 0.9}
    handles += [plotting.line_handle(chance, "chance"), plotting.interval_handle(INTERVAL, "_")]
    plotting.legend_below(drawn, handles, 3)
    return drawn


FIGURES = {
    "accuracy": (select_accuracies, draw_accuracies),
    "bias": (select_biases, draw_biases),
    "consistency": (select_consistencies, draw_consistencies),
}
"""Which rows are drawn, and the function that draws them."""


def broken_labels(rows: "pd.DataFrame") -> "pd.Series":
    """Return the systems of rows in short lines: a model above its scoring, or above what it is in brackets."""
    return rows.system.astype(str).str.replace(", ", ",\n").str.replace(" (", "\n(")


def pronoun_looks(pronoun_sets: Iterable[str]) -> dict[str, dict]:
    """Return the look of each pronoun set's marks, by its label, such as he/him/his."""
    keys = {label: study.short_label(label) for label in pronoun_sets}
    colour, marker = palette.pronoun_colours(keys.values()), palette.pronoun_markers(keys.values())
    return {label: {"color": colour[key], "marker": marker[key], "linestyle": "none"} for label, key in keys.items()}


def cases_scale(cases: Iterable[str], panel_width: float) -> so.Nominal:
    """Return the scale of the axis of cases, abbreviated where panels are narrower than two inches."""
    order = [case for case in CASES if case in set(cases)]
    short = FixedFormatter([CASE_LABELS[case] for case in order])
    return so.Nominal(order=order).label(short if panel_width < 2 else None)


if __name__ == "__main__":
    run_named()
