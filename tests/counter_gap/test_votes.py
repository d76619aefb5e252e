"""Annotators' answers to quadruples: labels by majority, and each reason for which a quadruple is discarded."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.data.templates import read_pronouns
from scripts.counter_gap import analyses
from scripts.counter_gap import instances as script
from scripts.counter_gap.lib import templates, votes
from scripts.counter_gap.lib.instances import COLUMNS, read_c_gap
from tests.annotation import simulated

ROLES = ("", "-control", "-swap-1", "-swap-2")


@pytest.fixture(scope="module")
def replica(root):
    return templates.read_quadruples(
        root / "templates/counter_gap/quadruples.tsv", read_pronouns(root / "templates/pronouns.tsv")
    )


@pytest.fixture(scope="module")
def task(root, replica):
    return annotation.task(
        annotation.read_declaration(root / "templates/annotation/counter_gap_coreference.yaml"), votes.items(replica)
    )


def said(task, **changes):
    """Return the answers of three annotators who are right, but for the changes: item to annotator to label or flag."""
    tables = {}
    for number, name in enumerate(("ada", "ben", "eve")):
        rows = []
        for item in task.items.itertuples():
            given = changes.get(item.item_id.replace("-", "_"), {}).get(name, item.expected)
            flag = given if given in (votes.COMMON_SENSE, votes.REAL_PEOPLE) else ""
            if given is not None:
                rows += [
                    (item.item_id, votes.PERSON, item.expected if flag else given),
                    (item.item_id, votes.COMMON_SENSE, "yes" if flag == votes.COMMON_SENSE else "no"),
                    (item.item_id, votes.REAL_PEOPLE, "yes" if flag == votes.REAL_PEOPLE else "no"),
                ]
        table = pd.DataFrame(rows, columns=["item_id", "question", "label"])
        tables[name] = table.assign(answer=table.label, row=number)
    return annotation.answers(task, tables)


def test_an_item_has_the_pronoun_marked_and_the_names_of_the_instance(task, replica):
    assert len(task.items) == len(replica) == 96
    for item, row in zip(task.items.itertuples(), replica.itertuples(), strict=True):
        start, end = map(int, item.mark.split("-"))
        assert item.sentence[start:end] == row.pronoun and item.group == row.quadruple
        people = {person["key"]: person for person in annotation.offered_people(item)}
        for key in ("a", "b"):
            name, offset = getattr(row, key), getattr(row, f"{key}_offset")
            assert people[key]["name"] == name and [offset, offset + len(name)] in people[key]["spans"]
            assert all(row.text[a:b] == name for a, b in people[key]["spans"])
        assert item.expected == ("a" if row.a_coref else "b" if row.b_coref else "none")


def test_when_all_are_right_all_is_accepted_with_the_labels_of_the_data(task, replica):
    instances, quadruples = votes.decide(task, said(task), 3, "majority")
    assert (quadruples.reason == "").all()
    table = votes.labels(instances, quadruples)
    assert list(table) == ["ID", "A-coref", "B-coref"] and list(table.ID) == list(replica.id)
    assert list(table["A-coref"] == "TRUE") == list(replica.a_coref)
    assert list(table["B-coref"] == "TRUE") == list(replica.b_coref)
    assert votes.funnel(quadruples).dropped.sum() == 0


def test_every_reason_is_counted(task):
    """Quadruples in file order, each with what the paper discards (or a lone vote that changes nothing)."""
    names = list(dict.fromkeys(task.items.group))[:9]
    right = task.items.set_index("item_id").expected
    other = {name: "b" if right[name] == "a" else "a" for name in names}

    def key(name, role):
        return f"{name}{role}".replace("-", "_")

    everybody = dict.fromkeys(("ada", "ben", "eve"))
    changes = {
        # One of three says otherwise, flags, or highlights somebody else.
        key(names[0], "-control"): {"ada": other[names[0]]},
        key(names[1], ""): {"ben": votes.COMMON_SENSE},
        key(names[2], ""): {"eve": "other"},
        # Two of three.
        key(names[3], "-swap-1"): {"ada": votes.COMMON_SENSE, "ben": votes.COMMON_SENSE},
        key(names[4], "-swap-2"): {"ada": other[names[4]], "eve": other[names[4]]},
        key(names[5], ""): {"ada": votes.REAL_PEOPLE, "ben": votes.REAL_PEOPLE},
        # Everybody disagrees: neither a name nor "neither" has a majority.
        key(names[6], ""): {"ada": "a", "ben": "b", "eve": "none"},
        # Somebody has not answered.
        key(names[7], "-control"): {"ben": None},
        key(names[8], ""): everybody,
    }
    answers = said(task, **changes)
    _, quadruples = votes.decide(task, answers, 3, "majority")
    reasons = quadruples.set_index("quadruple").reason
    assert [reasons[name] for name in names] == [
        "", "", "", "contradicts common sense", "inconsistent", "real people", "undecided", "too few answers",
        "too few answers",
    ]  # fmt: skip
    steps = votes.funnel(quadruples).set_index("step")
    assert list(steps.index) == ["asked", *votes.REASONS]
    assert steps.dropped.to_dict() == {
        "asked": 0, "too few answers": 2, "undecided": 1, "contradicts common sense": 1, "inconsistent": 1,
        "real people": 1,
    }  # fmt: skip
    assert list(steps.left) == [24, 22, 21, 20, 19, 18]
    assert (steps.masculine + steps.feminine == steps.left).all()
    # Flagged by anybody.
    _, stricter = votes.decide(task, answers, 3, "any")
    assert stricter.set_index("quadruple").reason[names[1]] == "contradicts common sense"
    # With two annotators a name may have half of the answers.
    pair = answers[answers.annotator != "eve"]
    _, undecided = votes.decide(task, pair, 2, "majority")
    assert undecided.set_index("quadruple").reason[names[0]] == "undecided"


def candidates(replica, path, change=lambda row: row):
    """Write instances in C-GAP's columns, without labels."""
    table = pd.DataFrame(
        {
            "ID": replica.id, "Text": replica.text,
            "Pronoun": replica.pronoun, "Pronoun-offset": replica.pronoun_offset,
            "A": replica.a, "A-offset": replica.a_offset, "A-coref": "", "B": replica.b, "B-offset": replica.b_offset,
            "B-coref": "", "Book": "a book",
        }
    )[list(COLUMNS)]  # fmt: skip
    change(table).to_csv(path, sep="\t", index=False)


def test_candidates_without_labels_make_the_same_items(replica, tmp_path):
    candidates(replica, tmp_path / "candidates.tsv")
    items = votes.items(read_c_gap(tmp_path / "candidates.tsv", labelled=False))
    pd.testing.assert_frame_equal(items.drop(columns="expected"), votes.items(replica).drop(columns="expected"))
    assert set(items.expected) == {""}


def test_the_jobs_from_candidates_to_labels(root, replica, tmp_path):
    candidates(replica, tmp_path / "candidates.tsv")
    frame = read_c_gap(tmp_path / "candidates.tsv", labelled=False)
    files.write_parquet(tmp_path / "candidates.parquet", frame)
    declaration = str(root / "templates/annotation/counter_gap_coreference.yaml")
    paths = {name: str(tmp_path / name) for name in ("questions", "answers", "labels", "funnel", "discarded", "agreed")}
    script.questions(
        declaration=declaration, questions=paths["questions"], instances=str(tmp_path / "candidates.parquet")
    )
    task = annotation.load(paths["questions"])
    known = annotation.Task(task.declaration, task.items.assign(expected=votes.items(replica).expected))
    sheet, read = annotation.sheet(task, 1), {}
    for seed, name in enumerate(("ada", "ben", "eve")):
        given = simulated.answers(known, seed, errors=0.1, flags={votes.REAL_PEOPLE: {"blanket"}})
        simulated.fill(sheet, given).to_csv(tmp_path / "sheet.csv", index=False)
        read[name] = annotation.read(tmp_path / "sheet.csv", task, name)
    files.write_csv(paths["answers"], annotation.answers(task, read))
    analyses.labels(
        questions=paths["questions"], answers=paths["answers"], labels=paths["labels"], funnel=paths["funnel"],
        discarded=paths["discarded"], accepted_agreement=paths["agreed"], annotators=3, flagged="majority",
    )  # fmt: skip
    table = files.read_csv(paths["labels"], dtype=str)
    discarded = files.read_csv(paths["discarded"], dtype=str)
    assert discarded.set_index("quadruple").reason["blanket"] == "real people"
    steps = files.read_csv(paths["funnel"])
    assert steps.left.iloc[-1] * 4 == len(table) == 96 - 4 * len(discarded)
    # With one error in ten a majority of three is nearly always right.
    gold = replica.set_index("id").loc[table.ID]
    assert (gold.a_coref.to_numpy() == (table["A-coref"] == "TRUE")).mean() > 0.95
    agreed = files.read_csv(paths["agreed"]).set_index(["question", "measure"]).value
    assert 0.85 < agreed[votes.PERSON, "agreed"] < 1
