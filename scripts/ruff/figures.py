"""The figures of RUFF on models that score instances, each by the function of its rule.

Those of prompted models are in ``prompting_figures.py``.
"""

import math
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator, NullFormatter

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.core.paper.formats import MISSING_MARK
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.ruff.lib import figures, study

ALL = "all"
"""The level of a factor that is pooled, and the model that stands for all of them."""
KEYS = ["model", "n_distractors"]
VALUES = ["n", "accuracy", "ci_low", "ci_high", "sd"]
"""Columns of accuracies in the CSV files; the study's error bars are ``sd``, over samples. Only bars show them next to
intervals: on curves and points marks would hide them, or they the marks."""
DEVIATION = {"color": "#E6AB02", "linewidth": 1}
"""Of error bars of one standard deviation; intervals are black."""
BOUNDS = {"ci_low": "low", "ci_high": "high"}


def _overall(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of accuracies that are about all instances, with the names of bounds that figures use."""
    return frame[frame.factor == ALL].drop(columns="factor").rename(columns=BOUNDS)


def _without_distractors(path: str, columns: list[str], models: dict[str, dict]) -> pd.DataFrame:
    """Read the rows of an accuracy table that have no distractors; a :class:`UserError` if there are none."""
    frame = figures.read(path, columns, model=models)
    frame = frame[frame.n_distractors == 0]
    if frame.empty:
        raise UserError(f"{path}: has no rows with 0 distractors; add 0 to ruff.distractors in the configuration")
    return frame


def _labels(pronoun_sets: list[dict]) -> dict[str, str]:
    return {entry["set"]: entry["label"] for entry in pronoun_sets}


def largest(models: dict[str, dict]) -> dict[str, dict]:
    """Return the decoder and the encoder with the most parameters, the first listed where two are equal."""
    groups = figures.by_architecture(models)
    names = [max(groups[a], key=lambda m: models[m]["parameters"] or 0) for a in ("decoder", "encoder") if a in groups]
    return {m: models[m] for m in names}


@plotting.style()
def _draw_headline(frame: pd.DataFrame, models: dict[str, dict], chance: float, human: float | dict) -> Figure:
    """Draw one curve for each model, with its interval as shading."""
    if plotting.drop_small_cells(frame).empty:
        return plotting.nothing_drawn()
    drawn = plotting.figure(plotting.COLUMN, 2.0)
    ax = drawn.subplots()
    for name, facts in models.items():
        rows = plotting.drop_small_cells(frame[frame.model == name])
        plotting.curve(ax, rows.n_distractors, rows.accuracy, rows.low, rows.high, plotting.model_style(facts))
    ax.set(xlabel=figures.DISTRACTORS, ylabel="Accuracy")
    plotting.fraction_axis(ax.yaxis)
    figures.distractor_axis(ax)
    handles = figures.model_handles(
        models, [name for name in models if name in set(plotting.drop_small_cells(frame).model)]
    )
    handles += [plotting.chance_line([ax], chance), plotting.human_line([ax], human)]
    handles += plotting.shading_handles(figures.BOOTSTRAP) + plotting.dropped_note(frame, models)
    plotting.legend_below(drawn, handles, 2)
    return drawn


def figure_headline(
    *, accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict
) -> None:
    """Draw accuracy over distractors for the largest decoder and the largest encoder (paper Figure 1).

    ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3).
    """
    shown = largest(models)
    frame = _overall(figures.read(accuracy, [*KEYS, "factor", *VALUES], model=models))
    frame = figures.in_order(frame[frame.model.isin(list(shown))], model=shown, n_distractors=None)
    plotting.save(_draw_headline(frame, shown, chance, human), frame, pdf, png, csv)


@plotting.style()
def _draw_context_free(frame: pd.DataFrame, models: dict[str, dict], labels: dict[str, str], templates: int) -> Figure:
    """Draw the means as bars, single models as points, and what a random choice would give.

    Error bars are the SD over the models of the mean; one has none. Points are set apart along x in registry order.
    """
    drawn = plotting.figure(plotting.COLUMN, 2.2)
    ax = drawn.subplots()
    colours = plotting.pronoun_colours(labels)
    means = frame[frame.model == ALL].set_index("pronoun")
    many = len(labels) > 3
    several = len(models) > 1
    pooled = int(means.n_models.max())
    for x, pronoun in enumerate(labels):
        mean: Any = means.loc[pronoun]
        ax.bar(x, mean["count"], width=0.7, color=colours[pronoun], zorder=1)
        if not several:
            # A set that is never picked has no bar to be seen.
            ax.text(x, mean["count"], f"{mean['count']:.0f}", ha="center", va="bottom", fontsize=7)
        else:
            points = frame[(frame.pronoun == pronoun) & (frame.model != ALL)]
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


def figure_context_free(
    *, context_free: str, context_free_summary: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list
) -> None:
    """Draw how often each pronoun set is picked without any context, averaged over models (paper Figure 4).

    The random line gives every one of ``pronoun_sets`` the same number of sentences.
    """
    labels = _labels(pronoun_sets)
    counts = figures.read(context_free, ["model", "pronoun", "n_templates", "count"], model=models, pronoun=labels)
    columns = ["architecture", "pronoun", "n_models", "mean_count", "sd_count"]
    means = figures.read(context_free_summary, columns, pronoun=labels)
    means = means[means.architecture == ALL].rename(columns={"mean_count": "count", "sd_count": "sd"})
    frame = pd.concat([means.assign(model=ALL), counts.assign(n_models=1)], ignore_index=True)
    frame = figures.in_order(frame, pronoun=labels, model=[ALL, *models])
    frame = frame[["pronoun", "model", "count", "sd", "n_models"]]
    plotting.save(_draw_context_free(frame, models, labels, int(counts.n_templates.max())), frame, pdf, png, csv)


RANDOM = "random"
"""What stands in the CSV file for a choice of every set equally often."""


@plotting.style()
def _draw_context_free_by_model(frame: pd.DataFrame, models: dict[str, dict], labels: dict[str, str]) -> Figure:
    """Draw one stacked bar for each model, below a bar of every set equally often."""
    panels = figures.model_rows(models, (RANDOM, "equally often"))
    drawn, grid = figures.rows_figure(panels, plotting.COLUMN, 0.18, 0.35)
    colours = plotting.pronoun_colours(labels)
    templates = frame.n_templates.max()
    counts = frame.set_index(["model", "pronoun"])["count"]
    for ax, panel in zip(grid, panels, strict=True):
        for y, key in enumerate(panel.keys):
            left = 0
            for pronoun, colour in colours.items():
                count = counts[key, pronoun]
                ax.barh(y, count, left=left, height=0.82, color=colour, edgecolor="white", linewidth=0.4)
                # A number needs about a tenth of the axis.
                if count >= 0.1 * templates:
                    look = {"color": plotting.text_colour(colour), "fontsize": 7}
                    ax.text(left + count / 2, y, f"{count:g}", ha="center", va="center_baseline", **look)
                left += count
        ax.set_xlim(0, templates)
        ax.xaxis.set_major_locator(MultipleLocator(templates / len(labels)))
    grid[-1].set_xlabel(f"Predictions (of {templates} sentences)")
    handles = [plotting.patch_handle(colour, labels[pronoun]) for pronoun, colour in colours.items()]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def figure_context_free_by_model(
    *, context_free: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list
) -> None:
    """Draw how often each model picks each pronoun set without any context (paper Figure 10).

    The baseline gives every one of ``pronoun_sets`` the same number of sentences.
    """
    labels = _labels(pronoun_sets)
    counts = figures.read(context_free, ["model", "pronoun", "n_templates", "count"], model=models, pronoun=labels)
    templates = int(counts.n_templates.max())
    even = {"model": RANDOM, "pronoun": list(labels), "n_templates": templates, "count": templates / len(labels)}
    counts = figures.in_order(counts, model=figures.order_models(models), pronoun=labels)
    frame = pd.concat([pd.DataFrame(even), counts], ignore_index=True)
    plotting.save(_draw_context_free_by_model(frame, models, labels), frame, pdf, png, csv)


@plotting.style()
def _draw_introduction_accuracy(
    frame: pd.DataFrame, models: dict[str, dict], chance: float, human: float | dict
) -> Figure:
    """Draw one bar for each model with its interval."""
    few = plotting.dropped_note(frame, models)
    frame = plotting.drop_small_cells(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    panels = figures.model_rows({name: facts for name, facts in models.items() if name in set(frame.model)})
    drawn, grid = figures.rows_figure(panels, plotting.COLUMN, 0.17, 0.35)
    values = frame.set_index("model")
    for ax, panel in zip(grid, panels, strict=True):
        rows = values.loc[panel.keys]
        colours = [plotting.model_style(models[m])["color"] for m in panel.keys]
        places = range(len(rows))
        ax.barh(places, rows.accuracy, height=0.75, color=colours, zorder=1)
        bars = plotting.error_bars(rows.accuracy, rows.low, rows.high)
        ax.errorbar(rows.accuracy, places, xerr=bars, fmt="none", color="black", linewidth=0.8, capsize=1.5)
        if rows.sd.notna().any():
            spread = plotting.error_bars(rows.accuracy, rows.accuracy - rows.sd, rows.accuracy + rows.sd)
            ax.errorbar(rows.accuracy, places, xerr=spread, fmt="none", capsize=2, zorder=4, **DEVIATION)
        for y, value in zip(places, rows.accuracy, strict=True):
            _beside(ax, 2 / 72, y, f"{value:.2f}", ha="left", va="center_baseline")
        plotting.fraction_axis(ax.xaxis)
        ax.set_xlim(left=0)
    grid[-1].set_xlabel("Accuracy without distractors")
    handles = [plotting.chance_line(grid, chance, "x"), plotting.human_line(grid, human, "x")]
    handles.append(plotting.interval_handle(figures.BOOTSTRAP, "_"))
    if frame.sd.notna().any():
        handles.append(Line2D([], [], marker="|", markersize=4, label="± SD over samples", **DEVIATION))
    plotting.legend_below(drawn, handles + few, 3)
    return drawn


def _beside(ax: Axes, inches: float, y: float, text: str, ha: str = "center", va: str = "center"):
    """Write ``text`` to the right of the axes, ``inches`` from their edge, at the row ``y``."""
    ax.annotate(
        text, (1, y), (72 * inches, 0), xycoords=("axes fraction", "data"), textcoords="offset points", ha=ha, va=va,
        fontsize=7, annotation_clip=False,
    )  # fmt: skip


def figure_introduction_accuracy(
    *, accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict
) -> None:
    """Draw each model's accuracy with an introduction and no distractor (paper Figure 5).

    ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3).
    """
    frame = _overall(_without_distractors(accuracy, [*KEYS, "factor", *VALUES], models))
    frame = figures.in_order(frame.drop(columns="n_distractors"), model=figures.order_models(models))
    plotting.save(_draw_introduction_accuracy(frame, models, chance, human), frame, pdf, png, csv)


def accuracy_by_pronoun(accuracy: pd.DataFrame, tests: pd.DataFrame, models: dict, sets: Iterable[str]) -> pd.DataFrame:
    """Return accuracies without distractors and the tests between sets, one row for each model and pronoun set.

    With more than one model, the rows of the model ``all`` come first: the means that the tests over all models
    compare, which have no interval.

    Args:
        accuracy, tests: Accuracies without distractors, and the pairwise tests.

    Returns:
        ``model``, ``pronoun``, ``accuracy``, ``low``, ``high``, ``sd``, ``n``, and of the test against the next pronoun
        set ``next_pronoun``, ``p_holm`` and ``significant_holm`` (missing for the last set).
    """
    rows = accuracy[accuracy.factor == "pronoun"].rename(columns={"level": "pronoun"} | BOUNDS)
    if len(models) > 1:
        pooled = tests[tests.model == ALL]
        means = dict(zip(pooled.pronoun_b, pooled.mean_b, strict=True))
        means |= dict(zip(pooled.pronoun_a, pooled.mean_a, strict=True))
        rows = pd.concat([rows, pd.DataFrame({"model": ALL, "pronoun": list(means), "accuracy": means.values()})])
    adjacent = pd.DataFrame(list(pairwise(sets)), columns=["pronoun_a", "pronoun_b"])
    marks = tests.merge(adjacent).rename(columns={"pronoun_a": "pronoun", "pronoun_b": "next_pronoun"})
    rows = rows.merge(marks, on=["model", "pronoun"], how="left")
    columns = ["model", "pronoun", "accuracy", "low", "high", "sd", "n", "next_pronoun", "p_holm"]
    rows = rows[[*columns, "significant_holm"]].astype({"n": "Int64"})
    return figures.in_order(rows, model=[ALL, *figures.order_models(models)], pronoun=sets)


MARKS = {
    "∗": "differ (after Holm's correction)",
    "n.s.": "no significant difference",
    MISSING_MARK: "too few occupations for a test",
}
"""What stands in the columns of tests."""


def _mark(row: Any):
    if pd.isna(row.next_pronoun):
        return None
    if pd.isna(row.p_holm):
        return MISSING_MARK
    return "∗" if row.significant_holm else "n.s."


@plotting.style()
def draw_accuracy_by_pronoun(
    frame: pd.DataFrame, models: dict[str, dict], labels: dict[str, str], chance: float, human: float | dict
) -> Figure:
    """Draw one point for each model and pronoun set with its interval.

    Columns beside the axes say whether neighbouring sets differ significantly.
    """
    few = len(models) <= plotting.FEW
    pooled = len(study.pooled_models(models))
    few_instances = plotting.dropped_note(frame, models)
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
            for row in files.rows(frame[frame.model == key], index=False):
                place = sets.index(row.pronoun)
                at = y + 0.6 * ((place + 0.5) / len(sets) - 0.5)
                look = {"color": colours[row.pronoun], "marker": markers[row.pronoun]}
                bars = plotting.error_bars([row.accuracy], [row.low], [row.high])
                ax.errorbar(row.accuracy, at, xerr=bars, elinewidth=0.8, **look)
                mark = _mark(row)
                if mark:
                    _beside(ax, column * (place + 0.6), y, mark)
        plotting.fraction_axis(ax.xaxis)
    for place, (a, b) in enumerate(pairwise(sets)):
        head = f"{a}–\n{b}" if few else f"{a}–{b}"
        _beside(grid[0], column * (place + 0.6), -0.6, head, va="bottom")
    grid[-1].set_xlabel("Accuracy without distractors")
    handles = [Line2D([], [], color=colours[p], marker=markers[p], linestyle="none", label=labels[p]) for p in sets]
    handles += [plotting.chance_line(grid, chance, "x"), plotting.human_line(grid, human, "x")]
    if frame.low.notna().any():
        handles.append(plotting.interval_handle(figures.BOOTSTRAP, "_"))
    marks = {_mark(row) for row in frame.itertuples(index=False)}
    handles += [plotting.note_handle(f"{mark}  {label}") for mark, label in MARKS.items() if mark in marks]
    plotting.legend_below(drawn, handles + few_instances, 2 if few else 4)
    return drawn


def figure_accuracy_by_pronoun(
    *, accuracy: str, pronoun_tests: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list, chance: float,
    human: float | dict,
) -> None:  # fmt: skip
    """Draw each model's accuracy without distractors by pronoun set, with tests between sets (paper Figure 6).

    ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3).
    """
    labels = _labels(pronoun_sets)
    accuracies = _without_distractors(accuracy, [*KEYS, "factor", "level", *VALUES], models)
    columns = ["model", "pronoun_a", "pronoun_b", "mean_a", "mean_b", "p_holm", "significant_holm"]
    tests = figures.read(pronoun_tests, columns, pronoun_a=labels, pronoun_b=labels)
    frame = accuracy_by_pronoun(accuracies, tests, models, labels)
    plotting.save(draw_accuracy_by_pronoun(frame, models, labels, chance, human), frame, pdf, png, csv)


@plotting.style()
def draw_accuracy_by_distractors(
    frame: pd.DataFrame, models: dict[str, dict], chance: float, human: float | dict
) -> Figure:
    """Draw decoders above encoders, with their intervals as shading."""
    references = [partial(plotting.chance_line, chance=chance), partial(plotting.human_line, human=human)]
    return figures.curves(frame, models, "accuracy", "Accuracy", [(None, frame)], figures.BOOTSTRAP, references)


def figure_accuracy_by_distractors(
    *, accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict
) -> None:
    """Draw accuracy over the number of distractors for every model (paper Figure 7).

    ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3).
    """
    frame = _overall(figures.read(accuracy, [*KEYS, "factor", *VALUES], model=models))
    frame = figures.in_order(frame, model=models, n_distractors=None)
    plotting.save(draw_accuracy_by_distractors(frame, models, chance, human), frame, pdf, png, csv)


def _size(count: float, _: int | None = None):
    """Return a power of ten as a size: 100M, 1B."""
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:g}{unit}"
    return f"{count:g}"


@plotting.style()
def draw_scaling(frame: pd.DataFrame, models: dict[str, dict], chance: float, human: float | dict) -> Figure:
    """Draw one point for each model, joined within its family; few distractors above many.

    Error bars are 95 % bootstrap intervals over occupations.
    """
    few = plotting.dropped_note(frame, models)
    frame = plotting.drop_small_cells(frame)
    if frame.empty:
        return plotting.nothing_drawn()
    models = {name: facts for name, facts in models.items() if name in set(frame.model)}
    if alone := plotting.one_size(models):
        return alone
    ends = sorted(frame.n_distractors.unique())
    families = {}
    for facts in models.values():
        families.setdefault((facts["family"], facts["architecture"]), plotting.family_style(facts))
    order = list(plotting.ARCHITECTURES)
    families = dict(sorted(families.items(), key=lambda item: order.index(item[0][1])))
    drawn = plotting.figure(plotting.COLUMN, 1.65 * len(ends) + 0.25)
    grid = drawn.subplots(len(ends), 1, sharex=True, squeeze=False)[:, 0]
    for ax, n in zip(grid, ends, strict=True):
        for (family, architecture), look in families.items():
            rows = frame[(frame.family == family) & (frame.architecture == architecture) & (frame.n_distractors == n)]
            rows = rows.sort_values("parameters")
            colours = [plotting.model_style(models[m])["color"] for m in rows.model]
            ax.plot(rows.parameters, rows.accuracy, **{**look, "marker": "none"})
            bars = plotting.error_bars(rows.accuracy, rows.ci_low, rows.ci_high)
            ax.errorbar(rows.parameters, rows.accuracy, bars, fmt="none", ecolor=colours, elinewidth=0.8)
            points = {"s": 18, "c": colours, "marker": look["marker"], "edgecolor": "white", "linewidth": 0.3}
            ax.scatter(rows.parameters, rows.accuracy, zorder=3, **points)
        ax.set_title(f"{n} distractor{'' if n == 1 else 's'}")
        ax.set_ylabel("Accuracy")
        plotting.fraction_axis(ax.yaxis)
    ax.set_xscale("log")
    smallest, most = math.log10(frame.parameters.min()), math.log10(frame.parameters.max())
    ax.set_xlim(10 ** math.floor(smallest), 10 ** math.ceil(most))
    ax.xaxis.set_major_locator(LogLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(_size))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Size (parameters)")
    handles = [plotting.handle(look, f"{family} ({architecture})") for (family, architecture), look in families.items()]
    handles += [plotting.chance_line(grid, chance), plotting.human_line(grid, human)]
    handles.append(plotting.interval_handle(figures.BOOTSTRAP))
    plotting.legend_below(drawn, handles + few, 2)
    return drawn


def figure_scaling(
    *, scaling: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict
) -> None:
    """Draw accuracy against model size, by architecture, with the fewest and the most distractors (paper Figure 8).

    ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3).
    """
    columns = ["model", "family", "architecture", "parameters", "n_distractors", *VALUES]
    frame = figures.read(scaling, columns, model=models)
    plotting.save(draw_scaling(frame, models, chance, human), frame, pdf, png, csv)


SHOWN = {"distraction": "Distraction", "bias": "Bias"}


@plotting.style()
def _draw_error_types(frame: pd.DataFrame, models: dict[str, dict]) -> Figure:
    """Draw decoders above encoders, distraction beside bias, with the SD over samples as shading.

    A number of distractors at which a model makes few unambiguous errors or none is a gap in its curve.
    """
    panels = [(title, frame[frame.error_type == kind]) for kind, title in SHOWN.items()]
    return figures.curves(frame, models, "share", "Share of errors", panels, plotting.over_samples(frame))


def figure_error_types(*, error_types: str, pdf: str, png: str, csv: str, models: dict) -> None:
    """Draw the shares of distraction and of bias among unambiguous errors (paper Figure 9)."""
    columns = [*KEYS, "error_type", "n_seeds", "n_unambiguous", "share", "sd"]
    frame = figures.read(error_types, columns, model=models)
    frame = frame[frame.error_type.isin(SHOWN)].rename(columns={"n_unambiguous": "n"})
    frame = frame.assign(
        low=plotting.clip_bounds(frame.share - frame.sd), high=plotting.clip_bounds(frame.share + frame.sd)
    )
    frame = figures.in_order(frame, model=models, error_type=SHOWN, n_distractors=None)
    plotting.save(_draw_error_types(frame, models), frame, pdf, png, csv)


PALE = 0.35
"""How much of its colour a pronoun set keeps where it is not the one of the introduction."""


def preferences(predictions: pd.DataFrame, model: str, sets: list[str], draws: int, seed: int) -> pd.DataFrame:
    """Count what a model prefers on instances with an introduction.

    Args:
        predictions: ``setting``, ``model``, ``n_distractors``, ``pronoun`` (of the introduction), ``prediction`` and
            ``occupation``.
        model: Its name.
        sets: Pronoun sets in their order.
        draws: Of the bootstrap over occupations.
        seed: Of the bootstrap.

    Returns:
        ``model``, ``n_distractors``, ``pronoun``, ``preferred``, ``count``, ``n``, ``share``, ``low`` and ``high``; a
        row for each number of distractors, introduction and preference. The shares of one introduction add up to 1; the
        share that keeps to the introduction has an interval.
    """
    rows = predictions[(predictions.setting == "fidelity") & (predictions.model == model)]
    found = []
    number: Any
    for (number, pronoun), part in rows.groupby(["n_distractors", "pronoun"]):
        for preferred in sets:
            kept = part.prediction == preferred
            by_occupation = kept.groupby(part.occupation.to_numpy()).agg(["sum", "size"])
            ends = (
                procedures.cluster_bootstrap(by_occupation["sum"], by_occupation["size"], draws, seed)
                if preferred == pronoun
                else (np.nan, np.nan)
            )
            found.append((model, int(number), pronoun, preferred, int(kept.sum()), len(part), kept.mean(), *ends))
    columns = [*KEYS, "pronoun", "preferred", "count", "n", "share", "low", "high"]
    frame = pd.DataFrame(found, columns=columns)
    return figures.in_order(frame, pronoun=sets, n_distractors=None, preferred=sets)


def _pale(colour: str) -> str:
    """Return a colour mixed with white."""
    red, green, blue = PALE * np.array(to_rgb(colour)) + (1 - PALE)
    return to_hex((red, green, blue))


@plotting.style()
def draw_who_becomes_whom(frame: pd.DataFrame, labels: dict[str, str], chance: float) -> Figure:
    """Draw a panel for each introduction: bars of all preferences, the right one below and solid."""
    frame = plotting.drop_small_cells(frame)
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
            colour = colours[preferred] if preferred == introduced else _pale(colours[preferred])
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
    met = set(frame[(frame["count"] > 0) & frame.pronoun.isin(panels)].preferred)
    shades = {name: colours[name] if name in panels else _pale(colours[name]) for name in labels if name in met}
    handles = [plotting.patch_handle(colour, labels[name]) for name, colour in shades.items()]
    handles += [plotting.chance_line(axes.flat[: len(panels)], chance), plotting.interval_handle(figures.BOOTSTRAP)]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def figure_who_becomes_whom(
    *, predictions: str, pdf: str, png: str, csv: str, models: dict, pronoun_sets: list, chance: float, draws: int,
    seed: int,
) -> None:  # fmt: skip
    """Draw which pronoun set a model prefers after each introduction, by the sentences about others (not in the paper).

    It is about one of ``models``: the decoder with the most parameters, else the encoder. ``predictions`` are those on
    instances with an introduction; ``chance`` is the accuracy of a random pick.
    """
    labels = _labels(pronoun_sets)
    columns = ["setting", "model", "n_distractors", "pronoun", "prediction", "occupation"]
    table = files.read_parquet(predictions, columns=columns)
    frame = preferences(table, study.main_model(models), list(labels), draws, seed)
    plotting.save(draw_who_becomes_whom(frame, labels, chance), frame, pdf, png, csv)


if __name__ == "__main__":
    run_named()
