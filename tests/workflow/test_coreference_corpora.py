"""The rules of corpora: OntoNotes from a path, its counterfactual copies, and a path that is not set."""

import re

import pytest

from scripts.core import files
from scripts.core.coreference_systems import documents as annotated
from tests.workflow.conftest import Workflow

pytestmark = pytest.mark.workflow

ROWS = [
    ("Mary", "NNP", "(1)"), ("told", "VBD", "-"), ("her", "PRP$", "(1)|(2"), ("king", "NN", "2)"), (".", ".", "-"),
]  # fmt: skip
TRAIN = "results/coreference/corpora/ontonotes/train.jsonl"


def augmented(method):
    return f"results/coreference/augmented/ontonotes/{method}.jsonl"


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    """A copy of the repository with a corpus of two documents in the layout of OntoNotes."""
    made = Workflow(tmp_path_factory.mktemp("corpora"))
    for part in (0, 1):
        rows = [
            f"nw/x  {part}  {i}  {word}  {tag}  *  -  -  -  -  *  {cell}" for i, (word, tag, cell) in enumerate(ROWS)
        ]
        text = "\n".join([f"#begin document (nw/x); part 00{part}", *rows, "", "#end document", ""])
        (made.folder / f"{part}.v4_gold_conll").write_text(text, encoding="utf-8")
    (made.folder / "own.yaml").write_text("corpora: {ontonotes: {train: .}}\n", encoding="utf-8")
    (made.folder / "published.yaml").write_text(
        "corpora: {ontonotes: {train: .}, augmentation: {words: published, names: published}}\n", encoding="utf-8"
    )
    return made


def test_a_corpus_is_followed_by_its_copies(workflow):
    done = workflow.snakemake(augmented("acda"), overlay="own.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    corpus = annotated.read_documents(workflow.folder / TRAIN)
    assert [document.name for document in corpus] == ["nw/x", "nw/x; part 1"]
    assert corpus[0].clusters == (((0, 0), (2, 2)), ((2, 3),))
    result = annotated.read_documents(workflow.folder / augmented("acda"))
    assert result[:2] == corpus
    assert [document.name for document in result[2:]] == ["nw/x_a", "nw/x_a; part 1"]
    for document in result[2:]:
        assert document.clusters == corpus[0].clusters
        assert re.fullmatch(r"E\d+ told his queen \.", " ".join(document.words))
    (counts,) = files.read_csv((workflow.folder / augmented("acda")).with_suffix(".csv")).to_dict("records")
    assert counts == {"method": "acda", "documents": 2, "words": 10, "swapped": 6, "her": 2, "names": 2}
    assert workflow.planned(augmented("acda"), overlay="own.yaml") == {}
    # A part without a path.
    done = workflow.snakemake("-n", TRAIN.replace("train", "test"), overlay="own.yaml")
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert "Error: corpora.ontonotes.test is not set; name a file or folder of OntoNotes" in done.stdout


@pytest.mark.nightly
@pytest.mark.upstream
def test_published_words_and_names_are_fetched(workflow, mirror):
    done = workflow.snakemake(augmented("ncda"), overlay="published.yaml")
    assert done.returncode == 0, done.stdout[-3000:]
    words = annotated.read_documents(workflow.folder / augmented("ncda"))[2].words
    assert words[1:] == ("told", "his", "queen", ".") and words[0] != "Mary"


@pytest.mark.nightly
def test_names_are_matched_where_that_is_needed(workflow):
    assert "coreference_names" in workflow.planned(augmented("ncda"), overlay="own.yaml")
    assert "coreference_names" not in workflow.planned(augmented("ncda"), overlay="published.yaml")
    assert "fetch_upstream" not in workflow.planned(augmented("acda"), "-F", overlay="own.yaml")
