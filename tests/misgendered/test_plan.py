"""The plan of a run: which sets models score, and what is refused before any job."""

import pytest

from scripts.core.errors import UserError
from scripts.misgendered.plan import Plan
from tests import plans
from tests.misgendered.make import FOLDER

COMBINATIONS = FOLDER / "declarations.tsv"


def plan(changes=None, models=(plans.ENCODER, plans.DECODER), combinations=COMBINATIONS):
    settings = plans.settings("misgendered", changes)
    return Plan.of(settings, plans.MODELS, plans.select(*models), plans.PRONOUNS, combinations, str)


def test_models_with_a_loss_on_labels_score_each_set():
    made = plan({
        "sample": {"instances": 110, "reworded": 220}, "few_shot": {"shots": [1, 4], "instances": 11, "draws": 3},
    })  # fmt: skip
    assert (list(made.known), list(made.models)) == ([plans.ENCODER, plans.DECODER], [plans.DECODER])
    assert made.sets == {"replica": ["replica", "replica_few_1", "replica_few_4"]}
    assert made.scored.sets == made.sets["replica"]
    assert made.scored.instances == 220
    assert made.scored.set_lengths == {"replica_few_1": [(33, 78)], "replica_few_4": [(33, 195)]}
    assert made.score_files("replica")[1] == f"results/misgendered/scores/replica_few_1/{plans.DECODER}.parquet"
    assert 1 / 11 < made.chance < 1 / 9


def test_models_that_read_no_examples_score_the_first_set_alone():
    readers = plan({"few_shot": {"models": [], "shots": [2]}}).readers_of("replica")
    assert readers == {"replica": [plans.DECODER]}


@pytest.mark.parametrize(
    ("changes", "models", "message"),
    [
        ({}, (), "models: MISGENDERED reads what models score, and none is named"),
        ({"models": ["gtp2"]}, (), "misgendered.models: 'gtp2' is not in config/models.yaml; did you mean 'gpt2'?"),
        ({"pronoun_sets": ["he"]}, (), "misgendered.pronoun_sets: at least two pronoun groups"),
        ({"declarations": {"numbers": [2, 44]}}, (), "has no number 44; it has 2, 31, 32, 41, 42, 5, 43"),
        ({"few_shot": {"shots": [2, 200]}}, (plans.DECODER,), f"{plans.DECODER} takes 8192; give it at most 169"),
        (
            {"corpora": {"local": [{"name": "mine", "label": "Mine", "layout": "jsonl", "files": ["none/*.gz"]}]}},
            (plans.DECODER,),
            "misgendered.corpora.local: 'mine': there is no file none/*.gz; correct the path",
        ),
    ],
)
def test_what_no_run_can_have_is_refused(changes, models, message):
    with pytest.raises(UserError) as caught:
        plan(changes, models)
    assert message in str(caught.value)
