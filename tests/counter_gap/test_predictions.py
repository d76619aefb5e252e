"""What clusters and released flags say of the names, and whether it is right."""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import coreference as c
from scripts.counter_gap import baselines, passages, predictions, released_flags, study


def flags(row, reading, *clusters):
    """Return the flags of one instance from clusters of (start, end) character ranges."""
    made = c.Document(row.id, c.digest(row.text), c.tokenise(row.text), ())
    spans = tuple(tuple(made.span(*mention) for mention in cluster) for cluster in clusters)
    document = c.Document(row.id, made.text_sha256, made.tokens, spans)
    table = predictions.flags_from_clusters(pd.DataFrame([row]), {row.id: document}, reading)
    return table.a_pred[0], table.b_pred[0]


@pytest.mark.parametrize(
    ("place", "clusters", "corrected", "published"),
    [
        pytest.param(0, "b pronoun", (False, True), (False, True), id="one name"),
        pytest.param(0, "a b pronoun", (True, True), (True, True), id="both names"),
        pytest.param(0, "a b", (False, False), (False, False), id="without the pronoun"),
        pytest.param(0, "pronoun", (False, False), (False, False), id="without a name"),
        pytest.param(0, "b pronoun|a pronoun", (True, True), (False, True), id="the first of two clusters"),
        pytest.param(4, "a pronoun", (True, False), (False, False), id="a stop behind the pronoun"),
        pytest.param(4, "stop pronoun", (False, False), (False, False), id="a mention of marks alone"),
        pytest.param(None, "a pronoun", (True, False), (True, False), id="the pronoun at the end"),
    ],
)
def test_names_in_the_pronouns_cluster_are_predicted(frame, place, clusters, corrected, published):
    row = frame.iloc[4 if place is None else place].copy()
    if place is None:
        row["text"] = row.text.rstrip(".")
    places = {kind: (row[f"{kind}_offset"], row[f"{kind}_offset"] + len(row[kind])) for kind in ("a", "b", "pronoun")}
    places["stop"] = len(row.text) - 1, len(row.text)
    mentions = [[places[name] for name in cluster.split()] for cluster in clusters.split("|")]
    assert flags(row, study.CORRECTED, *mentions) == corrected
    assert flags(row, study.PUBLISHED, *mentions) == published


@pytest.mark.parametrize(
    ("mention", "corrected", "published"),
    [
        ("Mr Tom Hill's sister", (False, False), (True, False)),
        ("Dr Paul Otto", (False, True), (False, True)),
        ("Hill", (True, False), (True, False)),
        ("Tom Hill's", (True, False), (True, False)),
    ],
)
def test_only_the_published_reading_takes_longer_mentions_for_the_name(mention, corrected, published):
    text = "Then Mr Tom Hill's sister told Dr Paul Otto that he was late"
    pronoun, start = text.index(" he ") + 1, text.index(mention)
    row = {"id": "i", "text": text, "pronoun": "he", "pronoun_offset": pronoun, "a": "Tom Hill",
           "a_offset": text.index("Tom"), "b": "Paul Otto", "b_offset": text.index("Paul")}  # fmt: skip
    cluster = (start, start + len(mention)), (pronoun, pronoun + 2)
    assert flags(pd.Series(row), study.CORRECTED, cluster) == corrected
    assert flags(pd.Series(row), study.PUBLISHED, cluster) == published


@pytest.mark.parametrize(("mark", "published"), [("(", (True, False)), ("“", (False, False))])
def test_the_published_reading_takes_in_a_mark_that_splits_no_words(mark, published):
    text = f"Tom met Max, and {mark}he left"
    pronoun = text.index("he left")
    row = {"id": "i", "text": text, "pronoun": "he", "pronoun_offset": pronoun, "a": "Tom", "a_offset": 0, "b": "Max",
           "b_offset": 8}  # fmt: skip
    cluster = (0, 3), (pronoun, pronoun + 2)
    assert flags(pd.Series(row), study.CORRECTED, cluster) == (True, False)
    assert flags(pd.Series(row), study.PUBLISHED, cluster) == published


@pytest.mark.parametrize("title", ["Mr.", "Mr", "Capt.", "Captain", "Reverend", "Professor", "The Rev. Dr."])
def test_a_title_before_the_name_is_no_other_person(title):
    """Tokens as tokenizers of English cut them, with the full stop of an abbreviation."""
    words = [*title.split(), "Otto", "knew", "he", "was", "late"]
    text = " ".join(words)
    tokens = tuple(match.span() for match in re.finditer(r"\S+", text))
    name = len(words) - 5
    for mention, stands in (((0, name), True), ((0, name + 1), False)):
        made = c.Document("i", c.digest(text), tokens, ())
        assert predictions.stands_for(made, text, mention, (name, name)) is stands
    assert not predictions.stands_for(made, text.replace(words[0], "x" * len(words[0])), (0, name), (name, name))


def test_an_instance_is_right_if_both_flags_are(frame, tmp_path):
    words = {True: "TRUE", False: "FALSE"}
    lines = ["ID\tA-coref\tB-coref"]
    lines += [f"{row.id}\t{words[row.a_coref]}\t{words[row.b_coref]}" for row in frame.itertuples()]
    lines[1], lines[2] = "rain\tTRUE\tTRUE", "rain-control\tFALSE\tFALSE"
    paths = {name: tmp_path / name for name in ("instances", "flags.tsv", "clusters.jsonl", "predictions")}
    paths["flags.tsv"].write_text("\n".join(lines), encoding="utf-8")
    files.write_parquet(paths["instances"], frame)
    c.write(paths["clusters.jsonl"], (baselines.resolve("first", row) for row in frame.itertuples()))
    facts = {"debiasing": "none"}
    readers = [
        facts | {"model": "BERT-base", "kind": "released", "scoring": "", "outputs": "flags"},
        facts | {"model": "first", "kind": "heuristic", "scoring": "clusters", "outputs": "clusters"},
    ]
    predictions.predictions(
        instances=str(paths["instances"]), outputs=[str(paths["flags.tsv"]), str(paths["clusters.jsonl"])],
        predictions=str(paths["predictions"]), readers=readers, templates="official",
    )  # fmt: skip
    made = files.read_parquet(paths["predictions"])
    assert list(made) == predictions.COLUMNS and set(made.templates) == {"official"}
    right = {key: rows.correct.tolist() for key, rows in made.groupby(["model", "reading"])}
    assert right["BERT-base", ""] == [False, False] + [True] * 6
    # The right name is the second of the first quadruple, and the first of the other.
    first = (frame.a_offset < frame.b_offset) == frame.a_coref
    assert right["first", study.CORRECTED] == first.tolist()
    assert right["first", study.PUBLISHED] == [False] * 8


@pytest.mark.upstream
def test_the_published_reading_reproduces_which_pronouns_never_match(mirror):
    """Perfect clusters read the authors' way find no name in exactly the spoilt quadruples and their like."""
    frame = passages.read_c_gap(mirror / "counter_gap/data/C-GAP.tsv")
    documents = {}
    for row in frame.itertuples():
        document = c.Document(row.id, "", c.tokenise(row.text), ())
        places = ((row.pronoun, row.pronoun_offset), (row.a, row.a_offset), (row.b, row.b_offset))
        cluster = tuple(document.span(start, start + len(word)) for word, start in places)
        documents[row.id] = c.Document(row.id, "", document.tokens, (cluster,))
    rightly = predictions.flags_from_clusters(frame, documents, study.CORRECTED)
    assert rightly[["a_pred", "b_pred"]].to_numpy().all()
    published = predictions.flags_from_clusters(frame, documents, study.PUBLISHED)
    missed = ~(published.a_pred | published.b_pred).to_numpy().reshape(-1, 4)
    # An underscore is a letter to this project's tokens, and then pronoun and mark are one token either way.
    left_quote = (frame.quadruple[::4] == "2353").to_numpy()
    expected = (released_flags.facts_of_texts(frame).mark != "none").to_numpy() | left_quote
    assert expected.sum() == 107
    differing = np.flatnonzero(missed.all(1) != expected)
    assert [frame.text[4 * i][frame.pronoun_offset[4 * i] + len(frame.pronoun[4 * i])] for i in differing] == ["_"]
