"""From a book of the reader's own to quadruples that the study's analyses read, and what is refused."""

import shutil

import pytest

from scripts.core import files
from scripts.counter_gap import annotation
from scripts.counter_gap.passages import read_c_gap
from tests.workflow.conftest import Workflow

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]

BOOKS = "results/counter_gap/books"
# Two passages with two men and two women, of which one has titles; the third chapter has too few names.
BOOK = """\
CHAPTER I

Thomas and Robert walked to the mill with Margaret and Alice. In the evening he gave Margaret the letter that her aunt
had written.

CHAPTER II

Mrs. Hale waited for Robert near the bridge. Mr. Grey saw Mrs. Hale from the road. When she turned, Alice laughed.

CHAPTER III

Margaret slept. She dreamt of the sea.
"""
OVERLAY = """\
studies: [counter_gap]
systems: []
counter_gap:
  templates: [{templates}]
  baselines: [first, gendered]
  books: {{sources: [shelf]}}
  bootstrap: {{draws: 200, seed: 1}}
  annotation: {{sheets: {{books: [{sheets}]}}}}
"""
PEOPLE = ("ada", "ben", "eve")


@pytest.fixture(scope="module")
def workflow(tmp_path_factory, coreference_python, root):
    made = Workflow(tmp_path_factory.mktemp("books"))
    (made.folder / ".venv-coreference").symlink_to(root / ".venv-coreference")
    (made.folder / "shelf").mkdir()
    (made.folder / "shelf/mill.txt").write_text(BOOK, encoding="utf-8")
    sheets = ", ".join(f"{name}.csv" for name in PEOPLE)
    (made.folder / "plain.yaml").write_text(OVERLAY.format(templates="replica", sheets=""), encoding="utf-8")
    (made.folder / "books.yaml").write_text(OVERLAY.format(templates="books", sheets=sheets), encoding="utf-8")
    return made


def test_a_book_becomes_a_data_set(workflow):
    targets = [f"{BOOKS}/candidates.tsv", f"{BOOKS}/funnel.csv"]
    done = workflow.snakemake(*targets, overlay="plain.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    candidates = read_c_gap(workflow.folder / targets[0], labelled=False)
    originals = candidates[candidates.role == "original"]
    assert set(originals.gender) == {"M", "F"} and set(originals.book) == {"book mill"}
    swapped = candidates[candidates.id == f"{originals.id.iloc[0]}-swap-1"].text.iloc[0]
    assert "uncle" in swapped and "aunt" not in swapped
    funnel = files.read_csv(workflow.folder / targets[1])
    assert funnel.left.iloc[-1] == len(originals) and funnel.left.is_monotonic_decreasing

    # Three people take the first name everywhere; of the others than one original of either gender they say that they
    # contradict common sense.
    chosen = [originals[originals.gender == gender].quadruple.iloc[0] for gender in ("M", "F")]
    blank = "results/counter_gap/annotation/books/sheet.csv"
    done = workflow.snakemake(blank, overlay="plain.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    sheet = files.read_csv(workflow.folder / blank, dtype=str)
    flags = sheet.Row.isin(candidates.id[~candidates.quadruple.isin(chosen)]).map({True: "yes", False: ""})
    for name in PEOPLE:
        completed = sheet.assign(**{annotation.PERSON: "A", annotation.COMMON_SENSE: flags, "Annotator": name})
        completed.to_csv(workflow.folder / f"{name}.csv", index=False)
    table = "results/counter_gap/tables/books/accuracy.csv"
    done = workflow.snakemake(table, overlay="books.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    assert set(files.read_csv(workflow.folder / table).System) >= {"First name (rule)"}
    quadruples = read_c_gap(workflow.folder / f"{BOOKS}/quadruples.tsv")
    assert list(quadruples.quadruple.unique()) == [name for name in originals.quadruple if name in chosen]
    assert "| book mill |" in (workflow.folder / f"{BOOKS}/quadruples.md").read_text(encoding="utf-8")
    assert workflow.planned(table, *targets, overlay="books.yaml") == {}


def test_one_more_book_leaves_the_others_as_they_are(workflow):
    shutil.copy2(workflow.folder / "shelf/mill.txt", workflow.folder / "shelf/again.txt")
    planned = workflow.planned(f"{BOOKS}/candidates.tsv", overlay="plain.yaml")
    (workflow.folder / "shelf/again.txt").unlink()
    assert planned["counter_gap_book_sentences"] == planned["counter_gap_book_text"] == 1
