"""Draw the headlines of all studies: points with intervals beside chance."""

import pandas as pd

from scripts.core import estimate_rows, plotting
from scripts.core.estimate_rows import RELEASED_OUTPUTS
from scripts.core.job import run
from scripts.core.paper import front
from scripts.core.paper.summary import details

COLUMNS = [
    "study", "part", "model", "kind", "label", "group", "row", "value", "low", "high", "n", "n_unit", "chance",
]  # fmt: skip
SHARES, DIFFERENCES = "Percent", "Percentage points"
LINE, LEGEND = 0.155, 8
"""Height of a row in inches, and up to how many models have a colour of their own."""


def select(frame: pd.DataFrame, studies: list[dict]) -> pd.DataFrame:
    """Return what is drawn: :data:`COLUMNS`, a row for each headline and model, shares in percent.

    Args:
        frame: The summary over all studies.
        studies: ``key``, ``label`` and ``chances``: metric to chance, which is 0 for differences.
    """
    found = []
    for study in studies:
        rows = front.subjects(frame[frame.study == study["key"]])
        rows = rows[rows.headline & rows.value.notna()]
        several = rows.part.nunique() > 1
        for row in rows.to_dict("records"):
            factor = 100 if row["unit"] == "share" else 1
            chance = study["chances"].get(row["metric"])
            group = f"{study['label']}: {row['metric']}" + (f" ({row['part']})" if several else "")
            numbers = [factor * row[name] for name in ("value", "low", "high")]
            facts = [row[name] for name in ("part", "model", "kind", "label")]
            count = [int(row["n"]), row["n_unit"], None if chance is None else factor * chance]
            found.append([study["key"], *facts, group, details(row), *numbers, *count])
    return pd.DataFrame(found, columns=COLUMNS)


def label(rows: pd.DataFrame) -> str:
    """Return what stands before a line: what the values are, and their number of units."""
    ends = sorted({f"{rows.n.min():,}", f"{rows.n.max():,}"}, key=len)
    unit = rows.n_unit.iloc[0]
    return f"{rows.row.iloc[0]}, n = {' to '.join(ends)}" + ("" if unit == "instances" else f" {unit}")


@plotting.style()
def draw(frame: pd.DataFrame, models: dict[str, dict]):
    """Draw a panel for shares and one for differences; in each a line for every headline, under its study."""
    panels = {
        name: rows
        for name, rows in ((SHARES, frame[frame.chance != 0]), (DIFFERENCES, frame[frame.chance == 0]))
        if len(rows)
    }
    lines = {name: [] for name in panels}
    for name, rows in panels.items():
        for group, of_group in rows.groupby("group", sort=False):
            lines[name].append((group, None))
            lines[name] += [(label(same), same) for _, same in of_group.groupby("row", sort=False)]
    heights = [len(lines[name]) + 2.2 for name in panels]
    drawn = plotting.figure(plotting.COLUMN, LINE * sum(heights) + 0.1)
    axes = drawn.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    own = list(dict.fromkeys(frame[frame.kind != RELEASED_OUTPUTS].model))
    looks = {name: look(name, own, models) for name in dict.fromkeys(frame.model)}
    for ax, (name, listed) in zip(axes, lines.items(), strict=True):
        for place, (_, rows) in enumerate(listed):
            if rows is None:
                continue
            shift = 0.5 / len(rows)
            for index, row in enumerate(rows.itertuples()):
                y = place + (index - (len(rows) - 1) / 2) * shift
                if pd.notna(row.low):
                    ax.plot([row.low, row.high], [y, y], color=looks[row.model]["color"], linewidth=0.9)
                ax.plot(row.value, y, linestyle="", markersize=3.4, **looks[row.model])
            if pd.notna(rows.chance.iloc[0]) and rows.chance.iloc[0]:
                ax.plot([rows.chance.iloc[0]] * 2, [place - 0.45, place + 0.45], color=plotting.GREY, linewidth=1.3)
        ax.set_yticks(range(len(listed)), [text for text, _ in listed])
        for tick, (_, rows) in zip(ax.get_yticklabels(), listed, strict=True):
            tick.set_fontweight("bold" if rows is None else "normal")
        ax.tick_params(axis="y", length=0)
        ax.set(ylim=(len(listed) - 0.4, -0.6), xlabel=name)
        ax.grid(visible=True, axis="x")
        ax.grid(visible=False, axis="y")
        if name == SHARES:
            ax.set(xlim=(-2, 102), xticks=range(0, 101, 25))
        else:
            ax.axvline(0, color=plotting.GREY, linewidth=1.3, zorder=1.5)
    plotting.legend_below(drawn, handles(frame, own, looks), 2)
    return drawn


def look(name: str, own: list[str], models: dict[str, dict]) -> dict:
    """Return colour and marker of a model: black if it is the only one, grey for released outputs."""
    if name not in own:
        return {"color": "#767676", "marker": "D"}
    if len(own) == 1 or len(own) > LEGEND or name not in models:
        return {"color": "#000000", "marker": "o"}
    return {key: value for key, value in plotting.model_style(models[name]).items() if key != "linestyle"}


def handles(frame: pd.DataFrame, own: list[str], looks: dict[str, dict]) -> list:
    """Return legend handles of what is drawn, and of nothing else."""
    labels = frame.drop_duplicates("model").set_index("model").label
    made = []
    if 0 < len(own) <= LEGEND:
        made = [plotting.handle(looks[name] | {"linestyle": ""}, labels[name]) for name in own]
    elif own:
        made = [plotting.handle(looks[own[0]] | {"linestyle": ""}, f"{len(own)} models and systems")]
    released = [name for name in looks if name not in own]
    if released:
        made.append(plotting.handle(looks[released[0]] | {"linestyle": ""}, "systems of the study, released outputs"))
    if frame.chance.notna().any():
        made.append(plotting.interval_handle("chance"))
    if frame.low.notna().any():
        made.append(plotting.interval_handle("95% interval", "_"))
    return made


def main(*, summary_csv: str, pdf: str, png: str, csv: str, studies: list, models: dict):
    """Draw the figure.

    Parameters
    ----------
    summary_csv : str
        The summary over all studies.
    pdf, png, csv : str
    studies : list of dict
        ``key``, ``label`` and ``chances`` (metric to chance, 0 for differences).
    models : dict of str to dict
        The models and systems of the run and what figures say of them.
    """
    frame = select(estimate_rows.read([summary_csv]), studies)
    drawn = draw(frame, models) if len(frame) else plotting.nothing_drawn()
    plotting.save(drawn, frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
