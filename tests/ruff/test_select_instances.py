from collections import Counter
from itertools import islice

import pytest

from scripts.core.errors import UserError
from scripts.ruff import selection
from scripts.ruff.instances import select_instances
from scripts.ruff.selection import balanced_rows
from tests.ruff import small_templates

# Enough occupations that a round over the task sentences is longer than a round over the pronouns.
MANY = dict.fromkeys(("weaver", "pilot", "glazier", "tiler", "roofer", "printer", "potter", "miller"), "buyer")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Samples of 24 x 12 rows by number of distractor sentences."""
    made = small_templates.load(tmp_path_factory.mktemp("templates"), occupations=MANY)
    return {n: made.sample(n, 13).to_pandas() for n in (0, 1, 4)}


@pytest.mark.parametrize("n", [0, 1, 4])
def test_smaller_selections_are_parts_of_larger_ones(samples, n):
    long = balanced_rows(samples[n], 200)
    assert len(set(long)) == 200
    for size in (1, 6, 47):
        assert balanced_rows(samples[n], size).tolist() == long[:size].tolist()
    assert set(balanced_rows(samples[n], 288)) == set(range(288))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_no_task_sentence_repeats_before_all_were_taken(samples, n):
    order = samples[n].iloc[balanced_rows(samples[n], 240)]
    for start in range(0, 240, 24):
        assert order.iloc[start : start + 24].task_index.is_unique


@pytest.mark.parametrize("n", [0, 1, 4])
def test_factors_are_balanced_at_every_size(samples, n):
    order = samples[n].iloc[balanced_rows(samples[n], 240)]
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
    rows = list(islice(selection.balanced_cycle(3, n_sets, distractors), 3 * n_sets * (n_sets - 1)))
    crossed = Counter(rows)
    assert len(crossed) == 3 * pairs and len(set(crossed.values())) == 1
    for column, levels in ((0, 3), (1, n_sets), *([(2, n_sets)] if distractors else [])):
        for size in range(1, len(rows) + 1):
            counts = Counter(row[column] for row in rows[:size])
            assert max(counts.values()) - min(counts[level] for level in range(levels)) <= 1
    assert all(gold != distractor for _, gold, distractor in rows)


def test_crossed_factors_are_balanced_too(samples):
    order = samples[1].iloc[balanced_rows(samples[1], 144)]
    assert order.groupby(["case", "pronoun"]).size().between(11, 13).all()
    assert order.groupby(["pronoun", "distractor_pronoun"]).size().between(11, 13).all()


def test_other_seeds_select_other_rows(samples):
    other = samples[1].assign(seed=17)
    assert balanced_rows(samples[1], 6).tolist() != balanced_rows(other, 6).tolist()


@pytest.mark.parametrize("sizes", [[4], [4, 47], [4, 288], [288, 2160]])
def test_priorities_choose_what_each_size_takes(samples, sizes):
    places = selection.priorities(samples[1], sizes)
    for size in sizes:
        chosen = (places < size).nonzero()[0]
        assert set(chosen) == set(balanced_rows(samples[1], size))


def test_an_empty_selection_is_refused(tmp_path):
    with pytest.raises(UserError, match="sample_size is 0; use at least 1"):
        select_instances(context_free="x", samples=[], sizes=[4, 0], selected="y")
