"""The figures of WinoPron, each by the function of its rule."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.data.templates import CASES
from scripts.core.paper import plotting
from scripts.core.paper.formats import number
from scripts.core.workflow.job import run_named
from scripts.winopron.lib import figures, study
from scripts.winopron.lib.analyses import consistency
from scripts.winopron.lib.analyses.consistency import GROUPS, POOLED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

ANY = "any"
"""What stands for the pronoun set of systems that do not read pronouns."""
BY_LIKELIHOOD = "By likelihood"


def select_accuracy(metrics: "pd.DataFrame", templates: str) -> "pd.DataFrame":
    """Return the accuracies to draw: by ``case`` and ``pronoun_set``, on sentences about two people.

    Rules are left out where there are other systems. What models take by likelihood is the same with every pronoun set:
    they have one row for each case, with the set :data:`ANY`.
    """
    frame = figures.drawn_rows(figures.rows(metrics, templates, entities="double", metric="accuracy", case=CASES))
    frame = frame.assign(pronoun_set=frame.pronoun_set.replace("all", ANY))
    return frame[frame.system.map(study.by_likelihood) == (frame.pronoun_set == ANY)].reset_index(drop=True)


def _accuracy_panels(frame: "pd.DataFrame") -> tuple:
    """Return the panels of accuracies: one of every system, and one of all that resolve by likelihood.

    Returns:
        Title to looks with their rows; looks of pronoun sets; looks of systems that resolve by likelihood.
    """
    alone = [name for name in study.order_systems(frame.system) if not study.by_likelihood(name)]
    panels = {}
    looks = figures.pronoun_looks([name for name in frame.pronoun_set.unique() if name != ANY])
    for system in alone:
        rows = frame[frame.system == system]
        panels[system] = [(look, rows[rows.pronoun_set == name]) for name, look in looks.items()]
    scored = figures.likelihood_looks([name for name in study.order_systems(frame.system) if study.by_likelihood(name)])
    if scored:
        panels[BY_LIKELIHOOD] = [(look, frame[frame.system == name]) for name, look in scored.items()]
    return panels, looks, scored


@plotting.style()
def draw_accuracy(frame: "pd.DataFrame") -> "Figure":
    """Draw the panels of accuracies; up to two share a column."""
    panels, looks, scored = _accuracy_panels(frame)
    narrow = len(panels) <= 2
    drawn, axes = figures.panels(len(panels), 1.35, narrow)
    across = axes.shape[1]
    for ax, (title, of_panel) in zip(axes.flat, panels.items(), strict=False):
        step = 0.8 / len(of_panel)
        for place, (look, rows) in enumerate(of_panel):
            rows = rows.set_index("case").reindex(CASES)
            x = np.arange(len(CASES)) + (place - (len(of_panel) - 1) / 2) * step
            errors = plotting.error_bars(rows.value, rows.ci_low, rows.ci_high)
            ax.errorbar(x, rows.value, yerr=errors, fmt="none", ecolor=look["color"], elinewidth=0.8)
            edge = {"markeredgecolor": "black", "markeredgewidth": 0.7} if look in scored.values() else {}
            ax.plot(x, rows.value, markersize=3.6, **look, **edge)
        ax.set_title(title)
        ax.set_xlim(-0.6, len(CASES) - 0.4)
        plotting.fraction_axis(ax.yaxis)
    figures.label_cases(axes, len(panels), short=across > 3 or (narrow and across > 1))
    for ax in axes[:, 0]:
        ax.set_ylabel("Accuracy")
    chance = plotting.chance_line(axes.flat[: len(panels)], 0.5)
    handles = [plotting.handle(look, label) for label, look in looks.items()] + figures.likelihood_handles(scored)
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(figures.INTERVAL), chance], 6)
    return drawn


def figure_accuracy(*, metrics: str, pdf: str, png: str, csv: str, templates: str) -> None:
    """Draw accuracy by case and pronoun set, a panel for each system, beside chance (paper Figure 3)."""
    frame = select_accuracy(study.read_table(metrics), templates)
    plotting.save(draw_accuracy(frame), frame, pdf, png, csv)


def select_bias(bias: "pd.DataFrame", templates: str) -> "pd.DataFrame":
    """Return the shares to draw: forms of systems that read pronouns, all prompts together.

    Shares of few attempted and solvable template pairs (:data:`scripts.core.paper.formats.FEWEST`) are left out.
    """
    frame = study.with_all_prompts(figures.rows(bias, templates, entities="double"))
    kept = (frame.pronoun_set != "all") & (frame.attempted_solvable >= plotting.FEWEST)
    return frame[kept].reset_index(drop=True)


@plotting.style()
def draw_bias(frame: "pd.DataFrame") -> "Figure":
    """Draw positive bias upwards and negative bias downwards beside that of fair coins, a panel for each system."""
    systems = study.order_systems(frame.system)
    if not systems:
        return plotting.nothing_drawn()
    looks = figures.pronoun_looks(frame.pronoun_set.unique())
    cases = [case for case in CASES if case in set(frame["case"])]
    drawn, axes = figures.panels(len(systems), 1.5, len(systems) == 1)
    step = 0.8 / len(looks)
    for ax, system in zip(axes.flat, systems, strict=False):
        of_system = frame[frame.system == system]
        shown = {
            case: [name for name in looks if name in set(rows.pronoun_set)] for case, rows in of_system.groupby("case")
        }
        for pronoun_set, look in looks.items():
            rows = of_system[of_system.pronoun_set == pronoun_set]
            # Sets without a share in this case leave no gap.
            x = [
                cases.index(case) + (shown[case].index(pronoun_set) - (len(shown[case]) - 1) / 2) * step
                for case in rows["case"]
            ]
            for sign, direction in (("positive", 1), ("negative", -1)):
                values = rows[f"share_{sign}"]
                errors = plotting.error_bars(values, rows[f"share_{sign}_low"], rows[f"share_{sign}_high"])
                ax.bar(
                    x, direction * values, step * 0.9, color=look["color"],
                    yerr=errors if direction > 0 else errors[::-1], error_kw={"elinewidth": 0.7, "ecolor": "#333333"},
                )  # fmt: skip
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set_title(system)
        # Also where a system has bars in one case alone.
        ax.set_xlim(-0.6, len(cases) - 0.4)
        ax.yaxis.set_major_formatter(lambda value, _: number(value, 2, signed=True).rstrip("0").rstrip("."))
    figures.label_cases(axes, len(systems), short=axes.shape[1] > 3, cases=cases)
    # One for all rows: it is longer than a panel is high.
    drawn.supylabel("Share: negative | positive", fontsize=8)
    coins = frame.chance.iloc[0]
    plotting.chance_line(axes.flat[: len(systems)], -coins)
    chance = plotting.chance_line(axes.flat[: len(systems)], coins)
    handles = [plotting.patch_handle(look["color"], label) for label, look in looks.items()]
    plotting.legend_below(drawn, [*handles, plotting.interval_handle(figures.INTERVAL), chance], 6)
    return drawn


def figure_bias(*, bias: str, pdf: str, png: str, csv: str, templates: str) -> None:
    """Draw the share of attempted and solvable template pairs that show positive or negative bias (paper Figure 5)."""
    frame = select_bias(study.read_table(bias), templates)
    plotting.save(draw_bias(frame), frame, pdf, png, csv)


CONSISTENCIES = {"pronoun_consistency": "all pronoun\nsets right", "disambiguation_consistency": "both endings\nright"}
"""Consistencies to the titles of their panels: what has to be right together."""


def select_consistency(metrics: "pd.DataFrame", templates: str) -> "pd.DataFrame":
    """Return the consistencies to draw, with ``chance``: of a system that never reads the pronoun, that of one set.

    Prompted systems are there by single prompts, which have the paper's chance.
    """
    frame: Any = figures.rows(metrics[metrics.pairing != POOLED], templates, entities="double", metric=list(GROUPS))
    chances = figures.rows(metrics, templates, entities="double", metric=[f"{name}_chance" for name in GROUPS])
    chance = chances[chances.pairing != POOLED].drop_duplicates("metric").set_index("metric").value
    expected = [
        chance[f"{row.metric}_chance"] if study.reads_pronouns(row.system) else consistency.chance(row.metric, 1)
        for row in frame.itertuples()
    ]
    return frame.assign(chance=expected)


def _heights(labels: Iterable[str]):
    """Return the heights of labels one above the other: those of two lines have twice the room."""
    room = np.array([1.0 + 0.9 * ("\n" in label) for label in labels])
    return np.cumsum(room) - (room + room[0]) / 2


@plotting.style()
def draw_consistency(frame: "pd.DataFrame") -> "Figure":
    """Draw a row for each system, a panel for each consistency."""
    systems = study.order_systems(frame.system)[::-1]
    # Open points say which systems are rules.
    labels = [system.removesuffix(" (rule)").replace(", ", ",\n") for system in systems]
    lines = len(labels) + sum("\n" in label for label in labels)
    drawn = plotting.figure(plotting.COLUMN, 0.65 + 0.18 * lines)
    axes = drawn.subplots(1, 2, sharey=True)
    for ax, (metric, title) in zip(axes, CONSISTENCIES.items(), strict=True):
        rows = frame[frame.metric == metric].set_index("system").loc[systems]
        y = _heights(labels)
        known = rows.ci_low.notna().to_numpy()
        bars = rows[known]
        # With caps, and over the points: with sixty pairs of people intervals are hardly longer than a point.
        ax.errorbar(
            bars.value, y[known], xerr=plotting.error_bars(bars.value, bars.ci_low, bars.ci_high), fmt="none",
            ecolor=plotting.GREY, elinewidth=0.8, capsize=2, zorder=3,
        )  # fmt: skip
        for place, system, value in zip(y, systems, rows.value, strict=True):
            filled = "white" if study.is_rule(system) else "black"
            ax.plot(value, place, "ok", markerfacecolor=filled, markersize=3, markeredgewidth=0.7, clip_on=False)
        ax.vlines(rows.chance, y - 0.45, y + 0.45, color=plotting.GREY, linestyle=(0, (1, 1.2)), linewidth=0.9)
        ax.set_title(title, loc="center")
        ax.grid(axis="x")
        plotting.fraction_axis(ax.xaxis, 0.5)
        ax.set_yticks(y, labels)
        ax.set_ylim(-0.7, y[-1] + 0.9)
    look = {"color": plotting.GREY, "linestyle": (0, (1, 1.2)), "linewidth": 0.9}
    handles = [plotting.point_handle("rule")] if any(map(study.is_rule, systems)) else []
    handles += [plotting.handle(look, "chance"), plotting.interval_handle("95% interval", "_")]
    plotting.legend_below(drawn, handles, 3)
    return drawn


def figure_consistency(*, metrics: str, pdf: str, png: str, csv: str, templates: str) -> None:
    """Draw both consistencies of every system beside chance (the numbers of paper Table 3)."""
    frame = select_consistency(study.read_table(metrics), templates)
    plotting.save(draw_consistency(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run_named()
