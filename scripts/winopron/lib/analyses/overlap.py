"""How alike the biased occupations of two systems, cases or pronoun sets are (Tables 5 and 6), beside chance.

The study gives the Jaccard index of two sets alone. How large it would be if both sets were drawn at random from the
occupations follows from their sizes (:func:`scripts.winopron.lib.analyses.bias.overlap_by_chance`).
"""

import itertools

import numpy as np
import pandas as pd

from scripts.core import statistics
from scripts.core.templates import CASES
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses import bias

COLUMNS = [
    "comparison", "reading", "system", "case", "pronoun_set", "first", "second", "common", "jaccard", "expected",
    "p_value", "p_holm",
]  # fmt: skip
"""``comparison``: what differs (systems, cases, pronoun sets); the column of what differs has both values with a
slash between. ``first``, ``second``, ``common``: sizes of the sets and of what they share, among the occupations that
both were asked about."""


def overlaps(found, signed, empty):
    """Return every comparison of two sets of biased occupations.

    Parameters
    ----------
    found : dict of (str, str) to DataFrame
        System and way of reading to :func:`scripts.winopron.lib.analyses.bias.pairs`.
    signed : bool
        Whether an occupation is the same only with the same sign of bias. Chance is that of sets without signs, so
        that with signs it is missing.
    empty : float
        The Jaccard index of two empty sets.

    Returns
    -------
    DataFrame
        :data:`COLUMNS`. Holm's correction is over all comparisons of a kind with one way of reading. Systems are
        compared if both are read as published, or both corrected.
    """
    places = study.ordered(system for system, _ in found)
    keys = sorted(found, key=lambda key: places.index(key[0]))
    sets = {key: bias.occupations(found[key], signed) for key in keys}
    asked = {key: frozenset(found[key].occupation) for key in keys}
    rows = []
    for (one, first), (other, second) in itertools.combinations(sets.items(), 2):
        reading = study.READINGS[one[1]]
        if one[0] != other[0] and reading == study.READINGS[other[1]]:
            for case, pronoun_set in first:
                facts = ("systems", reading, f"{one[0]} / {other[0]}", case, pronoun_set)
                rows.append((*facts, first[case, pronoun_set], second[case, pronoun_set], asked[one] & asked[other]))
    for (system, conversion), forms in sets.items():
        known = asked[system, conversion]
        pronoun_sets = list(dict.fromkeys(pronoun_set for _, pronoun_set in forms))
        reading = study.READINGS[conversion]
        for (a, b), pronoun_set in itertools.product(itertools.combinations(CASES, 2), pronoun_sets):
            facts = ("cases", reading, system, f"{a} / {b}", pronoun_set)
            rows.append((*facts, forms[a, pronoun_set], forms[b, pronoun_set], known))
        for case, (a, b) in itertools.product(CASES, itertools.combinations(pronoun_sets, 2)):
            facts = ("pronoun sets", reading, system, case, f"{a} / {b}")
            rows.append((*facts, forms[case, a], forms[case, b], known))
    table = pd.DataFrame([_compared(row, signed, empty) for row in rows], columns=COLUMNS[:-1])
    table["p_holm"] = np.nan
    for _, same in table.groupby(["comparison", "reading"], sort=False):
        table.loc[same.index, "p_holm"] = statistics.holm(same.p_value)
    return table


def _compared(row, signed, empty):
    *facts, first, second, asked = row
    first, second = (_among(biased, asked, signed) for biased in (first, second))
    expected, p = (np.nan, np.nan) if signed else bias.overlap_by_chance(first, second, len(asked))
    sizes = (len(first), len(second), len(first & second))
    return (*facts, *sizes, bias.jaccard(first, second, empty), expected, p)


def _among(biased, asked, signed):
    return frozenset(item for item in biased if (item[0] if signed else item) in asked)
