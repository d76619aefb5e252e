"""Scoring of clusters and released flags."""

import re

import numpy as np
import pytest

from scripts.core import files
from scripts.core.data import coreference as c
from scripts.core.data.templates import read_pronouns
from scripts.core.errors import UserError
from scripts.counter_gap import baselines, metrics, predictions, released_flags, study, templates
from scripts.counter_gap.metrics import key
from tests.counter_gap import make

BOTH_WAYS = (study.CORRECTED, study.PUBLISHED)


@pytest.fixture
def frame(tmp_path):
    return make.eight_instances(tmp_path / "quadruples.tsv")


def document(row, *mentions):
    """One cluster of the given (start, end) character ranges."""
    made = c.Document(row.id, c.digest(row.text), c.tokenise(row.text), ())
    spans = tuple(made.span(*m) for m in mentions)
    return c.Document(row.id, made.text_sha256, made.tokens, (spans,))


def extent(row, kind):
    start = getattr(row, f"{kind}_offset")
    return start, start + len(getattr(row, kind))


def flags(row_frame, reading, *mentions):
    row = next(row_frame.itertuples())
    table = predictions.flags_from_clusters(row_frame, {row.id: document(row, *mentions)}, reading)
    return table.a_pred[0], table.b_pred[0]


@pytest.mark.parametrize("reading", BOTH_WAYS)
def test_names_in_the_pronouns_cluster_are_predicted(frame, reading):
    one = frame.iloc[:1]
    row = next(one.itertuples())
    assert flags(one, reading, extent(row, "b"), extent(row, "pronoun")) == (False, True)
    assert flags(one, reading, extent(row, "a"), extent(row, "b"), extent(row, "pronoun")) == (True, True)
    assert flags(one, reading, extent(row, "a"), extent(row, "b")) == (False, False)
    assert flags(one, reading, extent(row, "pronoun")) == (False, False)


def test_a_pronoun_before_a_stop_never_matches_the_faithful_way(frame):
    one = frame.iloc[4:5].reset_index(drop=True)
    row = next(one.itertuples())
    assert row.text[sum((row.pronoun_offset, len(row.pronoun)))] == "."
    mentions = extent(row, "a"), extent(row, "pronoun")
    assert flags(one, study.CORRECTED, *mentions) == (True, False)
    assert flags(one, study.PUBLISHED, *mentions) == (False, False)


def test_a_pronoun_at_the_end_of_the_text_matches_either_way(frame):
    one = frame.iloc[4:5].assign(text=frame.text[4].rstrip(".")).reset_index(drop=True)
    row = next(one.itertuples())
    for reading in BOTH_WAYS:
        assert flags(one, reading, extent(row, "a"), extent(row, "pronoun")) == (True, False)


def test_only_the_faithful_way_takes_longer_mentions_for_the_name():
    text = "Then Mr Tom Hill's sister told Dr Paul Otto that he was late"
    row = {"id": "i", "text": text, "pronoun": "he", "pronoun_offset": 49, "a": "Tom Hill", "a_offset": 8,
           "b": "Paul Otto", "b_offset": 34}  # fmt: skip
    import pandas as pd

    one = pd.DataFrame([row])
    pronoun = (49, 51)
    assert text[49:51] == "he"
    sister, title, surname, possessive = (5, 25), (31, 43), (12, 16), (5, 18)
    assert text[slice(*sister)] == "Mr Tom Hill's sister" and text[slice(*title)] == "Dr Paul Otto"
    assert flags(one, study.CORRECTED, sister, pronoun) == (False, False)
    assert flags(one, study.PUBLISHED, sister, pronoun) == (True, False)
    assert flags(one, study.CORRECTED, title, pronoun) == (False, True)
    assert flags(one, study.CORRECTED, surname, pronoun) == (True, False)
    assert flags(one, study.CORRECTED, possessive, pronoun) == (True, False)


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


def test_a_mention_of_marks_alone_stands_for_nobody(frame):
    """Systems write such mentions too: a full stop after both names is neither of them."""
    one = frame.iloc[4:5].reset_index(drop=True)
    row = next(one.itertuples())
    end = len(row.text)
    assert row.text.endswith(".") and end - 1 > max(row.a_offset, row.b_offset)
    assert flags(one, study.CORRECTED, (end - 1, end), extent(row, "pronoun")) == (False, False)


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


@pytest.mark.parametrize(
    ("row", "text", "message"),
    [
        (3, "rain-swap-9\tTRUE\tFALSE", "row 4: the ID 'rain-swap-9' should be 'rain-swap-1'"),
        (2, "rain-control\tTRUE\tno", "row 3: B-coref 'no' is neither TRUE nor FALSE"),
        (8, None, "7 rows for 8 instances"),
    ],
)
def test_bad_flags_are_named(tmp_path, frame, row, text, message):
    lines = ["ID\tA-coref\tB-coref", *(f"{i}\tTRUE\tFALSE" for i in frame.id)]
    path = tmp_path / "out.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert released_flags.read_output(path, frame).a_pred.all()
    lines[row : row + 1] = [] if text is None else [text]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        released_flags.read_output(path, frame)


def test_rules_behave_as_announced(root):
    pronouns = read_pronouns(root / "templates/pronouns.tsv")
    frame = templates.read_quadruples(root / "templates/counter_gap/quadruples.tsv", pronouns)
    masculine = (frame.gender == "M").to_numpy().reshape(-1, 4)[:, 0]
    values = {}
    for rule in study.RULES:
        documents = {row.id: baselines.resolve(rule, row) for row in frame.itertuples()}
        flags = predictions.flags_from_clusters(frame, documents, study.CORRECTED)[["a_pred", "b_pred"]].to_numpy()
        right = (flags == frame[["a_coref", "b_coref"]].to_numpy()).all(axis=1).reshape(-1, 4)
        values[rule] = metrics.evaluate(np.bincount(metrics.quadruple_types(right, masculine), minlength=32))
    for rule in ("nearest", "first"):
        assert values[rule][key("i_within")] == values[rule][key("i_across")] == 0
    assert values["alphabetical"][key("i_within")] > 0.9 and values["alphabetical"][key("delta_i")] < 0
    # The bias of this rule cancels in the accuracy difference, because right names are first and second equally often.
    assert values["gendered"][key("i_within")] == values["gendered"][key("acc_diff")] == 0
    assert values["gendered"][key("delta_i")] > 0.9
