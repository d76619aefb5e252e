"""Rules in place of systems, and whom clusters name: by places, and as the authors' converters read them."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.errors import UserError
from scripts.winopron import baselines, instances, predictions, study
from tests.winopron import make


@pytest.fixture
def double(tmp_path):
    return instances.build(make.read(tmp_path), "double", make.PRONOUNS)


WAYS = ("corrected", "other_mention", "carried_over")


def sentence(text, pronoun, occupation="weaver", participant="buyer", answer="occupation"):
    """Return a table with one instance; offsets are those of the first mentions."""
    return pd.DataFrame(
        [
            {
                "instance_id": text, "text": text, "pronoun": pronoun, "pronoun_offset": text.index(f" {pronoun} ") + 1,
                "occupation": occupation, "occupation_offset": text.index(occupation),
                "participant": participant, "participant_offset": text.index(participant), "answer": answer,
            }
        ]
    )  # fmt: skip


def chosen(rule, frame):
    documents = {row.instance_id: baselines.resolve(rule, row) for row in frame.itertuples()}
    return list(predictions.convert(documents, frame, "corrected").prediction)


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("first", "The buyer met the weaver when xe left early.", "participant"),
        ("last", "The buyer met the weaver when xe left early.", "occupation"),
        ("nearest", "The buyer met the weaver when xe left early.", "occupation"),
        ("nearest", "The buyer slept when xe met the weaver in town.", "occupation"),
        # As far on either side.
        ("nearest", "The buyer slept when xe met with the weaver.", "participant"),
        ("last", "The buyer slept when xe met the weaver in town.", "occupation"),
        ("subject", "The buyer met the weaver when xe left early.", "participant"),
        ("subject", "After a word with the buyer, the weaver knew that xe had won.", "occupation"),
        ("subject", "The buyer's dog bit the weaver when xe left early.", "occupation"),
        ("subject", "At the weaver's door, the dog bit the buyer's hand when xe knocked.", "occupation"),
    ],
)
def test_each_rule_takes_whom_it_says(rule, text, expected):
    assert chosen(rule, sentence(text, "xe")) == [expected]


def test_rules_resolve_both_endings_to_the_same_person(double):
    for rule in study.RULES:
        frame = double.assign(prediction=chosen(rule, double))
        assert (frame.groupby(["template_pair", "pronoun_set"]).prediction.nunique() == 1).all()
        assert (frame.prediction == frame.answer).mean() == 0.5


def test_rules_have_no_choice_between_one_person(tmp_path):
    single = instances.build(make.read(tmp_path), "single", make.PRONOUNS)
    path = tmp_path / "single.parquet"
    files.write_parquet(path, single)
    for rule in study.RULES:
        # Read back, missing offsets are other values than before they were written.
        for frame in (single, files.read_parquet(path)):
            assert chosen(rule, frame) == list(frame.answer)


def test_nearest_and_last_agree_on_the_replica(root):
    """Both people precede every pronoun, as the constraints of the data say."""
    from scripts.core.data.templates import read_pronouns
    from scripts.winopron import templates

    read = templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")
    frame = instances.build(read, "double", {"xe": read_pronouns(root / "templates/pronouns.tsv")["xe"]})
    taken = {rule: chosen(rule, frame) for rule in study.RULES}
    assert taken["nearest"] == taken["last"] != taken["first"]
    assert taken["first"] != taken["subject"] != taken["last"]


def document(frame, *clusters, row=0):
    """Return a document whose clusters are given as lists of words or of ``(word, number of its occurrence)``."""
    text = frame.text[row]
    tokens = coreference.tokenise(text)
    words = [text[start:end] for start, end in tokens]

    def mention(phrase):
        parts = phrase.split()
        return next((i, i + len(parts) - 1) for i in range(len(words)) if words[i : i + len(parts)] == parts)

    spans = tuple(tuple(mention(phrase) for phrase in cluster) for cluster in clusters)
    return coreference.Document(frame.instance_id[row], coreference.digest(text), tokens, spans)


TEXT = "The weaver met the buyer at the gate of the mill when xe left early."


@pytest.mark.parametrize(
    ("clusters", "corrected", "other", "carried"),
    [
        ([["The weaver", "xe"]], "occupation", "occupation", "occupation"),
        ([["weaver", "xe"]], "occupation", "occupation", "occupation"),
        # More than the person's name, as far as it does not reach the other person.
        ([["the buyer at the gate of the mill", "xe"]], "participant", "participant", "participant"),
        ([["The weaver met the buyer", "xe"]], None, None, None),
        # Both people: by places nobody, by words the first.
        ([["The weaver", "the buyer", "xe"]], None, "occupation", "occupation"),
        # The pronoun before the person.
        ([["xe", "the buyer"]], "participant", "participant", "participant"),
        # The first mention of the sentence's first cluster, if that is no single mention.
        ([["The weaver", "the gate"], ["the buyer", "xe"]], "participant", "participant", "occupation"),
        ([["The weaver"], ["the buyer", "xe"]], "participant", "participant", "participant"),
        ([["xe"], ["the gate", "the mill"]], None, None, None),
        # The last cluster with the pronoun.
        ([["The weaver", "xe"], ["xe", "the buyer"]], None, "participant", "occupation"),
        ([["the gate", "xe"]], None, None, None),
        ([["The weaver", "the buyer"]], None, None, None),
        ([], None, None, None),
    ],
)
def test_whom_clusters_name(clusters, corrected, other, carried):
    frame = sentence(TEXT, "xe")
    for conversion, expected in (("corrected", corrected), ("other_mention", other), ("carried_over", carried)):
        found = predictions.convert({TEXT: document(frame, *clusters)}, frame, conversion)
        assert list(found.prediction) == [expected], conversion


def test_capitals_matter_to_one_converter_only():
    frame = sentence("The weaver met the buyer when Xe left early.", "Xe")
    frame["pronoun"] = "xe"
    documents = {frame.text[0]: document(frame, ["The weaver", "Xe"])}
    found = {way: predictions.convert(documents, frame, way).prediction[0] for way in WAYS}
    assert found == {"corrected": "occupation", "other_mention": None, "carried_over": None}


def test_an_answer_is_carried_over(double):
    """A system that resolves *he* alone: with the answers of the sentences before it seems to resolve every pronoun."""
    documents = {
        row.instance_id: document(double, *([[f"The {row.occupation}", "he"]] if row.pronoun == "he" else []), row=i)
        for i, row in enumerate(double.itertuples())
    }
    first = double.iloc[:4]
    found = {way: predictions.convert(documents, double, way) for way in WAYS}
    assert list(found["corrected"].prediction[:4]) == ["occupation", None, None, None]
    assert list(found["other_mention"].prediction[:4]) == ["occupation", None, None, None]
    assert list(found["carried_over"].prediction[:4]) == ["occupation"] * 4
    assert list(found["carried_over"].instance_id[:4]) == list(first.instance_id)
    # No further than the people reach: the first pair's answer is no word of the second's sentences.
    second = double.pair == "pilot-guest"
    documents |= {
        row.instance_id: document(double, row=i) for i, row in enumerate(double.itertuples()) if second.iloc[i]
    }
    carried = predictions.convert(documents, double, "carried_over").prediction
    assert carried[second.to_numpy()].isna().all()


def test_answers_in_words_are_read_in_both_ways():
    people = {"occupation": "baker", "participant": "customer"}
    for text, published, corrected in (
        ("the baker", "occupation", "occupation"),
        ("The \"Customer\".", "participant", "participant"),
        ("the baker, I think", None, "occupation"),
        ("the baker's", None, "occupation"),
        ("the 'baker'", None, "occupation"),
        ("(the customer)", None, "participant"),
        ("the baker and the customer", None, None),
        ("bakery customers", None, None),
        ("", None, None),
    ):  # fmt: skip
        assert predictions.mentioned_person(text, people) == published, text
        assert predictions.mentioned_person_corrected(text, people) == corrected, text


def test_the_jobs_write_clusters_and_answers(double, tmp_path):
    path, words = str(tmp_path / "double.parquet"), tmp_path / "answers.csv"
    files.write_parquet(path, double)
    readers = [
        {"model": "first", "kind": "heuristic", "scoring": "clusters", "outputs": "clusters", "published": None},
        {"model": "b", "kind": "system", "scoring": "", "outputs": "clusters", "published": "carried_over"},
        {"model": "c", "kind": "system", "scoring": "", "outputs": "sheet", "published": None},
    ]
    outputs = [str(tmp_path / "first.jsonl"), str(tmp_path / "subject.jsonl"), str(words)]
    for rule, written in zip(("first", "subject"), outputs, strict=False):
        baselines.clusters(instances=path, clusters=written, rule=rule)
    texts = [f"The {getattr(row, row.answer)}{',' if row.ending == 1 else ''} surely" for row in double.itertuples()]
    answer_file(words, double, texts)
    out = tmp_path / "predictions.parquet"
    predictions.predictions(
        instances=path, outputs=outputs, readers=readers, prompts=[], selected=[], predictions=str(out),
        templates="replica", entities="double",
    )  # fmt: skip
    table = files.read_parquet(out)
    assert list(table) == predictions.COLUMNS and len(table) == 5 * len(double)
    share = table.groupby(["model", "reading"]).right.mean()
    assert (share[["first", "b"]] == 0.5).all() and (share["c", "published"], share["c", "corrected"]) == (0.5, 1)
    assert set(table[table.model == "c"].prompt) == {"0"} and set(table[table.model != "c"].prompt) == {""}


def answer_file(path, frame, texts):
    """Write a file of answers."""
    table = pd.DataFrame({"instance_id": frame.instance_id, "prompt": 0, "variant": "none", "answer_text": texts})
    table.to_csv(path, index=False)
    return table


def test_files_of_answers_are_checked(double, tmp_path):
    path = tmp_path / "answers.csv"
    table = answer_file(path, double, "the weaver")
    assert len(predictions.read_sheet(path, double)) == len(double)
    for edited, message in (
        (table.drop(columns="variant"), "row 1: the column 'variant' is missing"),
        (table.assign(instance_id=["x", *table.instance_id[1:]]), "row 2: the instance 'x' is unknown"),
        (table.iloc[[0, 1, *range(1, len(table))]], "row 4: asks what row 3 asks already; remove one"),
        (table.iloc[1:], f"prompt '0', variant 'none' has no answer about '{double.instance_id[0]}' and 0 others"),
    ):
        edited.to_csv(path, index=False)
        with pytest.raises(UserError) as caught:
            predictions.read_sheet(path, double)
        assert str(caught.value).startswith(str(path)) and message in str(caught.value)


def test_clusters_of_another_text_are_refused_with_file_and_row(double, tmp_path):
    path = tmp_path / "clusters.jsonl"
    coreference.write(path, [baselines.resolve("first", row) for row in double.itertuples()])
    reader = {"model": "m", "kind": "system", "scoring": "", "outputs": "clusters", "published": None}
    changed = double.copy()
    changed.loc[2, "text"] += " "
    with pytest.raises(UserError, match=r"clusters\.jsonl, row 3: the text of '\w+' differs .*; run the system again"):
        predictions.read(str(path), reader, changed, None, None)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(UserError, match="1 of 48 documents are missing"):
        predictions.read(str(path), reader, double, None, None)
