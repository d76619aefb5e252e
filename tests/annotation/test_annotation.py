"""Sheets, what may come back in them, and what it comes to, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.annotation import annotation_agreement, annotation_sheet
from scripts.core import annotation, files
from scripts.core.errors import UserError
from scripts.winopron import questions as questions_job
from scripts.winopron.lib import instances, questions, templates


@pytest.fixture
def items():
    rows = [
        (
            f"s{number}-{who}",
            f"s{number}",
            f"The cook met the guest, and xe {verb}.",
            f"Is xe the {who}?",
            expected,
        )
        for number, verb in enumerate(("sat", "ate", "left"))
        for who, expected in (("cook", "yes"), ("guest", "no"))
    ]
    return pd.DataFrame(rows, columns=list(annotation.ITEM_COLUMNS))


def filled(items, answers, grammatical="grammatical"):
    """Return a filled-in sheet; answers are in the order of the items."""
    table = annotation.sheet(items, 5)
    told = dict(zip(items.item_id, answers, strict=True))
    return table.assign(**{"Answer": table.Row.map(told), "Grammatical?": grammatical})


def test_the_sheet_has_every_item_in_another_order_and_no_right_answer(items):
    table = annotation.sheet(items, 5)
    assert list(table) == list(annotation.SHEET_COLUMNS) and set(table.Row) == set(items.item_id)
    assert list(table.Row) != list(items.item_id) and (table[["Grammatical?", "Answer"]] == "").all(axis=None)
    pd.testing.assert_frame_equal(table, annotation.sheet(items, 5))
    assert list(annotation.sheet(items, 6).Row) != list(table.Row)
    with pytest.raises(UserError, match="'s0-cook' occurs twice"):
        annotation.sheet(pd.concat([items, items.iloc[:1]]), 5)
    with pytest.raises(UserError, match="'s0-cook' expects 'maybe'"):
        annotation.sheet(items.assign(expected="maybe"), 5)


def test_a_filled_in_sheet_is_read_in_the_order_of_the_items(items, tmp_path):
    path = tmp_path / "ada.csv"
    table = filled(items, ["yes", "No ", "yes", "no", "not sure", "no"]).sort_values("Answer")
    table.to_csv(path, index=False)
    read = annotation.read(path, items)
    assert list(read.item_id) == list(items.item_id)
    assert list(read.answer) == ["yes", "no", "yes", "no", "not sure", "no"]
    assert sorted(read.row) == list(range(2, 8))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.assign(Answer=["maybe", *t.Answer[1:]]),
            "row 2: 'maybe' is no answer in 'Answer'; enter one of yes",
        ),
        (lambda t: t.assign(Answer=["", *t.Answer[1:]]), "row 2: has no answer in 'Answer'; enter one of yes, no, not"),
        (lambda t: t.assign(**{"Grammatical?": "fine"}), "row 7: 'fine' is no answer in 'Grammatical?'"),
        (lambda t: t.assign(Row=["x", *t.Row[1:]]), "row 2: the id 'x' was not asked about"),
        (
            lambda t: t.assign(Sentence=["A.", *t.Sentence[1:]]),
            "row 2: sentence or question differ from what was asked",
        ),
        (lambda t: pd.concat([t, t.iloc[:1]]), "is in row 2; remove one"),
        (lambda t: t.iloc[:-2], "2 rows missing, the first is"),
        (lambda t: t.drop(columns="Answer"), "row 1: the column 'Answer' is missing"),
    ],
)
def test_a_bad_sheet_is_refused_with_file_and_row(items, tmp_path, change, message):
    path = tmp_path / "ada.csv"
    change(filled(items, ["yes", "no"] * 3)).to_csv(path, index=False)
    with pytest.raises(UserError) as caught:
        annotation.read(path, items)
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)


def judgements(items, tmp_path, **answers):
    read = {}
    for name, (given, grammatical) in answers.items():
        path = tmp_path / f"{name}.csv"
        filled(items, given, grammatical).to_csv(path, index=False)
        read[name] = annotation.read(path, items)
    return annotation.judged(items, read)


def test_agreement_by_hand(items, tmp_path):
    """Of six answers the annotators differ in one."""
    table = judgements(
        items, tmp_path,
        ada=(["yes", "no", "yes", "no", "yes", "no"], "grammatical"),
        ben=(["yes", "no", "yes", "no", "no", "no"], "grammatical"),
    )  # fmt: skip
    value = annotation.agreement(table).set_index(["measure", "annotator"]).value
    assert (value["grammatical", "ada"], value["right", "ada"], value["right", "ben"]) == (1, 1, pytest.approx(2 / 3))
    assert value["answer_same", ""] == pytest.approx(5 / 6) and value["grammatical_same", ""] == 1
    # 5 yes and 7 no of 12: chance is (25 + 49) / 144, so kappa is (5/6 - 74/144) / (1 - 74/144).
    assert value["answer_kappa", ""] == pytest.approx((5 / 6 - 74 / 144) / (1 - 74 / 144))
    # Everybody always said the same: no kappa.
    assert np.isnan(value["grammatical_kappa", ""])
    alone = annotation.agreement(table[table.annotator == "ada"])
    assert list(alone.measure) == ["grammatical", "right"]


def test_rejected_rows_say_why(items, tmp_path):
    table = annotation.rejected(
        judgements(items, tmp_path, ada=(["yes", "no", "yes", "not sure", "no", "no"], "grammatical"))
    )
    assert dict(zip(table.item_id, table.reason, strict=True)) == {
        "s1-guest": "answer: not sure where no is expected",
        "s2-cook": "answer: no where yes is expected",
    }
    table = annotation.rejected(judgements(items, tmp_path, ada=(["yes", "no"] * 3, "ungrammatical")))
    assert len(table) == 6 and set(table.reason) == {"ungrammatical"}
    table = annotation.rejected(judgements(items, tmp_path, ada=(["no", "no"] * 3, "not sure")))
    assert table.reason[0] == "grammatical: not sure; answer: no where yes is expected"
    assert not len(annotation.rejected(judgements(items, tmp_path, ada=(["yes", "no"] * 3, "grammatical"))))


def test_the_example_is_read(root, tmp_path):
    """templates/annotation: a sheet about one pair of sentences, filled in by two annotators."""
    folder = root / "templates/annotation"
    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    from scripts.core.templates import read_pronouns

    frame = instances.build(read, "double", {"they": read_pronouns(root / "templates/pronouns.tsv")["they"]})
    paths = {name: str(tmp_path / name) for name in ("instances", "items", "sheet", "agreement", "rejected")}
    files.write_parquet(paths["instances"], frame.iloc[:2])
    questions_job.main(instances=paths["instances"], questions=paths["items"])
    annotation_sheet.main(questions=paths["items"], sheet=paths["sheet"], seed=1)
    empty = files.read_csv(paths["sheet"], dtype=str)
    sheets = [folder / "example_ada.csv", folder / "example_ben.csv"]
    for path in sheets:
        assert list(files.read_csv(path, dtype=str).Row) == list(empty.Row)
    annotation_agreement.main(
        questions=paths["items"], sheets=sheets, annotators=["ada", "ben"],
        agreement=paths["agreement"], rejected=paths["rejected"],
    )  # fmt: skip
    value = files.read_csv(paths["agreement"]).fillna({"annotator": ""}).set_index(["measure", "annotator"]).value
    assert (value["right", "ada"], value["right", "ben"], value["answer_same", ""]) == (1, 0.5, 0.75)
    table = files.read_csv(paths["rejected"])
    assert list(table.annotator) == ["ben"] and list(table.reason) == ["answer: not sure where no is expected"]
    with pytest.raises(UserError, match="two sheets have the same annotator"):
        annotation_agreement.main(
            questions=paths["items"], sheets=sheets, annotators=["ada", "ada"],
            agreement=paths["agreement"], rejected=paths["rejected"],
        )  # fmt: skip


def test_questions_are_about_every_person_named(root):
    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    from tests.winopron.make import PRONOUNS

    double = questions.items(instances.build(read, "double", PRONOUNS))
    single = questions.items(instances.build(read, "single", PRONOUNS))
    assert (len(double), len(single)) == (2880, 1440) and double.item_id.is_unique and single.item_id.is_unique
    assert (double.groupby("group").expected.agg(sorted).map(tuple) == ("no", "yes")).all()
    assert set(single.expected) == {"yes"}
    assert double.question[0] == "Does the pronoun he refer to the accountant?"
