"""Sheets for annotators: what goes out, what may come back, and how far annotators agree, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import annotation
from tests.refusals import refused

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


BAD_SHEETS = {
    "two words": (changed("Pronoun", "he/she"), ["row 2", "'he/she'", "'Pronoun'", "one word"]),
    "no option": (changed("Who", "C", 2), ["row 4", "'c'", "'Who'", "A, B, neither"]),
    "no answer": (changed("Who", ""), ["row 2", "'Who' is empty", "A, B, neither"]),
    "other row": (changed("Row", "x"), ["row 2", "'x' is not in the blank sheet", "Row", "1 other problem"]),
    "other text": (changed("Sentence", "x", 1), ["row 3", "'Sentence' differs from the blank sheet"]),
    "row twice": (lambda table: pd.concat([table, table.iloc[:1]]), ["row 6", "repeats row 2"]),
    "row missing": (lambda table: table.iloc[1:], ["1 row missing", "'s"]),
    "no column": (lambda table: table.drop(columns="Who"), ["row 1", "'Who' is missing", "sheet.csv"]),
    "nobody": (lambda table: table.assign(Annotator=""), ["'Annotator' names nobody"]),
    "two names": (changed("Annotator", "Ben"), ["'Annotator' names 'Ben' and 'Ada'"]),
    "column twice": (lambda table: pd.concat([table, table[["Who"]]], axis=1), ["row 1", "'Who' is given twice"]),
    "many": (lambda table: table.assign(Who=""), ["row 2", "'Who' is empty", "3 other problems"]),
}


@pytest.mark.parametrize(("change", "named"), BAD_SHEETS.values(), ids=BAD_SHEETS)
def test_a_bad_sheet_is_refused_with_file_row_and_remedy(blank, change, named):
    path = complete(blank)
    change(files.read_csv(path, dtype=str).fillna("")).to_csv(path, index=False)
    with refused(path, *named):
        annotation.read_labels(blank, [path], QUESTIONS)


def test_one_annotator_counts_once_under_every_spelling(blank):
    """Capitals, blanks, characters without width and full-width letters make no second annotator."""
    with refused(blank, "no completed sheet is listed"):
        annotation.read_labels(blank, [], QUESTIONS)
    first = complete(blank)
    for name in ("Ada", "  ADA ", "A\u200bda", "\uff21da"):
        second = complete(blank, annotator=name)
        with refused(second, "also completed", first):
            annotation.read_labels(blank, [first, second], QUESTIONS)


def test_rows_may_stay_empty_where_annotators_share_the_work(blank):
    path = complete(blank, pronoun=("", "", "xe", "they"), who=["", "", "", ""])
    table = files.read_csv(path, dtype=str).fillna("")
    table["Who"] = table.Pronoun.map(lambda cell: "A" if cell else "")
    table.to_csv(path, index=False)
    labels = annotation.read_labels(blank, [path], QUESTIONS, partial=True)
    assert set(labels["item"]) == {"s2", "s3"}
    with refused("'Pronoun' is empty"):
        annotation.read_labels(blank, [path], QUESTIONS)
    # Half an answer is refused, and so is an empty sheet.
    table.assign(Who="").to_csv(path, index=False)
    with refused(path, "row ", "'Who' is empty"):
        annotation.read_labels(blank, [path], QUESTIONS, partial=True)
    table.assign(Who="", Pronoun="").to_csv(path, index=False)
    with refused(path, "no row is answered"):
        annotation.read_labels(blank, [path], QUESTIONS, partial=True)


def test_agreement_by_hand(blank):
    """Of four items the annotators agree on three; of two they always said the same about the names."""
    given = {"Ada": ("he", "she", "xe", "they"), "Ben": ("he", "she", "xe", "he")}
    labels = annotation.read_labels(blank, [complete(blank, name, cells) for name, cells in given.items()], QUESTIONS)
    table = annotation.measure_agreement(labels).set_index(["question", "measure"])
    assert table.value["Pronoun", "agreed"] == pytest.approx((3 + 0.5) / 4)
    # Eight values: he 3, she 2, xe 2, they 1. Observed: 2 of 8 disagree; expected: (64 - 18) / (8 * 7).
    assert table.value["Pronoun", "alpha"] == pytest.approx(1 - (2 / 8) / (46 / 56))
    assert table.value["Who", "agreed"] == 1 and np.isnan(table.value["Who", "alpha"])
    assert set(table["items"]) == {4} and set(table.annotators) == {2}
    assert annotation.measure_agreement(labels[labels.annotator == "Ada"]).empty
