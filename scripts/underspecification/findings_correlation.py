"""The findings of Method 1, and of the probability of neutral pronouns (:mod:`scripts.underspecification.findings`)."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from scripts.core.paper import checks, estimates
from scripts.core.paper.estimates import (
    Estimate,
    compare_all,
    compare_values,
    is_greater,
    require_decided,
)
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence, evaluate_check
from scripts.core.paper.formats import p_text, with_sign
from scripts.underspecification import study
from scripts.underspecification.quantities import Source, rank_correlation

ALPHA = 0.05
FINDINGS: list[Finding] = []
states = partial(checks.register, FINDINGS)


def _compare_slope(r: Estimate, slope: Estimate) -> Comparison:
    """Compare a slope with zero; one that is zero in all sentences is none."""
    if abs(slope.value) < estimates.SMALLEST_ARM and np.isnan(slope.low):
        return estimates.none_differs(slope.n)
    return Comparison() if np.isnan(r.low) else estimates.compare_with_bound(slope, 0)


def _rises_and_falls(source: Source, variable: str):
    def one(model: str):
        # Of a model that gives such words no mass nothing is known; the study's models all do.
        if source.alone and not source.has_mass(model, variable):
            raise MissingEvidence("a female or male word that the model gives any mass")
        parts, outcomes, sizes = [], [], []
        for prompt in source.prompts(model, variable):
            f, u = (source.line(model, g, "r", variable, prompt) for g in ("female", "male"))
            # The slope has the sign of r, and samples that are not squeezed below 1. Of one sentence alone r has no
            # interval.
            rise, fall = (source.line(model, g, "slope", variable, prompt) for g in ("female", "male"))
            known = [(f, rise), (u, -fall)]
            right = compare_all(_compare_slope(r, slope) for r, slope in known)
            outcomes.append(right)
            sizes.append(f.n)
            if not right.outcome:
                parts.append(f"{prompt}: r of f {f.text(2, True)}, of u {u.text(2, True)}")
        text = f"{model} ({', '.join(parts)})" if parts else model
        return require_decided(compare_all(outcomes), text, min(sizes), estimates.BOUND)

    return [evaluate_check(one, model) for model in source.alone or (*study.MASKED, *study.GPT)]


@states(
    1,
    "Section 4.2, Figure 3",
    "Female mass rises and male mass falls with the date in BERT, RoBERTa and GPT models",
)
def gender_and_time(source: Source) -> list[Check]:
    """Female mass rises and male mass falls with the date."""
    return _rises_and_falls(source, "date")


@states(2, "Section 4.2, Figure 6", "The same holds over places ordered by gender equity")
def gender_and_place(source: Source) -> list[Check]:
    """The same over places in the order of the gender gap ranking."""
    return _rises_and_falls(source, "place")


@states(3, "footnote 7", "Over places slopes are steeper and correlations weaker than over dates")
def places_are_steeper_and_weaker(source: Source) -> list[Check]:
    """Over models the median absolute slope is higher, and the median absolute r lower, for places."""

    def one(metric: str, steeper: bool):
        date, place = (
            estimates.median_estimate([source.absolute(m, metric, v) for m in source.need(study.METHOD1)])
            for v in ("date", "place")
        )
        text = f"median absolute {metric}: {date.text(2)} (dates), {place.text(2)} (places)"
        return is_greater(place, date, text) if steeper else is_greater(date, place, text)

    return [evaluate_check(one, "slope", True), evaluate_check(one, "r", False)]


@states(4, "Section 4.2", "BERT-family and GPT-family models behave alike")
def bert_and_gpt_are_alike(source: Source) -> list[Check]:
    """The mean r of BERT and GPT models differ less from each other than from that of BART and UL2 models."""

    def one():
        bert, gpt, mixed = (source.mean(models, "r") for models in (study.MASKED, study.GPT, study.MIXED))
        near = estimates.absolute_estimate(bert - gpt)
        outcome = compare_all(compare_values(estimates.absolute_estimate(ours - mixed), near) for ours in (bert, gpt))
        text = f"mean r: BERT {bert.text(2)}, GPT {gpt.text(2)}, BART and UL2 {mixed.text(2)}"
        return require_decided(outcome, text, bert.n)

    return [evaluate_check(one)]


@states(5, "Section 4.2", "BART and UL2-family models have the smallest correlations")
def mixed_objectives_are_weakest(source: Source) -> list[Check]:
    """BART and UL2 models have the smallest mean absolute slope and r."""

    def one(metric: str, others: Sequence[str], name: str):
        ours, theirs = source.mean(study.MIXED, metric, True), source.mean(others, metric, True)
        instructed = source.absolute(study.INSTRUCTED, metric)
        text = f"absolute {metric} {ours.text(2)}, {name} {theirs.text(2)}, Flan-UL2 {instructed.text(2)}"
        return is_greater(theirs, ours, text)

    return [
        evaluate_check(one, m, others, name)
        for m in ("slope", "r")
        for others, name in ((study.MASKED, "BERT"), (study.GPT, "GPT"))
    ]


@states(6, "Sections 1.2 and 6", "Size hardly matters")
def size_hardly_matters(source: Source) -> list[Check]:
    """Pairs of models that differ in size differ less than pairs that differ in tuning, and size goes with nothing.

    Like is compared with like: the mean absolute difference of the absolute slope (and r) over ``study.SIZES``, at
    equal objectives, with that over ``study.TUNED``, at equal sizes. Over all models Spearman's rho between the number
    of parameters and the absolute slope refutes the finding if it is significant; if it is not, it says nothing.
    """

    def gaps(metric: str, pairs: Iterable[tuple[str, str]]):
        values = [[source.absolute(m, metric) for m in pair] for pair in pairs]
        return [estimates.absolute_estimate(first - second) for first, second in values]

    def listed(values: Sequence[Estimate]):
        return ", ".join(f"{value.value:.2f}" for value in values) + f", mean {estimates.mean_estimate(values).text(2)}"

    def pairs(metric: str):
        sizes, objectives = gaps(metric, study.SIZES), gaps(metric, study.TUNED)
        text = f"absolute {metric}, between sizes {listed(sizes)}, between objectives {listed(objectives)}"
        return is_greater(estimates.mean_estimate(objectives), estimates.mean_estimate(sizes), text)

    def trend():
        parameters = [study.MODELS[m].parameters for m in source.need(study.METHOD1)]
        rho, p = rank_correlation(parameters, [source.absolute(m, "slope").value for m in study.METHOD1], "two-sided")
        if p >= ALPHA:
            return None, ""
        text = f"rho of size and absolute slope {with_sign(rho, 2)} (n = {len(study.METHOD1)}, p {p_text(p)})"
        return Comparison(wrong=p), text

    return [evaluate_check(pairs, "slope"), evaluate_check(pairs, "r"), evaluate_check(trend)]


@states(7, "Sections 1.2 and 6", "Instruction tuning and feedback go with strong correlations")
def tuning_strengthens(source: Source) -> list[Check]:
    """Each tuned model has a higher absolute slope than the one it comes from, and slope and r above most untuned ones.

    Most: the median of the study's models without tuning.
    """

    def one(tuned: str, base: str):
        untuned = [m for m in source.need(study.METHOD1) if m not in dict(study.TUNED)]
        parts, outcomes, sizes = [], [], []
        for metric in ("slope", "r"):
            after, before = (source.absolute(m, metric) for m in (tuned, base))
            middle = estimates.median_estimate([source.absolute(m, metric) for m in untuned])
            outcomes += [compare_values(after, middle), *([compare_values(after, before)] if metric == "slope" else [])]
            sizes.append(after.n)
            parts.append(f"{metric} {after.text(2)}, {base} {before.text(2)}, median untuned {middle.text(2)}")
        return require_decided(compare_all(outcomes), f"{tuned}: absolute {', '.join(parts)}", min(sizes))

    return [evaluate_check(one, *pair) for pair in study.TUNED]


def _compare_mass(other: Estimate, n: Estimate) -> Comparison:
    """Compare two masses; those that are the same in all sentences are equal."""
    same = (other.value, other.low, other.high) == (n.value, n.low, n.high)
    return estimates.none_differs(n.n) if same else compare_values(other, n)


@states(18, "Ethics statement", "Models give little mass to neutral pronouns")
def little_mass_to_neutral(source: Source) -> list[Check]:
    """For each model n is below f and u."""

    def one(model: str):
        f, u, n = (source.mass(model, gender) for gender in ("female", "male", "neutral"))
        if f.value == u.value == n.value == 0:
            raise MissingEvidence("a pronoun that the model gives any mass")
        text = f"{model}: f {f.text(2)}, u {u.text(2)}, n {n.text(2)} percent"
        return require_decided(compare_all(_compare_mass(other, n) for other in (f, u)), text, n.n)

    return [evaluate_check(one, model) for model in source.alone or study.METHOD1]
