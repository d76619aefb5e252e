"""What the figures of the WinoPron wing share: which systems they draw, and how."""

import itertools

from scripts.core import plotting
from scripts.core.errors import UserError
from scripts.core.templates import CASES
from scripts.winopron.lib import study

CASE_LABELS = {"nominative": "nom.", "accusative": "acc.", "possessive": "poss."}
INTERVAL = "95 % interval"


def rows(table, templates, **levels):
    """Return the rows of one template set that have the given levels, read in the corrected way.

    Raises
    ------
    UserError
        If there is none.
    """
    chosen = study.corrected(table[table.templates == templates])
    for column, value in levels.items():
        chosen = chosen[chosen[column].isin(value if isinstance(value, (list, tuple)) else [value])]
    if chosen.empty:
        raise UserError(f"the metrics have no rows of '{templates}'; run the workflow with it in winopron.templates")
    return chosen.reset_index(drop=True)


def drawn(frame):
    """Return the rows of systems, or of rules where there is nothing else: what rules come to is known beforehand."""
    rules = frame.system.map(study.is_rule)
    return frame if rules.all() else frame[~rules].reset_index(drop=True)


def keyed(pronoun_sets):
    """Return the key of each pronoun set, its nominative, by the label, such as he/him/his."""
    return {label: label.partition("/")[0] for label in pronoun_sets}


def pronoun_looks(pronoun_sets):
    """Return the look of each pronoun set's marks, by its label."""
    keys = keyed(pronoun_sets)
    colour, marker = plotting.pronoun_colours(keys.values()), plotting.pronoun_markers(keys.values())
    return {label: {"color": colour[key], "marker": marker[key], "linestyle": "none"} for label, key in keys.items()}


def likelihood_looks(systems):
    """Return the look of each system that resolves by likelihood: a mark for each model, open with partial scoring."""
    markers = dict(zip(dict.fromkeys(map(_model, systems)), itertools.cycle(plotting.MARKERS), strict=False))
    return {
        name: {
            "color": "black", "marker": markers[_model(name)], "linestyle": "none",
            "markerfacecolor": "white" if name.endswith(study.PARTIAL) else "black",
        }
        for name in systems
    }  # fmt: skip


def likelihood_handles(looks):
    """Return legend handles for :func:`likelihood_looks`: one for each model, and what open marks are."""
    models = {_model(name): look | {"markerfacecolor": "black"} for name, look in looks.items()}
    partial = [plotting.point_handle("partial scoring")] if any(name.endswith(study.PARTIAL) for name in looks) else []
    return [plotting.handle(look, name) for name, look in models.items()] + partial


def _model(system):
    return system.removesuffix(study.FULL).removesuffix(study.PARTIAL)


def panels(number):
    """Return rows and columns of a grid of panels on a page."""
    columns = min(number, 4 if number > 6 else 3 if number > 4 or number == 3 else 2)
    return -(-number // columns), columns


def label_cases(axes, number, short):
    """Write the cases under every panel with none below it, and hide the places that ``number`` panels leave empty.

    Parameters
    ----------
    axes : ndarray of matplotlib.axes.Axes, shape (rows, columns)
    number : int
    short : bool
        Whether there is room for abbreviations alone.
    """
    across = axes.shape[1]
    labels = [CASE_LABELS[case] for case in CASES] if short else CASES
    for place, ax in enumerate(axes.flat):
        ax.set_visible(place < number)
        ax.set_xticks(range(len(CASES)), labels)
        ax.tick_params(axis="x", labelbottom=place + across >= number)
