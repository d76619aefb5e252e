"""Rules in place of systems: whom each takes."""

import pytest

from scripts.core import files
from scripts.winopron import baselines, instances, predictions, study
from tests.winopron import make
from tests.winopron.synthetic import one_sentence


def chosen(rule, frame):
    documents = {row.instance_id: baselines.resolve_by_rule(rule, row) for row in frame.itertuples()}
    return list(predictions.predict_by_clusters(documents, frame, "corrected").prediction)


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
    assert chosen(rule, one_sentence(text, "xe")) == [expected]


@pytest.mark.parametrize("rule", study.RULES)
def test_rules_resolve_both_endings_to_the_same_person_and_have_no_choice_of_one(replica, rule, tmp_path):
    double, single = (instances.build_instances(replica, kind, {"xe": make.PRONOUNS["xe"]}) for kind in study.ENTITIES)
    taken = double.assign(prediction=chosen(rule, double))
    assert (taken.groupby("template_pair").prediction.nunique() == 1).all()
    assert (taken.prediction == taken.answer).mean() == 0.5
    # Both people precede every pronoun; else the rules differ.
    same = {other for other in study.RULES if chosen(other, double) == list(taken.prediction)}
    assert same == ({"nearest", "last"} if rule in ("nearest", "last") else {rule})
    path = tmp_path / "single.parquet"
    files.write_parquet(path, single)
    # Read back, missing offsets are other values than before they were written.
    for frame in (single, files.read_parquet(path)):
        assert chosen(rule, frame) == list(frame.answer)
