"""From annotators' labels to the quadruples of a data set (sections 2.2 and 2.3, Appendix B).

The majority label (name A, name B or neither) decides whom the marked pronoun refers to. Quadruples are discarded for
the first reason that applies:

- ``too few answers``: one of the four instances has fewer than were asked for (three in the study);
- ``undecided``: no label of one of the four instances has a majority, as with one vote per name and one for neither;
- ``contradicts common sense``: annotators say so of one of the four;
- ``inconsistent``: the labels are not at the same places in all four;
- ``real people``: annotators say so of one of the four.
"""

import pandas as pd

from scripts.core import files
from scripts.core.data.annotation import Question
from scripts.counter_gap.lib.instances import LABELS

REASONS = ("too few answers", "undecided", "contradicts common sense", "inconsistent", "real people")
PERSON = "Person (A, B, neither)"
COMMON_SENSE, REAL_PEOPLE = "Contradicts common sense", "Real people"
QUESTIONS = (
    Question(PERSON, ("A", "B", "neither")),
    Question(COMMON_SENSE, ("yes", "no"), default="no"),
    Question(REAL_PEOPLE, ("yes", "no"), default="no"),
)
FLAG_RULES = ("majority", "any")
"""When annotators count as flagging a passage: more than half of them do, or any does."""


def sheet_items(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the sheet: the passage with its pronoun in brackets, the pronoun and both names."""
    texts = [
        f"{row.text[: row.pronoun_offset]}[{row.pronoun}]{row.text[row.pronoun_offset + len(row.pronoun) :]}"
        for row in files.rows(instances)
    ]
    columns = {"Row": instances.id, "Sentence": texts, "Pronoun": instances.pronoun}
    return pd.DataFrame(columns | {"A": instances.a, "B": instances.b})


def decide(
    passages: pd.DataFrame, labels: pd.DataFrame, annotators: int, flagged: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what becomes of every quadruple.

    Args:
        passages: Instances with ``id``, ``quadruple`` and ``gender``; the first of a quadruple is the original.
        labels: From :func:`scripts.core.data.annotation.read_labels`.
        annotators: Labels that every instance needs.
        flagged: One of :data:`FLAG_RULES`.

    Returns:
        Instances: ``id``, ``quadruple``, ``gender``, ``answers``, ``undecided``, ``a_coref``, ``b_coref``, both flags.
        Quadruples: ``quadruple``, ``gender`` (the original's), ``reason`` (empty: accepted).
    """
    instances = passages[["id", "quadruple", "gender"]].reset_index(drop=True)

    def votes(question: str, label: str) -> pd.Series:
        chosen = labels[(labels.question == question) & (labels.label == label)]
        return instances.id.map(chosen["item"].value_counts()).fillna(0)

    by_label = {label: votes(PERSON, label) for label in QUESTIONS[0].options}
    instances["answers"] = sum(by_label.values())
    half = instances.answers / 2
    instances["undecided"] = ~pd.concat([counts > half for counts in by_label.values()], axis=1).any(axis=1)
    instances["a_coref"], instances["b_coref"] = by_label["A"] > half, by_label["B"] > half
    for flag in (COMMON_SENSE, REAL_PEOPLE):
        instances[flag] = votes(flag, "yes") > (half if flagged == "majority" else 0)
    quadruples = []
    for name, four in instances.groupby("quadruple", sort=False):
        applies = (
            (four.answers < annotators).any(),
            four.undecided.any(),
            four[COMMON_SENSE].any(),
            four.a_coref.nunique() > 1 or four.b_coref.nunique() > 1,
            four[REAL_PEOPLE].any(),
        )
        reason = next((reason for reason, holds in zip(REASONS, applies, strict=True) if holds), "")
        quadruples.append((name, four.gender.iloc[0], reason))
    return instances, pd.DataFrame(quadruples, columns=["quadruple", "gender", "reason"])


def funnel(quadruples: pd.DataFrame) -> pd.DataFrame:
    """Return how many quadruples each step drops and leaves.

    Returns:
        ``step``, ``dropped``, ``left``, ``masculine``, ``feminine``: ``asked``, then :data:`REASONS`.
    """
    left, rows = quadruples, []
    for step in ("asked", *REASONS):
        before, left = len(left), left[left.reason != step]
        rows.append((step, before - len(left), len(left), (left.gender == "M").sum(), (left.gender == "F").sum()))
    return pd.DataFrame(rows, columns=["step", "dropped", "left", "masculine", "feminine"])


def labels(instances: pd.DataFrame, quadruples: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of accepted instances: ``ID``, ``A-coref``, ``B-coref`` (TRUE or FALSE)."""
    accepted = quadruples.quadruple[quadruples.reason == ""]
    kept = instances[instances.quadruple.isin(accepted)]
    written = {label: word for word, label in LABELS.items()}
    columns = {"ID": kept.id, "A-coref": kept.a_coref.map(written), "B-coref": kept.b_coref.map(written)}
    return pd.DataFrame(columns).reset_index(drop=True)
