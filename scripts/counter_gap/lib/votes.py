"""From what annotators say of passages to the quadruples of a data set (sections 2.2 and 2.3, Appendix B).

Annotators highlight the names that the marked pronoun means. What more than half of them say (the first name, the
second or neither) labels the two candidate names. Quadruples are discarded in this order, for the first reason that
applies:

- ``too few answers``: one of the four instances has fewer than were asked for (three in the study);
- ``undecided``: no answer to one of the four instances has a majority, as with one vote per name and one for neither;
- ``contradicts common sense``: annotators say so of one of the four;
- ``inconsistent``: the labels are not at the same places in all four;
- ``real people``: annotators say so of one of the four.
"""

import pandas as pd

from scripts.core import files
from scripts.core.data import annotation
from scripts.counter_gap.lib.instances import GENDERS, LABELS

REASONS = ("too few answers", "undecided", "contradicts common sense", "inconsistent", "real people")
PERSON, COMMON_SENSE, REAL_PEOPLE = "coreferent", "common_sense", "real_people"
"""The questions of the task (``templates/annotation/counter_gap_coreference.yaml``)."""
FLAG_RULES = ("majority", "any")
"""When a passage counts as one that annotators flag: more than half of them do, or anybody does."""


def items(instances: pd.DataFrame) -> pd.DataFrame:
    """Return what annotators are asked about: an item for each instance, with pronoun marked and names to choose among.

    Args:
        instances: With ``id``, ``quadruple``, ``text``, ``pronoun``, ``a``, ``b``, their offsets and, where labels are
            known, ``a_coref`` and ``b_coref`` (missing where nobody has given any). Labels are compared with
            annotators' and shown to nobody.

    Returns:
        As :mod:`scripts.core.data.annotation` takes it.
    """
    rows = []
    for row in files.rows(instances):
        expected = ""
        if not pd.isna(getattr(row, "a_coref", None)):
            expected = "a" if row.a_coref else "b" if row.b_coref else annotation.NO_PERSON
        people = annotation.find_people(
            row.text, {"a": row.a, "b": row.b}, known=[("a", row.a_offset), ("b", row.b_offset)]
        )
        rows.append(
            {
                "item_id": row.id,
                "group": row.quadruple,
                "sentence": row.text,
                "expected": expected,
                "mark": f"{row.pronoun_offset}-{row.pronoun_offset + len(row.pronoun)}",
                "names": people,
            }
        )
    return annotation.with_people(pd.DataFrame(rows))


def decide(
    task: annotation.Task, answers: pd.DataFrame, annotators: int, flagged: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what becomes of every quadruple.

    Args:
        task: From :func:`items`.
        answers: :func:`scripts.core.data.annotation.answers`.
        annotators: Answers that every instance needs.
        flagged: One of :data:`FLAG_RULES`.

    Returns:
        Instances: ``id``, ``quadruple``, ``answers``, ``a_coref``, ``b_coref``, and quadruples: ``quadruple``,
        ``gender`` (the original's), ``reason`` (empty: accepted).
    """
    said = answers.pivot(index=["item_id", "annotator"], columns="question", values="label").reset_index()
    of_items, nobody = dict(tuple(said.groupby("item_id"))), said.iloc[:0]
    rows = []
    for item in files.rows(task.items):
        votes = of_items.get(item.item_id, nobody)
        said_of = votes[PERSON].where(votes[PERSON].isin(["a", "b"]), annotation.NO_PERSON).value_counts()
        majority = said_of.index[0] if (said_of * 2 > len(votes)).any() else None
        flags = {
            question: (votes[question] == "yes").sum() > (len(votes) / 2 if flagged == "majority" else 0)
            for question in (COMMON_SENSE, REAL_PEOPLE)
        }
        start, end = map(int, item.mark.split("-"))
        rows.append(
            {
                "id": item.item_id,
                "quadruple": item.group,
                "gender": GENDERS[item.sentence[start:end].lower()],
                "answers": len(votes),
                "undecided": majority is None,
                "a_coref": majority == "a",
                "b_coref": majority == "b",
                **flags,
            }
        )
    instances = pd.DataFrame(rows)
    quadruples = []
    for name, four in instances.groupby("quadruple", sort=False):
        same = four.a_coref.nunique() == four.b_coref.nunique() == 1
        applies = (
            (four.answers < annotators).any(),
            four.undecided.any(),
            four[COMMON_SENSE].any(),
            not same,
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
