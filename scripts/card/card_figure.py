"""Draw what one study finds for a model, beside other models and published values."""

import pandas as pd

from scripts.core import estimate_rows, plotting
from scripts.core.job import run
from scripts.core.paper import published
from scripts.core.paper import summary as summaries

MODEL, RUN, DEFAULT_RUN, PUBLISHED_VALUES = "model", "this run", "default run", "published"
"""Whose a value is."""
MODE_COLOURS = ("#000000", "#E69F00", "#6A3D9A", "#009E73")
"""Colours of the ways in which the model was asked."""
OTHERS_OFFSET = -0.28
"""Where other values stand beside the model's, in parts of the distance between points."""
MEAN = "mean of its models"
COLUMNS = ["who", "name", "point", "value", "low", "high", "n"]


def main(
    *,
    summary: str,
    others: list,
    printed: list,
    pdf: str,
    png: str,
    csv: str,
    study: str,
    model: str,
    value: str,
    points: list,
    parts: list,
    chance: float | None,
    axis: str,
):
    """Draw the figure.

    Args:
        summary: The study's rows of the summary.
        others: Summaries of other runs; of models that are not in this one.
        printed: The study's published numbers and its models, or nothing.
        study, model: Their names.
        value: What is drawn.
        points: ``label``, ``metric``, ``factors``, ``printed`` (``scripts/core/studies.py``, ``Point``).
        parts: Parts of which the first that the model has is drawn.
        chance: What a random pick comes to, or None.
        axis: What the points are.
    """
    frame = read(summary, model)
    rows = [(MODEL if name == model else RUN, *rest) for name, *rest in of_points(frame, points, parts, model)]
    known = set(frame.model)
    for path in others:
        frame = read(path, model)
        rows += [
            (DEFAULT_RUN, *rest)
            for name, *rest in of_points(frame[frame.study == study], points, parts, None)
            if name not in known
        ]
    if printed:
        rows += [(PUBLISHED_VALUES, *rest) for rest in from_paper(*printed, points)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    plotting.save(draw(frame, value, [point[0] for point in points], chance, axis), frame, pdf, png, csv)


def read(path, model):
    """Return the rows of a summary about what ran, without demonstration models other than ``model``."""
    frame = estimate_rows.read([path])
    ran = frame.kind.isin([estimate_rows.MODEL, estimate_rows.SYSTEM])
    return frame[ran & ((frame.model == model) | ~frame.demonstration)]


def of_points(frame, points, parts, model):
    """Return model, what figures call it, point, value, interval and n of rows at the points.

    They are of the first of ``parts`` that the model has, of the first of all if it is None.
    """
    wanted = [name for name in parts if model is None or ((frame.model == model) & (frame.part == name)).any()]
    if parts:
        frame = frame[frame.part == wanted[0]] if wanted else frame.iloc[:0]
    # How a study decides elsewhere, such as prompted, is another estimate of the same metric.
    return [
        (row["model"], summaries.describe_subject(row), name, row["value"], row["low"], row["high"], row["n"])
        for name, metric, factors, _ in points
        for row in estimate_rows.rows_at(frame, metric=metric, **factors).to_dict("records")
    ]


def from_paper(numbers, models, points):
    """Return what a study prints at the points: model, point, value; no intervals."""
    listed, known = published.read_published(numbers), published.read_models(models)
    rows = []
    for name, _, _, printed in points:
        if not printed:
            continue
        item, row, column, scale = printed
        single = "{model}" not in row + column
        for called in [MEAN] if single else known.label:
            found = listed[
                (listed.item == item)
                & (listed.row == row.replace("{model}", called))
                & (listed.column == column.replace("{model}", called))
                & listed.kind.isin(["table", "text"])
            ]
            if len(found):
                rows.append((called, name, float(found.value.iloc[0]) * scale, None, None, None))
    return rows


@plotting.style()
def draw(frame, value, points, chance, axis):
    """Draw the model's values with their intervals, others as marks; return the figure."""
    drawn = plotting.figure(plotting.COLUMN, 2.3)
    ax = drawn.subplots()
    places = {point: place for place, point in enumerate(points)}
    handles = []
    looks = {
        RUN: {"marker": "^", "color": "#56B4E9", "markersize": 4},
        DEFAULT_RUN: {"marker": "v", "color": "#8C8C8C", "markersize": 4},
        PUBLISHED_VALUES: {"marker": "d", "color": "#CC79A7", "markersize": 4},
    }
    words = {
        RUN: "other models of this run",
        DEFAULT_RUN: "models of the default run",
        PUBLISHED_VALUES: "models of the study, as printed",
    }
    for who, look in looks.items():
        rows = frame[frame.who == who]
        if len(rows):
            ax.plot(rows.point.map(places) + OTHERS_OFFSET, rows.value, linestyle="", **look)
            text = f"{words[who]} ({rows.name.nunique()})"
            if set(rows.name) == {MEAN}:
                text = "mean of the study's models, as printed"
            handles.append(plotting.handle(look | {"linestyle": ""}, text))
    own = frame[frame.who == MODEL]
    names = list(dict.fromkeys(own.name))
    for index, name in enumerate(names):
        rows = own[own.name == name]
        shift = (index - (len(names) - 1) / 2) * 0.14
        look = {
            "color": MODE_COLOURS[index % len(MODE_COLOURS)],
            "marker": plotting.MARKERS[index % len(plotting.MARKERS)],
        }
        bars = plotting.error_bars(rows.value, rows.low, rows.high)
        ax.errorbar(
            rows.point.map(places) + shift, rows.value, yerr=bars, linestyle="", capsize=1.5, elinewidth=0.8, **look
        )
        handles.insert(index, plotting.handle(look | {"linestyle": ""}, name))
    ax.set(xlabel=axis, ylabel=value, xlim=(-0.5, len(points) - 0.5))
    ax.set_xticks(range(len(points)), [point.replace(" ", "\n") for point in points])
    plotting.fraction_axis(ax.yaxis)
    if chance is not None:
        handles.append(plotting.chance_line([ax], chance))
    handles.append(plotting.interval_handle("95 % interval"))
    plotting.legend_below(drawn, handles, 1 if max(map(len, names), default=0) > 26 else 2)
    return drawn


if __name__ == "__main__":
    run(main)
