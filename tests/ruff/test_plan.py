"""The plan of a run: what models score and are asked, and what is refused before any job."""

import pytest

from scripts.core.errors import UserError
from scripts.ruff.plan import Plan
from tests import plans
from tests.conftest import ROOT

SETS = ["he", "she", "they", "xe"]
CHAINS = {"models": [plans.DECODER], "sample_size": 4, "distractors": [0]}


def plan(*models, sets=SETS, **changes):
    run = {name: model.facts for name, model in plans.select(*models).items()}
    prompting = {"models": [plans.DECODER], "sample_size": 4, "seeds": [13], "distractors": [0, 2]}
    prompting |= {"chain_of_thought": CHAINS}
    settings = {"seeds": [13, 17], "distractors": [0, 2], "sample_size": 12, "prompting": prompting} | changes
    prompts = ROOT / "templates/ruff/prompts.tsv"
    return Plan.of(plans.settings("ruff", settings), plans.MODELS, run, plans.PRONOUNS, sets, prompts)


def test_models_score_samples_of_their_size():
    made = plan(plans.ENCODER, plans.DECODER, sample_size={"default": 24, plans.ENCODER: 12})
    assert (made.sizes, made.largest) == ({plans.ENCODER: 12, plans.DECODER: 24}, 24)
    assert made.scored.instances == 180 + 4 * 24
    assert list(made.scored.fewer) == [plans.ENCODER]
    assert made.scored.fewer[plans.ENCODER]["instances"] == 180 + 4 * 12
    assert made.chance == 0.25


def test_prompted_models_are_compared_with_scored_ones():
    made = plan(plans.DECODER)
    assert made.pairs == [{"prompted": plans.DECODER, "scored": plans.DECODER}]
    assert made.prompting_section["chain_distractors"] == [0] and not made.prompting_section["thinking"]
    assert plan(plans.ENCODER).pairs == []
    unasked = plan(plans.DECODER, prompting={"models": [], "chain_of_thought": {"models": []}})
    assert (unasked.prompts.models, unasked.chained) == ({}, [])


@pytest.mark.parametrize(
    ("models", "changes", "message"),
    [
        ((), {}, "models: RUFF reads what models score, and none is named"),
        ((plans.DECODER,), {"sets": ["he", "she"]}, "pronoun_sets: RUFF needs at least three sets"),
        ((plans.DECODER,), {"sample_size": 7}, "ruff.sample_size is 7, which 4 pronoun sets do not divide"),
        ((plans.DECODER,), {"seeds": [17]}, "ruff.prompting.seeds: 13 is not in ruff.seeds"),
    ],
)
def test_what_no_run_can_have_is_refused(models, changes, message):
    with pytest.raises(UserError) as caught:
        plan(*models, **changes)
    assert message in str(caught.value)
