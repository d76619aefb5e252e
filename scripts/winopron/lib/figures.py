"""What the figures of the WinoPron wing share: which systems they draw, and how."""

from scripts.core import plotting
from scripts.core.errors import UserError
from scripts.winopron.lib import study

CASE_LABELS = {"nominative": "nom.", "accusative": "acc.", "possessive": "poss."}
INTERVAL = "95 % interval over pairs of people"
_STUDY = {
    "LingMess": "#4477AA",
    "CAW-coref": "#EE6677",
    "SpanBERT-base": "#7FC485",
    "SpanBERT-large": "#228833",
}
_OTHERS = ("#882255", "#332288", "#8B5A2B", "#999933", "#44AA99", "#595959", "#B5179E", "#CC3311")


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


def colours(systems):
    """Return each system's colour; those of the study's coreference systems never change."""
    others = [name for name in systems if name not in _STUDY]
    return {s: _STUDY.get(s) or _OTHERS[others.index(s) % len(_OTHERS)] for s in systems}


def keyed(pronoun_sets):
    """Return the key of each pronoun set, its nominative, by the label, such as he/him/his."""
    return {label: label.partition("/")[0] for label in pronoun_sets}


def pronoun_looks(pronoun_sets):
    """Return the look of each pronoun set's marks, by its label."""
    keys = keyed(pronoun_sets)
    colour, marker = plotting.pronoun_colours(keys.values()), plotting.pronoun_markers(keys.values())
    return {label: {"color": colour[key], "marker": marker[key], "linestyle": "none"} for label, key in keys.items()}


def panels(number):
    """Return rows and columns of a grid of panels on a page."""
    columns = min(number, 4 if number > 6 else 3 if number > 4 or number == 3 else 2)
    return -(-number // columns), columns
