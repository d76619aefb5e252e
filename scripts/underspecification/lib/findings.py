"""The study's findings, each as a function from the tables of one source to checks.

Symbols: f, u and n are the probabilities of female, male and neutral pronouns, averaged over MGC's sentences; slopes
and r are those over dates or places, a constant curve counting as r = 0; of a model with several prompts they are
averaged over them. S is the female metric between the earliest and the latest date, BA balanced accuracy at the
threshold of the settings. Only the study's own models are looked at. Sections and figures are those of McMilin (2022).
"Some models" are at least two.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from scripts.core import statistics
from scripts.core.paper.claims import Claim, Lacking, check
from scripts.core.paper.formats import interval, with_sign
from scripts.underspecification.lib import study
from scripts.underspecification.lib.analyses import detection

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


@dataclass(frozen=True)
class Source:
    """The tables of one release or of the run.

    ``tables`` holds ``method1_slopes``, ``curves``, ``specification_detection``, ``metric`` and ``independence``;
    ``threshold`` is that of the metric, ``shares`` the share of women by occupation, if it is known; ``excluded`` are
    labels that must not be looked at.
    """

    tables: dict
    threshold: float
    shares: dict = field(default_factory=dict)
    excluded: frozenset = frozenset()

    @cached_property
    def _slopes(self):
        table = self.tables["method1_slopes"]
        return self._kept(table).set_index(["model", "variable", "prompt", "gender", "metric"]).value

    @cached_property
    def _rates(self):
        table = self._kept(self._method2(self.tables["specification_detection"]))
        table = table[(table.dates == 1) & (table.gender == "female") & (table.choice == "fixed")]
        return table.set_index(["model", "evaluation_set", "metric"])[["value", "ci_low", "ci_high"]]

    @cached_property
    def independence(self):
        """How the change goes with the level: r and its interval by model and level."""
        table = self._kept(self._method2(self.tables["independence"]))
        return table.set_index(["model", "level"])[["r", "ci_low", "ci_high", "occupations"]]

    @cached_property
    def metrics(self):
        """The female metric between the outer dates, of the study's sentences."""
        table = self._kept(self._method2(self.tables["metric"]))
        return table[(table.dates == 1) & (table.gender == "female")]

    def _kept(self, table):
        return table[(table.accumulation == "top") & ~table.model.isin(self.excluded)]

    def _method2(self, table):
        return table[table.prompt.isin(["mask", study.DETECTION_PROMPT]) & (table.templates == "official")]

    def prompts(self, model, variable="date"):
        """Return the prompts of a model; :class:`Lacking` without the model."""
        index = self._slopes.index
        of_model = index[(index.get_level_values(0) == model) & (index.get_level_values(1) == variable)]
        prompts = [p for p in dict.fromkeys(of_model.get_level_values(2)) if p in ("mask", "A", "B", "C")]
        if not prompts:
            raise Lacking(model)
        return prompts

    def line(self, model, gender, metric, variable="date", prompt=None):
        """Return a slope or r, for one prompt or averaged over all."""
        values = [
            self._slopes.get((model, variable, name, gender, metric))
            for name in ([prompt] if prompt else self.prompts(model, variable))
        ]
        if any(value is None for value in values):
            raise Lacking(f"{metric} of {model} over {variable}s")
        return float(np.mean(np.nan_to_num(values)))

    def mean(self, models, metric, absolute=False, variable="date"):
        """Return the mean over models of f's slope or r."""
        values = [self.line(m, "female", metric, variable) for m in self.need(models)]
        return float(np.mean(np.abs(values) if absolute else values))

    def need(self, models):
        """Return ``models`` if Method 1 was done with all of them."""
        known = set(self._slopes.index.get_level_values(0))
        absent = [m for m in models if m not in known]
        if absent:
            raise Lacking(*absent)
        return models

    def accuracy(self, model, evaluation_set="winogender", metric="balanced accuracy"):
        """Return a rate at the threshold."""
        return self.interval(model, evaluation_set, metric)[0]

    def interval(self, model, evaluation_set="winogender", metric="balanced accuracy"):
        """Return a rate with the ends of its interval."""
        if (model, evaluation_set, metric) not in self._rates.index:
            raise Lacking(f"{model} on the official {evaluation_set} set")
        return tuple(float(v) for v in self._rates.loc[(model, evaluation_set, metric)])

    def mass(self, model, gender):
        """Return the mean probability of a gender over dates and prompts, in percent."""
        table = self._kept(self.tables["curves"])
        curves = table[(table.model == model) & (table.variable == "date") & (table.gender == gender)]
        if curves.empty:
            raise Lacking(model)
        return float(curves.probability.mean())


def _rises_and_falls(source, variable):
    def one(model):
        parts, right = [], True
        for prompt in source.prompts(model, variable):
            f, u = (source.line(model, g, "r", variable, prompt) for g in ("female", "male"))
            right = right and f > 0 > u
            if not f > 0 > u:
                parts.append(f"{prompt}: r of f {with_sign(f, 2)}, of u {with_sign(u, 2)}")
        return right, f"{model} ({'; '.join(parts)})" if parts else model

    return [check(one, model) for model in (*MASKED, *GPT)]


def gender_and_time(source):
    """Female mass rises and male mass falls with the date."""
    return _rises_and_falls(source, "date")


def gender_and_place(source):
    """The same over places in the order of the gender gap ranking."""
    return _rises_and_falls(source, "place")


def places_are_steeper_and_weaker(source):
    """Over models the median absolute slope is higher, and the median absolute r lower, for places."""

    def one(metric, higher):
        values = {
            v: float(np.median([abs(source.line(m, "female", metric, v)) for m in source.need(METHOD1)]))
            for v in ("date", "place")
        }
        right = (values["place"] > values["date"]) == higher
        return right, f"median absolute {metric}: {values['date']:.2f} (dates), {values['place']:.2f} (places)"

    return [check(one, "slope", True), check(one, "r", False)]


def bert_and_gpt_are_alike(source):
    """The mean r of BERT and GPT models differ less from each other than from that of BART and UL2 models."""

    def one():
        bert, gpt, mixed = (source.mean(models, "r") for models in (MASKED, GPT, MIXED))
        right = abs(bert - gpt) < min(abs(bert - mixed), abs(gpt - mixed))
        return right, f"mean r: BERT {bert:.2f}, GPT {gpt:.2f}, BART and UL2 {mixed:.2f}"

    return [check(one)]


def mixed_objectives_are_weakest(source):
    """BART and UL2 models have the smallest mean absolute slope and r."""

    def one(metric, others, name):
        ours, theirs = source.mean(MIXED, metric, True), source.mean(others, metric, True)
        instructed = abs(source.line(INSTRUCTED, "female", metric))
        return ours < theirs, f"absolute {metric} {ours:.2f}, {name} {theirs:.2f} (Flan-UL2 {instructed:.2f})"

    return [check(one, m, others, name) for m in ("slope", "r") for others, name in ((MASKED, "BERT"), (GPT, "GPT"))]


def _rho(x, y, alternative):
    """Return Spearman's rho and its p value over random pairings (with a fixed seed)."""

    def statistic(values):
        return statistics.spearman(values, y)

    test = stats.permutation_test(
        (x,), statistic, permutation_type="pairings", n_resamples=PERMUTATIONS, alternative=alternative,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    return float(test.statistic), float(test.pvalue)


def size_hardly_matters(source):
    """Pairs of models that differ in size differ less than pairs that differ in tuning, and size goes with nothing.

    Like is compared with like: the mean absolute difference of the absolute slope (and r) over :data:`SIZES`, at equal
    objectives, with that over :data:`TUNED`, at equal sizes. Over all models Spearman's rho between the number of
    parameters and the absolute slope must not be significant.
    """

    def gaps(metric, pairs):
        values = [[abs(source.line(m, "female", metric)) for m in pair] for pair in pairs]
        return [abs(first - second) for first, second in values]

    def listed(values):
        return ", ".join(f"{value:.2f}" for value in values)

    def pairs(metric):
        sizes, objectives = gaps(metric, SIZES), gaps(metric, TUNED)
        text = f"absolute {metric}, between sizes {listed(sizes)}, between objectives {listed(objectives)}"
        return np.mean(sizes) < np.mean(objectives), text

    def trend():
        parameters = [study.MODELS[m].parameters for m in source.need(METHOD1)]
        rho, p = _rho(parameters, [abs(source.line(m, "female", "slope")) for m in METHOD1], "two-sided")
        return (
            p >= ALPHA,
            f"rho of size and absolute slope {with_sign(rho, 2)} (n = {len(METHOD1)}, p = {p:.2f})",
        )

    return [check(pairs, "slope"), check(pairs, "r"), check(trend)]


def tuning_strengthens(source):
    """Each tuned model has a higher absolute slope than the one it comes from, and slope and r above most untuned ones.

    Most: the median of the study's models without tuning.
    """

    def one(tuned, base):
        untuned = [m for m in source.need(METHOD1) if m not in dict(TUNED)]
        parts, right = [], True
        for metric in ("slope", "r"):
            after, before = (abs(source.line(m, "female", metric)) for m in (tuned, base))
            middle = float(np.median([abs(source.line(m, "female", metric)) for m in untuned]))
            right = right and after > middle and (metric == "r" or after > before)
            parts.append(f"{metric} {after:.2f} ({base} {before:.2f}, median untuned {middle:.2f})")
        return right, f"{tuned}: absolute {', '.join(parts)}"

    return [check(one, *pair) for pair in TUNED]


def unspecified_move_more(source):
    """For each model the smallest S of a doctor's unspecified sentences is above the largest of the specified ones."""

    def one(model):
        doctor = source.metrics[(source.metrics.model == model) & (source.metrics.occupation == "doctor")]
        doctor = doctor[doctor.evaluation_set == "winogender"]
        if len(doctor) != 8:
            raise Lacking(f"{model} on the sentences about a doctor")
        specified = doctor.well_specified.astype(bool)
        lowest, highest = doctor.metric[~specified].min(), doctor.metric[specified].max()
        return lowest > highest, f"{model}: lowest {lowest:.1f}, highest {highest:.1f}"

    return [check(one, model) for model in TABLE2]


def time_and_occupation_are_independent(source):
    """Over occupations, level and change of the female probability are nearly uncorrelated: absolute r under 0.2.

    Both for the level at the first date, which is a part of the change, and for the one half way to the last date.
    """

    def one(model, level):
        if (model, level) not in source.independence.index:
            raise Lacking(f"{model} on the official winogender set")
        row = source.independence.loc[(model, level)]
        if pd.isna(row.r):
            raise Lacking(f"{model} on the official winogender set")
        ends = interval(row.ci_low, row.ci_high, 2, signed=True)
        text = f"{model} with the {level} level {with_sign(row.r, 2)} ({ends})"
        return abs(row.r) < NEAR_ZERO, text

    return [check(one, model, level) for model in METHOD2 for level in detection.LEVELS]


def some_are_near_chance(source):
    """At least two models have a BA under 0.55 on one of the sets."""

    def one():
        cells = {(m, s): source.interval(m, s) for m in METHOD2 for s in ("winogender", "simplified")}
        low = {m for (m, _), (value, _, _) in cells.items() if value < NEAR_CHANCE}
        ranked = sorted(cells, key=lambda key: cells[key][0])
        shown = ", ".join(
            f"{m} on {s} {value:.3f} ({a:.3f} to {b:.3f})"
            for (m, s), (value, a, b) in ((key, cells[key]) for key in ranked[:3])
        )
        return len(low) >= SOME, f"{len(low)} of {len(METHOD2)} models under {NEAR_CHANCE}, lowest {shown}"

    return [check(one)]


def best_detectors(source):
    """RoBERTa-large and GPT-3.5 SFT have the two highest BA on Winogender."""

    def one():
        ranked = sorted(METHOD2, key=lambda m: -source.accuracy(m))
        text = ", ".join(f"{m} {source.accuracy(m):.3f}" for m in ranked[:3])
        return set(ranked[:2]) == {"RoBERTa-large", "GPT-3.5 SFT"}, f"highest: {text}"

    return [check(one)]


def larger_detect_better(source):
    """The larger of two sizes has the higher BA on Winogender."""

    def one(small, large):
        a, b = source.accuracy(small), source.accuracy(large)
        return b > a, f"{large} {b:.3f}, {small} {a:.3f}"

    return [check(one, *pair) for pair in SIZES]


def feedback_lowers_detection(source):
    """GPT-3.5 RLHF has a lower BA than GPT-3.5 SFT on Winogender."""

    def one():
        rlhf, sft = source.accuracy("GPT-3.5 RLHF"), source.accuracy("GPT-3.5 SFT")
        return rlhf < sft, f"RLHF {rlhf:.3f}, SFT {sft:.3f}"

    return [check(one)]


def tuned_models_do_well_on_simplified(source):
    """Both GPT-3.5 models have a BA above 0.9 on the simplified set, and above every other model."""

    def one(model):
        others = [source.accuracy(m, "simplified") for m in METHOD2 if not m.startswith("GPT-3.5")]
        value = source.accuracy(model, "simplified")
        return value > max(HIGH, *others), f"{model} {value:.3f}, others up to {max(others):.3f}"

    return [check(one, model) for model in ("GPT-3.5 SFT", "GPT-3.5 RLHF")]


def some_do_worse_on_simplified(source):
    """At least two models have a higher BA on Winogender than on the simplified set, by more than both intervals."""

    def one():
        rates = {m: (source.interval(m), source.interval(m, "simplified")) for m in METHOD2}
        gains = {m: first[0] - other[0] for m, (first, other) in rates.items()}
        better = sorted((m for m in METHOD2 if gains[m] > 0), key=lambda m: -gains[m])
        clear = [m for m in better if rates[m][0][1] > rates[m][1][2]]
        text = ", ".join(f"{m} {with_sign(gains[m], 3)}" for m in better)
        apart = ", ".join(clear) or "none"
        return len(clear) >= SOME, f"{len(better)} of {len(METHOD2)} models: {text}, intervals apart: {apart}"

    return [check(one)]


def correlation_goes_with_detection(source):
    """Over models the absolute slope (and r) over dates goes with BA on Winogender: rho above zero at p < .05."""

    def one(metric):
        lines = [
            abs(source.line(m, "female", metric, prompt="mask" if m not in (INSTRUCTED, *GPT) else "A"))
            for m in source.need(METHOD2)
        ]
        rho, p = _rho(lines, [source.accuracy(m) for m in METHOD2], "greater")
        text = f"rho with the absolute {metric} {with_sign(rho, 2)} (n = {len(METHOD2)}, p = {p:.3f})"
        return rho > 0 and p < ALPHA, text

    return [check(one, metric) for metric in ("slope", "r")]


def missed_at_both_ends(source):
    """The TPR is lower in the lowest and in the highest quarter of occupations, by share of women, than between."""

    def one(models, name):
        if not source.shares:
            raise Lacking("the share of women by occupation")
        metrics = source.metrics[source.metrics.model.isin(models) & (source.metrics.evaluation_set == "winogender")]
        metrics = metrics[~metrics.well_specified.astype(bool)]
        if set(metrics.model) != set(models):
            raise Lacking(*(m for m in models if m not in set(metrics.model)))
        ranked = sorted(metrics.occupation.unique(), key=lambda occupation: source.shares.get(occupation, np.nan))
        quarter = len(ranked) // 4
        hits = (metrics.metric > source.threshold).groupby(metrics.occupation).mean()
        low, middle, high = (
            float(hits[part].mean()) for part in (ranked[:quarter], ranked[quarter:-quarter], ranked[-quarter:])
        )
        return max(low, high) < middle, f"{name}: {low:.2f}, {middle:.2f}, {high:.2f}"

    return [check(one, ("GPT-3.5 SFT",), "GPT-3.5 SFT"), check(one, METHOD2, "all models")]


def little_mass_to_neutral(source):
    """For each model n is below f and u."""

    def one(model):
        f, u, n = (source.mass(model, gender) for gender in ("female", "male", "neutral"))
        return n < min(f, u), f"{model}: f {f:.2f}, u {u:.2f}, n {n:.2f} percent"

    return [check(one, model) for model in METHOD1]


FINDINGS = tuple(
    Claim(number, place, text, function)
    for number, (place, text, function) in enumerate(
        (
            ("Section 4.2, Figure 3", "Female mass rises and male mass falls with the date in BERT, RoBERTa and GPT "
             "models", gender_and_time),
            ("Section 4.2, Figure 6", "The same holds over places ordered by gender equity", gender_and_place),
            ("footnote 7", "Over places slopes are steeper and correlations weaker than over dates",
             places_are_steeper_and_weaker),
            ("Section 4.2", "BERT-family and GPT-family models behave alike", bert_and_gpt_are_alike),
            ("Section 4.2", "BART and UL2-family models have the smallest correlations", mixed_objectives_are_weakest),
            ("Sections 1.2 and 6", "Size hardly matters", size_hardly_matters),
            ("Sections 1.2 and 6", "Instruction tuning and feedback go with strong correlations", tuning_strengthens),
            ("Section 5.1, Table 2", "The metric is larger for unspecified than for well-specified sentences",
             unspecified_move_more),
            ("Section 5.1, Figure 4", "Gender-occupation and gender-time bias look independent",
             time_and_occupation_are_independent),
            ("Section 5.2, Table 3", "Some models hardly detect better than chance", some_are_near_chance),
            ("Sections 1.2 and 5.2", "RoBERTa-large and GPT-3.5 SFT detect best on Winogender", best_detectors),
            ("Section 5.2", "Larger models of one objective detect better", larger_detect_better),
            ("Section 5.2", "Detection falls from GPT-3.5 SFT to GPT-3.5 RLHF", feedback_lowers_detection),
            ("Section 5.2", "Both GPT-3.5 models do well on the simplified set", tuned_models_do_well_on_simplified),
            ("Section 5.2", "Some models do better on Winogender than on the simplified set",
             some_do_worse_on_simplified),
            ("Section 5.2", "Models with a stronger gender-time correlation detect better",
             correlation_goes_with_detection),
            ("Limitations, Figure 5", "Unspecified sentences are missed more often for occupations at both ends of the "
             "share of women", missed_at_both_ends),
            ("Ethics statement", "Models give little mass to neutral pronouns", little_mass_to_neutral),
        ),
        1,
    )
)  # fmt: skip
"""In the order of the study."""


def read_shares(path):
    """Return the share of women by occupation (US Bureau of Labor Statistics) from Winogender's own file.

    Parameters
    ----------
    path : str or Path
        Columns ``occupation`` and ``bls_pct_female`` (percent), tab-separated.
    """
    table = pd.read_csv(path, sep="\t")
    return table.set_index("occupation").bls_pct_female.astype(float).to_dict()
