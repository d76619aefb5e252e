"""What shows the idea: the toy model (Figure 2 of the study), and the sentences about one occupation (Figure 4)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.transforms import offset_copy

from scripts.core.paper import plotting
from scripts.core.paper.formats import format_number
from scripts.underspecification import study, toy_model
from scripts.underspecification.instances import COREFERENTS, PARTICIPANTS, is_well_specified
from scripts.underspecification.probabilities import read_probabilities

NODES = {"W": (0.1, 0.75), "G": (0.9, 0.75), "S": (0.5, 0.95), "X": (0.25, 0.2), "Y": (0.75, 0.2)}
ARROWS = {
    "well-specified": [("W", "S"), ("G", "S"), ("W", "X"), ("G", "X"), ("X", "Y"), ("G", "Y")],
    "unspecified": [("W", "S"), ("G", "S"), ("W", "X"), ("G", "Y")],
}
PAIRS = (("W", "G"), ("W", "Y"), ("X", "Y"))
POPULATION_LOOKS = {
    "all": {"color": "#B8B8B8", "marker": "o", "markersize": 3, "alpha": 0.5},
    "selected": {"color": "#882255", "marker": "^", "markersize": 3.5},
}


def draw_graph(ax: Axes, task: str) -> None:
    """Draw the causal graph of a task."""
    ax.set(xlim=(-0.05, 1.05), ylim=(0, 1.15), aspect="equal")
    ax.axis("off")
    for start, end in ARROWS[task]:
        ax.add_patch(
            FancyArrowPatch(
                NODES[start], NODES[end], arrowstyle="-|>", mutation_scale=8, shrinkA=8, shrinkB=8, linewidth=0.8,
                color="black",
            )
        )  # fmt: skip
    for name, place in NODES.items():
        shade = "#FBD9C2" if name == "S" else "white"
        ax.add_patch(Circle(place, 0.095, facecolor=shade, edgecolor="black", linewidth=0.8, zorder=3))
        ax.text(*place, name, ha="center", va="center", fontsize=8, zorder=4)
    ax.set_title(task)


@plotting.figure_style()
def draw_toy_model(correlations: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """Draw a row for each task: its graph and three pairs of variables, all draws in grey, those selected on top."""
    drawn = plotting.new_figure(plotting.PAGE, 4.0)
    axes = drawn.subplots(2, 4)
    values: Any = correlations.set_index(["task", "population", "a", "b"])
    for row, task in zip(axes, toy_model.TASKS, strict=True):
        draw_graph(row[0], task)
        for ax, (a, b) in zip(row[1:], PAIRS, strict=True):
            text = []
            for population in toy_model.POPULATIONS:
                part = points[(points.task == task) & (points.selected if population == "selected" else True)]
                look = {"linestyle": "none", "markeredgewidth": 0, "rasterized": True}
                ax.plot(part[a], part[b], **look, **POPULATION_LOOKS[population])
                cell = values.loc[(task, population, a, b)]
                simulated, exact = (format_number(cell[kind], 3, True) for kind in ("simulated", "exact"))
                text.append(f"{population}: {simulated} ({exact})")
            ax.set_title("\n".join(text), fontsize=7)
            ax.set(xlabel=f"{a} (no unit)", ylabel=f"{b} (no unit)")
            ax.grid(False)
    shown = points.groupby("task").size().max()
    share = 100 * points.selected.mean()
    draws = correlations.draws.max()
    labels = {"all": f"the first {shown:,} of {draws:,} draws", "selected": f"those selected ({share:.1f}%)"}
    handles = [
        plotting.line_handle(POPULATION_LOOKS[p] | {"linestyle": "none"}, labels[p]) for p in toy_model.POPULATIONS
    ]
    plotting.legend_below(drawn, handles, 2)
    return drawn


EXAMPLE = "RoBERTa-large"
"""The model of Figure 4."""
REFERENT_LOOKS = {
    "professional": {"color": "#000000", "marker": "o", "linestyle": "-", "linewidth": 0.9},
    "participant": {"color": "#B07800", "marker": "s", "linestyle": (0, (4, 1.5)), "linewidth": 0.9},
}
"""By the person that the pronoun means."""
REFERENT_FILLS = {True: {}, False: {"markerfacecolor": "white"}}
"""By whether the sentence is well-specified."""
REFERENT_SHIFT = {"professional": -1.5, "participant": 1.5}
"""How far right of its date a mark stands, in points."""


def read_examples(probabilities: list[str]) -> pd.DataFrame:
    """Return Winogender's feminine probabilities as the study has them, from the files of all parts."""
    rows = [
        study.pick_metrics(read_probabilities(path), evaluation_set="winogender", dates=...) for path in probabilities
    ]
    return pd.concat(rows, ignore_index=True)


def select_example(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows to draw, of the study's occupation and model.

    Where they are not there it is the first occupation, and the first model that gives a female word any mass in it.
    """
    occupations = sorted(rows.occupation.unique())
    rows = rows[rows.occupation == (study.OCCUPATION if study.OCCUPATION in occupations else occupations[0])]
    models = study.order_labels(rows.label)
    with_mass = [name for name in models if rows.probability[rows.label == name].max() > 0]
    rows = rows[rows.label == (EXAMPLE if EXAMPLE in models else [*with_mass, models[0]][0])]
    rows = rows[rows.templates == rows.templates.iloc[0]]
    return rows.assign(sentence=study.sentence_kinds(rows)).reset_index(drop=True)


def date_spans(dates: np.ndarray) -> list[np.ndarray]:
    """Return the dates in one list, or in two where more than half of the time between the outer ones has none."""
    gaps = np.diff(dates)
    if len(dates) > 1 and 2 * gaps.max() > dates[-1] - dates[0]:
        after = int(gaps.argmax()) + 1
        return [dates[:after], dates[after:]]
    return [dates]


def show_dates(ax: Axes, dates: np.ndarray) -> None:
    """Let a panel show ``dates`` with room on both sides."""
    room = max(1, 0.15 * (dates[-1] - dates[0]))
    ax.set_xlim(dates[0] - room, dates[-1] + room)
    ax.set_xticks(dates if len(dates) <= 3 else dates[[0, -1]])


@plotting.figure_style()
def draw_example(frame: pd.DataFrame) -> Figure:
    """Draw a panel for each other person in the sentence; where dates are missing in between, its halves stand apart.

    Args:
        frame: From :func:`select_example`.
    """
    drawn = plotting.new_figure(plotting.PAGE, 3.7)
    parts = date_spans(np.unique(frame.value.astype(int)))
    axes = drawn.subplots(2, 2 * len(parts), sharey=True, squeeze=False)
    blocks = axes.reshape(2 * 2, len(parts))
    for panel, (block, participant) in enumerate(zip(blocks, PARTICIPANTS, strict=True)):
        for coreferent in COREFERENTS:
            sentence = frame[(frame.participant == participant) & (frame.coreferent == coreferent)]
            sentence = sentence.sort_values("position")
            look = REFERENT_LOOKS[coreferent] | REFERENT_FILLS[is_well_specified("winogender", participant, coreferent)]
            for ax, dates in zip(block, parts, strict=True):
                part = sentence[sentence.value.astype(int).isin(dates)]
                # Of two marks at one place both are seen.
                beside = offset_copy(ax.transData, drawn, x=REFERENT_SHIFT[coreferent], units="points")
                ax.plot(part.value.astype(int), 100 * part.probability, clip_on=False, transform=beside, **look)
        for ax, dates in zip(block, parts, strict=True):
            show_dates(ax, dates)
            if panel // 2:
                ax.set_xlabel("Date (year)")
        for ax in block[1:]:
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        block[0].set_title("<other>" if participant == "other" else f"'{participant}'")
    axes[0, 0].set(ylim=(-4, 104))
    model, occupation = frame.label.iloc[0], frame.occupation.iloc[0]
    drawn.suptitle(f"{model}: sentences about a professional called {occupation}", fontsize=8)
    drawn.supylabel("Normalised female probability (%)", fontsize=8)
    handles = [
        plotting.line_handle(REFERENT_LOOKS[coreferent] | REFERENT_FILLS[specified], label)
        for coreferent, specified, label in (
            ("professional", False, "pronoun: professional"),
            ("participant", False, "pronoun: participant"),
            ("participant", True, "pronoun: participant, well-specified"),
        )
    ]
    for handle in handles:
        handle.set_markeredgecolor(handle.get_color())
    plotting.legend_below(drawn, handles, 3)
    return drawn
