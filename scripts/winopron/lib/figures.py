"""What figures share: which systems they draw, and how."""

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scripts.core.data.templates import CASES
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.winopron.lib import study

if TYPE_CHECKING:
    import numpy as np

INTERVAL = "95% interval"


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
