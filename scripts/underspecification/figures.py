"""The figures of Underspecification, each by the function of its rule."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy
from numpy.typing import ArrayLike

from scripts.core import files
from scripts.core.paper import plotting
from scripts.core.paper.formats import number
from scripts.core.workflow.job import run_named
from scripts.underspecification.lib import figures, findings, study
from scripts.underspecification.lib.analyses import simulation
from scripts.underspecification.lib.analyses.word_group_probabilities import read_probabilities
from scripts.underspecification.lib.instances import COREFERENTS, PARTICIPANTS, is_well_specified
from scripts.underspecification.lib.readers import read_rows

if TYPE_CHECKING:
    import pandas as pd

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


@plotting.style()
def draw_toy_model(correlations: "pd.DataFrame", points: "pd.DataFrame") -> Figure:
    """Draw a row for each task: its graph and three pairs of variables, all draws in grey, those selected on top."""
    drawn = plotting.figure(plotting.PAGE, 4.0)
    axes = drawn.subplots(2, 4)
    values: Any = correlations.set_index(["task", "population", "a", "b"])
    for row, task in zip(axes, simulation.TASKS, strict=True):
        draw_graph(row[0], task)
        for ax, (a, b) in zip(row[1:], PAIRS, strict=True):
            text = []
            for population in simulation.POPULATIONS:
                part = points[(points.task == task) & (points.selected if population == "selected" else True)]
                look = {"linestyle": "none", "markeredgewidth": 0, "rasterized": True}
                ax.plot(part[a], part[b], **look, **POPULATION_LOOKS[population])
                cell = values.loc[(task, population, a, b)]
                simulated, exact = (number(cell[kind], 3, True) for kind in ("simulated", "exact"))
                text.append(f"{population}: {simulated} ({exact})")
            ax.set_title("\n".join(text), fontsize=7)
            ax.set(xlabel=f"{a} (no unit)", ylabel=f"{b} (no unit)")
            ax.grid(False)
    shown = points.groupby("task").size().max()
    share = 100 * points.selected.mean()
    draws = correlations.draws.max()
    labels = {"all": f"the first {shown:,} of {draws:,} draws", "selected": f"those selected ({share:.1f}%)"}
    handles = [plotting.handle(POPULATION_LOOKS[p] | {"linestyle": "none"}, labels[p]) for p in simulation.POPULATIONS]
    plotting.legend_below(drawn, handles, 2)
    return drawn


def figure_toy_model(*, correlations: str, points: str, pdf: str, png: str, csv: str) -> None:
    """Draw ``points`` with the simulated and, in parentheses, the exact correlation."""
    table, drawn = files.read_csv(correlations), files.read_csv(points)
    plotting.save(draw_toy_model(table, drawn), table, pdf, png, csv)


MAIN_PANELS = [
    ("BERT-base", "mask"), ("Flan-UL2-20B", "A"), ("GPT-3", "A"), ("GPT-3.5 SFT", "A"), ("GPT-3.5 RLHF", "A"),
    ("RoBERTa-base", "mask"), ("Flan-UL2-20B", "B"), ("GPT-3", "B"), ("GPT-3.5 SFT", "B"), ("GPT-3.5 RLHF", "B"),
]  # fmt: skip
"""Panels of Figures 3 and 6."""
PANELS_ACROSS = 5
YEARS = 50
"""Years between ticks; every other one is labelled."""
HIGHEST = 100
VARIABLE_LABELS = {"date": "Date (year)", "place": "Place (by rank)"}
MARK_SIZE = 3
"""Size of a mark in points."""
STUDY_BAND = {"linewidth": 0.6, "linestyle": ":"}
GENDER_SHIFT = 1.2
"""How far apart the marks of neighbouring genders stand, in points, so that none hides another."""


def variable_ticks(curves: "pd.DataFrame", variable: str) -> tuple[np.ndarray, list[str]]:
    """Return positions with a tick and their labels: round years, or each place with the names of the outer two.

    Args:
        curves: ``position`` and ``value``.
        variable: ``date`` or ``place``.
    """
    grid = curves.drop_duplicates("position").sort_values("position")
    if variable == "place":
        names = [str(value) for value in grid.value]
        return grid.position.to_numpy(), [names[0], *[""] * (len(names) - 2), names[-1]]
    years = grid.value.astype(int).to_numpy()
    first = -(-years[0] // YEARS) * YEARS
    shown = np.arange(first, years[-1] + 1, YEARS)
    # Labels of all of them would touch.
    return np.interp(shown, years, grid.position), [f"{year}" if year % (2 * YEARS) == 0 else "" for year in shown]


def clipped_line(positions: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of a line between 0 and 100 percent: positions and values of its ends."""
    positions, values = np.asarray(positions, dtype=float), np.asarray(values, dtype=float)
    ends = np.clip(values, 0, HIGHEST)
    if values[0] == values[1]:
        return positions, ends
    order = np.argsort(values)
    return np.interp(ends, values[order], positions[order]), ends


def of_panel(curves: "pd.DataFrame", model: str, prompt: str) -> "pd.DataFrame":
    """Return the rows of one model and prompt."""
    return curves[(curves.model == model) & (curves.prompt == prompt)]


@plotting.style()
def draw_correlations(curves: "pd.DataFrame", variable: str) -> Figure:
    """Draw one panel for each model and prompt, each with its own scale.

    A model that never gives a pronoun any probability has no panel.

    Args:
        curves: From :func:`scripts.underspecification.lib.analyses.correlation.curves`, for one variable, with
            ``accumulation`` top.
        variable: ``date`` or ``place``.
    """
    known = figures.panels(curves)
    shown = [key for key in known if of_panel(curves, *key).probability.max() > 0]
    if not shown:
        return plotting.nothing_drawn(f"no model gives a pronoun any probability at any {variable}")
    curves = curves[curves[["model", "prompt"]].apply(tuple, axis=1).isin(shown)]
    colours = figures.colours()
    columns = min(PANELS_ACROSS, len(shown))
    rows = -(-len(shown) // columns)
    width = plotting.PAGE if columns > 2 else plotting.COLUMN
    drawn = plotting.figure(width, (1.3 if rows > 1 else 1.8) * rows)
    axes = np.atleast_1d(drawn.subplots(rows, columns)).ravel()
    places, labels = variable_ticks(curves, variable)
    for index, (ax, (model, prompt)) in enumerate(zip(axes, shown, strict=False)):
        panel = of_panel(curves, model, prompt)
        for gender in figures.genders(panel):
            part = panel[panel.gender == gender].sort_values("position")
            if part.empty:
                continue
            colour = colours[gender]
            look = {"color": colour, "marker": figures.MARKERS[gender], "linestyle": "none", "markersize": MARK_SIZE}
            beside = offset_copy(ax.transData, drawn, x=figures.marker_offset(gender) * GENDER_SHIFT, units="points")
            ax.plot(part.position, part.probability, markeredgewidth=0, alpha=0.75, transform=beside, **look)
            low, high = (part[name].clip(0, HIGHEST) for name in ("fit_low", "fit_high"))
            ax.fill_between(part.position, low, high, color=colour, alpha=0.25, linewidth=0)
            for side in (-1, 1):
                band = (part.fit + side * part.study_band).clip(0, HIGHEST)
                ax.plot(part.position, band, color=colour, **STUDY_BAND)
            line = clipped_line(part.position.iloc[[0, -1]], part.fit.iloc[[0, -1]])
            ax.plot(*line, color=colour, linewidth=1.1, linestyle=figures.LINES[gender])
        if len(known) > 1:
            ax.set_title(figures.panel_label(model, prompt), fontsize=7)
        # Nothing that is drawn is above 100; an almost empty panel must not be blown up.
        ends = panel.fit_high, panel.fit + panel.study_band
        highest = max(panel.probability.max(), *(end.clip(0, HIGHEST).max() for end in ends), 1)
        ax.set_ylim(-0.05 * highest, 1.08 * highest)
        ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        ax.set_xticks(places, labels if index + columns >= len(shown) else [""] * len(labels), fontsize=7)
        if variable == "place":
            for label, side in zip(ax.get_xticklabels()[:: len(places) - 1], ("left", "right"), strict=True):
                label.set_horizontalalignment(side)
        ax.tick_params(axis="y", labelsize=7)
        if index + columns >= len(shown):
            ax.set_xlabel(VARIABLE_LABELS[variable], fontsize=7)
    for ax in axes[len(shown) :]:
        ax.set_visible(False)
    for ax in axes[: len(shown) : columns]:
        ax.set_ylabel("Probability (%)")
    handles = [
        plotting.handle(
            {"color": colours[g], "marker": figures.MARKERS[g], "linestyle": figures.LINES[g], "linewidth": 1.1},
            figures.LABELS[g],
        )
        for g in figures.genders(curves)
    ]
    handles += [
        plotting.patch_handle("#BFBFBF", "95% interval of the line"),
        plotting.handle({"color": plotting.GREY, **STUDY_BAND}, "the study's band"),
    ]
    plotting.legend_below(drawn, handles, 5)
    return drawn


def figure_correlations(*, curves: str, slopes: str, pdf: str, png: str, csv: str, variable: str, choice: str) -> None:
    """Draw ``variable`` (date or place) for all models, or with the ``choice`` main for those of the study's main text.

    Slope, intercept and r of each line are added to the CSV from
    ``slopes``.
    """
    lines, points = (read_rows(path, variable) for path in (slopes, curves))
    points = points[(points.variable == variable) & (points.accumulation == "top")]
    if choice == "main":
        keys = points[["model", "prompt"]].apply(tuple, axis=1)
        points = points[keys.isin(MAIN_PANELS)]
    points = points.reset_index(drop=True)
    lines = lines[(lines.variable == variable) & (lines.accumulation == "top")]
    shown = points.merge(
        lines[lines.metric.isin(["slope", "intercept", "r"])]
        .pivot(index=["model", "prompt", "gender"], columns="metric", values="value")
        .reset_index(),
        on=["model", "prompt", "gender"],
        how="left",
    )
    plotting.save(draw_correlations(points, variable), shown, pdf, png, csv)


COLOUR_STEPS = (2, 6, 20)
"""Factors of the threshold at which the colours change: with 0.5 points at 1, 3 and 10."""
METRIC_COLOURS = ("#EDEDED", "#FBD48A", "#F08A3C", "#B5301F", "#4A0A3A")
"""Up to the threshold, and in steps above it: from light to dark, so that they also differ without their hues."""
SENTENCE_IDS = {
    "man_0": "1", "woman_0": "2", "someone_0": "3", "other_0": "4", "man_1": "5", "woman_1": "6", "someone_1": "7",
    "other_1": "8", "female_0": "f", "male_0": "m", "unspecified_0": "–",
}  # fmt: skip
"""Kinds of sentences as columns call them: the IDs of the study's Table 2, and what a simplified sentence gives."""
SENTENCE_LABELS = {
    "winogender": "ID of the sentence",
    "simplified": "Gender given",
}
SPECIFIED = ("man_1", "woman_1", "female_0", "male_0")
ROW_HEIGHT, CELL_WIDTH, LEAST_WIDTH = 0.115, 0.125, 0.85
"""Height of an occupation, width of a sentence, least width of a model, in inches."""


def select_occupations(metric: "pd.DataFrame", evaluation_set: str, part: str) -> "pd.DataFrame":
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


def colour_limits(threshold: float) -> list[float]:
    """Return where the colours change, in percentage points, the threshold first."""
    # Without a threshold above zero any change at all is above it.
    return [threshold, *(step * (threshold or 0.5) for step in COLOUR_STEPS)]


@plotting.style()
def draw_occupations(frame: "pd.DataFrame", evaluation_set: str, share: dict, threshold: float) -> Figure:
    """Draw a block for each model: a row for each occupation, a cell for each sentence, its colour the metric.

    A model alone gets two blocks, one for each half of many occupations.

    Args:
        frame: From :func:`select_occupations`.
        share: Women among those who have each occupation, in percent; empty if it is not known.
        threshold: In percentage points.
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
    width = max(CELL_WIDTH * (len(columns) + 1), LEAST_WIDTH) * len(blocks) + 0.95 * labelled + 0.12 * len(blocks)
    drawn = plotting.figure(plotting.COLUMN if width <= plotting.COLUMN else plotting.PAGE, ROW_HEIGHT * size + 0.75)
    axes = drawn.subplots(1, len(blocks), squeeze=False)[0]
    edges = colour_limits(threshold)
    norm = BoundaryNorm([-1, *np.nextafter(edges, np.inf), np.inf], len(METRIC_COLOURS))
    wide = frame.pivot(index=["model", "occupation"], columns="kind", values=["metric", "undefined"])
    for place, (ax, (name, shown)) in enumerate(zip(axes, blocks, strict=True)):
        values = wide["metric"].loc[name].reindex(index=shown, columns=columns).to_numpy(dtype=float)
        nothing = wide["undefined"].loc[name].reindex(index=shown, columns=columns).eq(True).to_numpy()
        x = np.array([i + (i >= gap) * 0.5 for i in range(len(columns))])
        for part in (slice(None, gap), slice(gap, None)):
            left = np.append(x[part], x[part][-1] + 1) - 0.5
            ax.pcolormesh(
                left, np.arange(len(shown) + 1) - 0.5, values[:, part], cmap=ListedColormap(METRIC_COLOURS), norm=norm,
                edgecolors="white", linewidth=0.4,
            )  # fmt: skip
        for dark in (False, True):
            row, column = np.nonzero(nothing & ((values > edges[2]) == dark))
            look = {"color": "white" if dark else plotting.GREY, "markersize": 3, "markeredgewidth": 0.5}
            ax.plot(x[column], row, linestyle="none", marker="x", **look)
        ax.set(xlim=(-0.6, x[-1] + 0.6), ylim=(size - 0.5, -0.5))
        ax.set_xticks(x, [SENTENCE_IDS[kind] for kind in columns], fontsize=7)
        ax.set_xlabel(SENTENCE_LABELS[evaluation_set], fontsize=7)
        ax.tick_params(length=0, pad=1.5)
        ax.spines[:].set_visible(False)
        ax.grid(False)
        first = place == 0 or halves > 1
        ax.set_yticks(range(len(shown)), shown if first else [], fontsize=7)
        title = figures.panel_label(name)
        if halves > 1:
            title = title if place == 0 else ""
        ax.set_title(title.replace("-20B", "").replace(" denoiser", "\ndenoiser"), fontsize=7)
    signs = [
        f"≤ {edges[0]:g}",
        *(f"{a:g} to {b:g}" for a, b in itertools.pairwise(edges)),
        f"> {edges[-1]:g}",
    ]
    handles: list[Artist] = [
        plotting.patch_handle(c, f"{s} points") for c, s in zip(METRIC_COLOURS, signs, strict=True)
    ]
    if frame.undefined.any():
        look = {"color": plotting.GREY, "marker": "x", "linestyle": "none", "markersize": 3}
        cross = plotting.handle(look, "no pronoun is probable at a date")
        cross.set_markeredgecolor(plotting.GREY)
        handles.append(cross)
    # A few rows are not as high as the whole label.
    order = " by share of women" if share and size > 12 else ""
    axes[0].set_ylabel(f"Occupation{order}", fontsize=7)
    plotting.legend_below(drawn, handles, 3)
    return drawn


def figure_occupations(
    *,
    metric: str,
    pdf: str,
    png: str,
    csv: str,
    evaluation_set: str,
    part: str,
    threshold: float,
    shares: str | None = None,
) -> None:
    """Draw one ``part`` of the models; ``shares`` (TSV) has the share of women by occupation, where it was fetched."""
    frame = select_occupations(read_rows(metric, "the metric"), evaluation_set, part)
    share = findings.read_shares(shares) if shares else {}
    plotting.save(draw_occupations(frame, evaluation_set, share, threshold), frame, pdf, png, csv)


REFERENT_LOOKS = {
    "professional": {"color": "#000000", "marker": "o", "linestyle": "-", "linewidth": 0.9},
    "participant": {"color": "#B07800", "marker": "s", "linestyle": (0, (4, 1.5)), "linewidth": 0.9},
}
"""By the person that the pronoun means."""
REFERENT_FILLS = {True: {}, False: {"markerfacecolor": "white"}}
"""By whether the sentence is well-specified."""
REFERENT_SHIFT = {"professional": -1.5, "participant": 1.5}
"""How far right of its date a mark stands, in points."""


def select_example(frame: "pd.DataFrame", occupation: str, model: str) -> "pd.DataFrame":
    """Return the rows to draw, for the wanted occupation and model.

    Where they are not there it is the first occupation, and the first model that gives a female word any mass in it.
    """
    rows = frame[
        (frame.evaluation_set == "winogender")
        & (frame.gender == "female")
        & (frame.accumulation == "top")
        & frame.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    occupations = sorted(rows.occupation.unique())
    rows = rows[rows.occupation == (occupation if occupation in occupations else occupations[0])]
    models = study.order(rows.model)
    if model not in models:
        model = next((name for name in models if rows.probability[rows.model == name].max() > 0), models[0])
    rows = rows[rows.model == model]
    rows = rows[rows.templates == rows.templates.iloc[0]]
    return rows.assign(kind=figures.kinds_of_sentences(rows)).reset_index(drop=True)


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


@plotting.style()
def draw_example(frame: "pd.DataFrame") -> Figure:
    """Draw a panel for each other person in the sentence; where dates are missing in between, its halves stand apart.

    Args:
        frame: From :func:`select_example`.
    """
    drawn = plotting.figure(plotting.PAGE, 3.7)
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
                ax.set_xlabel(VARIABLE_LABELS["date"])
        for ax in block[1:]:
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        block[0].set_title("<other>" if participant == "other" else f"'{participant}'")
    axes[0, 0].set(ylim=(-4, 104))
    model, occupation = frame.model.iloc[0], frame.occupation.iloc[0]
    drawn.suptitle(f"{model}: sentences about a professional called {occupation}", fontsize=8)
    drawn.supylabel("Normalised female probability (%)", fontsize=8)
    handles = [
        plotting.handle(REFERENT_LOOKS[coreferent] | REFERENT_FILLS[specified], label)
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


def figure_example(*, probabilities: list, pdf: str, png: str, csv: str, occupation: str, model: str) -> None:
    """Draw the sentences about ``occupation`` as ``model`` fills them, or what :func:`select_example` takes."""
    frame = select_example(read_probabilities(probabilities), occupation, model)
    plotting.save(draw_example(frame), frame, pdf, png, csv)


figure_occupations_example = figure_occupations


if __name__ == "__main__":
    run_named()
