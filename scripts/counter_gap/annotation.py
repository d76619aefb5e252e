"""The sheet for annotators, and from their labels to the quadruples of a data set (sections 2.2 and 2.3, Appendix B).

The majority label (name A, name B or neither) decides whom the marked pronoun refers to. A quadruple is discarded for
the first of :data:`REASONS` that applies to one of its four instances, or to the four together (*inconsistent*: their
labels are not at the same places).
"""

import pandas as pd

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.workflow.job import log, run_named
from scripts.counter_gap.passages import LABELS

PERSON = "Person (A, B, neither)"
COMMON_SENSE, REAL_PEOPLE = "Contradicts common sense", "Real people"
QUESTIONS = {PERSON: ("A", "B", "neither"), COMMON_SENSE: ("yes", "no"), REAL_PEOPLE: ("yes", "no")}
REASONS = ("too few answers", "undecided", "contradicts common sense", "inconsistent", "real people")


def sheet(*, instances: str, sheet: str, seed: int) -> None:
    """Write the blank sheet for annotators of quadruples (section 2.3), which shows no labels; ``seed`` orders it."""
    annotation.write_sheet(sheet, sheet_items(files.read_parquet(instances)), QUESTIONS, seed)


def labels(
    *, instances: str, sheet: str, completed: list, answers: str, labels: str, funnel: str, discarded: str,
    agreement: str, annotators: int,
) -> None:  # fmt: skip
    """Decide by majority whom each pronoun refers to and which quadruples are kept (sections 2.2 and 2.3).

    Write every annotator's ``answers``, the ``labels`` of accepted instances in C-GAP's columns, how many quadruples
    each step leaves (``funnel``), those that are ``discarded`` with reasons, and the annotators' ``agreement`` (CSV).
    ``completed`` are copies of the blank ``sheet``, one per annotator; each instance needs ``annotators`` answers.
    """
    answered = annotation.read_labels(sheet, completed, QUESTIONS, partial=True)
    decided, quadruples = decide_labels(files.read_parquet(instances), answered, annotators)
    kept = accepted_labels(decided, quadruples)
    log.info("%d of %d quadruples are accepted", len(kept) // 4, len(quadruples))
    files.write_csv(answers, answered)
    files.write_csv(labels, kept)
    files.write_csv(funnel, count_steps(quadruples))
    files.write_csv(discarded, quadruples[quadruples.reason != ""])
    measured = {"all": answered, "accepted": answered[answered["item"].isin(kept.ID)]}
    tables = [annotation.measure_agreement(table).assign(instances=name) for name, table in measured.items()]
    files.write_csv(agreement, pd.concat(tables))


def sheet_items(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the sheet: the passage with its pronoun in brackets, the pronoun and both names."""
    texts = [
        f"{row.text[: row.pronoun_offset]}[{row.pronoun}]{row.text[row.pronoun_offset + len(row.pronoun) :]}"
        for row in files.iterate_rows(instances)
    ]
    columns = {"Row": instances.id, "Sentence": texts, "Pronoun": instances.pronoun}
    return pd.DataFrame(columns | {"A": instances.a, "B": instances.b})


def decide_labels(passages: pd.DataFrame, labels: pd.DataFrame, annotators: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what becomes of instances and of quadruples, of which the first instance is the original.

    Returns:
        Instances: ``id``, ``quadruple``, ``gender`` and the majority labels ``a_coref`` and ``b_coref``.
        Quadruples: ``quadruple``, ``gender`` (the original's), ``reason`` (empty: accepted).
    """
    cells = pd.MultiIndex.from_tuples((question, label) for question in QUESTIONS for label in QUESTIONS[question])
    votes = pd.crosstab(labels["item"], [labels.question, labels.label])
    votes = votes.reindex(index=passages.id, columns=cells, fill_value=0).set_axis(passages.index)
    persons = pd.DataFrame(votes[PERSON])
    answers = persons.sum(axis=1)
    most = votes.gt(answers / 2, axis=0)
    decided = pd.DataFrame(most[PERSON]).any(axis=1)
    instances = passages[["id", "quadruple", "gender"]].assign(a_coref=most[PERSON, "A"], b_coref=most[PERSON, "B"])
    four = instances.groupby("quadruple", sort=False)
    single = [answers < annotators, ~decided, most[COMMON_SENSE, "yes"], most[REAL_PEOPLE, "yes"]]
    few, undecided, nonsense, real = (holds.groupby(instances.quadruple, sort=False).any() for holds in single)
    inconsistent = (four[["a_coref", "b_coref"]].nunique() > 1).any(axis=1)
    applies = pd.concat([few, undecided, nonsense, inconsistent, real], axis=1, keys=REASONS)
    reason = applies.idxmax(axis=1).where(applies.any(axis=1), "")
    return instances, pd.DataFrame({"gender": four.gender.first(), "reason": reason}).reset_index()


def count_steps(quadruples: pd.DataFrame) -> pd.DataFrame:
    """Return how many quadruples each step drops and leaves.

    Returns:
        ``step``, ``dropped``, ``left``, ``masculine``, ``feminine``: ``asked``, then :data:`REASONS`.
    """
    left, rows = quadruples, []
    for step in ("asked", *REASONS):
        before, left = len(left), left[left.reason != step]
        rows.append((step, before - len(left), len(left), (left.gender == "M").sum(), (left.gender == "F").sum()))
    return pd.DataFrame(rows, columns=["step", "dropped", "left", "masculine", "feminine"])


def accepted_labels(instances: pd.DataFrame, quadruples: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of accepted instances: ``ID``, ``A-coref``, ``B-coref`` (TRUE or FALSE)."""
    accepted = quadruples.quadruple[quadruples.reason == ""]
    kept = instances[instances.quadruple.isin(accepted)]
    written = {label: word for word, label in LABELS.items()}
    columns = {"ID": kept.id, "A-coref": kept.a_coref.map(written), "B-coref": kept.b_coref.map(written)}
    return pd.DataFrame(columns).reset_index(drop=True)


if __name__ == "__main__":
    run_named()
