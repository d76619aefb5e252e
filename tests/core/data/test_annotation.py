"""Sheets for annotators: what goes out, what may come back, and how far annotators agree, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.errors import UserError

WHO = {"Who": ("A", "B", "neither")}
QUESTIONS = {"Pronoun": (), "Real people": ("yes", "no")} | WHO


@pytest.fixture
def blank(tmp_path):
    items = pd.DataFrame(
        {"Row": [f"s{n}" for n in range(4)], "Sentence": [f"The cook said {n}, ___ left." for n in range(4)]}
    )
    annotation.write_sheet(tmp_path / "sheet.csv", items, QUESTIONS, seed=1)
    return tmp_path / "sheet.csv"


def complete(blank, annotator="Ada", pronoun=("he", "she", "xe", "they"), who="A", path=None, **changes):
    """Write a completed sheet; its pronouns are in the order of the ids."""
    table = files.read_csv(blank, dtype=str).fillna("")
    table["Pronoun"] = table.Row.map(dict(zip(sorted(table.Row), pronoun, strict=True)))
    table = table.assign(Who=who, Annotator=annotator).assign(**changes)
    path = path or blank.with_name(f"{len(list(blank.parent.iterdir()))}.csv")
    table.to_csv(path, index=False)
    return str(path)


def test_a_blank_sheet_has_every_row_in_another_order_and_columns_to_fill(blank):
    table = files.read_csv(blank, dtype=str)
    assert list(table) == ["Row", "Sentence", "Pronoun", "Real people", "Who", "Annotator"]
    assert sorted(table.Row) == ["s0", "s1", "s2", "s3"] != list(table.Row)
    assert table.iloc[:, 2:].isna().all(axis=None)


def test_labels_are_read_with_their_rows(blank):
    path = complete(
        blank, pronoun=(" He", "SHE", "xe ", "they"), who="Neither", **{"Real people": ["YES", "", "no", ""]}
    )
    labels = annotation.read_labels(blank, [path], QUESTIONS)
    assert list(labels) == ["annotator", "item", "question", "label", "row"] and set(labels.annotator) == {"Ada"}
    by_item = labels[labels.question == "Pronoun"].set_index("item").label.to_dict()
    assert by_item == {"s0": "he", "s1": "she", "s2": "xe", "s3": "they"}
    assert list(labels[labels.question == "Real people"].label) == ["yes", "no", "no", "no"]
    assert set(labels[labels.question == "Who"].label) == {"neither"}
    assert list(labels.row) == [2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_sheet_is_read_as_spreadsheets_save_it(blank, separator, encoding):
    path = complete(blank)
    saved = blank.with_name("saved.csv")
    saved.write_bytes(
        files.read_csv(path, dtype=str).to_csv(index=False, sep=separator, lineterminator="\r\n").encode(encoding)
    )
    expected = annotation.read_labels(blank, [path], QUESTIONS)
    pd.testing.assert_frame_equal(annotation.read_labels(blank, [str(saved)], QUESTIONS), expected)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_a_text_never_becomes_a_formula(tmp_path, text):
    annotation.write_sheet(tmp_path / "sheet.csv", pd.DataFrame({"Row": ["s"], "Sentence": [text]}), WHO, seed=1)
    sheet = files.read_csv(tmp_path / "sheet.csv", dtype=str)
    assert list(sheet.Sentence) == [f"'{text}"]
    sheet.assign(Who="A", Annotator="=2+2").to_csv(tmp_path / "ada.csv", index=False)
    assert list(annotation.read_labels(tmp_path / "sheet.csv", [str(tmp_path / "ada.csv")], WHO).label) == ["A"]


def changed(column, value, row=0):
    return lambda table: table.assign(**{column: [*table[column][:row], value, *table[column][row + 1 :]]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("Pronoun", "he/she"), r": row 2: 'he/she' is not an answer to 'Pronoun'; enter the one word"),
        (changed("Who", "C", 2), r": row 4: 'c' is not an answer to 'Who'; enter one of A, B, neither"),
        (changed("Who", ""), r": row 2: 'Who' is empty; enter one of A, B, neither"),
        (changed("Row", "x"), r": row 2: 'x' is not in the blank sheet; restore .* Row \(and 1 other problem\)$"),
        (changed("Sentence", "x", 1), r": row 3: 'Sentence' differs from the blank sheet; restore the cell"),
        (lambda table: pd.concat([table, table.iloc[:1]]), r": row 6: repeats row 2; remove one of them"),
        (lambda table: table.iloc[1:], r": 1 row missing, the first is 's\d'; restore all rows"),
        (lambda table: table.drop(columns="Who"), r", row 1: the column 'Who' is missing; copy it from .*sheet\.csv"),
        (lambda table: table.assign(Annotator=""), r": the column 'Annotator' names nobody; enter"),
        (changed("Annotator", "Ben"), r": the column 'Annotator' names 'Ben' and 'Ada'; enter"),
        (
            lambda table: pd.concat([table, table[["Who"]]], axis=1),
            r", row 1: the column 'Who' is given twice; remove one of them",
        ),
    ],
)  # fmt: skip
def test_a_bad_sheet_is_refused_with_file_row_and_remedy(blank, change, message):
    path = complete(blank)
    change(files.read_csv(path, dtype=str).fillna("")).to_csv(path, index=False)
    with pytest.raises(UserError, match=f"^{path}{message}"):
        annotation.read_labels(blank, [path], QUESTIONS)


def test_of_many_problems_the_first_is_named(tmp_path):
    items = pd.DataFrame({"Row": [f"s{n}" for n in range(13)], "Sentence": "Rain fell."})
    annotation.write_sheet(tmp_path / "sheet.csv", items, WHO, seed=1)
    table = files.read_csv(tmp_path / "sheet.csv", dtype=str).assign(Annotator="Ada")
    table.to_csv(tmp_path / "ada.csv", index=False)
    with pytest.raises(
        UserError, match=r"row 2: 'Who' is empty; enter one of A, B, neither \(and 12 other problems\)$"
    ):
        annotation.read_labels(tmp_path / "sheet.csv", [str(tmp_path / "ada.csv")], WHO)


@pytest.mark.parametrize("name", ["Ada", "  ADA ", "A\u200bda", "\uff21da"])
def test_one_annotator_counts_once_under_every_spelling(blank, name):
    """Capitals, blanks, characters without width and full-width letters make no second annotator."""
    first, second = complete(blank), complete(blank, annotator=name)
    with pytest.raises(UserError, match=rf"^{second}: '.*' also completed {first}; list one sheet per annotator"):
        annotation.read_labels(blank, [first, second], QUESTIONS)


def test_no_file_is_refused(blank):
    with pytest.raises(UserError, match=r"sheet\.csv: no completed sheet is listed; add the files"):
        annotation.read_labels(blank, [], QUESTIONS)


def test_rows_may_stay_empty_where_annotators_share_the_work(blank):
    path = complete(blank, pronoun=("", "", "xe", "they"), who=["", "", "", ""])
    table = files.read_csv(path, dtype=str).fillna("")
    table["Who"] = table.Pronoun.map(lambda cell: "A" if cell else "")
    table.to_csv(path, index=False)
    labels = annotation.read_labels(blank, [path], QUESTIONS, partial=True)
    assert set(labels["item"]) == {"s2", "s3"}
    with pytest.raises(UserError, match="'Pronoun' is empty"):
        annotation.read_labels(blank, [path], QUESTIONS)
    # Half an answer is refused, and so is an empty sheet.
    table.assign(Who="").to_csv(path, index=False)
    with pytest.raises(UserError, match=r"row \d: 'Who' is empty"):
        annotation.read_labels(blank, [path], QUESTIONS, partial=True)
    table.assign(Who="", Pronoun="").to_csv(path, index=False)
    with pytest.raises(UserError, match="no row is answered"):
        annotation.read_labels(blank, [path], QUESTIONS, partial=True)


def test_agreement_by_hand(blank):
    """Of four items the annotators agree on three; of two they always said the same about the names."""
    given = {"Ada": ("he", "she", "xe", "they"), "Ben": ("he", "she", "xe", "he")}
    labels = annotation.read_labels(blank, [complete(blank, name, cells) for name, cells in given.items()], QUESTIONS)
    table = annotation.agreement(labels).set_index(["question", "measure"])
    assert table.value["Pronoun", "agreed"] == pytest.approx((3 + 0.5) / 4)
    # Eight values: he 3, she 2, xe 2, they 1. Observed: 2 of 8 disagree; expected: (64 - 18) / (8 * 7).
    assert table.value["Pronoun", "alpha"] == pytest.approx(1 - (2 / 8) / (46 / 56))
    assert table.value["Who", "agreed"] == 1 and np.isnan(table.value["Who", "alpha"])
    assert set(table["items"]) == {4} and set(table.annotators) == {2}
    assert annotation.agreement(labels[labels.annotator == "Ada"]).empty
