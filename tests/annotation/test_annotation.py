"""Tasks, their sheets, what may come back in them, and what it comes to, worked out by hand."""

import json
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.annotation import annotation_agreement, annotation_page, annotation_sheet, annotation_task
from scripts.core import files
from scripts.core.data import annotation
from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.core.statistics import agreement
from scripts.winopron import instances as winopron_jobs
from scripts.winopron.lib import instances, templates
from tests.annotation import simulated
from tests.winopron.make import PRONOUNS

DRAWN = {"draws": 200, "seed": 1}


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
    return pd.DataFrame(rows, columns=list(annotation.ITEM_COLUMNS[:5]))


@pytest.fixture
def declaration(root):
    return annotation.read_declaration(root / "templates/annotation/winopron_reference.yaml")


@pytest.fixture
def task(declaration, items):
    return annotation.task(declaration, items)


@pytest.fixture
def passages():
    """Two passages with names, a blank's worth of Unicode before them, and the questions of Counter-GAP."""
    text = "😀 Tom Lee met Ida; Tom Lee said that he was late, and Ida's friend Bo laughed."
    people = annotation.find_people(text, {"a": "Tom Lee", "b": "Bo"})
    rows = [
        {"item_id": name, "sentence": text, "expected": key, "mark": "37-39", "names": people}
        for name, key in (("p1", "a"), ("p2", "none"))
    ]
    assert text[37:39] == "he"
    return annotation.with_people(pd.DataFrame(rows))


@pytest.fixture
def highlights(root, passages):
    return annotation.task(
        annotation.read_declaration(root / "templates/annotation/counter_gap_coreference.yaml"), passages
    )


def filled(task, answers, grammatical="grammatical"):
    """Return a filled-in sheet; answers are in the order of the items."""
    table = annotation.sheet(task, 5)
    told = dict(zip(task.items.item_id, answers, strict=True))
    return table.assign(**{"Answer": table.Row.map(told), "Grammatical?": grammatical})


def test_the_sheet_has_every_item_in_another_order_and_no_right_answer(task, declaration, items):
    table = annotation.sheet(task, 5)
    assert list(table) == ["Row", "Sentence", "Question", "Grammatical?", "Answer", "Task"]
    assert set(table.Row) == set(items.item_id)
    assert list(table.Row) != list(items.item_id) and (table[["Grammatical?", "Answer"]] == "").all(axis=None)
    pd.testing.assert_frame_equal(table, annotation.sheet(task, 5))
    assert list(annotation.sheet(task, 6).Row) != list(table.Row)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t.iloc[:1]]), "items: the item 's0-cook' occurs twice; rename one"),
        (
            lambda t: t.assign(expected="maybe"),
            "'s0-cook' expects 'maybe'; the right answer is one of yes, no, not sure",
        ),
        (lambda t: t.assign(sentence=" "), "'s0-cook' has no id or no text"),
        (lambda t: t.assign(mark="9-99"), "'s0-cook' marks '9-99', which is no part of its text"),
        (lambda t: t.assign(names="Otto"), "'s0-cook' has names that cannot be read"),
        (lambda t: t.assign(sentense="x"), "the column 'sentense' is unknown; the columns are item_id, group"),
        (lambda t: t.drop(columns="sentence"), "a column item_id or sentence is missing"),
        (lambda t: t.iloc[:0], "there is nothing to ask; add an item"),
    ],
)
def test_items_that_cannot_be_asked_are_refused(declaration, items, change, message):
    with pytest.raises(UserError) as caught:
        annotation.task(declaration, change(items))
    assert message in str(caught.value)


CHOICE = {"id": "a", "kind": "choice", "column": "A", "ask": "?", "options": ["x", "y"]}
BLANK = {"id": "b", "kind": "blank", "column": "B", "ask": "?"}


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([], "questions has 0 entries; expected at least 1"),
        ([CHOICE | {"options": [True, False]}], "questions.0.options.0 is true (true or false); expected text"),
        ([CHOICE | {"kind": "slider"}], "questions.0.kind is 'slider'; expected one of choice, blank"),
        ([CHOICE | {"option": 1}], "unknown key 'questions.0.option'; did you mean 'options'?"),
        (
            [{key: CHOICE[key] for key in CHOICE if key != "options"}],
            "'a' is of the kind choice; give options to a choice",
        ),
        ([BLANK | {"options": ["x", "y"]}], "'b' is of the kind blank; give options to a choice"),
        ([CHOICE | {"options": ["x", "X"]}], "options that differ in capitals"),
        ([CHOICE | {"accepted": "z"}], "'a' accepts 'z', which is none of its options"),
        ([CHOICE | {"accepted": "x", "scored": True}], "is scored and has an accepted answer"),
        ([CHOICE | {"column": "Row"}], "has the column 'Row', which sheets have already"),
        ([CHOICE, CHOICE | {"column": "C"}], "two questions have the same id"),
        ([CHOICE, BLANK | {"column": "A"}], "two questions have the same column"),
        ([BLANK, BLANK | {"id": "c", "column": "C"}], "two questions are of the kind blank"),
        ([CHOICE | {"scored": True}, BLANK | {"scored": True}], "two questions are scored"),
        ([BLANK | {"kind": "note"}], "no question needs an answer"),
    ],
)
def test_bad_declarations_are_refused(tmp_path, questions, message):
    path = tmp_path / "task.yaml"
    path.write_text(yaml.safe_dump({"title": "T", "instructions": ["I"], "questions": questions}))
    with pytest.raises(UserError) as caught:
        annotation.read_declaration(path)
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)


def test_a_blank_stands_in_every_text(root):
    declaration = annotation.read_declaration(root / "templates/annotation/ruff_fidelity.yaml")
    items = pd.DataFrame({"item_id": ["i"], "sentence": ["Nothing is missing."], "expected": ["he"]})
    with pytest.raises(UserError, match="'i' has 0 blanks in its text; write ___ once"):
        annotation.task(declaration, items)


def test_a_task_is_written_and_loaded_with_its_digest(task, tmp_path):
    annotation.write(tmp_path / "task.parquet", task)
    loaded = annotation.load(tmp_path / "task.parquet")
    assert loaded.digest == task.digest and loaded.declaration == task.declaration
    # Neither right answers nor the order of the items are part of it; texts and instructions are.
    same = annotation.task(task.declaration, task.items.assign(expected="no").iloc[::-1])
    assert same.digest == task.digest
    assert annotation.task(task.declaration, task.items.assign(sentence="A.")).digest != task.digest
    assert annotation.task(task.declaration | {"title": "T"}, task.items).digest != task.digest
    files.write_parquet(tmp_path / "old.parquet", task.items)
    with pytest.raises(UserError, match="has no declaration of a task"):
        annotation.load(tmp_path / "old.parquet")


def test_a_filled_in_sheet_is_read_in_the_order_of_the_items(task, tmp_path):
    path = tmp_path / "ada.csv"
    table = filled(task, ["yes", "No ", "yes", "no", "not sure", "no"]).sort_values("Answer")
    table.to_csv(path, index=False)
    read = annotation.read(path, task)
    answers = read[read.question == "answer"]
    assert list(answers.item_id) == list(task.items.item_id)
    assert list(answers.answer) == list(answers.label) == ["yes", "no", "yes", "no", "not sure", "no"]
    assert sorted(answers.row) == list(range(2, 8))
    # Sheets of earlier versions have no digest.
    table.drop(columns="Task").to_csv(path, index=False)
    pd.testing.assert_frame_equal(annotation.read(path, task), read)


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
        (lambda t: t.assign(Task="0" * 16), "row 2: was filled in for another task (0000000000000000; this one is"),
        (lambda t: t.assign(Annotator=["", "Ben"] * 3), "row 3: was filled in by 'Ben', not by 'Ada'"),
    ],
)
def test_a_bad_sheet_is_refused_with_file_and_row(task, tmp_path, change, message):
    path = tmp_path / "ada.csv"
    change(filled(task, ["yes", "no"] * 3)).to_csv(path, index=False)
    with pytest.raises(UserError) as caught:
        annotation.read(path, task, "Ada")
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_sheet_is_read_as_spreadsheets_save_it(task, tmp_path, separator, encoding):
    table = filled(task, ["yes", "no"] * 3)
    table.to_csv(tmp_path / "plain.csv", index=False)
    text = table.to_csv(index=False, sep=separator, lineterminator="\r\n")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path = tmp_path / "saved.csv"
    path.write_bytes((mark + text + separator * (len(table.columns) - 1) + "\r\n").encode(encoding))
    pd.testing.assert_frame_equal(annotation.read(path, task), annotation.read(tmp_path / "plain.csv", task))


@pytest.mark.parametrize("content", [b"", b"Row,Sentence\n\xff\xfe,x\n", b'Row,"Sentence\n', b"PK\x03\x04\x00\x91"])
def test_what_is_no_sheet_is_never_to_be_deleted(task, tmp_path, content):
    (tmp_path / "ada.csv").write_bytes(content)
    with pytest.raises(UserError, match=r"ada\.csv") as caught:
        annotation.read(tmp_path / "ada.csv", task)
    assert "delete" not in str(caught.value)


def test_of_very_many_problems_some_are_listed(declaration, tmp_path):
    many = pd.DataFrame({"item_id": [f"i{n}" for n in range(30)], "sentence": "Rain fell."})
    task = annotation.task(declaration, many)
    annotation.sheet(task, 1).to_csv(tmp_path / "ada.csv", index=False)
    with pytest.raises(UserError, match=r"30 problems: row 2: has no answer.*row 21: has no.*; and 10 more$"):
        annotation.read(tmp_path / "ada.csv", task)


def test_somebody_may_be_asked_about_a_part(task, tmp_path):
    path = tmp_path / "ada.csv"
    table = filled(task, ["yes", "no"] * 3)
    table.iloc[:1, table.columns.get_indexer(["Grammatical?", "Answer"])] = ""
    table.iloc[:-2].to_csv(path, index=False)
    with pytest.raises(UserError, match=r"^[^:]*: 3 problems: .*; 2 rows missing"):
        annotation.read(path, task)
    assert annotation.read(path, task, partial=True).item_id.nunique() == 3
    # Half an answer is none, and no answer at all is no sheet.
    table.iloc[1, table.columns.get_loc("Answer")] = ""
    table.to_csv(path, index=False)
    with pytest.raises(UserError, match="1 problem: row 3: has no answer in 'Answer'"):
        annotation.read(path, task, partial=True)
    annotation.sheet(task, 1).to_csv(path, index=False)
    with pytest.raises(UserError, match="no row has an answer"):
        annotation.read(path, task, partial=True)


def test_answers_of_the_page_are_read_like_a_sheet(task, tmp_path):
    given = simulated.answers(task, seed=1, errors=0.4)
    simulated.fill(annotation.sheet(task, 5), given).to_csv(tmp_path / "ada.csv", index=False)
    (tmp_path / "ada.json").write_text(simulated.saved(task, "ada  LOVE", given))
    sheet = annotation.read(tmp_path / "ada.csv", task, "Ada Love")
    saved = annotation.read(tmp_path / "ada.json", task, "Ada Love")
    pd.testing.assert_frame_equal(sheet.drop(columns="row"), saved.drop(columns="row"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: "{", "not valid JSON"),
        (lambda c: "[]", "the key 'task' is missing or broken"),
        (
            lambda c: c | {"annotator": 1},
            "the key 'annotator' is missing or broken; save the answers from the page again",
        ),
        (lambda c: c | {"task": "1" * 16}, "task: was filled in for another task (1111111111111111"),
        (lambda c: c | {"annotator": "Ben"}, "annotator: was filled in by 'Ben', not by 'Ada'; correct the name"),
        (lambda c: c | {"answers": {}}, "6 rows missing, the first is 's0-cook'"),
        (lambda c: c | {"answers": c["answers"] | {"x": {}}}, "item 'x': the id 'x' was not asked about"),
        (lambda c: c | {"answers": c["answers"] | {"s0-cook": 3}}, "item 's0-cook': the answer '' is broken"),
        (
            lambda c: c | {"answers": c["answers"] | {"s0-cook": {"answer": 3}}},
            "item 's0-cook': the answer 'answer' is",
        ),
        (
            lambda c: c | {"answers": c["answers"] | {"s0-cook": {"answer": "yes"}}},
            "item 's0-cook': has no answer in 'Grammatical?'",
        ),
        (lambda c: json.dumps(c).replace('"s0-guest"', '"s0-cook"'), "'s0-cook' is answered twice"),
    ],
)
def test_a_bad_file_of_the_page_is_refused(task, tmp_path, change, message):
    path = tmp_path / "ada.json"
    changed = change(json.loads(simulated.saved(task, "Ada", simulated.answers(task, seed=1))))
    path.write_text(changed if isinstance(changed, str) else json.dumps(changed))
    with pytest.raises(UserError) as caught:
        annotation.read(path, task, "Ada")
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)


def test_names_are_found_wherever_they_stand():
    people = annotation.find_people(
        "Tom Lee saw Tom. Tommy saw Tom Lee.", {"a": "Tom", "b": "Tom Lee"}, known=[("a", 12)]
    )
    assert people == [
        {"key": "a", "name": "Tom", "spans": [[12, 15]]},
        {"key": "b", "name": "Tom Lee", "spans": [[0, 7], [27, 34]]},
    ]
    with pytest.raises(ValueError, match="'Ann' is not in the text"):
        annotation.find_people("Anna left.", {"Ann": "Ann"})
    item = SimpleNamespace(names="Tom; Ida", sentence="Ida saw Tom.")
    assert [person["key"] for person in annotation.offered_people(item)] == ["Tom", "Ida"]


def test_a_name_over_two_lines_is_written_in_one(highlights):
    """Texts of books have line ends anywhere."""
    text = "Then Tom\n  Lee saw that he was late."
    people = annotation.find_people(text, {"a": "Tom\n  Lee"})
    items = pd.DataFrame([{"item_id": "x", "sentence": text, "mark": "25-27", "names": people}])
    task = annotation.task(highlights.declaration, annotation.with_people(items))
    assert annotation.sheet(task, 1).Names[0] == "Tom Lee"
    item = next(task.items.itertuples())
    for cell in ("Tom Lee", "5-14 Tom Lee", "5-14"):
        assert annotation.parse(task.questions[0], item, cell) == ("5-14 Tom Lee", "a")


def test_tokens_end_at_names():
    assert annotation.tokens("Ann-Marie's", cuts=[3]) == [(0, 3), (3, 9), (9, 11)]
    text = "“No,” said Mrs. Kane."
    assert [text[a:b] for a, b in annotation.tokens(text)] == ["“", "No", ",", "”", "said", "Mrs", ".", "Kane", "."]


@pytest.mark.parametrize(
    ("cell", "answer", "label"),
    [
        ("Tom Lee", "2-9 Tom Lee", "a"),
        ("2-9 Tom Lee; 19-26 Tom Lee", "2-9 Tom Lee; 19-26 Tom Lee", "a"),
        ("19-22", "19-22 Tom", "a"),
        (" bo ", "67-69 Bo", "b"),
        ("54-57 Ida", "54-57 Ida", "other"),
        ("None", "none", "none"),
        ("14-22 Ida Tom", "14-22 Ida Tom", "a"),
    ],
)
def test_highlights_stand_for_a_person(highlights, cell, answer, label):
    item = next(highlights.items.itertuples())
    assert annotation.parse(highlights.questions[0], item, cell) == (answer, label)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "has no answer in 'Person'; enter a name, several with semicolons, or none"),
        ("Otto", "'Otto' is no answer in 'Person'"),
        ("2-9 Bo", "'2-9 Bo' is no answer"),
        ("9-2", "'9-2' is no answer"),
        ("2-900", "'2-900' is no answer"),
        ("Tom Lee; Bo", "'Tom Lee; Bo' in 'Person' is about Tom Lee and Bo; keep one person"),
    ],
)
def test_highlights_that_are_no_answer(highlights, cell, message):
    with pytest.raises(ValueError, match=r".") as caught:
        annotation.parse(highlights.questions[0], next(highlights.items.itertuples()), cell)
    assert message in str(caught.value)


def test_other_kinds_of_cells(highlights, root):
    flag, note = highlights.questions[1], highlights.questions[3]
    assert annotation.parse(flag, None, "") == ("no", "no") and annotation.parse(flag, None, "Yes") == ("yes", "yes")
    assert annotation.parse(note, None, " a  king's\nson ") == ("a king's son", "")
    with pytest.raises(ValueError, match="'maybe' is no answer in 'Contradicts common sense'; enter yes or nothing"):
        annotation.parse(flag, None, "maybe")
    blank = annotation.read_declaration(root / "templates/annotation/ruff_fidelity.yaml")["questions"][0]
    assert annotation.parse(blank, None, " Xyr ") == ("xyr", "xyr")
    for cell in ("he she", "he/she", "___", "1"):
        with pytest.raises(ValueError, match="is no answer in 'Pronoun'; enter the one word that fills the blank"):
            annotation.parse(blank, None, cell)
    validation = annotation.read_declaration(root / "templates/annotation/ruff_validation.yaml")["questions"][1]
    unasked = SimpleNamespace(question="")
    assert annotation.parse(validation, unasked, "") == ("", "")
    with pytest.raises(ValueError, match="'yes' in 'Answer', which this row does not ask; empty the cell"):
        annotation.parse(validation, unasked, "yes")


def judgements(task, tmp_path, **answers):
    read = {}
    for name, (given, grammatical) in answers.items():
        path = tmp_path / f"{name}.csv"
        filled(task, given, grammatical).to_csv(path, index=False)
        read[name] = annotation.read(path, task)
    return annotation.answers(task, read)


def test_agreement_and_accuracy_by_hand(task, tmp_path):
    """Of six answers the annotators differ in one."""
    table = judgements(
        task, tmp_path,
        ada=(["yes", "no", "yes", "no", "yes", "no"], "grammatical"),
        ben=(["yes", "no", "yes", "no", "no", "no"], "grammatical"),
    )  # fmt: skip
    measured = agreement.agreement(table).set_index(["question", "measure"])
    value = measured.value
    assert set(measured.annotators) == {2} and set(measured["items"]) == {6}
    assert value["answer", "same"] == pytest.approx(5 / 6) and value["grammatical", "same"] == 1
    assert value["answer", "agreed"] == pytest.approx(5.5 / 6)
    # 5 yes and 7 no of 12: chance is (25 + 49) / 144, so kappa is (5/6 - 74/144) / (1 - 74/144).
    assert value["answer", "kappa"] == pytest.approx((5 / 6 - 74 / 144) / (1 - 74 / 144))
    # Alpha: 2 of 12 values disagree; of pairs of different values (144 - 74) / (12 * 11) do by chance.
    assert value["answer", "alpha"] == pytest.approx(1 - (2 / 12) / (70 / 132))
    # Everybody always said the same: neither kappa nor alpha.
    assert np.isnan(value["grammatical", "kappa"]) and np.isnan(value["grammatical", "alpha"])
    rows = agreement.accuracy(table, **DRAWN).fillna({"annotator": ""}).set_index(["question", "annotator"])
    assert rows.accuracy["answer", "ada"] == 1 and rows.accuracy["answer", "ben"] == pytest.approx(2 / 3)
    assert (rows.n["answer", ""], rows.right["answer", ""]) == (6, 5)
    # Wilson: (p + z²/2n ± z sqrt(pq/n + z²/4n²)) / (1 + z²/n) with p = 1, n = 3, z² = 3.8415: 3 / 6.8415.
    assert rows.ci_low["answer", "ada"] == pytest.approx(3 / 6.841459, abs=1e-6) and rows.ci_high["answer", "ada"] == 1
    assert 0 <= rows.ci_low["answer", ""] < 5 / 6 < rows.ci_high["answer", ""] <= 1
    # All right: an interval over annotators would have no width.
    assert rows.accuracy["grammatical", ""] == 1 and np.isnan(rows.ci_low["grammatical", ""])
    alone = table[table.annotator == "ada"]
    assert agreement.agreement(alone).empty
    assert list(agreement.accuracy(alone, **DRAWN).annotator) == ["ada", "ada"]


def test_krippendorffs_example():
    """Krippendorff (2011), section C: four observers, twelve units, missing data; alpha is 0.743 for nominal data.

    The unit with one value alone counts for nothing.
    """
    observers = {
        "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    }
    units = [[value for value in unit if value is not None] for unit in zip(*observers.values(), strict=True)]
    assert agreement.alpha(units) == pytest.approx(0.743, abs=5e-4)
    # By its definition, from all ordered pairs of values.
    pairs = [(a, b, len(unit) - 1) for unit in units if len(unit) > 1 for a, b in combinations(unit, 2)]
    values = [value for unit in units if len(unit) > 1 for value in unit]
    observed = sum(2 * (a != b) / others for a, b, others in pairs) / len(values)
    expected = np.mean([a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j])
    assert agreement.alpha(units) == pytest.approx(1 - observed / expected)
    assert agreement.alpha([["x", "y"], ["y", "x"]]) == pytest.approx(-0.5)
    assert np.isnan(agreement.alpha([["x"], ["y"]])) and np.isnan(agreement.alpha([["x", "x"]]))


def test_annotators_who_answered_parts_have_an_alpha_and_no_kappa(task, tmp_path):
    table = judgements(
        task, tmp_path, ada=(["yes", "no"] * 3, "grammatical"), ben=(["yes"] * 6, "grammatical"),
        eve=(["no"] * 6, "grammatical"),
    )  # fmt: skip
    table = table[(table.annotator != "eve") | (table.group == "s0")]
    value = agreement.agreement(table).set_index(["question", "measure"]).value
    assert ("answer", "kappa") not in value.index
    # s0: yes yes no, no yes no; s1, s2: yes yes, no yes each.
    assert value["answer", "alpha"] == pytest.approx(1 - (2 + 2 + 2 + 2) / ((14**2 - 9**2 - 5**2) / 13))


def test_rejected_rows_say_why(task, tmp_path):
    table = agreement.rejected_items(
        judgements(task, tmp_path, ada=(["yes", "no", "yes", "not sure", "no", "no"], "grammatical"))
    )
    assert dict(zip(table.item_id, table.reason, strict=True)) == {
        "s1-guest": "answer: not sure where no is expected",
        "s2-cook": "answer: no where yes is expected",
    }
    table = agreement.rejected_items(judgements(task, tmp_path, ada=(["yes", "no"] * 3, "ungrammatical")))
    assert len(table) == 6 and set(table.reason) == {"grammatical: ungrammatical where grammatical is expected"}
    table = agreement.rejected_items(judgements(task, tmp_path, ada=(["no", "no"] * 3, "not sure")))
    assert table.reason[0] == ("grammatical: not sure where grammatical is expected; answer: no where yes is expected")
    assert not len(agreement.rejected_items(judgements(task, tmp_path, ada=(["yes", "no"] * 3, "grammatical"))))


def outputs(folder):
    return {name: str(folder / f"{name}.csv") for name in ("answers", "agreement", "accuracy", "rejected")} | DRAWN


@pytest.mark.parametrize("kind", ["winopron_reference", "ruff_fidelity", "counter_gap_coreference"])
def test_round_trip_with_simulated_people(root, tmp_path, kind, items, passages):
    """Export, answers with known errors, import: accuracy is what the annotators were made with."""
    texts = {
        "winopron_reference": items,
        "ruff_fidelity": pd.DataFrame(
            {"item_id": [f"b{n}" for n in range(200)], "sentence": "She knew that ___ left.", "expected": "she"}
        ),
        "counter_gap_coreference": passages,
    }[kind]
    path = str(tmp_path / "questions.parquet")
    task = annotation.task(annotation.read_declaration(root / f"templates/annotation/{kind}.yaml"), texts)
    annotation.write(path, task)
    annotation_sheet.main(questions=path, sheet=str(tmp_path / "sheet.csv"), seed=3)
    sheet = files.read_csv(tmp_path / "sheet.csv", dtype=str).fillna("")
    scored = next(question for question in task.questions if question.get("scored"))
    share = {}
    for name, seed, errors in (("Ada", 1, 0.0), ("Ben", 2, 0.2), ("Eve", 3, 0.5)):
        given = simulated.answers(task, seed, errors)
        simulated.fill(sheet, given).to_csv(tmp_path / f"{name}.csv", index=False)
        labels = {
            item.item_id: annotation.parse(scored, item, given[item.item_id][scored["column"]])[1] == item.expected
            for item in task.items.itertuples()
        }
        share[name] = pd.Series(labels).groupby(task.items.set_index("item_id").group).all().mean()
    sheets = [str(tmp_path / f"{name}.csv") for name in share]
    annotation_agreement.main(
        questions=path, sheets=sheets, annotators=list(share), partial=[False] * 3, **outputs(tmp_path)
    )
    table = files.read_csv(tmp_path / "accuracy.csv")
    table = table[table.question == scored["id"]].fillna({"annotator": ""}).set_index("annotator")
    assert table.accuracy.drop("").to_dict() == pytest.approx(share)
    assert share["Ada"] == 1 and table.accuracy[""] == pytest.approx(np.mean(list(share.values())))
    if kind == "ruff_fidelity":
        assert 0.7 < share["Ben"] < 0.9 and 0.4 < share["Eve"] < 0.6
        assert table.ci_low["Ben"] < 0.8 < table.ci_high["Ben"]
        assert len(files.read_csv(tmp_path / "rejected.csv")) == round(200 * (2 - share["Ben"] - share["Eve"]))


def test_the_same_annotator_twice_and_nobody_are_refused(root, task, tmp_path):
    path = str(tmp_path / "questions.parquet")
    annotation.write(path, task)
    with pytest.raises(UserError, match="two sheets have the same annotator, 'ADA'; name each once"):
        annotation_agreement.main(
            questions=path,
            sheets=["a.csv", "b.csv"],
            annotators=["Ada", "ADA"],
            partial=[False] * 2,
            **outputs(tmp_path),
        )
    with pytest.raises(UserError, match="no annotator has answered this task; list completed sheets"):
        annotation_agreement.main(questions=path, sheets=[], annotators=[], partial=[], **outputs(tmp_path))


def test_the_page_has_the_task_and_no_right_answer(root, tmp_path):
    """What stands in a text cannot end the element that the task is written into, and keys sort as they did."""
    items = pd.DataFrame(
        {
            "item_id": ["x", "y"],
            "sentence": ["</script><script>alert('1')</script> & <b>“Éa”</b> \u2028", "A ___ B"],
            "expected": ["secretly", "silently"],
        }
    ).assign(sentence=lambda t: t.sentence.where(t.item_id == "y", t.sentence + " ___"))
    declared = annotation.read_declaration(root / "templates/annotation/ruff_fidelity.yaml") | {"title": "<i>T</i>"}
    annotation.write(tmp_path / "mine.parquet", annotation.task(declared, items))
    annotation_page.main(
        questions=str(tmp_path / "mine.parquet"), template=str(root / "templates/annotation/page.html.j2"),
        page=str(tmp_path / "page.html"), seed=1,
    )  # fmt: skip
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2 and "<i>T</i>" not in page
    assert "secretly" not in page and "silently" not in page
    embedded = page.split('id="task">')[1].split("</script>")[0]
    shown = json.loads(embedded)
    assert {item["text"] for item in shown["items"]} == set(items.sentence)
    assert shown["task"] == annotation.load(tmp_path / "mine.parquet").digest
    # Nothing is fetched.
    assert "default-src 'none'" in page and "http://" not in page and "https://" not in page


def test_a_task_of_ones_own(tmp_path, root):
    """docs/annotation.md: a declaration and a CSV, without any study."""
    (tmp_path / "mine.csv").write_text("item_id,sentence,expected,names\n1,Ida saw Bo.,Ida,Ida; Bo\n")
    (tmp_path / "mine.yaml").write_text(
        "title: T\ninstructions: [I]\nquestions:\n- {id: who, kind: spans, column: Who, ask: Whom, scored: true}\n"
    )
    arguments = {"declaration": str(tmp_path / "mine.yaml"), "items": str(tmp_path / "mine.csv")}
    annotation_task.main(**arguments, questions=str(tmp_path / "mine.parquet"))
    task = annotation.load(tmp_path / "mine.parquet")
    assert annotation.sheet(task, 1).Names[0] == "Ida; Bo"
    item = next(task.items.itertuples())
    assert annotation.parse(task.questions[0], item, "8-10 Bo") == ("8-10 Bo", "Bo")
    (tmp_path / "mine.csv").write_text("item_id,text\n1,Ida saw Bo.\n")
    with pytest.raises(UserError, match=r"mine.csv: the column 'text' is unknown; the columns are item_id, group"):
        annotation_task.main(**arguments, questions=str(tmp_path / "mine.parquet"))


def test_the_example_is_read(root, tmp_path):
    """templates/annotation: a sheet about one pair of sentences, filled in by two annotators."""
    folder = root / "templates/annotation"
    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    frame = instances.build(read, "double", {"they": read_pronouns(root / "templates/pronouns.tsv")["they"]})
    paths = {name: str(tmp_path / name) for name in ("instances", "items", "sheet")}
    files.write_parquet(paths["instances"], frame.iloc[:2])
    winopron_jobs.questions(
        instances=paths["instances"], questions=paths["items"], declaration=str(folder / "winopron_reference.yaml")
    )
    annotation_sheet.main(questions=paths["items"], sheet=paths["sheet"], seed=1)
    empty = files.read_csv(paths["sheet"], dtype=str)
    sheets = [str(folder / "example_ada.csv"), str(folder / "example_ben.csv")]
    for path in sheets:
        assert list(files.read_csv(path, dtype=str).Row) == list(empty.Row)
    annotation_agreement.main(
        questions=paths["items"], sheets=sheets, annotators=["ada", "ben"], partial=[False] * 2, **outputs(tmp_path)
    )
    value = files.read_csv(tmp_path / "agreement.csv").set_index(["question", "measure"]).value
    share = files.read_csv(tmp_path / "accuracy.csv").set_index(["question", "annotator"]).accuracy
    assert (share["answer", "ada"], share["answer", "ben"], value["answer", "same"]) == (1, 0.5, 0.75)
    table = files.read_csv(tmp_path / "rejected.csv")
    assert list(table.annotator) == ["ben"] and list(table.reason) == ["answer: not sure where no is expected"]


def test_questions_are_about_every_person_named(root):
    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    double = instances.questions(instances.build(read, "double", PRONOUNS))
    single = instances.questions(instances.build(read, "single", PRONOUNS))
    assert (len(double), len(single)) == (2880, 1440) and double.item_id.is_unique and single.item_id.is_unique
    assert (double.groupby("group").expected.agg(sorted).map(tuple) == ("no", "yes")).all()
    assert set(single.expected) == {"yes"}
    assert double.question[0] == "Does the pronoun he refer to the accountant?"
