"""Annotators' labels of quadruples: the majority, and each reason for which a quadruple is discarded."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.counter_gap import annotation
from scripts.counter_gap.passages import read_c_gap
from tests.counter_gap import make


@pytest.fixture(scope="module")
def right(replica):
    """The right label of every instance."""
    labels = ["A" if row.a_coref else "B" if row.b_coref else "neither" for row in replica.itertuples()]
    return dict(zip(replica.id, labels, strict=True))


PEOPLE = ("ada", "ben", "eve")
OTHER = "the other name"


def answers(right, changes):
    """Return the labels of three annotators who are right, but for the changes: item to annotator to label or flag."""
    rows = []
    for name in PEOPLE:
        for item, label in right.items():
            given = changes.get(item, {}).get(name, label)
            if given is None:
                continue
            flags = {column: given == column for column in (annotation.COMMON_SENSE, annotation.REAL_PEOPLE)}
            person = label if any(flags.values()) else ("B" if label == "A" else "A") if given == OTHER else given
            rows.append((name, item, annotation.PERSON, person))
            rows += [(name, item, column, "yes" if flag else "no") for column, flag in flags.items()]
    return pd.DataFrame(rows, columns=["annotator", "item", "question", "label"])


REASONS = [
    # One of three says otherwise or flags.
    ("-control", {"ada": OTHER}, ""),
    ("", {"ben": annotation.COMMON_SENSE}, ""),
    ("", {"eve": "neither"}, ""),
    # Two of three.
    ("-swap-1", {"ada": annotation.COMMON_SENSE, "ben": annotation.COMMON_SENSE}, "contradicts common sense"),
    ("-swap-2", {"ada": OTHER, "eve": OTHER}, "inconsistent"),
    ("", {"ada": annotation.REAL_PEOPLE, "ben": annotation.REAL_PEOPLE}, "real people"),
    # Everybody disagrees: neither a name nor "neither" has a majority.
    ("", {"ada": "A", "ben": "B", "eve": "neither"}, "undecided"),
    # Somebody has not answered, or nobody has.
    ("-control", {"ben": None}, "too few answers"),
    ("", dict.fromkeys(PEOPLE), "too few answers"),
]
"""What annotators say of an instance of a quadruple, and why the quadruple is discarded."""


def test_every_reason_is_counted(replica, right):
    names = list(dict.fromkeys(replica.quadruple))[: len(REASONS)]
    changes = {f"{name}{role}": given for name, (role, given, _) in zip(names, REASONS, strict=True)}
    given = answers(right, changes)
    _, quadruples = annotation.decide_labels(replica, given, 3)
    reasons = quadruples.set_index("quadruple").reason
    assert list(reasons[names]) == [reason for _, _, reason in REASONS] and set(reasons.drop(names)) == {""}
    steps = annotation.count_steps(quadruples).set_index("step")
    assert list(steps.index) == ["asked", *annotation.REASONS]
    assert list(steps.dropped) == [0, 2, 1, 1, 1, 1] and list(steps.left) == [24, 22, 21, 20, 19, 18]
    assert (steps.masculine + steps.feminine == steps.left).all()
    # With two annotators a name may have half of the answers.
    _, undecided = annotation.decide_labels(replica, given[given.annotator != "eve"], 2)
    assert undecided.set_index("quadruple").reason[names[0]] == "undecided"


def test_the_jobs_from_candidates_to_labels(replica, right, tmp_path):
    make.write_c_gap(tmp_path / "candidates.tsv", make.records(replica.assign(a_coref=None, b_coref=None)))
    names = ("instances", "sheet", "answers", "labels", "funnel", "discarded", "agreement")
    paths = {name: str(tmp_path / name) for name in names}
    files.write_parquet(paths["instances"], read_c_gap(tmp_path / "candidates.tsv", labelled=False))
    annotation.sheet(instances=paths["instances"], sheet=paths["sheet"], seed=1)
    sheet, completed = files.read_csv(paths["sheet"], dtype=str).fillna(""), []
    assert list(sheet)[:5] == ["Row", "Sentence", "Pronoun", "A", "B"]
    for row in sheet.merge(replica, left_on="Row", right_on="id").itertuples():
        assert row.Sentence[row.pronoun_offset :].startswith(f"[{row.pronoun}]")
        assert row.Sentence.replace(f"[{row.pronoun}]", row.pronoun) == row.text and (row.a, row.b) == (row.A, row.B)
    real = sheet.Row.str.startswith("blanket").map({True: "yes", False: ""})
    for place, name in enumerate(PEOPLE):
        # Each errs in one instance of ten, all in different ones.
        given = [
            (label if row % 10 != place else "B" if label == "A" else "A")
            for row, label in enumerate(sheet.Row.map(right))
        ]
        completed.append(str(tmp_path / f"{name}.csv"))
        answered = {annotation.PERSON: given, annotation.REAL_PEOPLE: real, "Annotator": name}
        sheet.assign(**answered).to_csv(completed[-1], index=False)
    annotation.labels(completed=completed, annotators=3, **paths)
    table, discarded = files.read_csv(paths["labels"], dtype=str), files.read_csv(paths["discarded"], dtype=str)
    assert discarded.set_index("quadruple").reason.to_dict() == {"blanket": "real people"}
    assert files.read_csv(paths["funnel"]).left.iloc[-1] * 4 == len(table) == 96 - 4
    gold = replica.set_index("id").loc[table.ID]
    for name, column in (("a_coref", "A-coref"), ("b_coref", "B-coref")):
        assert list(gold[name]) == list(table[column] == "TRUE")
    agreed = files.read_csv(paths["agreement"]).set_index(["instances", "question", "measure"]).value
    # Thirty of 96 rows (those whose number ends in 0, 1 or 2) have one wrong label of three.
    assert agreed["all", annotation.PERSON, "agreed"] == pytest.approx(1 - 30 / 96 / 3)
    assert agreed["accepted", annotation.REAL_PEOPLE, "agreed"] == 1
    assert len(files.read_csv(paths["answers"])) == 3 * 96 * 3
