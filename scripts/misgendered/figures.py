"""The figures of MISGENDERED: a function picks the rows of each and another draws them (rules/misgendered.smk)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import seaborn.objects as so
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scripts.core.paper import palette, plotting
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.study import TYPES, estimates_by, levels_in

# Tol's high-contrast colours, which also differ in print without colour; no pronoun set and no model of the study has
# them.
TYPE_LOOKS = {
    "binary": {"color": "#004488", "marker": "o", "linestyle": "-"},
    "neutral": {"color": "#BB5566", "marker": "s", "linestyle": (0, (4, 1.5))},
    "neo": {"color": "#DDAA33", "marker": "^", "linestyle": (0, (1, 1))},
}
INTERVAL = "95% interval"
ACCURACY = "Accuracy"


@dataclass(frozen=True)
class Run:
    """What figures need to know of a run; ``models`` are name to facts, ``chance`` is the accuracy of a random pick."""

    models: dict[str, dict]
    groups: list[str]
    chance: float

    @property
    def panels(self) -> dict[str, str]:
        """The models that have panels with their titles: all, or of more than a few their mean."""
        if len(self.models) > study.FEW:
            return {POOLED: f"Mean over {len(self.models)} models"}
        return {name: plotting.model_title(name, self.models) for name in self.models}


def figures(
    *, estimates: str, pdf: list[str], png: list[str], csv: list[str], templates: str, models: dict,
    pronoun_sets: list[str], chance: float,
) -> None:  # fmt: skip
    """Draw the figures of a template set that their files name; ``models`` are name to facts."""
    rows = study.read_table(estimates)
    rows, run = rows[rows.templates == templates], Run(models, pronoun_sets, chance)
    for paths in zip(pdf, png, csv, strict=True):
        select, draw = FIGURES[Path(paths[0]).stem]
        frame = select(rows, run)
        plotting.save_figure(draw(frame, run), frame, *paths)


def accuracies_by_group(rows: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return the accuracy on each pronoun group, but those of few instances."""
    rows = estimates_by(rows, "group", model=list(run.panels))
    return rows[rows.below >= plotting.FEWEST]


@plotting.figure_style()
def draw_groups(rows: pd.DataFrame, run: Run) -> Figure:
    """Draw the accuracy on each pronoun group (the numbers behind Table 7), a panel for each model."""
    if rows.empty:
        return plotting.nothing_drawn()
    types = levels_in(TYPES, rows.pronoun_type)
    of_group = dict(zip(rows.group, rows.pronoun_type, strict=True))
    order = [group for kind in types for group in run.groups if of_group.get(group) == kind]
    width = plotting.COLUMN if len(run.panels) < study.FEW else plotting.PAGE
    looks: dict[str, Any] = plotting.scales({kind: TYPE_LOOKS[kind] for kind in types})
    plot = (
        so.Plot(
            rows.assign(panel=rows.model.map(run.panels)), y="group", x="value", xmin="low", xmax="high",
            **dict.fromkeys(plotting.LOOK, "pronoun_type"),
        )
        .facet("panel", order=list(run.panels.values()))
        .add(so.Range(linewidth=1))
        .add(so.Dots(pointsize=4, stroke=0.3, fillalpha=1))
        .scale(y=so.Nominal(order=order), **looks)
        .label(x=ACCURACY, y="")
    )  # fmt: skip
    drawn = plotting.draw_plot(plot, width, 0.19 * len(order) + 0.45)
    for ax in drawn.axes:
        plotting.fraction_axis(ax.xaxis)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        ax.tick_params(axis="y", length=0)
    handles = [plotting.line_handle(TYPE_LOOKS[kind] | {"linestyle": "none"}, label) for kind, label in types.items()]
    chance = plotting.chance_line(drawn.axes, run.chance, along="x")
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(INTERVAL, "_"), chance], 3)
    return drawn


def accuracies_by_shots(rows: pd.DataFrame, _: Run) -> pd.DataFrame:
    """Return the accuracies by the number of examples, and those of each draw of the examples (``draw``).

    Those of few instances are left out.
    """
    by_draw = estimates_by(rows, "draw", "pronoun_type", shots=...)
    by_draw = by_draw[(by_draw.model != POOLED) & ~by_draw.model.str.contains("|", regex=False)]
    rows = pd.concat([study.by_examples(rows), by_draw], ignore_index=True)
    return rows[rows.below >= plotting.FEWEST]


@plotting.figure_style()
def draw_examples(rows: pd.DataFrame, run: Run) -> Figure:
    """Draw accuracy by the number of examples in the prompt (Table 13 as points), a panel for each model.

    The mean over draws of the examples is a full point, each draw an open one; without examples there is the
    declaration that examples use.
    """
    if rows.empty:
        return plotting.nothing_drawn()
    means = rows.draw == POOLED
    types = levels_in(TYPES, rows.pronoun_type)
    titles = {name: plotting.model_title(name, run.models) for name in run.models if name in set(rows.model)}
    rows = rows.assign(
        panel=rows.model.map(titles), mean=rows.value.where(means), single=rows.value.mask(means),
        low=plotting.clip_bounds(rows.value - rows.sd), high=plotting.clip_bounds(rows.value + rows.sd),
    )  # fmt: skip
    columns, shots = min(3, len(titles)), sorted(rows.shots.unique(), key=int)
    looks = plotting.scales({kind: TYPE_LOOKS[kind] for kind in types})
    # A type keeps its place where others have none.
    scales: dict[str, Any] = {name: so.Nominal(looks[name], order=list(types)) for name in ("color", "marker")}
    dodge = so.Dodge("keep", gap=0.3, by=["color"])
    plot = (
        so.Plot(rows, x="shots", color="pronoun_type", marker="pronoun_type")
        .facet("panel", order=list(titles.values()), wrap=columns)
        .add(so.Range(linewidth=0.9), dodge, y="mean", ymin="low", ymax="high")
        .add(so.Dots(pointsize=4, stroke=0.3, fillalpha=1), dodge, y="mean")
        .add(so.Dots(pointsize=3, stroke=0.6, fillcolor="white", fillalpha=1), dodge, y="single")
        .scale(x=so.Nominal(order=shots), **scales)
        .label(x="Examples in the prompt", y=ACCURACY)
    )
    drawn = plotting.draw_plot(plot, plotting.COLUMN if columns < 3 else plotting.PAGE, 1.6)
    for ax in drawn.axes:
        plotting.fraction_axis(ax.yaxis)
        # Lines between numbers of examples.
        for edge in range(1, len(shots)):
            ax.axvline(edge - 0.5, color="#E6E6E6", linewidth=0.5)
    handles = [plotting.line_handle(TYPE_LOOKS[kind] | {"linestyle": "none"}, label) for kind, label in types.items()]
    if not means.all():
        handles.append(plotting.point_handle("one draw of the examples"))
    if rows.sd.notna().any():
        handles.append(plotting.interval_handle(f"± SD over {int(rows.draws.max())} draws"))
    handles.append(plotting.chance_line(drawn.axes, run.chance))
    plotting.legend_below(drawn, handles, 3)
    return drawn


def accuracies_by_size(rows: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return the accuracies of models whose size is known, but those of few instances."""
    sizes = {name: facts["parameters"] for name, facts in run.models.items() if facts["parameters"]}
    rows = estimates_by(rows, "pronoun_type", model=list(sizes))
    return rows[rows.below >= plotting.FEWEST].assign(parameters=lambda of: of.model.map(sizes))


@plotting.figure_style()
def draw_sizes(rows: pd.DataFrame, run: Run) -> Figure:
    """Draw accuracy against the number of parameters (Figure 3): a panel for each type, a line for each family."""
    if rows.empty:
        return plotting.nothing_drawn()
    models = {name: run.models[name] for name in rows.sort_values("parameters").model}
    if nothing := plotting.one_size(models):
        return nothing
    types = levels_in(TYPES, rows.pronoun_type)
    drawn = plotting.new_figure(plotting.COLUMN, 1.25 * len(types) + 0.3)
    grid = drawn.subplots(len(types), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    families: dict[str, list[str]] = {}
    for name, facts in models.items():
        families.setdefault(facts["family"], []).append(name)
    handles = []
    for family, names in families.items():
        look = palette.family_style(models[names[0]])
        for ax, kind in zip(grid, types, strict=True):
            line = rows[rows.pronoun_type == kind].set_index("model").loc[names]
            ax.plot(line.parameters, line.value, markeredgecolor="white", markeredgewidth=0.3, **look)
            ax.vlines(line.parameters, line.low, line.high, color=look["color"], linewidth=0.9)
        handles.append(plotting.line_handle(look, family))
    for ax, label in zip(grid, types.values(), strict=True):
        ax.set_title(label)
        ax.set_xscale("log")
        plotting.fraction_axis(ax.yaxis, 0.5)
        ax.set_ylabel(ACCURACY)
        ax.margins(x=0.12)
    grid[-1].xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    grid[-1].xaxis.set_major_formatter(FuncFormatter(short_number))
    grid[-1].xaxis.set_minor_formatter(NullFormatter())
    grid[-1].set_xlabel("Parameters")
    handles += [plotting.chance_line(grid, run.chance), plotting.interval_handle(INTERVAL)]
    plotting.legend_below(drawn, handles, 4)
    return drawn


def short_number(value: float, _: int | None = None) -> str:
    """Return a number of parameters as a tick's label.

    Examples:
        >>> short_number(134515008), short_number(2.7e9)
        ('135M', '2.7B')
    """
    return f"{value / 1e9:.3g}B" if value >= 1e9 else f"{value / 1e6:.3g}M"


FIGURES = {
    "accuracy_by_group": (accuracies_by_group, draw_groups),
    "model_size": (accuracies_by_size, draw_sizes),
    "few_shot": (accuracies_by_shots, draw_examples),
}
"""Which rows are drawn, and the function that draws them."""


if __name__ == "__main__":
    run_named()
