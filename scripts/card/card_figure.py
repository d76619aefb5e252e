"""Draw what each study finds for the models of a card: a panel for each, next to other models and published values."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import PROMPT_FACTOR
from scripts.core.paper import plotting, published
from scripts.core.workflow.job import run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL, RUN, PUBLISHED_VALUES = "model", "this run", "published"
"""Whose a value is."""
OTHERS = {
    RUN: ("other models of this run", {"marker": "^", "color": "#56B4E9", "markersize": 4}),
    PUBLISHED_VALUES: ("published", {"marker": "d", "color": "#CC79A7", "markersize": 4}),
}
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
    rows = []
    for study, path in zip(studies, summaries, strict=True):
        frame = read_summary(path, models)
        own = frame[frame.model.isin(models)]
        part = next((name for name in study["parts"] if (own.part == name).any()), None)
        rows += [
            (study["key"], MODEL if name in models else RUN, *rest)
            for name, *rest in rows_at_points(frame, study["points"], part)
        ]
        files = [name for name in printed if study["printed"] and f"/{study['printed']}" in name]
        rows += [(study["key"], PUBLISHED_VALUES, *rest) for rest in rows_of_paper(files, study["points"])]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    plotting.save(draw(frame, studies, list(models.values())), frame, pdf, png, csv)


def read_summary(path: str, models: Collection[str]) -> pd.DataFrame:
    """Return the rows of a summary about what ran, without demonstration models other than the card's."""
    frame = estimate_rows.read([path])
    ran = frame.kind.isin([estimate_rows.MODEL, estimate_rows.SYSTEM])
    return frame[ran & (frame.model.isin(models) | ~frame.demonstration)]


def rows_at_points(frame: pd.DataFrame, points: Iterable[Sequence[Any]], part: str | None) -> list[tuple]:
    """Return model, label, how it was asked, point, value, interval, n and its unit of a part's rows at the points."""
    frame = frame if part is None else frame[frame.part == part]
    names = ("value", "low", "high", "n", "n_unit")
    return [
        (row["model"], row["label"], describe_scoring(row), point, *(row[name] for name in names))
        for point, metric, factors, _ in points
        for row in estimate_rows.rows_at(frame, metric=metric, **factors).to_dict("records")
    ]


def describe_scoring(row: Mapping[Any, Any]) -> str:
    """Return how a model was asked, in words; empty where its study asks in one way only."""
    how = row["scoring"] if row["scoring"] in SEVERAL else ""
    asked = f"prompt {row[PROMPT_FACTOR]}" if row.get(PROMPT_FACTOR) else ""
    return ", ".join(filter(None, [row["debiasing"], how, asked]))


def rows_of_paper(files: Sequence[str], points: Iterable[Sequence[Any]]) -> list[tuple]:
    """Return what a study published at the points, as rows of the figure; no intervals."""
    if not files:
        return []
    listed, known = published.read_published(files[0]), published.read_models(files[1])
    listed = listed[listed.kind.isin(["table", "text"])]
    rows = []
    for point, _, _, places in points:
        item, row, column, scale = places or ("", "", "", 1)
        for called in known.label if "{model}" in row + column else [MEAN]:
            place = (row.replace("{model}", called), column.replace("{model}", called))
            found = listed[(listed.item == item) & (listed.row == place[0]) & (listed.column == place[1])]
            if len(found):
                rows.append((called, "", point, float(found.value.iloc[0]) * scale, None, None, None, None))
    return rows


@plotting.style()
def draw(frame: pd.DataFrame, studies: Sequence[dict], labels: Sequence[str]) -> "Figure":
    """Draw a panel for each study: the models' values with their intervals, others as marks.

    A colour is a model's and a marker a method of asking; on the card of one model both are the method's.
    """
    across = min(2, len(studies))
    down = -(-len(studies) // across)
    drawn = plotting.figure(plotting.PAGE, HEIGHT * down)
    panels = drawn.subplots(down, across, squeeze=False).ravel()
    own = frame[frame.who == MODEL]
    ways = list(dict.fromkeys(own.way))
    marks, colours = (dict(zip(names, plotting.in_order(names).values(), strict=True)) for names in (ways, labels))
    several = len(labels) > 1
    for ax, study in zip(panels, studies, strict=False):
        points = [point[0] for point in study["points"]]
        places = {point: place for place, point in enumerate(points)}
        part = own[own.study == study["key"]]
        pairs = list(dict.fromkeys(zip(part.name, part.way, strict=True)))
        for index, (name, way) in enumerate(pairs):
            rows = part[(part.name == name) & (part.way == way)]
            shift = (index - (len(pairs) - 1) / 2) * min(0.14, WAYS_WIDTH / len(pairs))
            look = {"marker": marks[way]["marker"], "color": (colours[name] if several else marks[way])["color"]}
            bars = plotting.error_bars(rows.value, rows.low, rows.high)
            ax.errorbar(
                rows.point.map(places) + shift, rows.value, yerr=bars, linestyle="", capsize=1.5, elinewidth=0.8, **look
            )
        for who, (_, look) in OTHERS.items():
            rows = frame[(frame.study == study["key"]) & (frame.who == who)]
            ax.plot([places[point] + OTHERS_OFFSET for point in rows.point], rows.value, linestyle="", **look)
        if study["chance"] is not None:
            plotting.chance_line([ax], study["chance"])
        ax.set(title=study["label"], xlabel=study["axis"], ylabel=study["value"], xlim=(-0.5, len(points) - 0.5))
        ax.set_xticks(range(len(points)), [point.replace(" ", "\n") for point in points])
        plotting.fraction_axis(ax.yaxis)
    for ax in panels[len(studies) :]:
        ax.set_visible(False)
    handles = [plotting.handle(colours[name] | {"marker": "s", "linestyle": ""}, name) for name in labels if several]
    for way in ways if len(ways) > 1 else ():
        colour = plotting.GREY if several else marks[way]["color"]
        look = {"marker": marks[way]["marker"], "color": colour, "linestyle": ""}
        handles.append(plotting.handle(look, way or "likelihood"))
    named = {who: text for who, (text, _) in OTHERS.items() if (frame.who == who).any()}
    handles += [plotting.handle(OTHERS[who][1] | {"linestyle": ""}, text) for who, text in named.items()]
    if any(study["chance"] is not None for study in studies):
        handles.append(plotting.handle({"linestyle": (0, (1, 1.2)), "color": plotting.GREY}, "chance"))
    if own.low.notna().any():
        handles.append(plotting.interval_handle("95% interval"))
    plotting.legend_below(drawn, handles, 5)
    return drawn


if __name__ == "__main__":
    run(main)
