"""What figures share: which systems they draw and how, and the sentences that show what the study is about.

The sentences, as in its Figures 1, 2 and 4, are this project's own, never the authors'.
"""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch
from matplotlib.textpath import TextPath

from scripts.core.data.templates import CASES, read_tsv
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.winopron.lib import study
from scripts.winopron.lib.templates import PRONOUN

if TYPE_CHECKING:
    import numpy as np

INTERVAL = "95% interval"
LINE, SIZE = 0.128, 7
"""Height of a line of text in inches, size of its type in points."""
INDENT, MARGIN = 0.36, 0.07
COLUMNS = ["part", "label", "before", "pronoun", "after", "means"]
"""``part`` is the head that a sentence stands under; a sentence is ``before``, ``pronoun`` and ``after``; ``means`` is
the person meant."""
PROBLEM_COLUMNS = ("problem", "occupation", "case", "answer", "double")
FAULTY, HERE = "faulty", "here"
LETTERS = "abcdefghijklmnop"


def rows(table: pd.DataFrame, templates: str, **levels: str | list[str] | tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of one template set that have the given levels, read in the corrected way.

    Raises:
        UserError: If there is none.
    """
    chosen = study.corrected_rows(table[table.templates == templates])
    for column, value in levels.items():
        chosen = chosen[chosen[column].isin(value if isinstance(value, (list, tuple)) else [value])]
    if chosen.empty:
        raise UserError(f"the metrics have no rows of '{templates}'; run the workflow with it in winopron.templates")
    return chosen.reset_index(drop=True)


def drawn_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems, or of rules where there is nothing else: what rules come to is known beforehand."""
    rules = frame.system.map(study.is_rule)
    return frame if rules.all() else frame[~rules].reset_index(drop=True)


def set_keys(pronoun_sets: Iterable[str]) -> dict[str, str]:
    """Return the key of each pronoun set, its nominative, by the label, such as he/him/his."""
    return {label: label.partition("/")[0] for label in pronoun_sets}


def pronoun_looks(pronoun_sets: Iterable[str]) -> dict[str, dict]:
    """Return the look of each pronoun set's marks, by its label."""
    keys = set_keys(pronoun_sets)
    colour, marker = plotting.pronoun_colours(keys.values()), plotting.pronoun_markers(keys.values())
    return {label: {"color": colour[key], "marker": marker[key], "linestyle": "none"} for label, key in keys.items()}


def likelihood_looks(systems: Collection[str]) -> dict[str, dict]:
    """Return the look of each system that resolves by likelihood: a mark for each model, open with partial scoring."""
    markers = dict(zip(dict.fromkeys(map(_model, systems)), itertools.cycle(plotting.MARKERS), strict=False))
    return {
        name: {
            "color": "black", "marker": markers[_model(name)], "linestyle": "none",
            "markerfacecolor": "white" if name.endswith(study.PARTIAL) else "black",
        }
        for name in systems
    }  # fmt: skip


def likelihood_handles(looks: dict[str, dict]) -> list[Line2D]:
    """Return legend handles for :func:`likelihood_looks`: one for each model, and what open marks are."""
    models = {_model(name): look | {"markerfacecolor": "black"} for name, look in looks.items()}
    partial = [plotting.point_handle("partial scoring")] if any(name.endswith(study.PARTIAL) for name in looks) else []
    return [plotting.handle(look, name) for name, look in models.items()] + partial


def _model(system: str):
    return system.removesuffix(study.FULL).removesuffix(study.PARTIAL)


def panels(number: int, height: float, narrow: bool) -> "tuple[Figure, np.ndarray]":
    """Return a figure with a grid for a number of panels of a height, in a column or over the page, and its axes."""
    columns = min(number, 4 if number > 9 or number in (7, 8) else 3 if number > 4 or number == 3 else 2)
    rows = -(-number // columns)
    drawn = plotting.figure(plotting.COLUMN if narrow else plotting.PAGE, height * rows + 0.2)
    return drawn, drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)


def label_cases(axes: "np.ndarray", number: int, short: bool, cases: Sequence[str] = CASES) -> None:
    """Write the cases under every panel with none below it, and hide the places that ``number`` panels leave empty.

    Args:
        axes: Of all panels, shape (rows, columns).
        short: Whether there is room for abbreviations alone.
        cases: Those that have a place.
    """
    across = axes.shape[1]
    labels = [study.CASE_LABELS[case] for case in cases] if short else cases
    for place, ax in enumerate(axes.flat):
        ax.set_visible(place < number)
        ax.set_xticks(range(len(cases)), labels)
        ax.tick_params(axis="x", labelbottom=place + across >= number)


@plotting.style()
def sentences(frame: pd.DataFrame) -> Figure:
    """Draw sentences in a box for each part: the person meant is bold, the pronoun in italics.

    Args:
        frame: Columns :data:`COLUMNS`.

    Returns:
        A figure as wide as a column.
    """
    width = plotting.COLUMN - 0.06
    parts = [(head, [laid_out(row, width - INDENT - 2 * MARGIN) for row in rows.itertuples()], list(rows.label))
             for head, rows in frame.groupby("part", sort=False)]  # fmt: skip
    heights = [LINE * (1 + sum(len(lines) for lines in texts)) + 2 * MARGIN for _, texts, _ in parts]
    gap = 0.07
    total = sum(heights) + gap * (len(parts) - 1) + 0.04
    drawn = plotting.figure(plotting.COLUMN, total)
    drawn.set_layout_engine("none")
    ax = drawn.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, plotting.COLUMN), ylim=(0, total))
    ax.set_axis_off()
    top = total - 0.02
    look = {"boxstyle": "round,pad=0,rounding_size=0.05", "edgecolor": plotting.GREY, "linewidth": 0.7}
    for (head, texts, labels), height in zip(parts, heights, strict=True):
        ax.add_patch(FancyBboxPatch((0.03, top - height), width, height, facecolor="white", **look))
        y = top - MARGIN
        ax.text(0.03 + MARGIN, y, str(head), fontsize=SIZE, va="top", color=plotting.GREY)
        for lines, label, before in zip(texts, labels, ["", *labels], strict=False):
            y -= LINE
            if label != before:
                ax.text(0.03 + MARGIN, y, label, fontsize=SIZE, va="top")
            for number, line in enumerate(lines):
                y -= LINE if number else 0
                for place, word, font in line:
                    ax.text(0.03 + MARGIN + INDENT + place, y, word, fontsize=SIZE, va="top", **font)
        top -= height + gap
    return drawn


def laid_out(row: Any, width: float) -> list[list[tuple[float, str, dict]]]:
    """Return the lines of a sentence that fit a width.

    Args:
        row: With ``before``, ``pronoun``, ``after``, ``means``.
        width: Inches.

    Returns:
        Of each line the words, each with its place in inches from the left and its font.
    """
    marked = [(word, {"fontweight": "bold"} if word.rstrip(",.") in _named(row.means) else {}) for word in
              row.before.split()]  # fmt: skip
    marked += [(word, {"fontstyle": "italic"}) for word in row.pronoun.split()]
    marked += [(word, {}) for word in row.after.split()]
    # Double blanks, where they are the error that is shown.
    if "  " in row.before:
        place = len(row.before.partition("  ")[0].split())
        marked[place] = ("␣" + marked[place][0], marked[place][1])
    lines, place = [[]], 0.0
    for word, font in marked:
        long = _width(word, font)
        if place and place + long > width:
            lines.append([])
            place = 0.0
        lines[-1].append((place, word, font))
        place += long + _width("n", {}) * 0.5
    return lines


def _named(person: str):
    return {person, f"{person}'s", f"{person}’s"}


def _width(text: str, font: Mapping[str, Any]):
    properties = FontProperties(weight=font.get("fontweight"), style=font.get("fontstyle"))
    return TextPath((0, 0), text, size=SIZE, prop=properties).get_extents().x1 / 72


def read_problems(path: str | Path) -> list[dict]:
    """Return the made-up sentences with the problems of Winogender Schemas (section 3.1), in the order of the file.

    Returns:
        :data:`PROBLEM_COLUMNS`, and ``row``, the line in the file.

    Raises:
        UserError: If the file cannot be read, or a sentence lacks the slot.
    """
    rows = []
    for row, cells in read_tsv(path, PROBLEM_COLUMNS):
        if cells["double"].count(PRONOUN) != 1:
            raise UserError(f"{path}, row {row}: the sentence needs the slot {PRONOUN} once; correct it")
        rows.append(cells | {"row": row})
    return rows


def draw_problems(faulty: list[dict], instances: pd.DataFrame) -> pd.DataFrame:
    """Return faulty sentences beside the templates of the same people and case (Figure 1).

    Args:
        faulty: Of :func:`read_problems`.
        instances: About two people. Sentences have *they* as their pronoun if the run has it, else its last set.

    Returns:
        As text: :data:`COLUMNS`; labels are :data:`FAULTY` and :data:`HERE`.
    """
    shown = next((name for name in instances.pronoun_set if name.startswith("they/")), instances.pronoun_set.iloc[-1])
    right = instances[instances.pronoun_set == shown].set_index(["occupation", "case", "answer"])
    rows = []
    for part in dict.fromkeys(cells["problem"] for cells in faulty):
        same = [cells for cells in faulty if cells["problem"] == part]
        for label in (FAULTY, HERE):
            for cells in same:
                row = right.loc[tuple(cells[key] for key in ("occupation", "case", "answer"))]
                means = row[cells["answer"]] if cells["answer"] == "participant" else cells["occupation"]
                before, _, after = cells["double"].partition(PRONOUN)
                parts = (before, row.pronoun, after) if label == FAULTY else _parts(row)
                rows.append((part, label, *parts, means))
    return pd.DataFrame(rows, columns=COLUMNS)


def schemas(instances: pd.DataFrame) -> pd.DataFrame:
    """Return a pair of templates with all pronouns (Figure 2): the first in the possessive."""
    rows = []
    for number, (_, same) in enumerate(_first_pair(instances).groupby("ending")):
        row = same.iloc[0]
        before, _, after = _parts(row)
        forms = " / ".join(dict.fromkeys(same.pronoun))
        rows.append((_people(row), f"({LETTERS[number]})", before, forms, after, getattr(row, row.answer)))
    return pd.DataFrame(rows, columns=COLUMNS)


def groups(instances: pd.DataFrame) -> pd.DataFrame:
    """Return sentences whose answers have to be right together (Figure 4).

    The first template in the possessive with all pronoun sets, and both endings with the last of them.
    """
    pair = _first_pair(instances)
    one = pair[pair.ending == 1]
    both = pair[pair.pronoun_set == one.pronoun_set.iloc[-1]]
    rows = [
        (part, f"({LETTERS[number]})", *_parts(row), getattr(row, row.answer))
        for part, of_part in (("Pronoun consistency", one), ("Disambiguation consistency", both))
        for number, row in enumerate(of_part.itertuples())
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _first_pair(instances: pd.DataFrame):
    possessive = instances[instances["case"] == "possessive"]
    return possessive[possessive.template_pair == possessive.template_pair.iloc[0]]


def _parts(row: Any):
    end = row.pronoun_offset + len(row.pronoun)
    return row.text[: row.pronoun_offset], row.pronoun, row.text[end:]


def _people(row: Any):
    return f"{row.occupation.capitalize()} and {row.participant}"
