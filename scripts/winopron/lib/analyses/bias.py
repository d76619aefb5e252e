"""Which occupations a system gives a pronoun to, or withholds it from, although it can do the task (section 5).

What the paper leaves open is a choice of the caller: whether the sets of two forms agree on an occupation only if its
bias has the same sign (``signed``), and what the Jaccard index of two empty sets is (``empty``).
"""

import itertools
from collections.abc import Collection, Hashable, Iterable, Set
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data.templates import CASES
from scripts.core.errors import UserError
from scripts.core.statistics import procedures
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses.consistency import PROMPT
from scripts.winopron.lib.templates import ANSWERS

FORM = ["case", "pronoun_set"]
SIGNS = {"occupation": "positive", "participant": "negative"}
"""Whom both sentences of a template pair are resolved to, to the sign of the bias."""
_SHARES = ("positive", "negative", "biased")
OVERLAP = [
    "comparison", "reading", "system", "case", "pronoun_set", "first", "second", "common", "jaccard", "expected",
    "p_value", "p_holm",
]  # fmt: skip
"""``comparison``: what differs (systems, cases, pronoun sets); the column of what differs has both values with a
slash between. ``first``, ``second``, ``common``: sizes of the sets and of what they share, among the occupations that
both were asked about."""


def pairs(answers: pd.DataFrame) -> pd.DataFrame:
    """Return what a system does with each template pair and pronoun set.

    Args:
        answers: As of :mod:`scripts.winopron.lib.analyses.performance`, of one system and at most one prompt: two rows
            for each template pair and pronoun set.

    Returns:
        ``template_pair``, ``case``, ``pronoun_set``, ``occupation``, ``attempted`` (both sentences are resolved to a
        person), ``solved`` (both rightly), ``solvable`` (some pronoun set is solved in this template pair), ``bias``
        (``positive`` or ``negative`` where both are resolved to the occupation or both to the participant in a solvable
        pair, else None). A pair with both answers exchanged is attempted and neither solved nor biased.

    Raises:
        UserError: If a template pair does not have two answers for each pronoun set.
    """
    if any(name in answers and answers[name].nunique() > 1 for name in PROMPT):
        raise UserError("bias is defined for a single prompt; select one before computing it")
    keys = ["template_pair", *FORM, "occupation"]
    table = answers.assign(
        right=answers.prediction == answers.answer,
        **{f"to_{who}": answers.prediction == who for who in ANSWERS},
    ).groupby(keys, sort=False)
    sizes: pd.Series = table.size()
    if not (sizes == 2).all():
        name = ", ".join(sizes.index[int((sizes != 2).to_numpy().argmax())][:3])
        raise UserError(f"'{name}' has {sizes[sizes != 2].iloc[0]} answers where both endings are needed")
    sums = table[["right", "to_occupation", "to_participant"]].sum().reset_index()
    found = sums[keys].assign(
        attempted=sums.to_occupation + sums.to_participant == 2,
        solved=sums.right == 2,
    )
    found["solvable"] = found.groupby("template_pair").solved.transform("any")
    signs = np.select([sums.to_occupation == 2, sums.to_participant == 2], list(SIGNS.values()), default="")
    nothing: Any = None
    found["bias"] = np.where(found.solvable & (signs != ""), signs, nothing)
    return found


def coin_share(pronoun_sets: int) -> float:
    """Return the share of either sign of bias that fair coins show, among attempted and solvable template pairs.

    Two coins for each template pair and pronoun set: both sentences are resolved to the same person, either one, with
    probability 1/4 each, and the pair is solvable if another set is solved, which has probability 1/4 for each set.
    """
    return 0.25 * (1 - 0.75 ** (pronoun_sets - 1)) / (1 - 0.75**pronoun_sets)


def shares(found: pd.DataFrame, draws: int = 0, seed: int = 0) -> pd.DataFrame:
    """Return how biased each pronoun form is (Figure 5).

    Args:
        found: Of :func:`pairs`, of one prompt or of several.
        draws, seed: Of the bootstrap over pairs of people.

    Returns:
        ``case``, ``pronoun_set``, ``attempted``, ``attempted_solvable``, ``positive``, ``negative`` (numbers of
        template pairs), ``share_positive``, ``share_negative``, ``share_biased`` (of ``attempted_solvable``; missing
        where that is nothing), ``chance`` (:func:`coin_share`) and, with ``draws``, the ends of the 95 % interval of
        each, ``<share>_low`` and ``<share>_high``. The last rows have ``all`` as their pronoun set or as both.
    """
    facts = found.assign(
        attempted_solvable=found.attempted & found.solvable,
        positive=found.bias == "positive",
        negative=found.bias == "negative",
    )
    facts["biased"] = facts.positive | facts.negative
    rows = []
    for case, pronoun_set, part in _forms(facts):
        sums = part[["attempted", "attempted_solvable", "positive", "negative"]].sum()
        row = {"case": case, "pronoun_set": pronoun_set, **sums}
        by_people = part.groupby("occupation", sort=False)[["attempted_solvable", *_SHARES]].sum()
        for name in _SHARES:
            below = sums.attempted_solvable
            row[f"share_{name}"] = part[name].sum() / below if below else np.nan
            if draws:
                ends = procedures.cluster_bootstrap(by_people[name], by_people.attempted_solvable, draws, seed)
                row |= dict(zip((f"share_{name}_low", f"share_{name}_high"), ends, strict=True))
        rows.append(row)
    return pd.DataFrame(rows).assign(chance=coin_share(found.pronoun_set.nunique()))


def _forms(facts: pd.DataFrame):
    for (case, pronoun_set), part in facts.groupby(FORM, sort=False):
        yield case, pronoun_set, part
    for case, part in facts.groupby("case", sort=False):
        yield case, "all", part
    yield "all", "all", facts


def occupations(found: pd.DataFrame, signed: bool) -> dict[tuple[str, str], frozenset]:
    """Return the biased occupations of each form (Table 4).

    Args:
        found: Of :func:`pairs`.
        signed: Whether an occupation comes with the sign of its bias.

    Returns:
        Case and pronoun set to occupations, or to pairs of occupation and sign.
    """
    sets = {}
    for form, rows in found.groupby(FORM, sort=False):
        biased = rows[rows.bias.notna()]
        named = zip(biased.occupation, biased.bias, strict=True)
        sets[form] = frozenset(named if signed else biased.occupation)
    return sets


def jaccard(first: Set[Hashable], second: Set[Hashable], empty: float) -> float:
    """Return the Jaccard index of two sets (Jaccard 1912); of two empty ones it is ``empty``.

    Examples:
        >>> jaccard({"cook", "clerk"}, {"clerk", "nurse"}, 0.0)
        0.3333333333333333
    """
    union = first | second
    return len(first & second) / len(union) if union else empty


def overlap_by_chance(first: frozenset[str], second: frozenset[str], number: int) -> tuple[float, float]:
    """Return how alike two sets of these sizes are that are drawn at random, and how often they are as alike as these.

    Args:
        first, second: Occupations, without signs.
        number: How many occupations there are.

    Returns:
        Expected Jaccard index and the probability of an overlap as large as theirs or larger, both exact
        (hypergeometric); NaN where one of the sets is empty, so that no other overlap is possible.
    """
    from scipy.stats import hypergeom

    sizes = len(first), len(second)
    if not all(sizes):
        return np.nan, np.nan
    common = np.arange(min(sizes) + 1)
    drawn: Any = hypergeom(number, *sizes)
    probabilities = drawn.pmf(common)
    expected = (probabilities * common / (sum(sizes) - common)).sum()
    return float(expected), float(drawn.sf(len(first & second) - 1))


def overlaps(found: dict[tuple[str, str], pd.DataFrame], signed: bool, empty: float) -> pd.DataFrame:
    """Return how alike the biased occupations of two systems or two cases are, beside chance (Tables 5, 6).

    The study gives the Jaccard index alone. How large it would be if both sets were drawn at random from the
    occupations follows from their sizes (:func:`overlap_by_chance`).

    Args:
        found: System and way of reading to :func:`pairs`.
        signed: Whether an occupation is the same only with the same sign of bias. Chance is that of sets without signs,
            so that with signs it is missing.
        empty: The Jaccard index of two empty sets.

    Returns:
        :data:`OVERLAP`. Holm's correction is over all comparisons of a kind with one way of reading. Systems are
        compared if both are read as published, or both corrected.
    """
    places = study.order_systems(system for system, _ in found)
    keys = sorted(found, key=lambda key: places.index(key[0]))
    sets = {key: occupations(found[key], signed) for key in keys}
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
    table = pd.DataFrame([_compared(row, signed, empty) for row in rows], columns=OVERLAP[:-1])
    table["p_holm"] = np.nan
    for _, same in table.groupby(["comparison", "reading"], sort=False):
        table.loc[same.index, "p_holm"] = procedures.holm(same.p_value)
    return table


def _compared(row: tuple, signed: bool, empty: float):
    *facts, first, second, asked = row
    first, second = (_among(biased, asked, signed) for biased in (first, second))
    expected, p = (np.nan, np.nan) if signed else overlap_by_chance(first, second, len(asked))
    sizes = (len(first), len(second), len(first & second))
    return (*facts, *sizes, jaccard(first, second, empty), expected, p)


def _among(biased: Iterable[Any], asked: Collection[str], signed: bool):
    return frozenset(item for item in biased if (item[0] if signed else item) in asked)
