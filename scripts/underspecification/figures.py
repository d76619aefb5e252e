"""The figures of the study, and how those of Method 1 and Method 2 are drawn."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import seaborn.objects as so
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy
from numpy.typing import ArrayLike

from scripts.core import files
from scripts.core.paper import palette, plotting
from scripts.core.paper.published import find_demonstration_models
from scripts.core.workflow.job import run_named
from scripts.underspecification import illustrations, study
from scripts.underspecification.study import SENTENCES, SPECIFIED
from scripts.underspecification.templates import GROUPS

if TYPE_CHECKING:
    import pandas as pd

PRONOUNS = {"female": "she", "male": "he", "neutral": "they", "neo": "xe"}
"""Genders to the pronoun set whose colour they have."""
LABELS = {"female": "female", "male": "male", "neutral": "neutral", "neo": "neopronouns"}
MARKERS = {"female": "o", "male": "s", "neutral": "^", "neo": "D"}
LINES = {"female": "-", "male": (0, (4, 1.5)), "neutral": (0, (1, 1)), "neo": (0, (6, 1.5, 1, 1.5))}
"""Drawn in this order, each line leaves gaps through which one below it is seen."""
MAIN_PANELS = [
    ("BERT-base", "mask"), ("Flan-UL2-20B", "A"), ("GPT-3", "A"), ("GPT-3.5 SFT", "A"), ("GPT-3.5 RLHF", "A"),
    ("RoBERTa-base", "mask"), ("Flan-UL2-20B", "B"), ("GPT-3", "B"), ("GPT-3.5 SFT", "B"), ("GPT-3.5 RLHF", "B"),
]  # fmt: skip
"""Panels of Figures 3 and 6."""
PROMPTS = ("mask", "A", "B", "C")
PANEL = ["label", "prompt"]
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


def figures(
    *,
    estimates: str,
    curves: str,
    metrics: str,
    correlations: str,
    points: str,
    probabilities: list[str],
    pdf: list[str],
    png: list[str],
    csv: list[str],
    threshold: float,
    models: dict[str, dict],
) -> None:
    """Draw all figures: the folder of a file is the part that it is about, its name says what is drawn.

    ``correlations_<variable>_<choice>`` shows all models, or those of the study's main text;
    ``occupations_<set>_<group>`` the models of a group, and ``occupations_example`` one alone, as in the main text;
    ``example`` the sentences about one occupation as one model fills them. The toy model has ``correlations`` and
    ``points``. ``threshold`` is that of the metric. Demonstrations among the run's ``models`` are drawn where there are
    no others.
    """
    lines = study.read_table(estimates)
    read = {
        "correlations": study.read_table(curves),
        "occupations": study.read_table(metrics),
        "example": illustrations.read_examples(probabilities),
        "toy": files.read_csv(correlations).assign(part="figures"),
    }
    for paths in zip(pdf, png, csv, strict=True):
        part, name = Path(paths[0]).with_suffix("").parts[-2:]
        kind, *of = name.split("_")
        rows = read[kind][read[kind].part == part]
        if set(models) - set(find_demonstration_models(models)):
            rows = rows[~rows.model.isin(list(find_demonstration_models(models)))] if "model" in rows else rows
        if kind == "correlations":
            variable, choice = of
            rows = select_lines(rows, lines, variable, choice)
            drawn = draw_correlations(rows, variable)
        elif kind == "occupations":
            evaluation_set, group = of if len(of) > 1 else ("winogender", EXAMPLE)
            rows = select_occupations(rows, evaluation_set, group)
            drawn = draw_occupations(rows, evaluation_set, threshold)
        elif kind == "example":
            rows = illustrations.select_example(rows)
            drawn = illustrations.draw_example(rows)
        else:
            rows = rows.drop(columns="part")
            drawn = illustrations.draw_toy_model(rows, files.read_csv(points))
        plotting.save_figure(drawn, rows, *paths)


def select_lines(curves: "pd.DataFrame", estimates: "pd.DataFrame", variable: str, choice: str) -> "pd.DataFrame":
    """Return the curves over a variable with slope, intercept and r of each line, panel by panel."""
    rows = curves[(curves.variable == variable) & (curves.accumulation == study.TOP)]
    if choice == "main":
        rows = rows[rows[PANEL].apply(tuple, axis=1).isin(MAIN_PANELS)]
    keys = [*study.IDENTITY, *PANEL, "gender"]
    fits = study.pick_slopes(estimates, metric=["slope", "intercept", "r"], variable=variable, gender=GROUPS)
    fits = fits.pivot(index=keys, columns="metric", values="value").reset_index()
    return rows.merge(fits, on=keys, how="left")


def gender_looks() -> dict[str, dict]:
    """Return the look of each gender's marks and line, in the study's order."""
    known = palette.pronoun_colours(PRONOUNS.values())
    return {
        gender: {"color": known[pronoun], "marker": MARKERS[gender], "linestyle": LINES[gender], "linewidth": 1.1}
        for gender, pronoun in PRONOUNS.items()
    }


def panel_label(label: str, prompt: str = "mask") -> str:
    """Return a model with its prompt, marked if only files of it were released and no figure of the study shows it."""
    mark = "†" if label in study.MODELS and label not in study.IN_FIGURES else ""
    return f"{label}{mark}" if prompt == "mask" else f"{label}{mark} ({prompt})"


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


@plotting.figure_style()
def draw_correlations(curves: "pd.DataFrame", variable: str) -> Figure:
    """Draw one panel for each model and prompt, each with its own scale.

    A model that never gives a pronoun any probability has no panel.

    Args:
        curves: From :func:`scripts.underspecification.correlation.fit_curves`, for one variable, with
            ``accumulation`` top.
        variable: ``date`` or ``place``.
    """
    parts = study.order_rows(curves).groupby(PANEL, sort=False)
    panels = {(str(label), str(prompt)): part for (label, prompt), part in parts}
    known = sorted(panels, key=lambda key: (study.order_labels(curves.label).index(key[0]), PROMPTS.index(key[1])))
    shown = [key for key in known if panels[key].probability.max() > 0]
    if not shown:
        return plotting.nothing_drawn(f"no model gives a pronoun any probability at any {variable}")
    looks = gender_looks()
    columns = min(PANELS_ACROSS, len(shown))
    rows = -(-len(shown) // columns)
    width = plotting.PAGE if columns > 2 else plotting.COLUMN
    drawn = plotting.new_figure(width, (1.3 if rows > 1 else 1.8) * rows)
    axes = np.atleast_1d(drawn.subplots(rows, columns)).ravel()
    places, labels = variable_ticks(curves, variable)
    for index, (ax, key) in enumerate(zip(axes, shown, strict=False)):
        panel = panels[key]
        for place, (gender, look) in enumerate(looks.items()):
            part = panel[panel.gender == gender].sort_values("position")
            if part.empty:
                continue
            colour = look["color"]
            right = (place - (len(looks) - 1) / 2) * GENDER_SHIFT
            beside = offset_copy(ax.transData, drawn, x=right, units="points")
            mark = {"color": colour, "marker": look["marker"], "linestyle": "none", "markersize": MARK_SIZE}
            ax.plot(part.position, part.probability, markeredgewidth=0, alpha=0.75, transform=beside, **mark)
            low, high = (part[name].clip(0, HIGHEST) for name in ("low", "high"))
            ax.fill_between(part.position, low, high, color=colour, alpha=0.25, linewidth=0)
            for side in (-1, 1):
                band = (part.fit + side * part.study_band).clip(0, HIGHEST)
                ax.plot(part.position, band, color=colour, **STUDY_BAND)
            line = clipped_line(part.position.iloc[[0, -1]], part.fit.iloc[[0, -1]])
            ax.plot(*line, color=colour, linewidth=look["linewidth"], linestyle=look["linestyle"])
        if len(known) > 1:
            ax.set_title(panel_label(*key), fontsize=7)
        # Nothing that is drawn is above 100; an almost empty panel must not be blown up.
        ends = panel.high, panel.fit + panel.study_band
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
    drawn_genders = set(curves.gender)
    handles = [plotting.line_handle(look, LABELS[gender]) for gender, look in looks.items() if gender in drawn_genders]
    handles += [
        plotting.patch_handle("#BFBFBF", "95% interval of the line"),
        plotting.line_handle({"color": plotting.GREY, **STUDY_BAND}, "the study's band"),
    ]
    plotting.legend_below(drawn, handles, 5)
    return drawn


EXAMPLE = "GPT-3.5 SFT"
"""The model that has a figure of occupations for itself."""
SENTENCE_LABELS = {
    "man_0": "1: worker (with a man)", "woman_0": "2: worker (with a woman)", "someone_0": "3: worker (with someone)",
    "other_0": "4: worker (with participant)", "man_1": "5: man", "woman_1": "6: woman", "someone_1": "7: someone",
    "other_1": "8: participant", "female_0": "female", "male_0": "male", "unspecified_0": "neither",
}  # fmt: skip
"""Kinds of sentences to what rows call them: ID in the study's Table 2 and whom the pronoun means, or the gender that
a simplified sentence gives."""
KINDS = {True: ("well-specified", "#000000"), False: ("underspecified", "#E69F00")}
"""Whether a sentence is well-specified, to label and colour."""
ROW, NARROW_ROW, MANY = 0.15, 0.11, 9
"""Height of a kind of sentence in inches, and of one in a figure of more than this many models."""


def select_occupations(metrics: "pd.DataFrame", evaluation_set: str, group: str) -> "pd.DataFrame":
    """Return the metrics of one figure: of a group of the study's models, of one of them, or of all of the run."""
    rows = study.pick_metrics(metrics, evaluation_set=evaluation_set)
    # Of two sets of templates the one that the section's numbers are about.
    rows = rows[rows.templates == rows.templates.max()]
    if group in study.MODELS:
        rows = rows[rows.label == group]
    elif group != study.RUN:
        families = study.FIGURE_GROUPS[group]
        rows = rows[rows.label.isin([name for name, facts in study.MODELS.items() if facts.group in families])]
    return rows.assign(sentence=study.sentence_kinds(rows)).reset_index(drop=True)


@plotting.figure_style()
def draw_occupations(frame: "pd.DataFrame", evaluation_set: str, threshold: float) -> Figure:
    """Draw a panel for each model: a row for each kind of sentence, a point for each occupation at its metric.

    Sentences in which no pronoun is probable at a date are counted above the panel.

    Args:
        frame: From :func:`select_occupations`.
        threshold: In percentage points.
    """
    names = study.order_labels(frame.label)
    order = [
        SENTENCE_LABELS[kind] for kind in sorted(SENTENCES[evaluation_set], key=lambda kind: kind not in SPECIFIED)
    ]
    titles = {name: panel_title(name, frame[frame.label == name].undefined, len(names)) for name in names}
    rows = frame[~frame.undefined.astype(bool)]
    rows = rows.assign(
        row=rows.sentence.map(SENTENCE_LABELS),
        kind=rows.sentence.isin(SPECIFIED).map({key: label for key, (label, _) in KINDS.items()}),
        panel=rows.label.map(titles),
    )
    width = plotting.COLUMN if len(names) == 1 else plotting.PAGE
    plot = (
        so.Plot(rows, x="value", y="row", color="kind")
        .facet("panel", order=list(titles.values()), wrap=plotting.panel_columns(len(names)))
        .add(so.Dots(pointsize=3, stroke=0.4, fillalpha=0.3), so.Jitter(0.6, seed=1), orient="y")
        .scale(
            x=so.Continuous(trans="symlog"),
            y=so.Nominal(order=order),
            color=so.Nominal(dict(KINDS.values())),
        )
        .label(x="Metric (points)", y="Sentence")
    )
    drawn = plotting.draw_plot(plot, width, 0.5 + (ROW if len(names) <= MANY else NARROW_ROW) * len(order))
    limit = {"color": plotting.GREY, "linestyle": ":", "linewidth": 0.9}
    for ax, title in zip(drawn.axes, titles.values(), strict=True):
        # Seaborn's median would be that of what its scale makes of the values.
        medians = rows[rows.panel == title].groupby("row").value.median().reindex(order)
        places = np.arange(len(order))
        ax.vlines(medians, places - 0.4, places + 0.4, color="black", linewidth=1.4, zorder=3)
        ax.set_xlim(-0.2, 140)
        ax.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
        ax.grid(visible=True, axis="x")
        ax.axvline(threshold, **limit)
    handles = [
        plotting.line_handle({"color": colour, "marker": "o", "linestyle": ""}, name) for name, colour in KINDS.values()
    ]
    handles += [
        plotting.line_handle({"color": "black", "linewidth": 1.4}, "median"),
        plotting.line_handle(limit, f"threshold ({threshold:g})"),
    ]
    plotting.legend_below(drawn, handles, 4)
    return drawn


def panel_title(label: str, undefined: "pd.Series", panels: int) -> str:
    """Return the title of a model's panel: its label if there are several, and how many sentences are not drawn."""
    lines = [panel_label(label)] if panels > 1 else []
    if undefined.any():
        count = f"{undefined.sum():.0f} of {len(undefined)} without a pronoun"
        lines.append(textwrap.fill(count, 22) if panels > MANY else count)
    return "\n".join(lines)


if __name__ == "__main__":
    run_named()
