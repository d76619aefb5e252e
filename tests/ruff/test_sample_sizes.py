"""Sizes of samples above the full one are refused from arithmetic."""

import pytest

from scripts.core import config, files
from scripts.core.errors import UserError
from scripts.ruff import sample
from scripts.ruff.lib import sample_sizes
from tests.conftest import ROOT
from tests.ruff.test_prompts import TEMPLATES


def settings(**sizes):
    ruff = config.load_yaml(ROOT / "config.yaml")["ruff"]
    return config.merge(ruff, {
        "sample_size": sizes.get("ruff", 4),
        "prompting": {
            "sample_size": sizes.get("prompting", 3), "chain_of_thought": {"sample_size": sizes.get("chains", 1)}
        },
    })  # fmt: skip


@pytest.mark.parametrize("n_distractors", [0, 2])
@pytest.mark.parametrize("sets", [["he", "she", "they"], ["he", "she", "they", "xe"]])
def test_the_full_sample_has_as_many_rows(tmp_path, sets, n_distractors):
    path = tmp_path / "sample.parquet"
    sample.main(**TEMPLATES, pronoun_sets=sets, n_distractors=n_distractors, seed=13, sample=str(path))
    assert len(files.read_parquet(path)) == sample_sizes.full_sample(len(sets))


def test_the_papers_size_is_the_full_one():
    assert sample_sizes.full_sample(4) == 2160
    sample_sizes.check(settings(ruff=2160, prompting=2160, chains=2160), 4)


@pytest.mark.parametrize(
    ("sizes", "key"),
    [
        ({"ruff": 2161}, "ruff.sample_size is 2161"),
        ({"ruff": 10**9}, "ruff.sample_size is 1000000000"),
        ({"prompting": 2161}, "ruff.prompting.sample_size is 2161"),
        ({"chains": 10**18}, "ruff.prompting.chain_of_thought.sample_size is 1000000000000000000"),
    ],
)
def test_more_is_refused(sizes, key):
    with pytest.raises(UserError) as caught:
        sample_sizes.check(settings(**sizes), 4)
    assert str(caught.value) == f"{key}, but with 4 pronoun sets a full sample has 2160 instances; use at most 2160"
