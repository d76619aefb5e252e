from collections import Counter
from itertools import islice

import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.ruff import context_free, sample, select_instances
from scripts.ruff.lib import instances, selection
from scripts.ruff.lib.selection import balanced
from tests.ruff import small_templates

FOUR = ["he", "she", "they", "xe"]
# Enough occupations that a round over the task sentences is longer than a round over the pronouns.
MANY = dict.fromkeys(("weaver", "pilot", "glazier", "tiler", "roofer", "printer", "potter", "miller"), "buyer")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Samples of 24 x 12 rows by number of distractor sentences."""
    made = small_templates.load(tmp_path_factory.mktemp("templates"), occupations=MANY)
    return {n: made.sample(n, 13).to_pandas() for n in (0, 1, 4)}


@pytest.mark.parametrize("n", [0, 1, 4])
def test_smaller_selections_are_parts_of_larger_ones(samples, n):
    long = balanced(samples[n], 200)
    assert len(set(long)) == 200
    for size in (1, 6, 47):
        assert balanced(samples[n], size).tolist() == long[:size].tolist()
    assert set(balanced(samples[n], 288)) == set(range(288))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_no_task_sentence_repeats_before_all_were_taken(samples, n):
    order = samples[n].iloc[balanced(samples[n], 240)]
    for start in range(0, 240, 24):
        assert order.iloc[start : start + 24].task_index.is_unique


@pytest.mark.parametrize("n", [0, 1, 4])
def test_factors_are_balanced_at_every_size(samples, n):
    order = samples[n].iloc[balanced(samples[n], 240)]
    factors = {"case": 3, "pronoun": 4} | ({"distractor_pronoun": 4} if n else {})
    for factor, levels in factors.items():
        for size in range(1, 241):
            counts = order[factor].iloc[:size].value_counts().reindex(order[factor].unique(), fill_value=0)
            assert len(counts) == levels
            assert counts.max() - counts.min() <= (1 if size <= 24 else 6), (factor, size)
    # With six instances, as in the default configuration: every pronoun, two of each case, both polarities.
    six = order.iloc[:6]
    assert (
        six.pronoun.nunique() == 4 and six.case.value_counts().eq(2).all() and six.polarity.value_counts().eq(3).all()
    )


@pytest.mark.parametrize("n_sets", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("distractors", [True, False])
def test_the_cycle_is_balanced_and_crosses_everything(n_sets, distractors):
    pairs = n_sets * (n_sets - 1) if distractors else n_sets
    rows = list(islice(selection.cycle(3, n_sets, distractors), 3 * n_sets * (n_sets - 1)))
    crossed = Counter(rows)
    assert len(crossed) == 3 * pairs and len(set(crossed.values())) == 1
    for column, levels in ((0, 3), (1, n_sets), *([(2, n_sets)] if distractors else [])):
        for size in range(1, len(rows) + 1):
            counts = Counter(row[column] for row in rows[:size])
            assert max(counts.values()) - min(counts[level] for level in range(levels)) <= 1
    assert all(gold != distractor for _, gold, distractor in rows)


def test_crossed_factors_are_balanced_too(samples):
    order = samples[1].iloc[balanced(samples[1], 144)]
    assert order.groupby(["case", "pronoun"]).size().between(11, 13).all()
    assert order.groupby(["pronoun", "distractor_pronoun"]).size().between(11, 13).all()


def test_other_seeds_select_other_rows(samples):
    other = samples[1].assign(seed=17)
    assert balanced(samples[1], 6).tolist() != balanced(other, 6).tolist()


def make(tmp_path, n_and_seeds):
    given = small_templates.given(small_templates.write(tmp_path))
    free = tmp_path / "context_free.parquet"
    context_free.main(pronoun_sets=FOUR, context_free=str(free), **given)
    drawn = []
    for n, seed in n_and_seeds:
        drawn.append(str(tmp_path / f"sample_seed{seed}_distractors{n}.parquet"))
        sample.main(pronoun_sets=FOUR, n_distractors=n, seed=seed, sample=drawn[-1], **given)
    return str(free), drawn


def test_the_selection_is_the_context_free_set_and_a_part_of_each_sample(tmp_path):
    free, drawn = make(tmp_path, [(0, 13), (0, 17), (2, 13)])
    target = tmp_path / "selected.parquet"
    select_instances.main(context_free=free, samples=drawn, sample_size=10, selected=str(target))
    table = files.read_arrow(target)
    assert table.schema.remove_metadata() == instances.sample_schema()
    frame = table.to_pandas()
    assert len(frame) == 9 + 3 * 10
    assert frame.seed.isna().sum() == frame.n_distractors.isna().sum() == 9
    assert frame.groupby(["n_distractors", "seed"]).size().to_dict() == {(0, 13): 10, (0, 17): 10, (2, 13): 10}
    metadata = files.parquet_metadata(target)
    assert metadata["sample_size"] == 10 and metadata["study"] == "ruff" and metadata["templates"] == "replica"
    # Instances that begin alike are neighbours; equal ones keep the order of the samples.
    assert frame.text.is_monotonic_increasing
    twice = frame[frame.instance_id.duplicated(keep=False) & frame.seed.notna()]
    assert (twice.groupby("instance_id").seed.diff().dropna() > 0).all()


@pytest.mark.parametrize("size", [108, 2160])
def test_a_size_that_takes_everything_takes_the_samples_as_they_are(tmp_path, size):
    free, drawn = make(tmp_path, [(0, 13), (2, 13)])
    target = tmp_path / "selected.parquet"
    select_instances.main(context_free=free, samples=drawn, sample_size=size, selected=str(target))
    expected = [i for path in (free, *drawn) for i in files.read_parquet(path).instance_id]
    assert sorted(files.read_parquet(target).instance_id) == sorted(expected)


def test_an_empty_selection_is_refused(tmp_path):
    with pytest.raises(UserError, match="sample_size is 0; use at least 1"):
        select_instances.main(context_free="x", samples=[], sample_size=0, selected="y")
