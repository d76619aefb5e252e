"""What the study calls its systems, data sets and ways of scoring, and where its authors keep what they released."""

from scripts.core.errors import UserError

SYSTEMS = {
    "bert_base": "BERT-base",
    "bert_large": "BERT-large",
    "spanbert_base": "SpanBERT-base",
    "spanbert_large": "SpanBERT-large",
}
"""The systems whose flags were released, by the names of their files."""
RELEASED = {
    "none": "counter_gap/results/none/{name}_output.tsv",
    "n-CDA": "counter_gap_ncda/results/none/ncda/{name}_output.tsv",
}
"""Debiasing methods to the released files (``config/upstream.tsv``); ``name`` is one of :data:`SYSTEMS`."""
SCORING = {"released": "released flags", "clusters": "spans", "clusters_faithful": "spans, faithful"}
"""Ways of scoring to their labels in tables and figures."""
DATA = {"gap_test": "GAP test", "gap_validation": "GAP validation", "gap_development": "GAP development"}
"""Parts of GAP to their labels in tables and figures."""
PASSAGES = {
    "replica": (96, 28),
    "official": (4008, 112),
    # As many as the study's own, since the books of a run are not known beforehand.
    "books": (4008, 112),
    "candidates": (4008, 112),
    "gap_test": (2000, 92),
    "gap_validation": (454, 90),
    "gap_development": (2000, 91),
}
"""Data sets with texts to the number of their passages, and of the words and marks of a typical one (the root mean
square), from which plans follow."""


def check_systems(data, systems):
    """Refuse two systems of a data set that tables could not tell apart.

    Parameters
    ----------
    data : str
    systems : list of dict
        With ``system``, ``debiasing`` and ``file``.

    Raises
    ------
    UserError
        If two have the same label and debiasing.
    """
    seen = {}
    for entry in systems:
        first = seen.setdefault((entry["system"], entry["debiasing"]), entry["file"])
        if first != entry["file"]:
            raise UserError(
                f"counter_gap.clusters: {entry['file']} is of {entry['system']}, debiasing {entry['debiasing']}, on "
                f"{data}, as {first} is; give it another name"
            )


def is_rule(system):
    """Tell whether a label is that of a rule which stands in for a system (:mod:`scripts.counter_gap.lib.name_rules`).

    Examples
    --------
    >>> is_rule("First name (rule)"), is_rule("BERT-base")
    (True, False)
    """
    return system.endswith("(rule)")
