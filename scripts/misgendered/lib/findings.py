"""The findings of MISGENDERED as tests over predictions (``paper/published/README.md`` says of what).

A finding is a function of the :class:`Results` of one set of templates that yields its checks. A comparison holds if
the 95 % interval of the difference, over templates and names, lies on its side, and fails if it lies on the other one
after Holm's correction over what the finding compares. Otherwise it cannot be decided on this sample; then the check
says about how large a sample would have to be.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.paper import estimates
from scripts.core.paper.finding_verdicts import Comparison, Finding, MissingEvidence, check
from scripts.core.paper.formats import interval, number
from scripts.core.statistics import procedures
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, ResampledPredictions, rows_at
from scripts.misgendered.lib.corpora import SUM
from scripts.misgendered.lib.labels import FORMS, TYPES

FEW_SHOT = {"gpt-j-6b": "GPT-J-6B", "opt-6.7b": "OPT-6.7b", "llama-7b": "LLaMA-7B"}
"""Models that saw examples (section 4.3)."""
SHOTS = (2, 4, 6, 10, 20)
LAST_RISE = {"gpt-j-6b": 6, "opt-6.7b": 6, "llama-7b": 20}
"""Examples up to which accuracy on neo-pronouns is said to rise."""
NUMBERS = (2, 3, 4, 5)
CORPORA = {"c4": "C4", "openwebtext": "OpenWebText", "pile": "Pile"}
NEO = ("thon", "e", "ae", "co", "vi", "xe", "ey", "ze")
HOW_MANY_NAMES = 10
STEP = 0.0005
"""Half of the last printed digit as a share: what falls by less is not seen to fall."""


COLUMNS = [
    "model", "shots", *TEMPLATE, *NAME, "declaration_type", "declaration_number", "pronoun_type", "group", "correct",
]  # fmt: skip
"""Columns of predictions that the findings ask for."""


class Results:
    """The predictions of one set of templates as the findings ask for them.

    Args:
        table: Predictions of models that stand for those of the study.
        study_models: ``model``, ``label``, ``family``, ``parameters`` of all models of the study.
        names: From :func:`scripts.misgendered.analyses.by_name`.
        documents: ``corpus``, ``group``, ``documents``.
        draws, seed: Of the bootstrap.
    """

    def __init__(
        self,
        table: pd.DataFrame,
        study_models: pd.DataFrame,
        names: pd.DataFrame,
        documents: pd.DataFrame,
        draws: int,
        seed: int,
    ):
        # Without rows nothing is asked of it.
        self.resampled: Any = ResampledPredictions(table, draws, seed) if len(table) else None
        self.table: pd.DataFrame = self.resampled.table if len(table) else table
        self.models = study_models.set_index("model")
        self.there = set(self.table.model.unique())
        self.names, self.documents = names, documents

    @property
    def templates(self) -> int:
        """How many templates are resampled."""
        return len(self.resampled.places.templates)

    def rows(self, models: Iterable[str] | None = None, shots: int = 0, **levels: Any) -> np.ndarray:
        """Return which rows a quantity averages; models default to all of the study."""
        wanted = list(self.models.index) if models is None else list(models)
        lacking = [m for m in wanted if m not in self.there]
        if lacking:
            raise MissingEvidence(*(self.models.label.get(m, m) for m in lacking))
        chosen = rows_at(self.table, model=wanted, shots=shots, **levels)
        if not chosen.any():
            what = ", ".join(f"{value}" for value in levels.values())
            raise MissingEvidence(f"{what} with {shots} examples" if shots else what)
        return chosen

    def share(self, **levels: Any) -> tuple[float, np.ndarray]:
        """Return an accuracy with its bootstrap samples."""
        chosen = self.rows(**levels)
        return self.resampled.share(chosen), self.resampled.samples(chosen)

    def size(self, shots: int = 0) -> int:
        """Return how many instances each model has."""
        rows = self.table[self.table.shots == shots]
        return int(rows.groupby("model", observed=True).size().max())

    def family(self, name: str) -> list[str]:
        """Return the models of a family, the smallest first."""
        return list(self.models[self.models.family == name].sort_values("parameters").index)


def points(value: float, decimals: int = 1) -> str:
    """Return an accuracy or a difference in points."""
    return number(100 * value, decimals)


def sign(
    results: Results, value: float, samples: np.ndarray, text: str, expected: int = 1, shots: int = 0
) -> tuple[Comparison, str]:
    """Decide a quantity's sign by its bootstrap samples; ``expected`` is what the finding says it is.

    Raises:
        MissingEvidence: With the size that the sample would need, if the interval holds zero.
    """
    quantity = estimates.from_samples(value, samples, results.templates)
    found = estimates.compare_with_bound(quantity, 0)
    return comparison_check(
        found if expected > 0 else ~found, f"{text} ({interval(100 * quantity.low, 100 * quantity.high, 1)})",
        needed_instances(results.size(shots), value, quantity.low, quantity.high),
    )  # fmt: skip


def comparison_check(found: Comparison, said: str, wanted: str) -> tuple[Comparison, str]:
    """Return a comparison with its text.

    Raises:
        MissingEvidence: If it tells nothing: how large a sample is ``wanted``.
    """
    if found.outcome is None:
        raise MissingEvidence(f"{wanted} for {said}", p=found.wrong)
    return found, said


def needed_instances(size: int, value: float, low: float, high: float) -> str:
    """Return about how many instances would decide whether a quantity is zero, if it is what it is here.

    The width of an interval shrinks with the square root of the sample.

    Examples:
        >>> needed_instances(500, 0.02, -0.02, 0.06)
        'about 2,000 instances'
    """
    reach = (high - low) / 2
    if not math.isfinite(reach) or not value:
        return "more instances"
    wanted = size * (reach / abs(value)) ** 2
    digits = max(0, int(math.log10(wanted)) - 1)
    return f"about {math.ceil(wanted / 10**digits) * 10**digits:,} instances"


def check_greater(
    results: Results, first: Mapping[str, Any], second: Mapping[str, Any], names: Sequence[str], shots: int = 0
) -> tuple[Comparison, str]:
    """Check that one accuracy is above another; ``first`` and ``second`` are levels."""
    (a, drawn_a), (b, drawn_b) = results.share(**first), results.share(**second)
    text = f"{names[0]} {points(a)}, {names[1]} {points(b)}"
    return sign(results, a - b, drawn_a - drawn_b, text, shots=shots)


def check_similar(
    results: Results, shares: dict[str, tuple[float, np.ndarray]], bound: float
) -> tuple[Comparison, str]:
    """Check that accuracies differ by less than ``bound`` from each other.

    Two one-sided tests at 5 % for every pair: the 90% interval of each difference must lie within the bound. All of
    them must, so nothing is corrected. It fails if one difference lies beyond the bound at 5 % after Bonferroni.

    Args:
        results: Of which the accuracies are.
        shares: Accuracies by name, each with its bootstrap samples.
        bound: The largest difference that counts as none, as a share.

    Raises:
        MissingEvidence: If some difference may be as large as the bound, with the size that the sample would need.
    """
    pairs = list(itertools.combinations(shares, 2))
    differences = {(a, b): (shares[a][0] - shares[b][0], shares[a][1] - shares[b][1]) for a, b in pairs}
    (first, second), (value, samples) = max(differences.items(), key=lambda item: abs(item[1][0]))
    largest = estimates.from_samples(value, samples, results.templates, level=0.9)
    low, high = largest.low, largest.high
    said = (
        f"{first} {points(shares[first][0])}, {second} {points(shares[second][0])}; 90% interval of the difference "
        f"{interval(100 * low, 100 * high, 1)}, bound {points(bound)}"
    )
    inside = [
        estimates.compare_with_limits(estimates.from_samples(found, drawn, results.templates), -bound, bound)
        for found, drawn in differences.values()
    ]
    # One-sided tests at 5 % have half of the two-sided p value.
    found = Comparison(max(c.right for c in inside) / 2, min(1.0, len(inside) * min(c.wrong for c in inside)))
    return comparison_check(found, said, needed_instances(results.size(), bound - abs(value), low, high))


def _types(*pairs: tuple[str, str]):
    def checks(results: Results):
        return [
            check(check_greater, results, {"pronoun_type": a}, {"pronoun_type": b}, (TYPES[a], TYPES[b]))
            for a, b in pairs
        ]

    return checks


def _declaration_types(better: str, worse: str, *types: str):
    def checks(results: Results):
        made = []
        for kind in types:
            first, second = ({"pronoun_type": kind, "declaration_type": d} for d in (better, worse))
            made.append(check(check_greater, results, first, second, (f"{TYPES[kind]}: {better}", worse)))
        return made

    return checks


def _of_number(kind: str, count: int):
    return {"pronoun_type": kind, "declaration_number": count}


def _more_forms_help(results: Results):
    def falls(few: int, more: int):
        (a, drawn_a), (b, drawn_b) = results.share(**_of_number("neo", few)), results.share(**_of_number("neo", more))
        rise = estimates.from_samples(b - a, drawn_b - drawn_a, results.templates)
        low, high = rise.low, rise.high
        text = f"{few} forms {points(a)}, {more} forms {points(b)} ({interval(100 * low, 100 * high, 1)})"
        found = Comparison(estimates.compare_with_bound(rise, -STEP).right, estimates.compare_with_bound(rise, 0).wrong)
        return comparison_check(found, text, needed_instances(results.size(), b - a + STEP, low, high))

    whole = check(check_greater, results, _of_number("neo", 5), _of_number("neo", 2), ("5 forms", "2 forms"))
    return [whole, *(check(falls, few, more) for few, more in itertools.pairwise(NUMBERS))]


def _more_forms_hurt(results: Results):
    made = [
        check(
            check_greater,
            results,
            _of_number("neutral", few),
            _of_number("neutral", more),
            (f"{few} forms", f"{more} forms"),
        )
        for few, more in itertools.pairwise(NUMBERS)
    ]

    def steady():
        return check_similar(results, {f"{n} forms": results.share(**_of_number("binary", n)) for n in NUMBERS}, 0.02)

    return [*made, check(steady)]


def _signed(difference: float):
    return number(100 * difference, 1, signed=True)


def _opt_rises(results: Results):
    models = results.family("OPT")

    def step(small: str, large: str):
        names = [results.models.label[model] for model in (large, small)]
        levels = [{"pronoun_type": "neutral", "models": [model]} for model in (large, small)]
        first, second = levels
        return check_greater(results, first, second, names)

    return [check(step, *pair) for pair in itertools.pairwise(models)]


def _gain(results: Results, family: str, kind: str):
    """Return by how much the largest model of a family is better than the smallest, with bootstrap samples."""
    models = results.family(family)
    (a, drawn_a), (b, drawn_b) = (results.share(pronoun_type=kind, models=[models[i]]) for i in (0, -1))
    return b - a, drawn_b - drawn_a


def _opt_gains(results: Results):
    def positive():
        value, samples = _gain(results, "OPT", "neo")
        return sign(results, value, samples, f"gain on neo-pronouns {points(value)}")

    def smaller():
        (neo, drawn_neo), (they, drawn_they) = (_gain(results, "OPT", kind) for kind in ("neo", "neutral"))
        return sign(results, they - neo, drawn_they - drawn_neo, f"gains: they {points(they)}, neo {points(neo)}")

    return [check(positive), check(smaller)]


def _size_correlation(results: Results, family: str, kind: str):
    """Return the rank correlation of size and accuracy within a family, with its bootstrap samples."""
    models = results.family(family)
    shares = [results.share(pronoun_type=kind, models=[model]) for model in models]
    values = np.array([value for value, _ in shares])
    samples = np.array([drawn for _, drawn in shares])
    sizes = np.arange(len(models))
    return procedures.spearman(sizes, values), rank_correlations(np.broadcast_to(sizes, samples.T.shape), samples.T)


def rank_correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation of each two rows; NaN where one of them does not vary."""
    ranks = [scipy.stats.rankdata(rows, axis=1) - (rows.shape[1] + 1) / 2 for rows in (first, second)]
    below = np.sqrt(np.prod([(rows**2).sum(axis=1) for rows in ranks], axis=0))
    return np.divide((ranks[0] * ranks[1]).sum(axis=1), below, out=np.full(len(below), np.nan), where=below > 0)


def _correlation(results: Results, value: float, samples: np.ndarray, text: str, expected: int):
    low, high = procedures.bootstrap_interval(value, samples, results.templates)
    said = f"{text} {number(value, 2, signed=True)}"
    found = estimates.of_samples(samples, results.templates)
    if found.outcome is None:
        raise MissingEvidence(f"more instances for {said} ({interval(low, high, 2, signed=True)})", p=found.wrong)
    return found if expected > 0 else ~found, said


def _bloom(results: Results):
    def correlated(kind: str, expected: int):
        value, samples = _size_correlation(results, "BLOOM", kind)
        return _correlation(results, value, samples, f"{TYPES[kind]}: correlation with size", expected)

    def steady(kind: str):
        (a, drawn_a), (b, drawn_b) = (_gain(results, "BLOOM", name) for name in (kind, "neo"))
        # One change is larger than another, of whichever signs, if their sum and their difference have its sign.
        apart, together = (
            estimates.compare_with_bound(estimates.from_samples(value, samples, results.templates, -2.0, 2.0), 0)
            for value, samples in ((a - b, drawn_a - drawn_b), (a + b, drawn_a + drawn_b))
        )
        found = Comparison(
            min(max(apart.right, together.right), max(apart.wrong, together.wrong)),
            min(max(apart.right, together.wrong), max(apart.wrong, together.right)),
        )
        text = f"from the smallest to the largest: {TYPES[kind]} {_signed(a)}, neo {_signed(b)}"
        return comparison_check(found, text, "more instances")

    return [
        check(correlated, "neutral", -1), check(correlated, "binary", 1), check(steady, "neutral"),
        check(steady, "binary"),
    ]  # fmt: skip


def _no_common_size(results: Results):
    def differ():
        families = [f for f in dict.fromkeys(results.models.family) if len(results.family(f)) > 1]
        opposite, same = {}, []
        for kind in TYPES:
            rises = {family: estimates.of_samples(_size_correlation(results, family, kind)[1]) for family in families}
            falls = {family: ~rise for family, rise in rises.items()}
            text = f"{TYPES[kind]}: up in {_surest(rises)}, down in {_surest(falls)}"
            opposite[text] = max(estimates.at_least(1, signs.values()).right for signs in (rises, falls))
            same.append(min(estimates.compare_all(signs.values()).right for signs in (rises, falls)))
        found = Comparison(min(1.0, len(TYPES) * min(opposite.values())), max(same))
        if found.outcome is None:
            raise MissingEvidence(
                "more instances: the signs of some correlations with size are not clear", p=found.wrong
            )
        if found.outcome:
            return found, min(opposite, key=opposite.__getitem__)
        return found, "the sign is the same in all families, for each type of pronouns"

    return [check(differ)]


def _surest(signs: dict[str, Comparison]) -> str:
    return min(signs, key=lambda family: signs[family].right)


def _binary_alike(results: Results):
    def same():
        (she, drawn_she), (he, drawn_he) = results.share(group="she"), results.share(group="he")
        return check_similar(results, {"she": (she, drawn_she), "he": (he, drawn_he)}, 0.01)

    def half():
        (they, drawn_they), (he, drawn_he) = results.share(group="they"), results.share(group="he")
        text = f"they {points(they)}, half of he {points(he / 2)}"
        return sign(results, they - he / 2, drawn_they - drawn_he / 2, text, expected=-1)

    return [check(same), check(half)]


def _best_neo(results: Results):
    pairs = [("thon", "xe"), *(("xe", other) for other in NEO if other not in ("thon", "xe")), ("they", "thon")]
    return [check(check_greater, results, {"group": a}, {"group": b}, (a, b)) for a, b in pairs]


def _rank(kind: str, form: str, place: int):
    """Return a check that a form has a place among the five, from 1 for the best."""

    def test(results: Results):
        value, drawn = results.share(pronoun_type=kind, form=form)
        better = []
        for other in FORMS:
            if other != form:
                share, samples = results.share(pronoun_type=kind, form=other)
                difference = estimates.from_samples(share - value, samples - drawn, results.templates)
                better.append(estimates.compare_with_bound(difference, 0))
        outcomes = [comparison.outcome for comparison in better]
        text = (
            f"{TYPES[kind]}, {FORMS[form]} {points(value)}: {outcomes.count(True)} forms clearly above, "
            f"{outcomes.count(False)} below"
        )
        return comparison_check(_place(better, place), text, "more instances")

    return test


def _place(better: list[Comparison], place: int) -> Comparison:
    """Compare a rank with ``place``, from 1 for the best: so many others are better and no more."""

    def count(others: int, comparisons: list[Comparison]) -> float:
        sure = 0.0 if not others else 1.0
        return estimates.at_least(others, comparisons).right if 0 < others <= len(comparisons) else sure

    worse, after = [~comparison for comparison in better], len(better) + 1 - place
    return Comparison(
        max(count(place - 1, better), count(after, worse)), min(count(place, better), count(after + 1, worse))
    )


def _ranks(*tests: tuple[str, str, int]):
    return lambda results: [check(_rank(*test), results) for test in tests]


def _opposite(results: Results):
    def test():
        shares = {kind: [results.share(pronoun_type=kind, form=form) for form in FORMS] for kind in ("binary", "neo")}
        values = [[value for value, _ in shares[kind]] for kind in shares]
        drawn = [np.array([samples for _, samples in shares[kind]]) for kind in shares]
        samples = rank_correlations(drawn[0].T, drawn[1].T)
        return _correlation(results, procedures.spearman(*map(np.array, values)), samples, "correlation of forms", -1)

    return [check(test)]


def among_best(names: pd.DataFrame, others: str) -> Comparison:
    """Compare whether no name of some classes is among the ten best.

    A name is among them if all but nine of the other names are below it, and is not if ten are above it, each by
    intervals that do not overlap; p values are corrected for which of the names these are, and for how many are asked.

    Args:
        names: ``name_class``, ``accuracy``, ``ci_low``, ``ci_high``.
        others: ``unisex`` for names of that class, ``gendered`` for those of all others.
    """
    value, low, high = (names[column].to_numpy(dtype=float) for column in ("accuracy", "ci_low", "ci_high"))
    asked = np.flatnonzero((names.name_class == "unisex") == (others == "unisex"))
    distance = value[asked, None] - value
    arm = np.where(distance > 0, (value - low)[asked, None] + (high - value), (high - value)[asked, None] + value - low)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.nan_to_num(estimates.Z * distance / np.maximum(arm, estimates.SMALLEST_ARM))
    # A name is not compared with itself: it is neither above nor below.
    p = 2 * scipy.special.ndtr(-np.abs(z))
    below, above = (np.sort(np.where(side, p, 1.0), axis=1) for side in (z > 0, z < 0))
    rest = len(names) - 1
    inside = HOW_MANY_NAMES * below[:, rest - HOW_MANY_NAMES]
    outside = (rest - HOW_MANY_NAMES + 1) * above[:, HOW_MANY_NAMES - 1]
    return Comparison(min(1.0, outside.max()), min(1.0, len(asked) * inside.min()))


def _names(results: Results):
    def end(best: bool):
        results.rows(pronoun_type="neo")
        names = results.names
        if len(names) < 2 * HOW_MANY_NAMES:
            raise MissingEvidence(f"{2 * HOW_MANY_NAMES} names")
        if not best:
            names = names.assign(accuracy=-names.accuracy, ci_low=-names.ci_high, ci_high=-names.ci_low)
        shown = names.sort_values("accuracy", ascending=False, kind="stable").head(HOW_MANY_NAMES)
        which = "best" if best else "worst"
        unisex = int((shown.name_class == "unisex").sum())
        text = f"{which} ten: {unisex} unisex, {HOW_MANY_NAMES - unisex} female or male"
        found = among_best(names, "gendered" if best else "unisex")
        return comparison_check(found, text, f"more instances of each name: which are the {which} ten is not clear")

    return [check(end, True), check(end, False)]


def _names_and_pronouns(results: Results):
    def ratio(group: str, own: str, other: str):
        (a, drawn_a), (b, drawn_b) = (results.share(group=group, name_class=c) for c in (own, other))
        text = f"{group}: {own} names {points(a)}, {other} {points(b)}"
        if b:
            text += f", ratio {number(a / b, 2)}"
        return sign(results, a - b, drawn_a - drawn_b, text)

    made = [check(ratio, "he", "male", "female"), check(ratio, "she", "female", "male")]
    return made + [check(ratio, "they", "unisex", other) for other in ("female", "male")]


def _documents(results: Results):
    def fewer(corpus: str, group: str, other: str):
        counts = results.documents[results.documents.corpus == corpus].set_index("group").documents
        lacking = [name for name in (group, other) if name not in counts]
        if lacking:
            raise MissingEvidence(f"counts in {CORPORA[corpus]}")
        text = f"{CORPORA[corpus]}: {group} {counts[group]:,}, {other} {counts[other]:,}"
        return counts[group] < counts[other], text

    pairs = [(group, "she") for group in NEO] + [("she", "he")]
    return [check(fewer, corpus, *pair) for corpus in CORPORA for pair in pairs]


def _shot(model: str, kind: str, shots: int):
    level = {"models": [model], "pronoun_type": kind, "shots": shots}
    # Examples come with the explicit declaration of all five forms.
    return level if shots else level | {"declaration_type": "explicit", "declaration_number": 5}


def _shots_above(results: Results, model: str, kind: str, more: int, fewer: int):
    names = (f"{FEW_SHOT[model]}, {TYPES[kind]}: {more} examples", f"{fewer}")
    return check_greater(results, _shot(model, kind, more), _shot(model, kind, fewer), names, shots=max(more, fewer))


def _examples_help(results: Results):
    made = []
    for model, last in LAST_RISE.items():
        made += [check(_shots_above, results, model, "neo", shots, 0) for shots in SHOTS]
        rising = [0, *(shots for shots in SHOTS if shots <= last)]
        made += [check(_shots_above, results, model, "neo", b, a) for a, b in itertools.pairwise(rising) if a]
        if last < SHOTS[-1]:
            made.append(check(_shots_above, results, model, "neo", last, SHOTS[SHOTS.index(last) + 1]))
    return made


def _they_with_examples(results: Results):
    rising = itertools.pairwise((0, *SHOTS[: SHOTS.index(6) + 1]))
    made = [check(_shots_above, results, "gpt-j-6b", "neutral", b, a) for a, b in rising]
    made += [check(_shots_above, results, "gpt-j-6b", "neutral", 6, later) for later in (10, 20)]
    for model in ("opt-6.7b", "llama-7b"):
        made += [check(_shots_above, results, model, "neutral", 0, shots) for shots in SHOTS]
    return made


ONE_MODEL = frozenset({1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 17})
"""Findings about averages over the study's models that a model can be asked by itself."""
FINDINGS = (
    Finding(
        1, "Section 4.1, Table 4", "Binary pronouns are best, they is far behind, neo-pronouns come last.",
        _types(("binary", "neutral"), ("neutral", "neo")),
    ),
    Finding(
        2, "Section 4.1, Table 5", "Explicit declaration helps neo-pronouns.",
        _declaration_types("explicit", "parenthetical", "neo"),
    ),
    Finding(
        3, "Section 4.1, Table 5", "Parenthetical declaration is better for binary pronouns and for they.",
        _declaration_types("parenthetical", "explicit", "binary", "neutral"),
    ),
    Finding(4, "Section 4.1, Table 6", "Declaring more forms helps neo-pronouns.", _more_forms_help),
    Finding(
        5, "Section 4.1, Table 6", "Declaring more forms slightly hurts they and hardly moves binary pronouns.",
        _more_forms_hurt,
    ),
    Finding(6, "Section 4.1, Figure 3", "In OPT accuracy on they rises with size.", _opt_rises),
    Finding(7, "Section 4.1", "In OPT accuracy on neo-pronouns gains moderately with size.", _opt_gains),
    Finding(
        8, "Section 4.1", "In BLOOM size lowers accuracy on they and raises it on binary pronouns; neo-pronouns stay.",
        _bloom,
    ),
    Finding(9, "Section 4.1, Figure 3", "Size has no common effect.", _no_common_size),
    Finding(
        10, "Section 4.1, Table 7", "He and she are about equal, and they is under half of them.", _binary_alike
    ),
    Finding(
        11, "Section 4.1, Table 7", "Thon is the best neo-pronoun and xe the second; all are under they.", _best_neo
    ),
    Finding(
        12, "Section 4.1, Table 8", "The nominative is second best for binary pronouns and worst for neo-pronouns.",
        _ranks(("binary", "nom", 2), ("neo", "nom", 5)),
    ),
    Finding(
        13, "Section 4.1, Table 8",
        "The possessive-independent form is worst for binary pronouns and second best for neo-pronouns.",
        _ranks(("binary", "pos_ind", 5), ("neo", "pos_ind", 2)),
    ),
    Finding(14, "Section 4.1", "Binary and neo-pronouns run in opposite directions over the forms.", _opposite),
    Finding(
        15, "Table 8 caption", "The possessive-independent form is best for non-binary pronouns.",
        _ranks(("neutral", "pos_ind", 1), ("neo", "pos_ind", 1)),
    ),
    Finding(
        16, "Section 4.2, Table 9", "The ten best names for neo-pronouns are unisex, the ten worst are not.", _names
    ),
    Finding(
        17, "Section 4.2, Table 10",
        "Masculine pronouns are better with male names, feminine ones with female names, they with unisex names.",
        _names_and_pronouns,
    ),
    Finding(
        18, "Section 4.2, Table 11",
        "In three corpora every neo-pronoun has fewer documents than she, summed over forms, and she fewer than he.",
        _documents,
    ),
    Finding(
        19, "Section 4.3, Table 13",
        "Examples help neo-pronouns: up to 20 with LLaMA-7B, only up to 6 with GPT-J-6B and OPT-6.7b.", _examples_help,
    ),
    Finding(
        20, "Section 4.3, Table 13",
        "On they GPT-J-6B improves up to 6 examples, while OPT-6.7b and LLaMA-7B drop from none to a few.",
        _they_with_examples,
    ),
)  # fmt: skip
"""In the order of the study."""


def documents(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how many documents hold each form of a group, summed over its forms, by the study's corpora.

    Args:
        counts: Of all corpora of a run: ``corpus``, ``group``, ``quantity``, ``count``. One is the study's if it is
            called like it (:data:`CORPORA`).

    Returns:
        ``corpus``, ``group``, ``documents``.
    """
    rows = counts[counts.corpus.isin(CORPORA) & (counts.quantity == SUM)]
    return rows.rename(columns={"count": "documents"})[["corpus", "group", "documents"]]
