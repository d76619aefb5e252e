"""Books brought together, and what each step leaves."""

import pandas as pd

from scripts.core import files
from scripts.counter_gap import book_quadruples as output
from scripts.counter_gap import books as job
from scripts.counter_gap.book_passages import STEPS
from scripts.counter_gap.passages import read_c_gap
from tests.counter_gap.test_book_quadruples import four
from tests.refusals import refused


def brought_together(folder, **books):
    """Write books' quadruples (numbers) and outcomes, and return candidates and funnel."""
    paths = {"passages": [], "outcomes": []}
    for name, (numbers, dropped) in books.items():
        rows = [row for number in numbers for row in output.rows_of(four(number), f"{name}{number}", f"book {name}")]
        output.write_rows(folder / f"{name}.tsv", rows)
        steps = [None] * len(numbers) + dropped
        table = pd.DataFrame({"start": range(len(steps)), "dropped": steps, "id": None})
        files.write_csv(folder / f"{name}.csv", table)
        paths["passages"].append(str(folder / f"{name}.tsv"))
        paths["outcomes"].append(str(folder / f"{name}.csv"))
    made = {name: str(folder / f"made_{name}") for name in ("candidates", "funnel", "table")}
    job.book_candidates(**paths, **made, books=list(books))
    return made


def test_two_editions_of_a_book_have_a_passage_once(tmp_path):
    made = brought_together(tmp_path, x=([1, 2], ["context", "context", "pattern"]), y=([2, 3], ["known"]))
    candidates = read_c_gap(made["candidates"], labelled=False)
    assert list(candidates.quadruple.unique()) == ["x1", "x2", "y3"]
    funnel = files.read_csv(made["funnel"]).set_index(["book", "step"]).left
    assert list(funnel["x"]) == [5, 3, 3, *[2] * 7] and list(funnel["y"]) == [3, 3, *[2] * 7, 1]
    table = files.read_csv(made["table"])
    assert list(table.step) == list(STEPS) and list(table.left) == [8, 6, 5, *[4] * 6, 3]
    assert (table.dropped.iloc[-1], table.share.iloc[-1]) == (1, 0.25)


def test_books_without_a_passage_leave_an_empty_table(tmp_path):
    made = brought_together(tmp_path, x=([], ["context"]), y=([], []))
    assert list(files.read_csv(made["funnel"]).left) == [1, *[0] * 9, *[0] * 10]
    with refused("needs the columns"):
        read_c_gap(made["candidates"], labelled=False)


def test_a_run_without_books_is_refused(tmp_path):
    with refused("counter_gap.books.sources", "add one"):
        brought_together(tmp_path)
