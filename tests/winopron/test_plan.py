"""The plan of a run: what is asked, scored and read of which set of instances, and what is refused before any job."""

import pytest

from scripts.winopron.plan import Plan
from tests import plans
from tests.conftest import ROOT
from tests.refusals import refused

SYSTEM = {"bert-base-coref": plans.SYSTEMS["bert-base-coref"].facts}
CLUSTERS = {"system": "BERT-base", "conversion": "carried_over", "templates": "replica", "entities": "double"}


def plan(**changes):
    run = {name: model.facts for name, model in plans.select(plans.ENCODER, "flan-t5-base").items()}
    changes = {"prompting": {"models": [plans.DECODER], "entities": ["double"]}} | changes
    prompts = ROOT / "templates/winopron/prompts.tsv"
    return Plan(plans.settings("winopron", changes), plans.MODELS, run, SYSTEM, 4, prompts)


def test_models_read_what_they_were_given():
    made = plan(templates=["replica", "winogender"], resolution={"pairs": "all"})
    assert made.sets == [
        ("replica", "double"), ("replica", "single"), ("winogender", "double"),
    ]  # fmt: skip
    assert made.parts == made.scored.sets == ["replica"]
    # An encoder-decoder does not score what follows the slot.
    assert (list(made.scoring), made.scored.instances) == ([plans.ENCODER], 360)
    read = {names: [row["outputs"] for row in made.readers(*names)] for names in made.sets}
    assert [row.count("answers") for row in read.values()] == [1, 0, 1]
    assert [row.count("scores") for row in read.values()] == [1, 0, 0]
    scores = f"results/winopron/scores/replica/{plans.ENCODER}.parquet"
    assert made.inputs("replica", "double")["outputs"][-1] == scores
    assert made.asked_about("replica") == ["results/winopron/instances/replica/double.parquet"]
    assert made.documents.documents["winogender/double"].count == 480


def test_a_run_may_ask_and_score_nothing():
    made = plan(prompting={"models": []}, resolution={"pairs": 0})
    assert (made.prompts, made.scored, made.asked, made.scoring) == (None, None, {}, {})
    assert made.inputs("replica", "double")["prompts"] == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"prompting": {"models": [plans.ENCODER]}}, ["winopron.prompting.models", plans.ENCODER, "prompt_wrapping"]),
        ({"prompting": {"prompts": ["99"]}}, ["winopron.prompting.prompts", "'99'", "prompts.tsv"]),
        (
            {"clusters": [CLUSTERS | {"file": "mine.jsonl"}]},
            ["winopron.clusters", "mine.jsonl", "BERT-base on replica, double", "another name"],
        ),
    ],
    ids=["encoder", "prompt", "label"],
)
def test_what_no_run_can_have_is_refused(changes, named):
    with refused(*named):
        plan(**changes)
