"""What the study's figures share."""

from scripts.core import plotting

COLOURS = {
    "BERT-base": "#E69F00",
    "BERT-large": "#8A5F00",
    "SpanBERT-base": "#56B4E9",
    "SpanBERT-large": "#24577A",
}
_OTHERS = ("#117733", "#B5179E", "#8B5A2B", "#595959", "#332288", "#999933")
MASCULINE, FEMININE = plotting.pronoun_colours(["he", "she"]).values()
"""Genders have the colours of their pronouns."""
DELTA_I, ACC_DIFF, ACROSS = plotting.CATEGORIES[4], plotting.CATEGORIES[0], plotting.CATEGORIES[3]
"""Metrics, the same in every figure."""


def main_scoring(table):
    """Keep the scoring that a figure shows: released flags where there are any, otherwise rightly taken spans."""
    main = "released" if (table.scoring == "released").any() else "clusters"
    return table[table.scoring == main].reset_index(drop=True)


def label(row):
    """Return a system's label, with its debiasing."""
    return row.system if row.debiasing == "none" else f"{row.system}, {row.debiasing}"


def colours(systems):
    """Return each system's colour; those of the study keep theirs."""
    others = [s for s in systems if s not in COLOURS]
    return {s: COLOURS.get(s) or _OTHERS[others.index(s) % len(_OTHERS)] for s in systems}
