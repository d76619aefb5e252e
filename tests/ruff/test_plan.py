"""The plan of a run: what models score and are asked, and what is refused before any job."""

import pytest

from scripts.core import config
from scripts.ruff import plan
from tests import plans
from tests.conftest import ROOT
from tests.refusals import refused
from tests.ruff.synthetic import FOUR

DECODER, ENCODER = plans.DECODER, plans.ENCODER
PROMPTS = ROOT / "templates/ruff/prompts.tsv"
CHAINS = {"models": [DECODER], "sample_size": 4, "distractors": [0]}
ASKED = {"models": [DECODER], "sample_size": 4, "seeds": [13], "distractors": [0, 2], "chain_of_thought": CHAINS}
NOBODY = {"models": [], "chain_of_thought": {"models": []}}


def made(*models, sets=FOUR, prompts=PROMPTS, **changes):
    run = {name: model.facts for name, model in plans.select(*models).items()}
    settings = {"seeds": [13, 17], "distractors": [0, 2], "sample_size": 12, "prompting": ASKED} | changes
    return plan.Plan(plans.settings("ruff", settings), plans.MODELS, run, plans.PRONOUNS, sets, prompts)


SIZES = {
    "all": (12, {ENCODER: 12, DECODER: 12}),
    "own": ({"default": 24, ENCODER: 12, "opt-125m": 8}, {ENCODER: 12, DECODER: 24}),
    "left-out": ({"default": 60, ENCODER: 0}, {DECODER: 60}),
    "uneven": ({"default": 4, ENCODER: 24}, {ENCODER: 24, DECODER: 4}),
}


@pytest.mark.parametrize(("size", "expected"), SIZES.values(), ids=SIZES)
def test_each_model_scores_samples_of_its_own_size_or_the_default(size, expected):
    run = made(ENCODER, DECODER, sample_size=size)
    assert (run.sizes, run.chance) == (expected, 0.25)
    assert run.uneven == [model for model, number in expected.items() if number == 4]
    largest = max(expected.values())
    assert run.scored.instances == 180 + 4 * largest
    fewer = {model: 180 + 4 * number for model, number in expected.items() if number < largest}
    assert {model: scored["instances"] for model, scored in run.scored.fewer.items()} == fewer


def test_prompted_models_are_compared_with_scored_ones():
    run = made(DECODER)
    assert run.pairs == [{"prompted": DECODER, "scored": DECODER}]
    assert run.prompting_section["chain_distractors"] == [0] and not run.prompting_section["thinking"]
    assert made(ENCODER).pairs == []
    unasked = made(DECODER, prompting=NOBODY)
    assert (unasked.prompts.models, unasked.chained) == ({}, [])


def test_the_default_run_scores_its_real_model_on_180_instances_a_number_of_distractors():
    settings = plans.CONFIG["ruff"]
    sizes = made(DECODER, ENCODER, sample_size=settings["sample_size"]).sizes
    assert len(settings["seeds"]) * sizes[DECODER] >= 180 and sizes[DECODER] % 12 == 0
    assert ENCODER not in sizes


def test_the_papers_size_is_the_full_one():
    assert plan.full_sample(4) == 2160
    full = ASKED | {"sample_size": 2160, "chain_of_thought": CHAINS | {"sample_size": 2160}}
    assert made(DECODER, sample_size=2160, prompting=full).sizes == {DECODER: 2160}
    # Sizes of what nobody is asked may be any.
    unasked = {"models": [], "sample_size": 5, "seeds": [1], "distractors": [7]}
    assert made(DECODER, prompting=unasked | {"chain_of_thought": {"models": [], "sample_size": 7}}).prompted == {}
    chains = {"models": [], "sample_size": 17, "distractors": [2]}
    assert made(DECODER, prompting=ASKED | {"chain_of_thought": chains}).chained == []


def prompting(**changes):
    chains = CHAINS | changes.pop("chains", {})
    return {"prompting": ASKED | changes | {"chain_of_thought": chains}}


REFUSED = {
    "no-model": ({"models": ()}, ["models", "none is named", "studies"]),
    "two-sets": ({"sets": FOUR[:2]}, ["pronoun_sets", "three"]),
    "all-left-out": ({"sample_size": {"default": 60, DECODER: 0}}, ["ruff.sample_size", "every model", DECODER]),
    "unknown": ({"sample_size": {"default": 4, "minilm-l6": 4}}, ["ruff.sample_size", "'minilm-l6'", f"'{ENCODER}'"]),
    "too-many": ({"sample_size": 2164}, ["ruff.sample_size is 2164", "at most 2160"]),
    "too-many-of-default": ({"sample_size": {"default": 2164}}, ["ruff.sample_size.default is 2164", "2160"]),
    "too-many-of-one": ({"sample_size": {"default": 4, ENCODER: 10**9}}, [f"ruff.sample_size.{ENCODER} is 1000000000"]),
    "too-many-asked": (prompting(sample_size=2164), ["ruff.prompting.sample_size is 2164", "at most 2160"]),
    "too-many-chains": (prompting(chains={"sample_size": 10**18}), ["chain_of_thought.sample_size is 10000000000"]),
    "uneven": ({"sample_size": 10}, ["ruff.sample_size is 10", "4 pronoun sets", "multiple of 4"]),
    "uneven-of-one": ({"sample_size": {"default": 60, ENCODER: 6}}, [f"{ENCODER} is 6", "multiple of 4"]),
    "uneven-five-sets": ({"sample_size": 12, "sets": [*FOUR, "ae"]}, ["is 12", "5 pronoun sets", "multiple of 5"]),
    "uneven-asked": (prompting(sample_size=3), ["ruff.prompting.sample_size is 3", "multiple of 4"]),
    "uneven-chains": (prompting(chains={"sample_size": 1}), ["chain_of_thought.sample_size is 1", "multiple of 4"]),
    "no-wrapping": (prompting(models=["opt-125m"]), ["ruff.prompting.models", "'opt-125m'", "prompt_wrapping"]),
    "unknown-asked": (prompting(models=["flan-t5"]), ["ruff.prompting.models", "'flan-t5'", "did you mean"]),
    "seeds": (prompting(seeds=[1]), ["ruff.prompting.seeds", "1 is not in ruff.seeds"]),
    "distractors": (prompting(distractors=[7]), ["ruff.prompting.distractors", "7 is not in ruff.distractors"]),
    "chains-of-others": (prompting(chains={"models": ["flan-t5-xl"]}), ["chain_of_thought.models", "'flan-t5-xl'"]),
    "chains-of-more": (prompting(chains={"distractors": [1]}), ["chain_of_thought.distractors", "1 is not in"]),
    "more-chains": (prompting(chains={"sample_size": 16}), ["chain_of_thought.sample_size is 16", "more than"]),
    "no-prompts": ({"prompts": ROOT / "templates/ruff/none.tsv"}, ["none.tsv", "no such file"]),
}


@pytest.mark.parametrize(("changes", "named"), REFUSED.values(), ids=REFUSED)
def test_what_no_run_can_have_is_refused(changes, named):
    with refused(*named):
        made(*changes.pop("models", (DECODER,)), **changes)


def test_the_plan_counts_prompts_and_new_tokens(tmp_path):
    """A chain of thought takes two steps: 128 tokens, then 10 for the answer."""
    asked = ASKED | {"seeds": [13, 17]}
    job = made(DECODER, prompting=asked).prompted[DECODER]
    vanilla, chained = 10 * 2 * 2 * 4, 10 * 2 * 1 * 4 * 2
    assert (job.methods, job.new_tokens) == (["vanilla", "kojima", "zhou"], {"answer": 20, "chain": 128, "final": 10})
    assert job.answers == [(vanilla, 20), (chained, 128), (chained, 10)]
    assert job.prompts == vanilla + 2 * chained
    assert job.generated() == vanilla * 20 + chained * 138
    assert job.generated(thought=5) == job.generated() + 5 * job.prompts
    # A row in the table of prompts is all that it takes to ask another question.
    more = tmp_path / "prompts.tsv"
    more.write_text(PROMPTS.read_text(encoding="utf-8").rstrip("\n") + "\n10\topen\t{task}\n", encoding="utf-8")
    assert made(DECODER, prompting=asked, prompts=more).prompted[DECODER].prompts == job.prompts * 11 / 10
    # Chains of thought take minutes an instance, so that the default run asks for none.
    (default,) = made(DECODER, **plans.CONFIG["ruff"]).prompted.values()
    assert default.methods == ["vanilla"]


def test_new_tokens_follow_the_architecture():
    """5 for FLAN-T5, 20 for Llama-2-chat (Appendix F.1)."""
    of_all = config.merge(plans.CONFIG["ruff"], config.load_yaml(ROOT / "config/all.yaml")["ruff"])
    planned = made(DECODER, **of_all).prompted
    tokens = {(name.split("-")[0], job.new_tokens["answer"]) for name, job in planned.items()}
    assert tokens == {("flan", 5), ("llama", 20)}
    assert [name for name, job in planned.items() if len(job.methods) > 1] == ["flan-t5-xxl"]
