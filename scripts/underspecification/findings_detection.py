"""The findings of Method 2 (:mod:`scripts.underspecification.findings`)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from scripts.core.paper import checks, estimates
from scripts.core.paper.estimates import (
    Estimate,
    at_least,
    compare_all,
    compare_by_test,
    compare_values,
    is_greater,
    is_within,
    require_decided,
)
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence, evaluate_check
from scripts.core.paper.formats import p_text, with_sign
from scripts.core.statistics import procedures
from scripts.underspecification import study
from scripts.underspecification.detection import LEVELS
from scripts.underspecification.quantities import Source, rank_correlation

NEAR_CHANCE = 0.55
NEAR_ZERO = 0.2
HIGH = 0.9
SOME = 2
SIGNIFICANT = "a significant test"
"""What a comparison lacks whose test does not decide it."""
FINDINGS: list[Finding] = []
states = partial(checks.register, FINDINGS)


@states(8, "Section 5.1, Table 2", "The metric is larger for unspecified than for well-specified sentences")
def unspecified_move_more(source: Source) -> list[Check]:
    """For each model the smallest S of a doctor's unspecified sentences is above the largest of the specified ones.

    These are values of single sentences without an interval over sentences: known as exactly as a release rounds them.
    """

    def one(model: str):
        doctor = source.metrics[(source.metrics.label == model) & (source.metrics.occupation == study.OCCUPATION)]
        doctor = doctor[doctor.evaluation_set == "winogender"]
        if len(doctor) != 8:
            raise MissingEvidence(f"{model} on the sentences about a doctor")
        specified = doctor.well_specified.astype(bool)
        ends = ["value", "low", "high"]
        value, low, high = doctor[~specified][ends].min()
        lowest = Estimate(value, low, high, 8)
        value, low, high = doctor[specified][ends].max()
        highest = Estimate(value, low, high, 8)
        text = f"{model}: lowest {lowest.value:.1f}, highest {highest.value:.1f} (values of single sentences)"
        found, _ = is_greater(lowest, highest, text)
        # The ends are those of rounding, and not of a sample.
        return found.outcome, text

    return [evaluate_check(one, model) for model in study.TABLE2]


@states(9, "Section 5.1, Figure 4", "Gender-occupation and gender-time bias look independent")
def time_and_occupation_are_independent(source: Source) -> list[Check]:
    """Over occupations, level and change of the female probability are nearly uncorrelated: absolute r under 0.2.

    Both for the level at the first date, which is a part of the change, and for the one half way to the last date.
    """

    def one(model: str, level: str):
        r = source.independence(model, level)
        bound = np.arctanh(NEAR_ZERO)
        return is_within(
            estimates.fisher_transform(r), -bound, bound, f"{model} with the {level} level {r.text(2, True)}"
        )

    return [evaluate_check(one, model, level) for model in study.METHOD2 for level in LEVELS]


@states(10, "Section 5.2, Table 3", "Some models hardly detect better than chance")
def some_are_near_chance(source: Source) -> list[Check]:
    """At least two models have a BA under 0.55 on one of the sets."""

    def one():
        cells = {(m, s): source.accuracy(m, s) for m in study.METHOD2 for s in ("winogender", "simplified")}
        low = {
            m: [
                compare_values(Estimate(NEAR_CHANCE, NEAR_CHANCE, NEAR_CHANCE, 1), c)
                for (n, _), c in cells.items()
                if n == m
            ]
            for m in study.METHOD2
        }
        outcomes = [at_least(1, of_model) for of_model in low.values()]
        ranked = sorted(cells, key=lambda key: cells[key].value)
        shown = ", ".join(f"{m} on {s} {cells[m, s].text()}" for m, s in ranked[:3])
        under = [of_model.outcome for of_model in outcomes].count(True)
        text = f"{under} of {len(study.METHOD2)} models under {NEAR_CHANCE}, lowest {shown}"
        return require_decided(at_least(SOME, outcomes), text, cells[ranked[0]].n, estimates.BOUND)

    return [evaluate_check(one)]


@states(11, "Sections 1.2 and 5.2", "RoBERTa-large and GPT-3.5 SFT detect best on Winogender")
def best_detectors(source: Source) -> list[Check]:
    """RoBERTa-large and GPT-3.5 SFT have the two highest BA on Winogender."""

    def one():
        rates = {m: source.accuracy(m) for m in study.METHOD2}
        best = ("RoBERTa-large", "GPT-3.5 SFT")
        outcome = compare_all(
            compare_values(rates[m], rates[other]) for m in best for other in study.METHOD2 if other not in best
        )
        ranked = sorted(study.METHOD2, key=lambda m: -rates[m].value)
        text = ", ".join(f"{m} {rates[m].text()}" for m in ranked[:3])
        return require_decided(outcome, f"highest: {text}", rates[ranked[0]].n)

    return [evaluate_check(one)]


@states(12, "Section 5.2", "Larger models of one objective detect better")
def larger_detect_better(source: Source) -> list[Check]:
    """The larger of two sizes has the higher BA on Winogender."""

    def one(small: str, large: str):
        a, b = source.accuracy(small), source.accuracy(large)
        return is_greater(b, a, f"{large} {b.text()}, {small} {a.text()}")

    return [evaluate_check(one, *pair) for pair in study.SIZES]


@states(13, "Section 5.2", "Detection falls from GPT-3.5 SFT to GPT-3.5 RLHF")
def feedback_lowers_detection(source: Source) -> list[Check]:
    """GPT-3.5 RLHF has a lower BA than GPT-3.5 SFT on Winogender."""

    def one():
        rlhf, sft = source.accuracy("GPT-3.5 RLHF"), source.accuracy("GPT-3.5 SFT")
        return is_greater(sft, rlhf, f"RLHF {rlhf.text()}, SFT {sft.text()}")

    return [evaluate_check(one)]


@states(14, "Section 5.2", "Both GPT-3.5 models do well on the simplified set")
def tuned_models_do_well_on_simplified(source: Source) -> list[Check]:
    """Both GPT-3.5 models have a BA above 0.9 on the simplified set, and above every other model."""

    def one(model: str):
        others = [source.accuracy(m, "simplified") for m in study.METHOD2 if not m.startswith("GPT-3.5")]
        value = source.accuracy(model, "simplified")
        best = max(others, key=lambda other: other.value)
        text = f"{model} {value.text()}, others up to {best.text()}"
        high = estimates.compare_with_limits(value, HIGH, np.inf)
        outcome = compare_all([high, *(compare_values(value, other) for other in others)])
        return require_decided(
            outcome, text, value.n, estimates.BOUND if high.outcome is None else estimates.SEPARATE_INTERVALS
        )

    return [evaluate_check(one, model) for model in ("GPT-3.5 SFT", "GPT-3.5 RLHF")]


@states(15, "Section 5.2", "Some models do better on Winogender than on the simplified set")
def some_do_worse_on_simplified(source: Source) -> list[Check]:
    """At least two models have a higher BA on Winogender than on the simplified set, by more than both intervals."""

    def one():
        rates = {m: (source.accuracy(m), source.accuracy(m, "simplified")) for m in study.METHOD2}
        gains = {m: first.value - other.value for m, (first, other) in rates.items()}
        outcomes = {m: compare_values(*pair) for m, pair in rates.items()}
        better = sorted((m for m in study.METHOD2 if gains[m] > 0), key=lambda m: -gains[m])
        clear = [m for m in better if outcomes[m].outcome]
        text = ", ".join(f"{m} {with_sign(gains[m], 3)}" for m in better)
        text = f"{len(better)} of {len(study.METHOD2)} models: {text}, intervals apart: {', '.join(clear) or 'none'}"
        return require_decided(at_least(SOME, outcomes.values()), text, min(other.n for _, other in rates.values()))

    return [evaluate_check(one)]


@states(16, "Section 5.2", "Models with a stronger gender-time correlation detect better")
def correlation_goes_with_detection(source: Source) -> list[Check]:
    """Over models the absolute slope (and r) over dates goes with BA on Winogender: rho above zero at p < .05."""

    def one(metric: str):
        lines = [
            source.absolute(m, metric, prompt="mask" if m not in (study.INSTRUCTED, *study.GPT) else "A").value
            for m in source.need(study.METHOD2)
        ]
        rates = [source.accuracy(m).value for m in study.METHOD2]
        rho, p = rank_correlation(lines, rates, "greater")
        text = f"rho with the absolute {metric} {with_sign(rho, 2)} (n = {len(study.METHOD2)}, p = {p:.3f})"
        outcome = Comparison(wrong=rank_correlation(lines, rates, "less")[1]) if rho < 0 else Comparison(right=p)
        return require_decided(outcome, text, len(study.METHOD2), SIGNIFICANT)

    return [evaluate_check(one, metric) for metric in ("slope", "r")]


@states(
    17,
    "Limitations, Figure 5",
    "Unspecified sentences are missed more often for occupations at both ends of the share of women",
)
def missed_at_both_ends(source: Source) -> list[Check]:
    """The TPR is lower in the lowest and in the highest quarter of occupations, by share of women, than between.

    Either quarter is compared with the middle by Welch's test over occupations.
    """

    def one(models: Sequence[str], name: str):
        if not source.shares:
            raise MissingEvidence("the share of women by occupation")
        metrics = source.metrics[source.metrics.label.isin(models) & (source.metrics.evaluation_set == "winogender")]
        metrics = metrics[~metrics.well_specified.astype(bool)]
        if set(metrics.label) != set(models):
            raise MissingEvidence(*(m for m in models if m not in set(metrics.label)))
        ranked = sorted(metrics.occupation.unique(), key=lambda occupation: source.shares.get(occupation, np.nan))
        quarter = len(ranked) // 4
        hits = (metrics.value > source.threshold).groupby(metrics.occupation).mean()
        low, middle, high = (hits[part] for part in (ranked[:quarter], ranked[quarter:-quarter], ranked[-quarter:]))
        outcomes, said = [], []
        for end in (low, high):
            p = procedures.welch_test(end, middle)[2]
            outcomes.append(compare_by_test(p, end.mean() < middle.mean()))
            said.append("no test" if np.isnan(p) else f"p {p_text(p, smallest=0.001, decimals=3)}")
        text = f"{name}: {low.mean():.2f} ({said[0]}), {middle.mean():.2f}, {high.mean():.2f} ({said[1]})"
        return require_decided(compare_all(outcomes), text, len(ranked), SIGNIFICANT)

    return [evaluate_check(one, ("GPT-3.5 SFT",), "GPT-3.5 SFT"), evaluate_check(one, study.METHOD2, "all models")]
