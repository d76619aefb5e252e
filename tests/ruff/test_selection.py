"""Which rows of a sample are scored: balanced at every size, and a smaller size takes a part of a larger one's."""

from collections import Counter
from itertools import islice

import pytest

from scripts.ruff import selection
from scripts.ruff.selection import balanced_rows
from tests.ruff import small_templates

# Enough occupations that a round over the task sentences is longer than a round over the pronouns.
MANY = dict.fromkeys(("weaver", "pilot", "glazier", "tiler", "roofer", "printer", "potter", "miller"), "buyer")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Samples of 24 x 12 rows by number of distractor sentences."""
    made = small_templates.load(tmp_path_factory.mktemp("templates"), people=MANY)
    return {n: made.sample(n, 13).to_pandas() for n in (0, 1, 4)}


@pytest.mark.parametrize("n", [0, 1, 4])
def test_rows_are_balanced_at_every_size(samples, n):
    rows = balanced_rows(samples[n], 240)
    assert len(set(rows)) == 240
    # Smaller selections are parts of larger ones.
    for size in (1, 6, 47):
        assert balanced_rows(samples[n], size).tolist() == rows[:size].tolist()
    order = samples[n].iloc[rows]
    # No task sentence is repeated before all were taken.
    for start in range(0, 240, 24):
        assert order.iloc[start : start + 24].task_index.is_unique
    factors = {"case": 3, "pronoun": 4} | ({"distractor_pronoun": 4} if n else {})
    for factor, levels in factors.items():
        for size in range(1, 241):
            counts = order[factor].iloc[:size].value_counts().reindex(order[factor].unique(), fill_value=0)
            assert len(counts) == levels
            assert counts.max() - counts.min() <= (1 if size <= 24 else 6), (factor, size)
    # With six instances, as in the default configuration: every pronoun, two of each case, both polarities.
    six = order.iloc[:6]
    assert six.pronoun.nunique() == 4
    assert six.case.value_counts().eq(2).all() and six.polarity.value_counts().eq(3).all()
    if n == 1:
        crossed = order.iloc[:144]
        assert crossed.groupby(["case", "pronoun"]).size().between(11, 13).all()
        assert crossed.groupby(["pronoun", "distractor_pronoun"]).size().between(11, 13).all()


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


def test_seeds_select_differently_and_whole_samples_stay_as_they_are(samples):
    assert balanced_rows(samples[1], 6).tolist() != balanced_rows(samples[1].assign(seed=17), 6).tolist()
    assert balanced_rows(samples[1], 288).tolist() == list(range(288))


@pytest.mark.parametrize("sizes", [[4], [4, 47], [4, 288], [288, 2160]])
def test_priorities_choose_what_each_size_takes(samples, sizes):
    places = selection.priorities(samples[1], sizes)
    for size in sizes:
        assert set((places < size).nonzero()[0]) == set(balanced_rows(samples[1], size))
