"""What clusters and released flags say of the names, and whether it is right."""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.core.data import coreference as c
from scripts.counter_gap import passages, predictions, released_flags, study


def flags(row, reading, *clusters):
    """Return the flags of one instance from clusters of (start, end) character ranges."""
    made = c.Document(row.id, c.digest_text(row.text), c.split_words(row.text), ())
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
    ("text", "mention", "corrected", "published"),
    [
        # Only the published reading takes longer mentions for the name.
        ("Then Mr Tom's sister told Dr Max that he was late", "Mr Tom's sister", (False, False), (True, False)),
        ("Then Mr Tom's sister told Dr Max that he was late", "Dr Max", (False, True), (False, True)),
        ("Then Mr Tom's sister told Dr Max that he was late", "Tom's", (True, False), (True, False)),
        # It takes in a mark that splits no words.
        ("Tom met Max, and (he left", "Tom", (True, False), (True, False)),
        ("Tom met Max, and “he left", "Tom", (True, False), (False, False)),
    ],
)
def test_longer_mentions_and_marks_before_the_pronoun(text, mention, corrected, published):
    pronoun, start = re.search(r"\bhe\b", text).start(), text.index(mention)
    row = {"id": "i", "text": text, "pronoun": "he", "pronoun_offset": pronoun, "a": "Tom",
           "a_offset": text.index("Tom"), "b": "Max", "b_offset": text.index("Max")}  # fmt: skip
    cluster = (start, start + len(mention)), (pronoun, pronoun + 2)
    assert flags(pd.Series(row), study.CORRECTED, cluster) == corrected
    assert flags(pd.Series(row), study.PUBLISHED, cluster) == published


@pytest.mark.parametrize("title", ["Mr.", "Mr", "Capt.", "Captain", "Reverend", "Professor", "The Rev. Dr."])
def test_a_title_before_the_name_is_no_other_person(title):
    """Tokens as tokenizers of English cut them, with the full stop of an abbreviation."""
    words = [*title.split(), "Otto", "knew", "he", "was", "late"]
    text = " ".join(words)
    tokens = tuple(match.span() for match in re.finditer(r"\S+", text))
    name = len(words) - 5
    for mention, stands in (((0, name), True), ((0, name + 1), False)):
        made = c.Document("i", c.digest_text(text), tokens, ())
        assert predictions.stands_for(made, text, mention, (name, name)) is stands
    assert not predictions.stands_for(made, text.replace(words[0], "x" * len(words[0])), (0, name), (name, name))


@pytest.mark.upstream
def test_the_published_reading_reproduces_which_pronouns_never_match(mirror):
    """Perfect clusters read the authors' way find no name in exactly the spoilt quadruples and their like."""
    frame = passages.read_c_gap(mirror / "counter_gap/data/C-GAP.tsv")
    documents = {}
    for row in frame.itertuples():
        document = c.Document(row.id, "", c.split_words(row.text), ())
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
