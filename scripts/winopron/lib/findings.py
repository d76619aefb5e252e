"""The findings of WinoPron as tests over predictions (``paper/published/README.md`` says of what).

A finding is a function of the :class:`Results` of one template set that yields its checks. A comparison holds if the
95 % interval of the difference, over pairs of people, lies on its side, and fails if it lies on the other one;
otherwise it cannot be decided on these sentences. Systems are read as the study's authors read them; rules and systems
that the study does not have are never looked at.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.data.templates import CASES
from scripts.core.paper import estimates
from scripts.core.paper.estimates import Estimate, is_within
from scripts.core.paper.finding_verdicts import Comparison, Finding, MissingEvidence, check
from scripts.core.paper.formats import interval, number, percent
from scripts.core.statistics import procedures
from scripts.winopron.lib import study
from scripts.winopron.lib.analyses import bias, consistency, performance
from scripts.winopron.lib.analyses.resampling import PairSamples

if TYPE_CHECKING:
    import pandas as pd

SYSTEMS = tuple(study.SYSTEMS)
FLAN_T5 = SYSTEMS[4:]
SPANBERT = ("SpanBERT-base", "SpanBERT-large")
SUPERVISED = ("LingMess", "CAW-coref")
HE, SHE, THEY, XE = "he/him/his", "she/her/her", "they/them/their", "xe/xem/xyr"
NOMINATIVE, ACCUSATIVE, POSSESSIVE = CASES
BIASED = "biased occupations"
MORE = "more pairs of people"
"""What a comparison lacks whose difference has zero in its interval."""
FEWEST_PAIRS = 5
"""Pairs of people over which an interval is taken at least: of fewer, samples repeat each other."""
UNDEFINED = "instances that the quantity is defined for"
"""What a comparison of quantities lacks of which one has no denominator."""


class Results:
    """The answers of the study's systems on one template set.

    Args:
        answers: ``double``, and ``single`` and ``winogender`` where the run has them, to answers
            (:mod:`scripts.winopron.lib.analyses.performance`) with ``system``, each system read in one way.
        draws, seed: Of the bootstrap over pairs of people.
        systems: Those that findings about every system are about.
    """

    def __init__(self, answers: "Mapping[str, pd.DataFrame]", draws: int, seed: int, systems: Sequence[str] = SYSTEMS):
        self.answers, self.systems = answers, systems
        double = answers["double"]
        # Without answers nothing is asked of it.
        self.resampled: Any = PairSamples(double.pair, draws, seed) if len(double) else None
        # Winogender Schemas have another pair of people, and are resampled apart.
        others = answers.get("winogender", double)
        self.apart: Any = PairSamples(others.pair, draws, seed + 1) if len(others) else None

    def rows(self, system: str, entities: str = "double", **levels: str) -> "pd.DataFrame":
        """Return the answers of a system; :class:`scripts.core.paper.finding_verdicts.MissingEvidence` without any."""
        table = self.answers.get(entities)
        if table is None or not (table.system == system).any():
            where = {"single": " on one person", "winogender": " on Winogender Schemas"}.get(entities, "")
            raise MissingEvidence(f"{system}{where}")
        table = table[table.system == system]
        if table.prediction.isna().all():
            raise MissingEvidence(f"an answer of {system} that names somebody")
        if table.pair.nunique() < FEWEST_PAIRS:
            raise MissingEvidence(f"{FEWEST_PAIRS} pairs of people for {system}")
        for column, value in levels.items():
            table = table[table[column] == value]
        if table.empty:
            raise MissingEvidence(", ".join(map(str, levels.values())))
        return table

    def metric(self, name: str, system: str, entities: str = "double", **levels: str) -> tuple[float, np.ndarray]:
        """Return a metric of a system with its bootstrap samples; of all answers, or of those with ``levels``."""
        rows = self.rows(system, entities, **levels)
        by_pair = performance.confusion(rows).groupby(rows.pair.to_numpy()).sum()
        return (self.apart if entities == "winogender" else self.resampled).ratio(*performance.parts(by_pair)[name])

    def consistency(self, name: str, system: str) -> tuple[float, np.ndarray]:
        """Return a consistency, prompts taken together, with its bootstrap samples."""
        groups = consistency.groups(self.rows(system), name).groupby("pair").right
        return self.resampled.ratio(groups.sum(), groups.size())

    def biases(self, system: str) -> "pd.DataFrame":
        """Return what a system does with each template pair (:func:`scripts.winopron.lib.analyses.bias.pairs`)."""
        return bias.pairs(self.rows(system))

    def biased(self, system: str, sign: str | None = None) -> tuple[float, np.ndarray]:
        """Return the share of attempted and solvable template pairs with bias, or with one sign, with its samples."""
        rows = self.biases(system)
        pair = rows.occupation.map(dict(self.rows(system)[["occupation", "pair"]].drop_duplicates().to_numpy()))
        below = (rows.attempted & rows.solvable).groupby(pair).sum()
        shown = rows.bias.notna() if sign is None else rows.bias == sign
        return self.resampled.ratio(shown.groupby(pair).sum(), below)

    def overlap(self, first: tuple[str, str, str], second: tuple[str, str, str]) -> tuple[float, np.ndarray, int]:
        """Return the Jaccard index of the biased occupations of two forms, its samples, and how many pairs it is of.

        It is zero in samples without any of them, as the study has it.

        Args:
            first, second: System, case and pronoun set.

        Raises:
            MissingEvidence: If neither form has a biased occupation.
        """
        one, other = (self._biased_pairs(*form) for form in (first, second))
        if not (one | other).any():
            raise MissingEvidence(BIASED)
        value, samples = self.resampled.ratio(one & other, one | other)
        return value, np.nan_to_num(samples), int((one | other).sum())

    def _biased_pairs(self, system: str, case: str, pronoun_set: str):
        rows = self.biases(system)
        rows = rows[(rows["case"] == case) & (rows.pronoun_set == pronoun_set)]
        pair = rows.occupation.map(dict(self.rows(system)[["occupation", "pair"]].drop_duplicates().to_numpy()))
        return rows.bias.notna().groupby(pair).any().reindex(self.resampled.pairs, fill_value=False)


def results_of(
    answers: "Mapping[tuple[str, str], pd.DataFrame]",
    template_sets: Sequence[str],
    draws: int,
    seed: int,
    systems: Sequence[str] = SYSTEMS,
) -> dict[str, Results]:
    """Return what findings are tested on, for each template set.

    Winogender Schemas, where the run has them, stand beside every template set, with the pronoun sets of that study.

    Args:
        answers: Template set and entities to answers, as :class:`Results` wants them.
        template_sets: Those that findings are tested on.
        draws, seed, systems: As in :class:`Results`.
    """
    beside = {}
    if ("winogender", "double") in answers:
        rows = answers["winogender", "double"]
        beside["winogender"] = rows[rows.pronoun_set.isin(study.WINOGENDER_SETS)]
    return {
        name: Results({entities: answers[name, entities] for entities in study.ENTITIES} | beside, draws, seed, systems)
        for name in template_sets
    }


def points(value: float) -> str:
    """Return a share in percent, with one decimal as the study has it."""
    return percent(value, 1)


def check_positive(
    results: Results,
    value: float,
    samples: np.ndarray,
    text: str,
    shown: Callable = points,
    least: float = -1.0,
    most: float = 1.0,
) -> tuple[Comparison, str]:
    """Check that a difference is above zero.

    Args:
        samples: Of the bootstrap. Of float.
        shown: :func:`points` for shares in percent, ``number`` for indices from 0 to 1.
        least, most: What the difference can be at least and at most.

    Raises:
        MissingEvidence: If its interval has zero in it, or if it is not defined.
    """
    found = estimates.from_samples(value, samples, len(results.resampled.pairs), least, most)
    if np.isnan(found.low):
        raise MissingEvidence(UNDEFINED, text=text)
    scale, decimals = (100, 1) if shown is points else (1, 2)
    said = f"{text} ({interval(scale * found.low, scale * found.high, decimals)})"
    return _settled(estimates.compare_with_bound(found, 0), said)


def check_greater(
    results: Results,
    first: tuple[float, np.ndarray, *tuple[int, ...]],
    second: tuple[float, np.ndarray, *tuple[int, ...]],
    names: str,
    shown: Callable = points,
) -> tuple[Comparison, str]:
    """Check that one quantity (with its samples) is above another."""
    (a, drawn_a, *_), (b, drawn_b, *_) = first, second
    return check_positive(
        results, a - b, drawn_a - drawn_b, f"{names}: {_said(a, shown)} against {_said(b, shown)}", shown,
    )  # fmt: skip


def beyond_bound(
    results: Results,
    quantity: tuple[float, np.ndarray, *tuple[int, ...]],
    bound: float,
    text: str,
    shown: Callable = points,
    *,
    below: bool = False,
) -> tuple[Comparison, str]:
    """Check that a share, of all pairs of people or of so many as stand behind its samples, is above a bound or below.

    Near 0 and 1 samples of shares are skewed, and their deviation depends on the share. Its arcsine root does not.
    """
    value, samples, *trials = quantity
    shares = estimates.from_samples(value, samples, trials[0] if trials else len(results.resampled.pairs), least=0.0)
    low, high = shares.low, shares.high
    if np.isnan(low):
        raise MissingEvidence(UNDEFINED, text=text)
    middle, lower, upper = (float(np.arcsin(np.sqrt(np.clip(end, 0, 1)))) for end in (value, low, high))
    root = Estimate(middle, lower, upper, 0, shares.clusters)
    found = estimates.compare_with_bound(root, float(np.arcsin(np.sqrt(bound))))
    start, stop = (bound - high, bound - low) if below else (low - bound, high - bound)
    scale, decimals = (100, 1) if shown is points else (1, 2)
    said = f"{text} {_said(value, shown)} ({interval(scale * start, scale * stop, decimals)})"
    return _settled(~found if below else found, said)


def below_bound(
    results: Results,
    quantity: tuple[float, np.ndarray, *tuple[int, ...]],
    bound: float,
    text: str,
    shown: Callable = points,
) -> tuple[Comparison, str]:
    """Check that a share is under a bound."""
    return beyond_bound(results, quantity, bound, text, shown, below=True)


def compare_distance(
    results: Results, quantity: tuple[float, np.ndarray], centre: float, bound: float
) -> tuple[Comparison, str]:
    """Compare a share's distance from a value with a bound, and return it in words too."""
    value, samples = quantity
    pairs = len(results.resampled.pairs)
    of_share = estimates.from_samples(value, samples, pairs, least=centre - 1, most=centre + 1)
    found = estimates.compare_with_limits(of_share, centre - bound, centre + bound)
    ends = interval(100 * (of_share.low - centre), 100 * (of_share.high - centre), 1)
    return found, f"{points(abs(value - centre))} ({ends})"


def check_close(
    results: Results, quantity: tuple[float, np.ndarray], centre: float, bound: float, text: str
) -> tuple[Comparison, str]:
    """Check that a share is within ``bound`` of a value."""
    found, shown = compare_distance(results, quantity, centre, bound)
    return _settled(found, f"{text} {shown}")


def _settled(found: Comparison, text: str):
    if found.outcome is None:
        raise MissingEvidence(MORE, text=text, p=found.wrong)
    return found, text


def _said(value: float, shown: Callable):
    return points(value) if shown is points else number(value, 2)


def _each(test: Callable, systems: Sequence[str] | None = None):
    return lambda results: [check(test, results, system) for system in systems or results.systems]


def _harder(results: Results, system: str):
    return check_greater(
        results, results.metric("f1", system, "winogender"), results.metric("f1", system), f"{system} on both sets"
    )


def _accusative_is_hardest(results: Results):
    def test(system: str, metric: str, case: str):
        easier, hard = (results.metric(metric, system, case=name) for name in (case, ACCUSATIVE))
        return check_greater(results, easier, hard, f"{system}, {case} over accusative")

    return [
        check(test, system, metric, case)
        for system in results.systems
        for metric in ("f1", "recall")
        for case in (NOMINATIVE, POSSESSIVE)
    ]


def _order(results: Results):
    def test(system: str, easy: str, hard: str):
        return check_greater(
            results, results.metric("f1", system, case=easy), results.metric("f1", system, case=hard),
            f"{system}, {easy} over {hard}",
        )  # fmt: skip

    steps = ((NOMINATIVE, POSSESSIVE), (POSSESSIVE, ACCUSATIVE))
    return [check(test, system, *step) for system in results.systems for step in steps]


def _steps(results: Results, system: str):
    nominative, accusative, possessive = (results.metric("f1", system, case=case) for case in CASES)
    small: list[Any] = [n - p for n, p in zip(nominative, possessive, strict=True)]
    large: list[Any] = [p - a for p, a in zip(possessive, accusative, strict=True)]
    text = f"{system}: steps {points(small[0])} and {points(large[0])}"
    return check_positive(results, large[0] - small[0], large[1] - small[1], text)


def _gap_of_the_best(results: Results):
    def test(system: str, case: str):
        return check_greater(
            results, results.metric("recall", system, case=case), results.metric("recall", system, case=ACCUSATIVE),
            f"{system}, {case} over accusative",
        )  # fmt: skip

    return [check(test, s, case) for s in ("FLAN-T5-xl", "FLAN-T5-xxl") for case in (NOMINATIVE, POSSESSIVE)]


def _largest_are_best(results: Results):
    def test(entities: str, best: str, other: str):
        return check_greater(
            results, results.metric("f1", best, entities), results.metric("f1", other, entities), f"{best} over {other}"
        )

    return [
        check(test, entities, best, other)
        for entities in ("double", "winogender")
        for best in ("FLAN-T5-xl", "FLAN-T5-xxl")
        for other in SYSTEMS
        if other not in ("FLAN-T5-xl", "FLAN-T5-xxl")
    ]


def _larger_is_better(results: Results):
    def test(entities: str, large: str, small: str):
        return check_greater(
            results,
            results.metric("f1", large, entities),
            results.metric("f1", small, entities),
            f"{large} over {small}",
        )

    return [
        check(test, entities, large, small)
        for entities in ("double", "winogender")
        for family in (SPANBERT, FLAN_T5)
        for small, large in itertools.pairwise(family)
    ]


def _at_chance(results: Results, system: str):
    return check_close(results, results.metric("f1", system), 0.5, 0.03, f"{system}: distance from chance")


def _supervised(results: Results):
    def near(system: str):
        share = results.metric("recall", system, pronoun_set=THEY)
        return check_close(results, share, 0.5, 0.1, f"{system}, they: distance from chance")

    def far(system: str):
        return below_bound(results, results.metric("recall", system, pronoun_set=XE), 0.25, f"{system}, xe:")

    def good(system: str, pronoun_set: str):
        share = results.metric("recall", system, pronoun_set=pronoun_set)
        return beyond_bound(results, share, 0.75, f"{system}, {pronoun_set}:")

    return [
        *(check(test, system) for system in SUPERVISED for test in (near, far)),
        *(check(good, system, pronoun_set) for system in SUPERVISED for pronoun_set in (HE, SHE)),
    ]


def _gap(results: Results, system: str) -> tuple[Any, ...]:
    """Return how much better he and she are resolved than they and xe, with its samples."""
    shares: list[tuple[Any, Any]] = [results.metric("recall", system, pronoun_set=name) for name in (HE, SHE, THEY, XE)]
    return tuple((a + b - c - d) / 2 for a, b, c, d in zip(*shares, strict=True))


def _smaller_gap(results: Results):
    def there(system: str):
        value, samples = _gap(results, system)
        return check_positive(results, value, samples, f"{system}: gap {points(value)}")

    def smaller(system: str, other: str):
        return check_greater(results, _gap(results, other), _gap(results, system), f"gap of {other} over {system}")

    return [
        *(check(there, system) for system in SPANBERT),
        *(check(smaller, system, other) for system in SPANBERT for other in SUPERVISED),
    ]


def _no_large_difference(results: Results, system: str):
    shares = [results.metric("recall", system, pronoun_set=name) for name in (HE, SHE, THEY, XE)]
    # The range of noisy shares is above zero without any difference: each pair is compared.
    pairs = [(a - b, drawn_a - drawn_b) for (a, drawn_a), (b, drawn_b) in itertools.combinations(shares, 2)]
    found = estimates.compare_all(compare_distance(results, pair, 0.0, 0.05)[0] for pair in pairs)
    _, shown = compare_distance(results, max(pairs, key=lambda pair: abs(pair[0])), 0.0, 0.05)
    return _settled(found, f"{system}: largest difference {shown}")


def _below_chance(results: Results):
    low = ("LingMess", "FLAN-T5-small", "FLAN-T5-base")

    def test(system: str):
        share = results.consistency("pronoun_consistency", system)
        return beyond_bound(results, share, 0.0625, f"{system}:", below=system in low)

    return [check(test, system) for system in SYSTEMS]


def _most_consistent(results: Results):
    def order(first: str, second: str):
        return check_greater(
            results, results.consistency("pronoun_consistency", first),
            results.consistency("pronoun_consistency", second), f"{first} over {second}",
        )  # fmt: skip

    def lower():
        return check_greater(
            results, results.metric("f1", "FLAN-T5-xxl"), results.metric("f1", "SpanBERT-large"),
            "F1 of FLAN-T5-xxl over SpanBERT-large",
        )  # fmt: skip

    pairs = (("SpanBERT-large", "FLAN-T5-xl"), ("FLAN-T5-xl", "FLAN-T5-xxl"))
    return [*(check(order, *pair) for pair in pairs), check(lower)]


def _half_of_the_pairs(results: Results):
    best, metric = "FLAN-T5-xl", "disambiguation_consistency"

    def beats(other: str):
        return check_greater(
            results, results.consistency(metric, best), results.consistency(metric, other), f"{best}, {other}"
        )

    def half():
        value, samples = results.consistency(metric, best)
        pairs = len(results.resampled.pairs)
        if value in (0, 1):
            low, high = procedures.wilson(int(value) * pairs, pairs)
        else:
            low, high = procedures.bootstrap_interval(value, samples, pairs, least=0.0)
        shown = Estimate(value, low, high, pairs)
        return is_within(
            shown, 0.5, 0.55, f"{best}: {points(value)} ({interval(100 * shown.low, 100 * shown.high, 1)})"
        )

    return [*(check(beats, other) for other in SYSTEMS if other != best), check(half)]


def _base_below_chance(results: Results):
    def test():
        return below_bound(results, results.consistency("disambiguation_consistency", SPANBERT[0]), 0.25, SPANBERT[0])

    return [check(test)]


def _base_is_more_biased(results: Results):
    # Fair coins show as much bias in either system and of either sign, so that a difference leaves their level out.
    def test(sign: str | None):
        base, large = (results.biased(system, sign) for system in SPANBERT)
        return check_greater(results, base, large, f"base over large, {sign or 'both signs'}")

    return [check(test, sign) for sign in (None, "positive", "negative")]


def _more_negative(results: Results):
    def test(system: str):
        negative, plus = (results.biased(system, sign) for sign in ("negative", "positive"))
        return check_greater(results, negative, plus, f"{system}, negative over positive")

    return [check(test, system) for system in SPANBERT]


def _low_overlap(results: Results):
    def index(case: str, name: str):
        return results.overlap(*((system, case, name) for system in SPANBERT))

    def low(case: str, name: str):
        return below_bound(results, index(case, name), 0.5, f"{case} {_key(name)}:", number)

    def more(case: str, first: str, second: str):
        return check_greater(
            results, index(case, first), index(case, second), f"{case}, {_key(first)} over {_key(second)}", number
        )

    return [
        *(check(low, case, name) for case in CASES for name in (HE, SHE, THEY, XE)),
        *(check(more, case, first, second) for case in CASES for first in (THEY, XE) for second in (HE, SHE)),
    ]


def _cases_differ(results: Results):
    pairings = list(itertools.combinations(CASES, 2))
    kept = (NOMINATIVE, POSSESSIVE)

    def index(system: str, pair: tuple[str, str], name: str):
        return results.overlap(*((system, case, name) for case in pair))

    def base(name: str, pair: tuple[str, str]):
        text = f"{SPANBERT[0]}, {_key(name)}, {' and '.join(pair)}:"
        return below_bound(results, index(SPANBERT[0], pair, name), 0.15, text, number)

    def some(name: str):
        text = f"{SPANBERT[1]}, {_key(name)}, {' and '.join(kept)}:"
        return beyond_bound(results, index(SPANBERT[1], kept, name), 0.15, text, number)

    def more(name: str, other: tuple[str, str]):
        return check_greater(
            results, index(SPANBERT[1], kept, name), index(SPANBERT[1], other, name),
            f"{SPANBERT[1]}, {_key(name)}, {' and '.join(kept)} over {' and '.join(other)}", number,
        )  # fmt: skip

    names = (HE, SHE, THEY, XE)
    return [
        *(check(base, name, pair) for name in names for pair in pairings),
        *(check(some, name) for name in names),
        *(check(more, name, pair) for name in names for pair in pairings if pair != kept),
    ]


def _key(name: str):
    return name.partition("/")[0]


def _single_is_worse(results: Results, system: str):
    return check_greater(
        results, results.metric("f1", system), results.metric("f1", system, "single"), f"{system}, two people over one"
    )


ONE_MODEL = frozenset({1, 2, 3, 4})
"""Findings that say something of every system by itself."""
FINDINGS = (
    Finding(1, "Section 4.2", "Every system has a lower F1 on WinoPron than on Winogender Schemas.", _each(_harder)),
    Finding(2, "Section 4.2", "Accusative pronouns are the hardest for every system.", _accusative_is_hardest),
    Finding(3, "Section 4.2", "Nominative pronouns are easiest, then possessive, then accusative.", _order),
    Finding(4, "Section 4.2", "The step from possessive to accusative is the larger one.", _each(_steps)),
    Finding(5, "Section 4.2", "The accusative gap stays in the two best systems.", _gap_of_the_best),
    Finding(6, "Section 4.2", "The two largest FLAN-T5 models are best on both data sets.", _largest_are_best),
    Finding(7, "Section 4.2", "Larger is better inside SpanBERT and FLAN-T5, on both data sets.", _larger_is_better),
    Finding(8, "Section 4.2", "The smaller FLAN-T5 models are at chance.", _each(_at_chance, FLAN_T5[:2])),
    Finding(9, "Section 4.2", "LingMess and CAW-coref are near chance on they and far below it on xe.", _supervised),
    Finding(10, "Section 4.2", "SpanBERT has the same gap between pronoun sets, but a much smaller one.", _smaller_gap),
    Finding(
        11, "Section 4.2", "FLAN-T5 shows no large difference across pronoun sets.",
        _each(_no_large_difference, FLAN_T5),
    ),
    Finding(
        12, "Section 4.3", "LingMess and the two small FLAN-T5 alone are below chance in pronoun consistency.",
        _below_chance,
    ),
    Finding(13, "Section 4.3", "SpanBERT-large is the most consistent across pronoun sets.", _most_consistent),
    Finding(14, "Section 4.3", "The best system disambiguates about half of the template pairs.", _half_of_the_pairs),
    Finding(15, "Section 4.3", "SpanBERT-base is below chance in disambiguation.", _base_below_chance),
    Finding(16, "Section 5.2", "SpanBERT-base is biased more often than SpanBERT-large.", _base_is_more_biased),
    Finding(17, "Section 5.2", "Negative bias is more frequent than positive bias.", _more_negative),
    Finding(18, "Section 5.2", "The two SpanBERT share few biased occupations, most with they and xe.", _low_overlap),
    Finding(19, "Section 5.2", "Bias hardly carries over between the cases of a pronoun set.", _cases_differ),
    Finding(20, "Appendix E", "FLAN-T5 does worse on sentences about one person.", _each(_single_is_worse, FLAN_T5)),
)  # fmt: skip
"""In the order of the study."""
