"""Annotators' labels of quadruples: the majority, and each reason for which a quadruple is discarded."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data.templates import read_pronouns
from scripts.counter_gap import annotation, templates
from scripts.counter_gap.passages import COLUMNS, read_c_gap


@pytest.fixture(scope="module")
def replica(root):
    return templates.read_quadruples(
        root / "templates/counter_gap/quadruples.tsv", read_pronouns(root / "templates/pronouns.tsv")
    )


@pytest.fixture(scope="module")
def right(replica):
    """The right label of every instance."""
    labels = ["A" if row.a_coref else "B" if row.b_coref else "neither" for row in replica.itertuples()]
    return dict(zip(replica.id, labels, strict=True))


def said(right, **changes):
    """Return the labels of three annotators who are right, but for the changes: item to annotator to label or flag."""
    rows = []
    for name in ("ada", "ben", "eve"):
        for item, label in right.items():
            given = changes.get(item.replace("-", "_"), {}).get(name, label)
            flag = given if given in (annotation.COMMON_SENSE, annotation.REAL_PEOPLE) else ""
            if given is not None:
                rows.append((name, item, annotation.PERSON, label if flag else given))
                for column in (annotation.COMMON_SENSE, annotation.REAL_PEOPLE):
                    rows.append((name, item, column, "yes" if flag == column else "no"))
    return pd.DataFrame(rows, columns=["annotator", "item", "question", "label"])


def test_the_sheet_shows_the_marked_pronoun_and_both_names(replica):
    table = annotation.sheet_items(replica)
    for row, item in zip(replica.itertuples(), table.itertuples(), strict=True):
        assert item.Sentence[row.pronoun_offset :].startswith(f"[{row.pronoun}]")
        assert item.Sentence.replace(f"[{row.pronoun}]", row.pronoun) == row.text and (row.a, row.b) == (item.A, item.B)
    assert list(table) == ["Row", "Sentence", "Pronoun", "A", "B"]


def test_every_reason_is_counted(replica, right):
    """Quadruples in file order, each with what the paper discards (or a lone vote that changes nothing)."""
    names = list(dict.fromkeys(replica.quadruple))[:9]
    other = {name: "B" if right[name] == "A" else "A" for name in names}

    def key(name, role):
        return f"{name}{role}".replace("-", "_")

    everybody = dict.fromkeys(("ada", "ben", "eve"))
    changes = {
        # One of three says otherwise or flags.
        key(names[0], "-control"): {"ada": other[names[0]]},
        key(names[1], ""): {"ben": annotation.COMMON_SENSE},
        key(names[2], ""): {"eve": "neither"},
        # Two of three.
        key(names[3], "-swap-1"): {"ada": annotation.COMMON_SENSE, "ben": annotation.COMMON_SENSE},
        key(names[4], "-swap-2"): {"ada": other[names[4]], "eve": other[names[4]]},
        key(names[5], ""): {"ada": annotation.REAL_PEOPLE, "ben": annotation.REAL_PEOPLE},
        # Everybody disagrees: neither a name nor "neither" has a majority.
        key(names[6], ""): {"ada": "A", "ben": "B", "eve": "neither"},
        # Somebody has not answered.
        key(names[7], "-control"): {"ben": None},
        key(names[8], ""): everybody,
    }
    answers = said(right, **changes)
    _, quadruples = annotation.decide(replica, answers, 3)
    reasons = quadruples.set_index("quadruple").reason
    assert [reasons[name] for name in names] == [
        "", "", "", "contradicts common sense", "inconsistent", "real people", "undecided", "too few answers",
        "too few answers",
    ]  # fmt: skip
    steps = annotation.count_steps(quadruples).set_index("step")
    assert list(steps.index) == ["asked", *annotation.REASONS]
    assert steps.dropped.to_dict() == {
        "asked": 0, "too few answers": 2, "undecided": 1, "contradicts common sense": 1, "inconsistent": 1,
        "real people": 1,
    }  # fmt: skip
    assert list(steps.left) == [24, 22, 21, 20, 19, 18]
    assert (steps.masculine + steps.feminine == steps.left).all()
    # With two annotators a name may have half of the answers.
    pair = answers[answers.annotator != "eve"]
    _, undecided = annotation.decide(replica, pair, 2)
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


def test_the_jobs_from_candidates_to_labels(replica, right, tmp_path):
    candidates(replica, tmp_path / "candidates.tsv")
    paths = {
        name: str(tmp_path / name)
        for name in ("instances", "sheet", "answers", "labels", "funnel", "discarded", "agreement")
    }
    files.write_parquet(paths["instances"], read_c_gap(tmp_path / "candidates.tsv", labelled=False))
    annotation.sheet(instances=paths["instances"], sheet=paths["sheet"], seed=1)
    sheet, completed = files.read_csv(paths["sheet"], dtype=str).fillna(""), []
    real = sheet.Row.str.startswith("blanket").map({True: "yes", False: ""})
    for place, name in enumerate(("ada", "ben", "eve")):
        # Each errs in one instance of ten, all in different ones.
        given = [
            (label if row % 10 != place else "B" if label == "A" else "A")
            for row, label in enumerate(sheet.Row.map(right))
        ]
        completed.append(str(tmp_path / f"{name}.csv"))
        sheet.assign(**{annotation.PERSON: given, annotation.REAL_PEOPLE: real, "Annotator": name}).to_csv(
            completed[-1], index=False
        )
    annotation.labels(completed=completed, annotators=3, **paths)
    table, discarded = files.read_csv(paths["labels"], dtype=str), files.read_csv(paths["discarded"], dtype=str)
    assert discarded.set_index("quadruple").reason.to_dict() == {"blanket": "real people"}
    assert files.read_csv(paths["funnel"]).left.iloc[-1] * 4 == len(table) == 96 - 4
    gold = replica.set_index("id").loc[table.ID]
    assert list(gold.a_coref) == list(table["A-coref"] == "TRUE")
    assert list(gold.b_coref) == list(table["B-coref"] == "TRUE")
    agreed = files.read_csv(paths["agreement"]).set_index(["instances", "question", "measure"]).value
    # Thirty of 96 rows (those whose number ends in 0, 1 or 2) have one wrong label of three.
    assert agreed["all", annotation.PERSON, "agreed"] == pytest.approx(1 - 30 / 96 / 3)
    assert agreed["accepted", annotation.REAL_PEOPLE, "agreed"] == 1
    assert len(files.read_csv(paths["answers"])) == 3 * 96 * 3
