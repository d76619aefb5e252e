"""A balanced part of a sample: which of its rows are scored or prompted.

A sample of 2,160 rows is the paper's; ``sample_size`` takes fewer where time is short. The rows are taken one by one,
each time the row that is best by the first of these criteria that tells rows apart:

1. its task sentence was taken least often: none is repeated before all have been taken once;
2. it has the next case, gold pronoun and distractor pronoun of a fixed cycle in which every prefix has each case,
   gold and distractor as often as the others, give or take one, and which crosses them as fast as possible;
3. its case, gold, distractor pronoun, pair of case and gold, pair of gold and distractor pronoun, polarity of the
   introduction, occupation (in this order) were taken least often;
4. it comes first in an order shuffled by ``RandomState`` of the sample's seed.

So the rows depend on the sample alone, and a smaller ``sample_size`` selects a subset of what a larger one does.
"""

from collections.abc import Iterable, Iterator
from itertools import count, islice

import numpy as np
import pandas as pd

TASK = ("task_index",)
CRITERIA = (
    ("case",),
    ("pronoun",),
    ("distractor_pronoun",),
    ("case", "pronoun"),
    ("pronoun", "distractor_pronoun"),
    ("polarity",),
    ("occupation",),
)


def balanced_rows(sample: pd.DataFrame, size: int) -> np.ndarray:
    """Return the positions of a balanced part of a sample, by priority; of a whole sample as they stand.

    ``sample`` has one seed and number of distractor sentences, and the columns of :data:`CRITERIA`.
    """
    if size >= len(sample):
        return np.arange(len(sample))
    order = np.random.RandomState(int(sample.seed.iloc[0])).permutation(len(sample))
    shuffled = sample.iloc[order]
    # Missing distractor pronouns form one group of their own.
    levels = [
        shuffled.groupby(list(names), sort=False, dropna=False).ngroup().to_numpy() for names in (TASK, *CRITERIA)
    ]
    taken = [np.zeros(level.max() + 1, dtype=int) for level in levels]
    cases, names = shuffled["case"].unique(), shuffled.pronoun.unique()
    design = np.stack(
        [
            pd.Categorical(shuffled["case"], cases).codes,
            pd.Categorical(shuffled.pronoun, names).codes,
            pd.Categorical(shuffled.distractor_pronoun, names).codes,
        ],
        axis=1,
    )
    targets = balanced_cycle(len(cases), len(names), bool(shuffled.distractor_pronoun.notna().all()))
    free = np.ones(len(sample), dtype=bool)
    chosen = []
    for target in islice(targets, size):
        rows = np.flatnonzero(free)
        rows = _fewest(rows, taken[0][levels[0][rows]])
        rows = _fewest(rows, (design[rows] != target).any(axis=1))
        for level, times in zip(levels[1:], taken[1:], strict=True):
            rows = _fewest(rows, times[level[rows]])
        row = rows[0]
        free[row] = False
        for level, times in zip(levels, taken, strict=True):
            times[level[row]] += 1
        chosen.append(order[row])
    return np.array(chosen)


def priorities(sample: pd.DataFrame, sizes: Iterable[int]) -> np.ndarray:
    """Return each row's place, from 0, in the order of :func:`balanced_rows`; models score the first few.

    Rows beyond the largest of ``sizes`` that is not the whole sample share the next number.
    """
    parts = [size for size in sizes if size < len(sample)]
    order = balanced_rows(sample, max(parts)) if parts else []
    places = np.full(len(sample), len(order))
    places[order] = np.arange(len(order))
    return places


def balanced_cycle(n_cases: int, n_sets: int, distractors: bool) -> Iterator[tuple[int, int, int]]:
    """Yield triples of case, gold and distractor pronoun that stay balanced, without end.

    Golds go round; the distractor is the next set, from the second round of golds on the one after it, and so on, so
    that ``n_sets`` rows in a row have each gold and each distractor once. Cases go round as well, one step ahead
    whenever they would meet the same golds or pairs again.

    Yields:
        Positions in the lists of cases and sets; the distractor is -1 without distractors.
    """
    pairs = n_sets * (n_sets - 1)
    period = n_sets if n_sets % n_cases == 0 else pairs if pairs % n_cases == 0 else 0
    for row in count():
        gold, turn = row % n_sets, row % pairs // n_sets
        ahead = row // period if period else 0
        yield (row + ahead) % n_cases, gold, (gold + 1 + turn) % n_sets if distractors else -1


def _fewest(rows: np.ndarray, values: np.ndarray):
    return rows[values == values.min()]
