"""What the study's figures share."""

COLOURS = {
    "BERT-base": "#E69F00",
    "BERT-large": "#8A5F00",
    "SpanBERT-base": "#56B4E9",
    "SpanBERT-large": "#0072B2",
}
_OTHERS = ("#009E73", "#CC79A7", "#D55E00", "#595959", "#332288", "#999933")
MASCULINE, FEMININE = "#0072B2", "#D55E00"


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
