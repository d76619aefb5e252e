"""The figures of RUFF, each by the functions that its file names.

One of them selects the rows that are drawn, which are the figure's CSV file, and the other draws them.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from scripts.core.errors import UserError
from scripts.core.paper import palette, plotting
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.ruff import curves, prompting_figures, pronoun_figure, scaling_figure, study
from scripts.ruff.curves import Drawn, prepare_rows, select_accuracies, write_beside

DEVIATION = {"color": "#E6AB02", "linewidth": 1}
"""Of error bars of one standard deviation; intervals are black. Only bars show them next to intervals: on curves and
points marks would hide them, or they the marks."""


def figures(
    *, estimates: str, pronoun_tests: str, against_scored: str, pdf: list, png: list, csv: list, templates: str,
    models: dict, asked: dict, pronoun_sets: list, chance: float, human: float | dict, methods: list,
) -> None:  # fmt: skip
    """Draw the figures of a template set, each of which its file names.

    ``models`` are those that are scored and ``asked`` those that are prompted, by ``methods``; ``chance`` is the
    accuracy of a random pick, ``human`` that of people (section 3.3).
    """
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    paths = {"estimates": estimates, "pronoun_tests": pronoun_tests, "against_scored": against_scored}
    tables = {name: study.read_table(path, templates) for name, path in paths.items()}
    for made in zip(pdf, png, csv, strict=True):
        name = Path(made[0]).stem
        select, draw = FIGURES[name]
        shown = asked | models if name == "prompting_against_scored" else asked if "prompting" in name else models
        run = Drawn(shown, labels, chance, human, methods)
        rows = select(tables, run)
        if rows.empty:
            remedy = "add 0 to ruff.distractors in the configuration, if it is missing, or run the workflow again"
            raise UserError(f"{estimates}: has no rows for {name}; {remedy}")
        plotting.save_figure(draw(rows, run), rows, *made)


def largest(models: dict[str, dict]) -> dict[str, dict]:
    """Return the decoder and the encoder with the most parameters, the first listed where two are equal."""
    groups = curves.by_architecture(models)
    names = [max(groups[a], key=lambda m: models[m]["parameters"] or 0) for a in ("decoder", "encoder") if a in groups]
    return {m: models[m] for m in names}


def headline(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Accuracy over distractors for the largest decoder and the largest encoder (paper Figure 1)."""
    rows = select_accuracies(tables, run)
    return study.in_order(
        rows[rows.model.isin(list(largest(run.models)))], model=largest(run.models), n_distractors=None
    )


@curves.draws
def draw_headline(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw one curve for each model, with its interval as shading."""
    models = largest(run.models)
    drawn = plotting.new_figure(plotting.COLUMN, 2.0)
    ax = drawn.subplots()
    names = [name for name in models if name in run.drawn]
    for name in names:
        rows = frame[frame.model == name]
        curves.draw_curve(ax, rows.n_distractors, rows.value, rows.low, rows.high, palette.model_style(models[name]))
    ax.set(xlabel=curves.DISTRACTORS, ylabel="Accuracy")
    plotting.fraction_axis(ax.yaxis)
    curves.distractor_axis(ax)
    handles = curves.model_handles(models, names) + run.references([ax])
    handles += curves.shading_handles(curves.BOOTSTRAP) + run.dropped
    plotting.legend_below(drawn, handles, 2)
    return drawn


def context_free(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """How often each pronoun set is picked without any context, and averaged over models (paper Figure 4)."""
    counts = context_free_by_model(tables, run).iloc[len(run.labels) :]
    pooled = counts[counts.model.isin(study.pooled_models(run.models))].groupby("preferred")["count"]
    means = pooled.agg(count="mean", sd="std", n_models="count").reset_index().assign(model=POOLED)
    rows = pd.concat([means, counts.drop(columns="sd").assign(n_models=1)], ignore_index=True)
    return study.in_order(rows, preferred=run.labels, model=[POOLED, *run.models])


@plotting.figure_style()
def draw_context_free(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw the means as bars, single models as points, and what a random choice would give.

    Error bars are the SD over the models of the mean; one has none. Points are set apart along x in registry order.
    """
    labels, templates = run.labels, int(frame.n.max())
    drawn = plotting.new_figure(plotting.COLUMN, 2.2)
    ax = drawn.subplots()
    colours = palette.pronoun_colours(labels)
    means = frame[frame.model == POOLED].set_index("preferred")
    many = len(labels) > 3
    several = len(run.models) > 1
    pooled = int(means.n_models.max())
    for x, pronoun in enumerate(labels):
        mean: Any = means.loc[pronoun]
        ax.bar(x, mean["count"], width=0.7, color=colours[pronoun], zorder=1)
        if not several:
            # A set that is never picked has no bar to be seen.
            ax.text(x, mean["count"], f"{mean['count']:.0f}", ha="center", va="bottom", fontsize=7)
        else:
            points = frame[(frame.preferred == pronoun) & (frame.model != POOLED)]
            apart = [x + 0.5 * (i / (len(points) - 1) - 0.5) for i in range(len(points))]
            ax.scatter(apart, points["count"], s=9, color="white", edgecolor=plotting.GREY, linewidth=0.6, zorder=3)
            if pooled > 1:
                bars = templates * plotting.error_bars(
                    *([(mean["count"] + sign * mean.sd) / templates] for sign in (0, -1, 1))
                )
                ax.errorbar(x, mean["count"], bars, color="black", linewidth=1, capsize=2.5, zorder=4)
    ax.set_xticks(range(len(labels)), [label.replace("/", "/\n") if many else label for label in labels.values()])
    ax.set_ylim(bottom=0)
    ax.set_ylabel(f"Predictions (of {templates} sentences)")
    handles = [plotting.reference_line([ax], templates / len(labels), "equally often", (0, (1, 1.2)))]
    if several:
        if pooled > 1:
            handles.append(plotting.interval_handle(f"mean ± SD over {pooled} models"))
        handles.append(plotting.point_handle("one model"))
    plotting.legend_below(drawn, handles, 3)
    return drawn


RANDOM = "random"
"""What stands in the CSV file for a choice of every set equally often."""


def context_free_by_model(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """How often each model picks each set without any context, behind every set equally often (paper Figure 10)."""
    rows = study.pick(tables["estimates"], "picked", preferred=...).rename(columns={"above": "count", "below": "n"})
    rows = study.in_order(rows, model=curves.order_models(run.models), preferred=run.labels)
    even = rows[rows.model == rows.model.iloc[0]].assign(model=RANDOM)
    return pd.concat([even.assign(count=even.n / len(run.labels), value=1 / len(run.labels)), rows], ignore_index=True)


@plotting.figure_style()
def draw_context_free_by_model(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw one stacked bar for each model, below a bar of every set equally often."""
    panels = curves.model_rows(run.models, (RANDOM, "equally often"))
    drawn, grid = curves.rows_figure(panels, plotting.COLUMN, 0.18, 0.35)
    labels, templates = run.labels, int(frame.n.max())
    colours = palette.pronoun_colours(labels)
    counts = frame.set_index(["model", "preferred"])["count"]
    for ax, panel in zip(grid, panels, strict=True):
        for y, key in enumerate(panel.keys):
            left = 0
            for pronoun, colour in colours.items():
                count = counts[key, pronoun]
                ax.barh(y, count, left=left, height=0.82, color=colour, edgecolor="white", linewidth=0.4)
                # A number needs about a tenth of the axis.
                if count >= 0.1 * templates:
                    look = {"color": palette.text_colour(colour), "fontsize": 7}
                    ax.text(left + count / 2, y, f"{count:g}", ha="center", va="center_baseline", **look)
                left += count
        ax.set_xlim(0, templates)
        ax.xaxis.set_major_locator(MultipleLocator(templates / len(labels)))
    grid[-1].set_xlabel(f"Predictions (of {templates} sentences)")
    handles = [plotting.patch_handle(colour, labels[pronoun]) for pronoun, colour in colours.items()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def introduction_accuracy(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Each model's accuracy with an introduction and no distractor (paper Figure 5)."""
    rows = select_accuracies(tables, run, n_distractors="0")
    return study.in_order(rows, model=curves.order_models(run.models))


@curves.draws
def draw_introduction_accuracy(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw one bar for each model with its interval."""
    panels = curves.model_rows(run.drawn)
    drawn, grid = curves.rows_figure(panels, plotting.COLUMN, 0.17, 0.35)
    values = frame.set_index("model")
    for ax, panel in zip(grid, panels, strict=True):
        rows = values.loc[panel.keys]
        colours = [palette.model_style(run.models[m])["color"] for m in panel.keys]
        places = range(len(rows))
        ax.barh(places, rows.value, height=0.75, color=colours, zorder=1)
        bars = plotting.error_bars(rows.value, rows.low, rows.high)
        ax.errorbar(rows.value, places, xerr=bars, fmt="none", color="black", linewidth=0.8, capsize=1.5)
        if rows.sd.notna().any():
            spread = plotting.error_bars(rows.value, rows.value - rows.sd, rows.value + rows.sd)
            ax.errorbar(rows.value, places, xerr=spread, fmt="none", capsize=2, zorder=4, **DEVIATION)
        for y, value in zip(places, rows.value, strict=True):
            write_beside(ax, 2 / 72, y, f"{value:.2f}", ha="left", va="center_baseline")
        plotting.fraction_axis(ax.xaxis)
        ax.set_xlim(left=0)
    grid[-1].set_xlabel("Accuracy without distractors")
    handles = [*run.references(grid, "x"), plotting.interval_handle(curves.BOOTSTRAP, "_")]
    if frame.sd.notna().any():
        handles.append(Line2D([], [], marker="|", markersize=4, label="± SD over samples", **DEVIATION))
    plotting.legend_below(drawn, handles + run.dropped, 3)
    return drawn


@curves.draws
def draw_accuracy_by_distractors(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw decoders above encoders, with their intervals as shading (paper Figure 7)."""
    return curves.draw_curves(run, "Accuracy", [(None, frame)], curves.BOOTSTRAP, references=True)


SHOWN = {"distraction": "Distraction", "bias": "Bias"}


def error_types(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """The shares of distraction and of bias among unambiguous errors (paper Figure 9)."""
    rows = prepare_rows(study.pick(tables["estimates"], list(SHOWN), n_distractors=...))
    ends = {end: plotting.clip_bounds(rows.value + sign * rows.sd) for end, sign in (("low", -1), ("high", 1))}
    return study.in_order(rows.assign(**ends), model=run.models, metric=SHOWN, n_distractors=None)


@curves.draws
def draw_error_types(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw decoders above encoders, distraction beside bias, with the SD over samples as shading.

    A number of distractors at which a model makes few unambiguous errors or none is a gap in its curve.
    """
    panels = [(title, frame[frame.metric == kind]) for kind, title in SHOWN.items()]
    spread = f"± SD over {int(frame.samples.max())} samples" if frame.sd.notna().any() else None
    return curves.draw_curves(run, "Share of errors", panels, spread)


PALE = 0.35
"""How much of its colour a pronoun set keeps where it is not the one of the introduction."""


def who_becomes_whom(tables: dict[str, pd.DataFrame], run: Drawn) -> pd.DataFrame:
    """Which set one model prefers after each introduction (not in the paper); the right one has its interval.

    The model is the decoder with the most parameters, else the encoder.
    """
    rows = tables["estimates"][tables["estimates"].model == study.main_model(run.models)]
    rows = prepare_rows(study.pick(rows, "preferred", n_distractors=..., pronoun=..., preferred=...))
    other = rows.pronoun != rows.preferred
    rows = rows.assign(low=rows.low.mask(other), high=rows.high.mask(other))
    return study.in_order(rows, pronoun=run.labels, n_distractors=None, preferred=run.labels)


def _pale(colour: str) -> str:
    """Return a colour mixed with white."""
    red, green, blue = PALE * np.array(to_rgb(colour)) + (1 - PALE)
    return to_hex((red, green, blue))


@curves.draws
def draw_who_becomes_whom(frame: pd.DataFrame, run: Drawn) -> Figure:
    """Draw a panel for each introduction: bars of all preferences, the right one below and solid."""
    labels = run.labels
    panels = [name for name in labels if name in set(frame.pronoun)]
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    colours = palette.pronoun_colours(labels)
    drawn = plotting.new_figure(plotting.COLUMN, 1.15 * down + 0.35)
    axes = drawn.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for ax, introduced in zip(axes.flat, panels, strict=False):
        rows = frame[frame.pronoun == introduced]
        base = dict.fromkeys(sorted(rows.n_distractors.unique()), 0.0)
        # Bars of what was never preferred would only be lines.
        for preferred in [introduced, *(name for name in labels if name != introduced)]:
            of_set = rows[(rows.preferred == preferred) & (rows.above > 0)]
            colour = colours[preferred] if preferred == introduced else _pale(colours[preferred])
            bottom = of_set.n_distractors.map(base)
            ax.bar(of_set.n_distractors, of_set.value, 0.8, bottom, color=colour, edgecolor="white", linewidth=0.4)
            base |= dict(zip(of_set.n_distractors, bottom + of_set.value, strict=True))
        right = rows[rows.preferred == introduced]
        bars = plotting.error_bars(right.value, right.low, right.high)
        ax.errorbar(right.n_distractors, right.value, yerr=bars, fmt="none", ecolor="black", elinewidth=0.8)
        ax.set_title(f"introduced with {introduced}")
        plotting.fraction_axis(ax.yaxis)
        ax.set_xticks(sorted(frame.n_distractors.unique()))
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
        # The panel above closes its column.
        axes[-2, 1].tick_params(labelbottom=True)
        axes[-2, 1].set_xlabel(curves.DISTRACTORS)
    for ax in axes[-1, : len(panels) - across * (down - 1)]:
        ax.set_xlabel(curves.DISTRACTORS)
    for ax in axes[:, 0]:
        ax.set_ylabel("Share")
    met = set(frame[(frame.above > 0) & frame.pronoun.isin(panels)].preferred)
    shades = {name: colours[name] if name in panels else _pale(colours[name]) for name in labels if name in met}
    handles = [plotting.patch_handle(colour, labels[name]) for name, colour in shades.items()]
    handles += [plotting.chance_line(axes.flat[: len(panels)], run.chance), plotting.interval_handle(curves.BOOTSTRAP)]
    plotting.legend_below(drawn, handles, 2)
    return drawn


FIGURES = {
    "headline": (headline, draw_headline),
    "context_free": (context_free, draw_context_free),
    "introduction_accuracy": (introduction_accuracy, draw_introduction_accuracy),
    "accuracy_by_pronoun": (pronoun_figure.accuracy_by_pronoun, pronoun_figure.draw_accuracy_by_pronoun),
    "accuracy_by_distractors": (select_accuracies, draw_accuracy_by_distractors),
    "who_becomes_whom": (who_becomes_whom, draw_who_becomes_whom),
    "scaling": (scaling_figure.scaling, scaling_figure.draw_scaling),
    "error_types": (error_types, draw_error_types),
    "context_free_by_model": (context_free_by_model, draw_context_free_by_model),
    "prompting_vanilla": (prompting_figures.vanilla, prompting_figures.draw_vanilla),
    "prompting_final": (partial(prompting_figures.chains, answer="final"), prompting_figures.draw_methods),
    "prompting_chain": (partial(prompting_figures.chains, answer="chain"), prompting_figures.draw_methods),
    "prompting_against_scored": (prompting_figures.against_scored, prompting_figures.draw_against_scored),
}
"""Which rows are drawn, and the function that draws them."""


if __name__ == "__main__":
    run_named()
