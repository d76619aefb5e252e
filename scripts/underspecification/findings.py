"""The study's findings, each a function of the results of one part (:class:`Source`) that returns its checks.

Symbols: f, u and n are the probabilities of female, male and neutral pronouns, averaged over MGC's sentences; slopes
and r are those over dates or places, a constant curve counting as r = 0; of a model with several prompts they are
averaged over them. S is the female metric between the earliest and the latest date, BA balanced accuracy at the
threshold of the settings. Only the study's own models are looked at. Sections and figures are those of McMilin (2022).
"Some models" are at least two.

A comparison holds or fails where the 95 % intervals (bootstrap over sentences, of rates over occupations) do not
overlap, or where a test that is named is significant; otherwise it is undecided. A mean or median over models or
prompts has the widest interval that those of its parts allow, since all are about the same sentences.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import scipy

from scripts.core import files
from scripts.core.paper import checks, estimates, finding_verdicts, published
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
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, MissingEvidence, check
from scripts.core.paper.formats import p_text, with_sign
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.underspecification import study
from scripts.underspecification.detection import LEVELS
from scripts.underspecification.quantities import Source

MASKED = ("BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large")
GPT = ("GPT-3", "GPT-3.5 SFT", "GPT-3.5 RLHF")
MIXED = ("BART-base", "BART-large", "UL2-20B denoiser", "UL2-20B gen")
INSTRUCTED = "Flan-UL2-20B"
METHOD1 = (*MASKED, *MIXED, INSTRUCTED, *GPT)
METHOD2 = (*MASKED, "BART-base", "BART-large", "UL2-20B denoiser", INSTRUCTED, *GPT)
TABLE2 = (*MASKED, "GPT-3.5 SFT", "GPT-3.5 RLHF")
SIZES = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("BART-base", "BART-large"))
TUNED = (("GPT-3.5 SFT", "GPT-3"), ("GPT-3.5 RLHF", "GPT-3"), (INSTRUCTED, "UL2-20B gen"))
"""Tuned models and those of the same size and architecture that they come from."""
NEAR_CHANCE = 0.55
NEAR_ZERO = 0.2
HIGH = 0.9
SOME = 2
ALPHA = 0.05
PERMUTATIONS = 9999
SIGNIFICANT = "a significant test"
"""What a comparison lacks whose test does not decide it."""
ONE_MODEL = frozenset({1, 2, 18})
"""Findings that say something of each model by itself."""
FINDINGS: list[Finding] = []
"""In the order of the study."""
states = partial(checks.register, FINDINGS)


def findings(
    *,
    estimates: str,
    curves: str,
    metrics: str,
    csv: str,
    tex: str,
    numbers: str,
    parts: list,
    every_part: list,
    models: dict,
    threshold: float,
    shares: str | None = None,
) -> None:
    """Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON).

    Findings are tested on each of ``parts``; for the other ones of ``every_part`` none is applicable. ``threshold`` is
    that of the metric. Demonstration models among the run's ``models`` are left out. ``shares`` (TSV): the share of
    women by occupation, where it was fetched.
    """
    excluded = frozenset(published.demonstration(models).values())
    tables = read_tables(estimates, curves, metrics)
    women = study.read_shares(shares)
    runs = {name: Source(of_part(tables, name), threshold, women, excluded) for name in parts}
    present = {name: source.present({*METHOD1, *METHOD2}) for name, source in runs.items()}
    outputs = {"csv": csv, "tex": tex, "numbers": numbers}
    finding_verdicts.write(FINDINGS, runs, every_part, **outputs, heads=study.HEADS, models=present)


def findings_of_model(
    *, estimates: str, curves: str, metrics: str, findings_csv: str, label: str, threshold: float
) -> None:
    """Write ``findings_csv``, the verdicts for the run's model with this ``label``."""
    tables = of_part(read_tables(estimates, curves, metrics), study.RUN)
    runs = {study.RUN: Source(tables, threshold, alone=(label,))}
    files.write_csv(findings_csv, finding_verdicts.single_model_verdicts(FINDINGS, ONE_MODEL, runs))


def read_tables(estimates: str, curves: str, metrics: str) -> dict[str, pd.DataFrame]:
    """Return the tables that :class:`Source` takes, of all parts."""
    paths = {"estimates": estimates, "curves": curves, "metrics": metrics}
    return {name: study.read_table(path) for name, path in paths.items()}


def of_part(tables: dict[str, pd.DataFrame], part: str) -> dict[str, pd.DataFrame]:
    """Return the rows of a part."""
    return {name: table[table.part == part] for name, table in tables.items()}


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

    return [check(one, model) for model in source.alone or (*MASKED, *GPT)]


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
            estimates.median([source.absolute(m, metric, v) for m in source.need(METHOD1)]) for v in ("date", "place")
        )
        text = f"median absolute {metric}: {date.text(2)} (dates), {place.text(2)} (places)"
        return is_greater(place, date, text) if steeper else is_greater(date, place, text)

    return [check(one, "slope", True), check(one, "r", False)]


@states(4, "Section 4.2", "BERT-family and GPT-family models behave alike")
def bert_and_gpt_are_alike(source: Source) -> list[Check]:
    """The mean r of BERT and GPT models differ less from each other than from that of BART and UL2 models."""

    def one():
        bert, gpt, mixed = (source.mean(models, "r") for models in (MASKED, GPT, MIXED))
        near = estimates.absolute(bert - gpt)
        outcome = compare_all(compare_values(estimates.absolute(ours - mixed), near) for ours in (bert, gpt))
        text = f"mean r: BERT {bert.text(2)}, GPT {gpt.text(2)}, BART and UL2 {mixed.text(2)}"
        return require_decided(outcome, text, bert.n)

    return [check(one)]


@states(5, "Section 4.2", "BART and UL2-family models have the smallest correlations")
def mixed_objectives_are_weakest(source: Source) -> list[Check]:
    """BART and UL2 models have the smallest mean absolute slope and r."""

    def one(metric: str, others: Sequence[str], name: str):
        ours, theirs = source.mean(MIXED, metric, True), source.mean(others, metric, True)
        instructed = source.absolute(INSTRUCTED, metric)
        text = f"absolute {metric} {ours.text(2)}, {name} {theirs.text(2)}, Flan-UL2 {instructed.text(2)}"
        return is_greater(theirs, ours, text)

    return [check(one, m, others, name) for m in ("slope", "r") for others, name in ((MASKED, "BERT"), (GPT, "GPT"))]


def _rho(x: Sequence[float], y: Sequence[float], alternative: str):
    """Return Spearman's rho and its p value over random pairings (with a fixed seed)."""

    ranks = scipy.stats.rankdata(y) - (len(y) + 1) / 2

    def statistic(values: np.ndarray, axis: int):
        other = scipy.stats.rankdata(values, axis=axis) - (len(y) + 1) / 2
        return other @ ranks / np.sqrt((other**2).sum(axis=axis) * (ranks @ ranks))

    test = scipy.stats.permutation_test(
        (x,), statistic, permutation_type="pairings", n_resamples=PERMUTATIONS, alternative=alternative,
        rng=np.random.default_rng(1), vectorized=True,
    )  # fmt: skip
    return float(test.statistic), float(test.pvalue)


@states(6, "Sections 1.2 and 6", "Size hardly matters")
def size_hardly_matters(source: Source) -> list[Check]:
    """Pairs of models that differ in size differ less than pairs that differ in tuning, and size goes with nothing.

    Like is compared with like: the mean absolute difference of the absolute slope (and r) over :data:`SIZES`, at equal
    objectives, with that over :data:`TUNED`, at equal sizes. Over all models Spearman's rho between the number of
    parameters and the absolute slope refutes the finding if it is significant; if it is not, it says nothing.
    """

    def gaps(metric: str, pairs: Iterable[tuple[str, str]]):
        values = [[source.absolute(m, metric) for m in pair] for pair in pairs]
        return [estimates.absolute(first - second) for first, second in values]

    def listed(values: Sequence[Estimate]):
        return ", ".join(f"{value.value:.2f}" for value in values) + f", mean {estimates.mean(values).text(2)}"

    def pairs(metric: str):
        sizes, objectives = gaps(metric, SIZES), gaps(metric, TUNED)
        text = f"absolute {metric}, between sizes {listed(sizes)}, between objectives {listed(objectives)}"
        return is_greater(estimates.mean(objectives), estimates.mean(sizes), text)

    def trend():
        parameters = [study.MODELS[m].parameters for m in source.need(METHOD1)]
        rho, p = _rho(parameters, [source.absolute(m, "slope").value for m in METHOD1], "two-sided")
        if p >= ALPHA:
            return None, ""
        text = f"rho of size and absolute slope {with_sign(rho, 2)} (n = {len(METHOD1)}, p {p_text(p)})"
        return Comparison(wrong=p), text

    return [check(pairs, "slope"), check(pairs, "r"), check(trend)]


@states(7, "Sections 1.2 and 6", "Instruction tuning and feedback go with strong correlations")
def tuning_strengthens(source: Source) -> list[Check]:
    """Each tuned model has a higher absolute slope than the one it comes from, and slope and r above most untuned ones.

    Most: the median of the study's models without tuning.
    """

    def one(tuned: str, base: str):
        untuned = [m for m in source.need(METHOD1) if m not in dict(TUNED)]
        parts, outcomes, sizes = [], [], []
        for metric in ("slope", "r"):
            after, before = (source.absolute(m, metric) for m in (tuned, base))
            middle = estimates.median([source.absolute(m, metric) for m in untuned])
            outcomes += [compare_values(after, middle), *([compare_values(after, before)] if metric == "slope" else [])]
            sizes.append(after.n)
            parts.append(f"{metric} {after.text(2)}, {base} {before.text(2)}, median untuned {middle.text(2)}")
        return require_decided(compare_all(outcomes), f"{tuned}: absolute {', '.join(parts)}", min(sizes))

    return [check(one, *pair) for pair in TUNED]


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

    return [check(one, model) for model in TABLE2]


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

    return [check(one, model, level) for model in METHOD2 for level in LEVELS]


@states(10, "Section 5.2, Table 3", "Some models hardly detect better than chance")
def some_are_near_chance(source: Source) -> list[Check]:
    """At least two models have a BA under 0.55 on one of the sets."""

    def one():
        cells = {(m, s): source.accuracy(m, s) for m in METHOD2 for s in ("winogender", "simplified")}
        low = {
            m: [
                compare_values(Estimate(NEAR_CHANCE, NEAR_CHANCE, NEAR_CHANCE, 1), c)
                for (n, _), c in cells.items()
                if n == m
            ]
            for m in METHOD2
        }
        outcomes = [at_least(1, of_model) for of_model in low.values()]
        ranked = sorted(cells, key=lambda key: cells[key].value)
        shown = ", ".join(f"{m} on {s} {cells[m, s].text()}" for m, s in ranked[:3])
        under = [of_model.outcome for of_model in outcomes].count(True)
        text = f"{under} of {len(METHOD2)} models under {NEAR_CHANCE}, lowest {shown}"
        return require_decided(at_least(SOME, outcomes), text, cells[ranked[0]].n, estimates.BOUND)

    return [check(one)]


@states(11, "Sections 1.2 and 5.2", "RoBERTa-large and GPT-3.5 SFT detect best on Winogender")
def best_detectors(source: Source) -> list[Check]:
    """RoBERTa-large and GPT-3.5 SFT have the two highest BA on Winogender."""

    def one():
        rates = {m: source.accuracy(m) for m in METHOD2}
        best = ("RoBERTa-large", "GPT-3.5 SFT")
        outcome = compare_all(
            compare_values(rates[m], rates[other]) for m in best for other in METHOD2 if other not in best
        )
        ranked = sorted(METHOD2, key=lambda m: -rates[m].value)
        text = ", ".join(f"{m} {rates[m].text()}" for m in ranked[:3])
        return require_decided(outcome, f"highest: {text}", rates[ranked[0]].n)

    return [check(one)]


@states(12, "Section 5.2", "Larger models of one objective detect better")
def larger_detect_better(source: Source) -> list[Check]:
    """The larger of two sizes has the higher BA on Winogender."""

    def one(small: str, large: str):
        a, b = source.accuracy(small), source.accuracy(large)
        return is_greater(b, a, f"{large} {b.text()}, {small} {a.text()}")

    return [check(one, *pair) for pair in SIZES]


@states(13, "Section 5.2", "Detection falls from GPT-3.5 SFT to GPT-3.5 RLHF")
def feedback_lowers_detection(source: Source) -> list[Check]:
    """GPT-3.5 RLHF has a lower BA than GPT-3.5 SFT on Winogender."""

    def one():
        rlhf, sft = source.accuracy("GPT-3.5 RLHF"), source.accuracy("GPT-3.5 SFT")
        return is_greater(sft, rlhf, f"RLHF {rlhf.text()}, SFT {sft.text()}")

    return [check(one)]


@states(14, "Section 5.2", "Both GPT-3.5 models do well on the simplified set")
def tuned_models_do_well_on_simplified(source: Source) -> list[Check]:
    """Both GPT-3.5 models have a BA above 0.9 on the simplified set, and above every other model."""

    def one(model: str):
        others = [source.accuracy(m, "simplified") for m in METHOD2 if not m.startswith("GPT-3.5")]
        value = source.accuracy(model, "simplified")
        best = max(others, key=lambda other: other.value)
        text = f"{model} {value.text()}, others up to {best.text()}"
        high = estimates.compare_with_limits(value, HIGH, np.inf)
        outcome = compare_all([high, *(compare_values(value, other) for other in others)])
        return require_decided(
            outcome, text, value.n, estimates.BOUND if high.outcome is None else estimates.SEPARATE_INTERVALS
        )

    return [check(one, model) for model in ("GPT-3.5 SFT", "GPT-3.5 RLHF")]


@states(15, "Section 5.2", "Some models do better on Winogender than on the simplified set")
def some_do_worse_on_simplified(source: Source) -> list[Check]:
    """At least two models have a higher BA on Winogender than on the simplified set, by more than both intervals."""

    def one():
        rates = {m: (source.accuracy(m), source.accuracy(m, "simplified")) for m in METHOD2}
        gains = {m: first.value - other.value for m, (first, other) in rates.items()}
        outcomes = {m: compare_values(*pair) for m, pair in rates.items()}
        better = sorted((m for m in METHOD2 if gains[m] > 0), key=lambda m: -gains[m])
        clear = [m for m in better if outcomes[m].outcome]
        text = ", ".join(f"{m} {with_sign(gains[m], 3)}" for m in better)
        text = f"{len(better)} of {len(METHOD2)} models: {text}, intervals apart: {', '.join(clear) or 'none'}"
        return require_decided(at_least(SOME, outcomes.values()), text, min(other.n for _, other in rates.values()))

    return [check(one)]


@states(16, "Section 5.2", "Models with a stronger gender-time correlation detect better")
def correlation_goes_with_detection(source: Source) -> list[Check]:
    """Over models the absolute slope (and r) over dates goes with BA on Winogender: rho above zero at p < .05."""

    def one(metric: str):
        lines = [
            source.absolute(m, metric, prompt="mask" if m not in (INSTRUCTED, *GPT) else "A").value
            for m in source.need(METHOD2)
        ]
        rates = [source.accuracy(m).value for m in METHOD2]
        rho, p = _rho(lines, rates, "greater")
        text = f"rho with the absolute {metric} {with_sign(rho, 2)} (n = {len(METHOD2)}, p = {p:.3f})"
        outcome = Comparison(wrong=_rho(lines, rates, "less")[1]) if rho < 0 else Comparison(right=p)
        return require_decided(outcome, text, len(METHOD2), SIGNIFICANT)

    return [check(one, metric) for metric in ("slope", "r")]


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
            p = procedures.welch(end, middle)[2]
            outcomes.append(compare_by_test(p, end.mean() < middle.mean()))
            said.append("no test" if np.isnan(p) else f"p {p_text(p, smallest=0.001, decimals=3)}")
        text = f"{name}: {low.mean():.2f} ({said[0]}), {middle.mean():.2f}, {high.mean():.2f} ({said[1]})"
        return require_decided(compare_all(outcomes), text, len(ranked), SIGNIFICANT)

    return [check(one, ("GPT-3.5 SFT",), "GPT-3.5 SFT"), check(one, METHOD2, "all models")]


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

    return [check(one, model) for model in source.alone or METHOD1]


if __name__ == "__main__":
    run_named()
