"""The plan of a run: which sets models score, and what is refused before any job."""

import pytest

from scripts.misgendered.plan import Plan
from tests import plans
from tests.misgendered.make import FOLDER
from tests.refusals import refused


def plan(changes=None, models=(plans.ENCODER, plans.DECODER)):
    settings = plans.settings("misgendered", changes)
    return Plan(settings, plans.MODELS, plans.select(*models), plans.PRONOUNS, FOLDER / "declarations.tsv", str)


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
    # Models that read no examples score the first set alone.
    assert plan({"few_shot": {"models": [], "shots": [2]}}).readers_of("replica") == {"replica": [plans.DECODER]}


CORPUS = {"name": "mine", "label": "Mine", "layout": "jsonl", "files": ["none/*.gz"]}


@pytest.mark.parametrize(
    ("changes", "models", "named"),
    [
        ({}, (), ["models: ", "none is named", "leave misgendered out of studies"]),
        ({"models": ["gtp2"]}, (), ["misgendered.models", "'gtp2'", "did you mean 'gpt2'?"]),
        ({"pronoun_sets": ["he"]}, (), ["misgendered.pronoun_sets", "at least two"]),
        ({"declarations": {"numbers": [2, 44]}}, (), ["misgendered.declarations", "44", "2, 31, 32, 41, 42, 5, 43"]),
        ({"few_shot": {"shots": [2, 200]}}, (plans.DECODER,), [f"{plans.DECODER} takes 8192", "at most 169"]),
        ({"corpora": {"local": [CORPUS]}}, (plans.DECODER,), ["corpora.local", "'mine'", "none/*.gz", "correct"]),
    ],
)
def test_what_no_run_can_have_is_refused(changes, models, named):
    with refused(*named):
        plan(changes, models)
