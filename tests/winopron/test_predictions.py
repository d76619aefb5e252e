"""Whom outputs name: clusters by places and as the authors' converters read them, words, and likelihoods."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import coreference
from scripts.winopron import baselines, instances, predictions, study
from tests.refusals import refused
from tests.winopron.synthetic import TWO, one_sentence

WAYS = ("corrected", "other_mention", "carried_over")


def document(frame, *clusters, row=0):
    """Return a document whose clusters are given as lists of words or of ``(word, number of its occurrence)``."""
    text = frame.text[row]
    tokens = coreference.split_words(text)
    words = [text[start:end] for start, end in tokens]

    def mention(phrase):
        parts = phrase.split()
        return next((i, i + len(parts) - 1) for i in range(len(words)) if words[i : i + len(parts)] == parts)

    spans = tuple(tuple(mention(phrase) for phrase in cluster) for cluster in clusters)
    return coreference.Document(frame.instance_id[row], coreference.digest_text(text), tokens, spans)


TEXT = "The weaver met the buyer at the gate of the mill when xe left early."


@pytest.mark.parametrize(
    ("clusters", "corrected", "other", "carried"),
    [
        ([["The weaver", "xe"]], "occupation", "occupation", "occupation"),
        ([["weaver", "xe"]], "occupation", "occupation", "occupation"),
        # More than the person's name, as far as it does not reach the other person.
        ([["the buyer at the gate of the mill", "xe"]], "participant", "participant", "participant"),
        ([["The weaver met the buyer", "xe"]], None, None, None),
        # The article alone is nobody.
        ([["The", "xe"]], None, None, None),
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
    frame = one_sentence(TEXT, "xe")
    documents = {TEXT: document(frame, *clusters)}
    found = [predictions.predict_by_clusters(documents, frame, way).prediction[0] for way in WAYS]
    assert found == [corrected, other, carried]


def test_capitals_matter_to_one_converter_only():
    frame = one_sentence("The weaver met the buyer when Xe left early.", "Xe").assign(pronoun="xe")
    documents = {frame.text[0]: document(frame, ["The weaver", "Xe"])}
    found = [predictions.predict_by_clusters(documents, frame, way).prediction[0] for way in WAYS]
    assert found == ["occupation", None, None]


def test_an_answer_is_carried_over(double):
    """A system that resolves *he* alone: with the answers of the sentences before it seems to resolve every pronoun."""
    documents = {
        row.instance_id: document(double, *([[f"The {row.occupation}", "he"]] if row.pronoun == "he" else []), row=i)
        for i, row in enumerate(double.itertuples())
    }
    found = {way: predictions.predict_by_clusters(documents, double, way) for way in WAYS}
    assert list(found["corrected"].prediction[:4]) == ["occupation", None, None, None]
    assert list(found["other_mention"].prediction[:4]) == ["occupation", None, None, None]
    assert list(found["carried_over"].prediction[:4]) == ["occupation"] * 4
    assert list(found["carried_over"].instance_id) == list(double.instance_id)
    # No further than the people reach: the first pair's answer is no word of the second's sentences.
    second = double.pair == "pilot-guest"
    documents |= {
        row.instance_id: document(double, row=i) for i, row in enumerate(double.itertuples()) if second.iloc[i]
    }
    carried = predictions.predict_by_clusters(documents, double, "carried_over").prediction
    assert carried[second.to_numpy()].isna().all()


@pytest.mark.parametrize(
    ("text", "published", "corrected"),
    [
        ("the weaver", "occupation", "occupation"),
        ('The "Buyer".', "participant", "participant"),
        ("the weaver, I think", None, "occupation"),
        ("the weaver's", None, "occupation"),
        ("the 'weaver'", None, "occupation"),
        ("(the buyer)", None, "participant"),
        ("the weaver and the buyer", None, None),
        ("weavers buyers", None, None),
        ("", None, None),
    ],
)
def test_answers_in_words_are_read_in_both_ways(text, published, corrected):
    assert predictions.mentioned_person(text, TWO) == published
    assert predictions.mentioned_person_corrected(text, TWO) == corrected


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


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda table: table.drop(columns="variant"), ["row 1", "column 'variant' is missing"]),
        (lambda table: table.assign(instance_id=["x", *table.instance_id[1:]]), ["row 2", "instance 'x' is unknown"]),
        (lambda table: table.iloc[[0, 1, *range(1, len(table))]], ["row 4", "what row 3 asks", "remove one"]),
        (lambda table: table.iloc[1:], ["prompt '0', variant 'none'", "and 0 others", "ask about all instances"]),
    ],
    ids=["column", "unknown", "twice", "missing"],
)
def test_files_of_answers_are_checked(double, tmp_path, change, named):
    path = tmp_path / "answers.csv"
    table = answer_file(path, double, "the weaver")
    assert len(predictions.read_sheet(path, double)) == len(double)
    change(table).to_csv(path, index=False)
    with refused(path, *named):
        predictions.read_sheet(path, double)


@pytest.mark.parametrize("column", study.LIKELIHOODS.values())
def test_the_likelier_sentence_wins_as_in_a_plain_loop(double, column):
    table = instances.select_templates(double, list(double.pair.unique()))
    values = np.random.default_rng(2).normal(size=(len(table), 2))
    values[0] = -3.0
    scores = pd.DataFrame(
        [(row.instance_id, i, values[n, i]) for n, row in enumerate(table.itertuples()) for i in range(2)],
        columns=["instance_id", "option_index", column],
    ).sample(frac=1, random_state=1)
    # The other scoring favours the other person.
    other = next(name for name in study.LIKELIHOODS.values() if name != column)
    found = predictions.predict_by_likelihood(scores.assign(**{other: -scores[column]}), table, double, column)
    found = found.set_index("instance_id").prediction
    assert len(found) == len(double)
    for n, row in enumerate(table.itertuples()):
        # A tie goes to the occupation.
        expected = "participant" if values[n, 1] > values[n, 0] else "occupation"
        assert (found[double[double.template == row.template].instance_id] == expected).all()


def test_scores_of_other_templates_and_without_what_follows_are_refused(double):
    table, column = instances.select_templates(double, list(double.pair.unique())), "continuation_log_probability"
    lacking = double[double.template != "pilot-accusative-1"]
    for sentences, words in ((lacking, "template 'pilot-accusative-1' was scored"), (double, f"scores lack {column}")):
        with refused(words, "delete the scores"):
            predictions.predict_by_likelihood(pd.DataFrame({"instance_id": []}), table, sentences, column)
