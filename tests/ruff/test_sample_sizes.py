"""Sizes of samples are refused from arithmetic: above the full one, or uneven between pronoun sets."""

import pytest

from scripts.core import config, files
from scripts.core.errors import UserError
from scripts.ruff import plan
from scripts.ruff.instances import sample
from tests.conftest import ROOT
from tests.ruff.test_prompts import TEMPLATES

KNOWN = ["smollm2-135m-instruct", "minilm-l6-mlm"]


def settings(**sizes):
    ruff = config.load_yaml(ROOT / "config.yaml")["ruff"] | {"sample_size": None}
    return config.merge(ruff, {
        "sample_size": sizes.get("ruff", 4),
        "prompting": {
            "models": ["flan-t5-xl"], "sample_size": sizes.get("prompting", 4),
            "chain_of_thought": {"models": ["flan-t5-xl"], "sample_size": sizes.get("chains", 4)},
        },
    })  # fmt: skip


@pytest.mark.parametrize("n_distractors", [0, 2])
@pytest.mark.parametrize("sets", [["he", "she", "they"], ["he", "she", "they", "xe"]])
def test_the_full_sample_has_as_many_rows(tmp_path, sets, n_distractors):
    path = tmp_path / "sample.parquet"
    sample(**TEMPLATES, pronoun_sets=sets, n_distractors=n_distractors, seed=13, sample=str(path))
    assert len(files.read_parquet(path)) == plan.full_sample(len(sets))


def test_the_papers_size_is_the_full_one():
    assert plan.full_sample(4) == 2160
    plan.check_sizes(settings(ruff=2160, prompting=2160, chains=2160), 4, KNOWN)


@pytest.mark.parametrize(
    ("sizes", "key"),
    [
        ({"ruff": 2161}, "ruff.sample_size is 2161"),
        ({"ruff": {"default": 2161}}, "ruff.sample_size.default is 2161"),
        ({"ruff": {"default": 4, "minilm-l6-mlm": 2164}}, "ruff.sample_size.minilm-l6-mlm is 2164"),
        ({"ruff": 10**9}, "ruff.sample_size is 1000000000"),
        ({"prompting": 2161}, "ruff.prompting.sample_size is 2161"),
        ({"chains": 10**18}, "ruff.prompting.chain_of_thought.sample_size is 1000000000000000000"),
    ],
)
def test_more_is_refused(sizes, key):
    with pytest.raises(UserError) as caught:
        plan.check_sizes(settings(**sizes), 4, KNOWN)
    assert str(caught.value) == f"{key}, but with 4 pronoun sets a full sample has 2160 instances; use at most 2160"


@pytest.mark.parametrize(
    ("sizes", "n_sets", "told"),
    [
        ({"ruff": 10}, 4, "ruff.sample_size is 10, which 4 pronoun sets"),
        ({"ruff": {"default": 60, "minilm-l6-mlm": 6}}, 4, "ruff.sample_size.minilm-l6-mlm is 6, which 4 pronoun sets"),
        ({"prompting": 3}, 4, "ruff.prompting.sample_size is 3, which 4 pronoun sets"),
        ({"chains": 1}, 4, "ruff.prompting.chain_of_thought.sample_size is 1, which 4 pronoun sets"),
        ({"ruff": 12}, 5, "ruff.sample_size is 12, which 5 pronoun sets"),
    ],
)
def test_sizes_that_favour_a_pronoun_set_are_refused(sizes, n_sets, told):
    with pytest.raises(UserError) as caught:
        plan.check_sizes(settings(**sizes), n_sets, KNOWN)
    assert str(caught.value) == (
        f"{told} do not divide, so that one would be right more often than another; use a multiple of {n_sets}"
    )


def test_a_model_that_nobody_knows_is_refused():
    with pytest.raises(UserError, match=r"^ruff\.sample_size: 'minilm-l6' is not in .*; did you mean 'minilm-l6-mlm'"):
        plan.check_sizes(settings(ruff={"default": 4, "minilm-l6": 4}), 4, KNOWN)


def test_each_model_has_its_own_size_or_the_default():
    assert plan.sample_sizes(12, ["a", "b"]) == {"a": 12, "b": 12}
    sizes = plan.sample_sizes({"default": 60, "b": 4, "not in this run": 8}, ["a", "b"])
    assert sizes == {"a": 60, "b": 4}
    assert plan.uneven_models(sizes) == ["b"]


def test_the_default_run_scores_its_real_model_on_180_instances_a_number_of_distractors():
    ruff = config.load_yaml(ROOT / "config.yaml")["ruff"]
    sizes = plan.sample_sizes(ruff["sample_size"], KNOWN)
    assert len(ruff["seeds"]) * sizes["smollm2-135m-instruct"] >= 180
    assert sizes["smollm2-135m-instruct"] % 12 == 0
    assert "minilm-l6-mlm" not in sizes


def test_a_size_of_zero_leaves_a_model_out_and_not_all_of_them():
    assert plan.sample_sizes({"default": 60, "b": 0}, ["a", "b"]) == {"a": 60}
    plan.check_sizes(settings(ruff={"default": 60, "minilm-l6-mlm": 0}), 4, KNOWN)
    assert plan.sample_sizes(60, []) == {}
    with pytest.raises(UserError, match=r"ruff\.sample_size leaves out every model of the run \(b\)"):
        plan.sample_sizes({"default": 60, "b": 0}, ["b"])


def test_sizes_of_what_nobody_is_asked_may_be_any():
    given = settings(ruff=4, prompting=5, chains=7)
    given["prompting"]["chain_of_thought"]["models"] = []
    with pytest.raises(UserError, match=r"ruff\.prompting\.sample_size is 5"):
        plan.check_sizes(given, 4, KNOWN)
    given["prompting"]["models"] = []
    plan.check_sizes(given, 4, KNOWN)
