"""Draw what each study finds for the models of a card: a panel for each, next to other models and published values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import PROMPT_FACTOR
from scripts.core.paper import palette, plotting, published
from scripts.core.workflow.job import run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL, RUN, PUBLISHED = "model", "other models of this run", "published"
"""Whose a value is."""
OTHERS = {RUN: {"marker": "^", "color": "#56B4E9"}, PUBLISHED: {"marker": "d", "color": "#CC79A7"}}
MEAN = "mean of its models"
SEVERAL = (estimate_rows.FULL, estimate_rows.PARTIAL, estimate_rows.PROMPTED)
"""Ways of asking that one study compares."""
WAYS_WIDTH, OTHERS_OFFSET = 0.5, -0.28
"""What the card's models take of the distance between points, and where other values stand."""
HEIGHT = 1.7
"""Of a row of panels, in inches."""
COLUMNS = ["study", "who", "name", "way", "point", "value", "low", "high", "n", "n_unit"]


def main(*, summaries: list, printed: list, pdf: str, png: str, csv: str, models: dict, studies: list) -> None:
    """Draw the figure.

    Args:
        summaries: The summary of each of ``studies``.
        printed: Published numbers and models of the studies that have any, two files for each.
        models: The card's models, by their names, to their labels.
        studies: ``key`` and ``label`` of each, and what its ``Card`` (``scripts/core/workflow/studies.py``) says. The
            first part that the models have is drawn.
    """
    frames = []
    for study, path in zip(studies, summaries, strict=True):
        frame = estimate_rows.read_estimates([path])
        own = frame.model.isin(models)
        part = next((name for name in study["parts"] if (frame[own].part == name).any()), None)
        ran = frame.kind.isin([estimate_rows.MODEL, estimate_rows.SYSTEM]) & (own | ~frame.demonstration)
        frame = frame[ran & ((frame.part == part) | (part is None))]
        for point, metric, levels, _ in study["points"]:
            found = estimate_rows.rows_at(frame, metric=metric, **levels)
            who = [MODEL if name in models else RUN for name in found.model]
            ways = [describe_scoring(row) for row in found.to_dict("records")]
            frames.append(found.assign(who=who, name=found.label, way=ways, point=point))
        files = [path for path in printed if study["printed"] and f"/{study['printed']}" in path]
        if files:
            numbers, listed = files
            rows = pd.DataFrame(published_values(numbers, listed, study["points"]), columns=["name", "point", "value"])
            frames.append(rows.assign(study=study["key"], who=PUBLISHED, way=""))
    frame = pd.concat(frames, ignore_index=True)[COLUMNS]
    plotting.save_figure(draw(frame, studies, list(models.values())), frame, pdf, png, csv)


def describe_scoring(row: Mapping[Any, Any]) -> str:
    """Return how a model was asked, in words; empty where its study asks in one way only."""
    how = row["scoring"] if row["scoring"] in SEVERAL else ""
    asked = f"prompt {row[PROMPT_FACTOR]}" if row.get(PROMPT_FACTOR) else ""
    return ", ".join(filter(None, [row["debiasing"], how, asked]))


def published_values(numbers: str, models: str, points: Iterable[Sequence[Any]]) -> list[tuple[str, str, float]]:
    """Return what a study published at the points: model, point and value."""
    listed = published.read_published(numbers)
    listed = listed[listed.kind.isin(["table", "text"])].drop_duplicates(published.KEY).set_index(published.KEY).value
    labels = published.read_models(models).label
    found = []
    for point, _, _, (item, row, column, scale) in [point for point in points if point[3]]:
        for name in labels if "{model}" in row + column else [MEAN]:
            place = (item, row.replace("{model}", name), column.replace("{model}", name))
            if place in listed.index:
                found.append((name, point, float(listed[place]) * scale))
    return found


@plotting.figure_style()
def draw(frame: pd.DataFrame, studies: Sequence[dict], labels: Sequence[str]) -> "Figure":
    """Draw a panel for each study: the models' values with their intervals, others as marks.

    A colour is a model's and a marker a method of asking; on the card of one model both are the method's.
    """
    across = min(2, len(studies))
    down = -(-len(studies) // across)
    drawn = plotting.new_figure(plotting.PAGE, HEIGHT * down)
    panels = drawn.subplots(down, across, squeeze=False).ravel()
    own = frame[frame.who == MODEL]
    several = len(labels) > 1
    marks = palette.in_order(list(own.way))
    colours = palette.in_order(labels) if several else marks
    for ax, study in zip(panels, studies, strict=False):
        points = [point[0] for point in study["points"]]
        places = {point: place for place, point in enumerate(points)}
        series = own[own.study == study["key"]].groupby(["name", "way"], sort=False)
        for index, ((name, way), rows) in enumerate(series):
            shift = (index - (len(series) - 1) / 2) * min(0.14, WAYS_WIDTH / len(series))
            look = {"marker": marks[way]["marker"], "color": colours[name if several else way]["color"]}
            bars = plotting.error_bars(rows.value, rows.low, rows.high)
            at = rows.point.map(places) + shift
            ax.errorbar(at, rows.value, yerr=bars, linestyle="", capsize=1.5, elinewidth=0.8, **look)
        for who, look in OTHERS.items():
            rows = frame[(frame.study == study["key"]) & (frame.who == who)]
            ax.plot([places[point] + OTHERS_OFFSET for point in rows.point], rows.value, linestyle="", **look)
        if study["chance"] is not None:
            plotting.chance_line([ax], study["chance"])
        ax.set(title=study["label"], xlabel=study["axis"], ylabel=study["value"], xlim=(-0.5, len(points) - 0.5))
        ax.set_xticks(range(len(points)), [point.replace(" ", "\n") for point in points])
        plotting.fraction_axis(ax.yaxis)
    for ax in panels[len(studies) :]:
        ax.set_visible(False)
    looks = {name: {"color": colours[name]["color"], "marker": "s"} for name in labels if several}
    if len(marks) > 1:
        grey = {"color": plotting.GREY} if several else {}
        looks |= {way or "likelihood": look | grey for way, look in marks.items()}
    looks |= {who: look for who, look in OTHERS.items() if (frame.who == who).any()}
    if any(study["chance"] is not None for study in studies):
        looks["chance"] = {"color": plotting.GREY, "linestyle": (0, (1, 1.2))}
    handles = [plotting.line_handle({"linestyle": ""} | look, label) for label, look in looks.items()]
    if own.low.notna().any():
        handles.append(plotting.interval_handle("95% interval"))
    plotting.legend_below(drawn, handles, 5)
    return drawn


if __name__ == "__main__":
    run(main)
