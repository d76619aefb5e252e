"""The page for annotators in a browser: keys, mouse, highlights, blanks, saving, and going on later."""

import csv
import io
import json

import pandas as pd
import pytest

from scripts.annotation import annotation_page
from scripts.core.data import annotation
from tests.browser import Browser

TEXT = "“No,” 😀 said Mrs. Kane; Tom saw </script> Ida's hat, and he laughed. Tom was <b>tired</b>."


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def make(tmp_path_factory, root):
    """Make the page of a task; returns the task and the page."""

    def page(kind, items):
        folder = tmp_path_factory.mktemp(kind)
        task = annotation.task(annotation.read_declaration(root / f"templates/annotation/{kind}.yaml"), items)
        annotation.write(folder / "mine.parquet", task)
        annotation_page.main(
            questions=str(folder / "mine.parquet"), template=str(root / "templates/annotation/page.html.j2"),
            page=str(folder / "page.html"), seed=4, name=f"mine_{kind}",
        )  # fmt: skip
        return task, folder / "page.html"

    return page


@pytest.fixture(scope="module")
def choices(make):
    rows = [
        {"item_id": f"i{n}", "sentence": f"The cook met guest {n}, and xe left.", "question": f"Is xe guest {n}?"}
        for n in range(3)
    ]
    return make("winopron_reference", pd.DataFrame(rows))


@pytest.fixture(scope="module")
def highlights(make):
    start = TEXT.index("he laughed")
    people = annotation.find_people(TEXT, {"a": "Mrs. Kane", "b": "Tom"})
    rows = [{"item_id": f"p{n}", "sentence": TEXT, "mark": f"{start}-{start + 2}", "names": people} for n in range(2)]
    return make("counter_gap_coreference", annotation.with_people(pd.DataFrame(rows)))


def start(browser, page, name):
    browser.open(page)
    browser.evaluate("document.getElementById('name').value = ''")
    browser.type(name)
    browser.press("Enter")
    browser.wait("!document.getElementById('work').hidden")


def shown(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').textContent")


def answered(browser):
    """Return the answers that the browser keeps, and where the page is."""
    return json.loads(browser.evaluate("JSON.stringify(answers)"))


def test_choices_by_keyboard_alone(browser, choices):
    """Tab, space, arrows and Enter; the browser keeps the answers, and the page goes on where it was left."""
    task, page = choices
    order = [item["id"] for item in annotation.page(task, 4)["items"]]
    start(browser, page, "Ada")
    assert (shown(browser, "place"), shown(browser, "done")) == ("1 of 3", "0 of 3 answered")
    browser.press("Tab")
    # Where the focus is can be seen.
    assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press(" ")
    browser.press("Tab")
    browser.press(" ")
    browser.press("ArrowRight")
    assert answered(browser) == {order[0]: {"grammatical": "grammatical", "answer": "no"}}
    browser.press("Enter")
    assert (shown(browser, "place"), shown(browser, "done")) == ("2 of 3", "1 of 3 answered")
    assert browser.evaluate("document.activeElement.id") == "place"
    browser.press("Tab")
    browser.press("ArrowRight")
    browser.press("Enter")
    assert shown(browser, "place") == "3 of 3"
    # Half an answer is none: after a reload the page opens there, with what was answered.
    browser.open_again(page, "document.getElementById('name').value === 'Ada'")
    browser.press("Enter")
    browser.wait("!document.getElementById('work').hidden")
    assert (shown(browser, "place"), shown(browser, "done")) == ("2 of 3", "1 of 3 answered")
    assert browser.evaluate("document.querySelector(':checked').nextSibling.textContent") == "ungrammatical"
    # Somebody else at the same browser begins anew.
    start(browser, page, "Ben")
    assert (shown(browser, "place"), answered(browser)) == ("1 of 3", {})


def test_a_blank_is_typed_in_the_text(browser, make):
    items = pd.DataFrame({"item_id": ["x", "y"], "sentence": ["Kim knew that ___ left.", "Kim lost ___ hat & tie."]})
    task, page = make("ruff_fidelity", items)
    first, second = (item["id"] for item in annotation.page(task, 4)["items"])
    start(browser, page, "Ada")
    assert browser.evaluate("document.activeElement.id") == "q-pronoun"
    browser.type("xe 2")
    browser.press("Enter")
    assert (shown(browser, "place"), shown(browser, "problem")) == ("1 of 2", "Enter one word in the blank.")
    browser.evaluate("document.getElementById('q-pronoun').value = ''")
    browser.type("Xe")
    browser.press("Enter")
    browser.type("xyr")
    assert shown(browser, "done") == "2 of 2 answered"
    browser.press("Enter")
    assert "save the answers to a file" in shown(browser, "message")
    assert answered(browser) == {first: {"pronoun": "Xe"}, second: {"pronoun": "xyr"}}


def test_highlights_by_mouse_and_by_keys(browser, highlights):
    _, page = highlights
    start(browser, page, "Ada")
    # What looks like markup in a text is text.
    assert shown(browser, "text") == TEXT
    assert browser.evaluate("document.querySelector('#text mark').textContent") == "he"
    words = browser.evaluate("[...document.querySelectorAll('.token')].map(word => word.textContent)")

    def word(text):
        return f".token:nth-of-type({words.index(text) + 1})"

    # Dragged over a name of three tokens; the mark is no token.
    browser.drag(word("Mrs"), word("Kane"))
    kane = TEXT.index("Mrs. Kane")
    assert only(browser)["coreferent"] == f"{kane}-{kane + 9} Mrs. Kane"
    assert browser.evaluate("document.getElementById('person-0').checked")
    # A second person is refused until one of them is taken away.
    browser.click(word("Tom"))
    browser.click("#next")
    assert shown(browser, "place") == "1 of 2" and "You highlighted 2 people: Mrs. Kane, Tom" in shown(
        browser, "problem"
    )
    browser.click("label:has(#person-0)")
    tom = TEXT.index("Tom")
    assert only(browser)["coreferent"] == f"{tom}-{tom + 3} Tom" and shown(browser, "problem") == ""
    assert shown(browser, "highlighted") == "Highlighted: Tom"
    # None of the names takes all away, and a word takes none away.
    browser.click("label:has(#person-none)")
    assert only(browser)["coreferent"] == "none"
    browser.click(word("Ida"))
    ida = TEXT.index("Ida")
    assert only(browser)["coreferent"] == f"{ida}-{ida + 3} Ida"
    browser.click("#clear")
    assert answered(browser) == {}
    # By keys: to the first word, six on, extended by two.
    browser.evaluate("document.querySelector('.token').focus()")
    browser.press("Home")
    browser.press("ArrowRight", times=words.index("Mrs"))
    browser.press(" ")
    browser.press("ArrowRight", times=2, shift=True)
    assert only(browser)["coreferent"] == f"{kane}-{kane + 9} Mrs. Kane"
    # Boxes and the remark by keys as well.
    browser.evaluate("document.getElementById('q-common_sense').focus()")
    browser.press(" ")
    browser.press("Tab", times=2)
    browser.type("a queen")
    browser.press("Enter")
    assert shown(browser, "place") == "2 of 2"
    assert (only(browser)["common_sense"], only(browser)["remark"]) == ("yes", "a queen")
    # A box highlights the name wherever it stands.
    browser.click("label:has(#person-1)")
    assert [given["coreferent"] for given in answered(browser).values()][1].count("Tom") == 2


def only(browser):
    """Return the answers to the one item that was answered."""
    (given,) = answered(browser).values()
    return given


def test_saved_answers_are_loaded_and_read(browser, highlights, tmp_path):
    """To a file, from it into an empty browser, and through the import: JSON and CSV say the same."""
    task, page = highlights
    browser.open(page)
    browser.evaluate("localStorage.clear()")
    start(browser, page, "Ada")
    browser.click("label:has(#person-0)")
    browser.click("label:has(#q-common_sense)")
    browser.click("#q-remark")
    browser.type('a "king", who is a wife; twice')
    browser.click("#next")
    browser.click("label:has(#person-1)")
    browser.click("#save")
    saved = browser.downloaded("mine_counter_gap_coreference_Ada.json")
    browser.click("#csv")
    sheet = browser.downloaded("mine_counter_gap_coreference_Ada.csv")
    assert {row["Annotator"] for row in csv.DictReader(io.StringIO(sheet))} == {"Ada"}
    tables = {}
    for name, text in (("ada.json", saved), ("ada.csv", sheet)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        tables[name] = annotation.read(tmp_path / name, task, "ada").drop(columns="row")
    pd.testing.assert_frame_equal(tables["ada.json"], tables["ada.csv"])
    labels = tables["ada.csv"].set_index(["item_id", "question"]).label
    first, second = (item["id"] for item in annotation.page(task, 4)["items"])
    assert (labels[first, "coreferent"], labels[second, "coreferent"]) == ("a", "b")
    assert (labels[first, "common_sense"], labels[second, "common_sense"]) == ("yes", "no")
    remark = tables["ada.csv"].set_index(["item_id", "question"]).answer[first, "remark"]
    assert remark == 'a "king", who is a wife; twice'
    # Another browser has nothing; the file brings it back.
    browser.evaluate("localStorage.clear()")
    browser.open_again(page, "localStorage.length === 0")
    start(browser, page, "Ada")
    assert shown(browser, "done") == "0 of 2 answered"
    browser.choose_file("#load", tmp_path / "ada.json")
    browser.wait("document.getElementById('message').textContent.includes('loaded')")
    assert shown(browser, "message") == "2 answered items loaded from ada.json."
    assert (shown(browser, "done"), answered(browser)) == ("2 of 2 answered", json.loads(saved)["answers"])
    browser.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 20_000


def test_files_of_others_and_of_other_tasks_are_not_loaded(browser, choices, tmp_path):
    _, page = choices
    start(browser, page, "Eve")
    digest = browser.evaluate("TASK.task")
    for content, message in (
        ("x", "other.json has no answers: choose a file that this page saved."),
        (json.dumps({"task": "1", "annotator": "Eve", "answers": {}}), "has answers to another task (1); nothing was"),
        (json.dumps({"task": digest, "annotator": "Ben", "answers": {}}), "has the answers of Ben; nothing was loaded"),
    ):
        (tmp_path / "other.json").write_text(content)
        browser.choose_file("#load", tmp_path / "other.json")
        browser.wait(f"document.getElementById('message').textContent.includes({json.dumps(message)})")
    assert answered(browser) == {}
