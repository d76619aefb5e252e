"""What the study calls its systems, data sets and ways of scoring, and where its authors keep what they released."""

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


def is_rule(system):
    """Tell whether a label is that of a rule which stands in for a system (:mod:`scripts.counter_gap.lib.name_rules`).

    Examples
    --------
    >>> is_rule("First name (rule)"), is_rule("BERT-base")
    (True, False)
    """
    return system.endswith("(rule)")
