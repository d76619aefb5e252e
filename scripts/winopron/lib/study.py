"""What the study calls its template sets, sentences, systems and ways of reading them."""

SETS = {"replica": "this project's templates", "official": "WinoPron", "winogender": "Winogender Schemas"}
"""Template sets to their labels; Winogender Schemas have no sentences about one person."""
ENTITIES = {"double": "two people", "single": "one person"}
"""Kinds of sentences to their labels."""


def is_rule(system):
    """Tell whether a label is that of a rule that stands in for a system (:mod:`scripts.winopron.lib.person_rules`).

    Examples
    --------
    >>> is_rule("First person (rule)"), is_rule("SpanBERT-base")
    (True, False)
    """
    return system.endswith("(rule)")
