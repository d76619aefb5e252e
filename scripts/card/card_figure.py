"""Draw what one study finds for the models of a card, next to other models and published values."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import PROMPT_FACTOR
from scripts.core.paper import plotting, published
from scripts.core.workflow.job import run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL, RUN, DEFAULT_RUN, PUBLISHED_VALUES = "model", "this run", "default run", "published"
"""Whose a value is."""
WAYS_WIDTH = 0.5
"""What the models of a card take at most of the distance between points."""
OTHERS_OFFSET = -0.28
"""Where other values stand beside the model's, in parts of the distance between points."""
MEAN = "mean of its models"
SEVERAL = (estimate_rows.FULL, estimate_rows.PARTIAL, estimate_rows.PROMPTED)
"""Ways of asking that one study compares."""
HEIGHT, LOWER = 1.8, 1.4
"""Of the panel, in inches; of several models, whose legend is longer."""
OTHERS = {
    RUN: ("models of this run", {"marker": "^", "color": "#56B4E9", "markersize": 4}),
    DEFAULT_RUN: ("models of the default run", {"marker": "v", "color": "#8C8C8C", "markersize": 4}),
    PUBLISHED_VALUES: ("published", {"marker": "d", "color": "#CC79A7", "markersize": 4}),
}
"""What else is drawn: in words, and its look."""
COLUMNS = ["who", "name", "way", "point", "value", "low", "high", "n", "n_unit"]


def main(
    *,
    summary: str,
    others: list,
    printed: list,
    pdf: str,
    png: str,
    csv: str,
    study: str,
    models: list,
    value: str,
    points: list,
    parts: list,
    chance: float | None,
    axis: str,
) -> None:
    """Draw the figure.

    Args:
        summary: The study's rows of the summary.
        others: Summaries of other runs; of models that are not in this one.
        printed: The study's published numbers and its models, or nothing.
        study, models: Their names.
        value: What is drawn.
        points: ``label``, ``metric``, ``factors``, ``printed`` (``scripts/core/workflow/studies.py``, ``Point``).
        parts: Parts of which the first that the card's models have is drawn.
        chance: What a random pick comes to, or None.
        axis: What the points are.
    """
    frame = read(summary, models)
    part = next((name for name in parts if (frame.model.isin(models) & (frame.part == name)).any()), None)
    labels = dict(zip(frame.model, frame.label, strict=True))
    rows = [(MODEL if name in models else RUN, *rest) for name, *rest in of_points(frame, points, part)]
    known = set(frame.model)
    for path in others:
        frame = read(path, models)
        frame = frame[(frame.study == study) & ~frame.model.isin(known)]
        own_part = next((name for name in parts if (frame.part == name).any()), None)
        rows += [(DEFAULT_RUN, *rest) for _, *rest in of_points(frame, points, own_part)]
    if printed:
        numbers, published_models = printed
        rows += [(PUBLISHED_VALUES, *rest) for rest in from_paper(numbers, published_models, points)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    looks = {labels[name]: look for name, look in plotting.in_order(models).items() if name in labels}
    plotting.save(
        draw(frame, value, [point[0] for point in points], chance, axis, looks, len(models) > 1), frame, pdf, png, csv
    )


def read(path: str | Path, models: Collection[str]) -> pd.DataFrame:
    """Return the rows of a summary about what ran, without demonstration models other than the card's."""
    frame = estimate_rows.read([path])
    ran = frame.kind.isin([estimate_rows.MODEL, estimate_rows.SYSTEM])
    return frame[ran & (frame.model.isin(models) | ~frame.demonstration)]


def of_points(frame: pd.DataFrame, points: Iterable[Sequence[Any]], part: str | None) -> list[tuple]:
    """Return model, label, how it was asked, point, value, interval, n and its unit of a part's rows at the points."""
    frame = frame if part is None else frame[frame.part == part]
    # How a study decides elsewhere, such as prompted, is another estimate of the same metric.
    return [
        (
            row["model"],
            row["label"],
            describe_scoring(row),
            name,
            row["value"],
            row["low"],
            row["high"],
            row["n"],
            row["n_unit"],
        )
        for name, metric, factors, _ in points
        for row in estimate_rows.rows_at(frame, metric=metric, **factors).to_dict("records")
    ]


def describe_scoring(row: Mapping[Any, Any]) -> str:
    """Return how a model was asked, in words; empty where its study asks in one way only."""
    how = row["scoring"] if row["scoring"] in SEVERAL else ""
    return ", ".join(
        filter(None, [row["debiasing"], how, f"prompt {row[PROMPT_FACTOR]}" if row.get(PROMPT_FACTOR) else ""])
    )


def from_paper(numbers: str | Path, published_models: str | Path, points: Iterable[Sequence[Any]]) -> list[tuple]:
    """Return what a study published at the points, as rows of the figure; no intervals."""
    listed, known = published.read_published(numbers), published.read_models(published_models)
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
                rows.append((called, "", name, float(found.value.iloc[0]) * scale, None, None, None, None))
    return rows


@plotting.style()
def draw(
    frame: pd.DataFrame,
    value: str,
    points: Sequence[str],
    chance: float | None,
    axis: str,
    looks: Mapping[str, dict],
    several: bool,
) -> "Figure":
    """Draw the models' values with their intervals, others as marks; return the figure.

    A colour is a model's and a marker a method of asking; on the card of one model both are the method's.
    """
    drawn = plotting.figure(plotting.COLUMN, LOWER if several else HEIGHT)
    ax = drawn.subplots()
    places = {point: place for place, point in enumerate(points)}
    own = frame[frame.who == MODEL]
    ways = list(dict.fromkeys(own.way))
    marks = dict(zip(ways, plotting.in_order(ways).values(), strict=True))
    pairs = list(dict.fromkeys(zip(own.name, own.way, strict=True)))
    handles = [plotting.handle(look | {"linestyle": ""}, name) for name, look in looks.items() if several]
    for index, (name, asked) in enumerate(pairs):
        rows = own[(own.name == name) & (own.way == asked)]
        shift = (index - (len(pairs) - 1) / 2) * min(0.14, WAYS_WIDTH / len(pairs))
        look: dict[str, Any] = {
            "marker": marks[asked]["marker"],
            "color": (looks[name] if several else marks[asked])["color"],
        }
        if several and len(ways) == 1:
            look = looks[name]
        bars = plotting.error_bars(rows.value, rows.low, rows.high)
        ax.errorbar(
            rows.point.map(places) + shift, rows.value, yerr=bars, linestyle="", capsize=1.5, elinewidth=0.8, **look
        )
    for asked in ways if len(ways) > 1 or not several else ():
        rows = own[own.way == asked]
        colour = plotting.GREY if several else marks[asked]["color"]
        called = asked or ("no prompt" if len(ways) > 1 else next(iter(looks)))
        look = {"marker": marks[asked]["marker"], "color": colour, "linestyle": ""}
        handles.append(plotting.handle(look, f"{called}, {count(rows)}"))
    for who, (text, look) in OTHERS.items():
        rows = frame[frame.who == who]
        if len(rows):
            ax.plot(rows.point.map(places) + OTHERS_OFFSET, rows.value, linestyle="", **look)
            counted = f"{text} (n = {rows.name.nunique()})" if rows.name.nunique() > 1 else text
            text = "published mean" if set(rows.name) == {MEAN} else counted
            handles.append(plotting.handle(look | {"linestyle": ""}, text))
    ax.set(xlabel=axis, ylabel=value, xlim=(-0.5, len(points) - 0.5))
    ax.set_xticks(range(len(points)), [point.replace(" ", "\n") for point in points])
    plotting.fraction_axis(ax.yaxis)
    if chance is not None:
        handles.append(plotting.chance_line([ax], chance))
    if own.low.notna().any():
        handles.append(plotting.interval_handle("95% interval"))
    plotting.legend_below(drawn, handles, 2)
    return drawn


def count(rows: pd.DataFrame) -> str:
    """Return the number of units that values rest on."""
    ends = dict.fromkeys(f"{n:,.0f}" for n in (rows.n.min(), rows.n.max()))
    unit = rows.n_unit.iloc[0]
    return f"n = {' to '.join(ends)}" + ("" if unit == "instances" else f" {unit}")


if __name__ == "__main__":
    run(main)
