"""The study's findings, each as a function from the tables of one source to checks.

Symbols: f, u and n are the probabilities of female, male and neutral pronouns, averaged over MGC's sentences; slopes
and r are those over dates or places, a constant curve counting as r = 0; of a model with several prompts they are
averaged over them. S is the female metric between the earliest and the latest date, BA balanced accuracy at the study's
threshold. Only the study's own models are looked at. Sections and figures are those of McMilin (2022).
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from scripts.core import statistics
from scripts.core.claims import Claim, Lacking, check
from scripts.underspecification import study

MASKED = ("BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large")
GPT = ("GPT-3", "GPT-3.5 SFT", "GPT-3.5 RLHF")
MIXED = ("BART-base", "BART-large", "UL2-20B denoiser", "UL2-20B gen")
INSTRUCTED = "Flan-UL2-20B"
METHOD1 = (*MASKED, *MIXED, INSTRUCTED, *GPT)
METHOD2 = (*MASKED, "BART-base", "BART-large", "UL2-20B denoiser", INSTRUCTED, *GPT)
TABLE2 = (*MASKED, "GPT-3.5 SFT", "GPT-3.5 RLHF")
SIZES = (("BERT-base", "BERT-large"), ("RoBERTa-base", "RoBERTa-large"), ("BART-base", "BART-large"))
NEAR_CHANCE = 0.55
NEAR_ZERO = 0.2
HIGH = 0.9


@dataclass(frozen=True)
class Source:
    """The tables of one release or of the run: ``method1_slopes``, ``curves``, ``specification_detection``, ``metric``.

    ``shares`` is the share of women by occupation, if it is known; ``excluded`` are labels that must not be looked at.
    """

    tables: dict
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
        return table.set_index(["model", "evaluation_set", "metric"]).value

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
        found = index[(index.get_level_values(0) == model) & (index.get_level_values(1) == variable)]
        names = [p for p in dict.fromkeys(found.get_level_values(2)) if p in ("mask", "A", "B", "C")]
        if not names:
            raise Lacking(model)
        return names

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
        """Return a rate at the study's threshold."""
        value = self._rates.get((model, evaluation_set, metric))
        if value is None:
            raise Lacking(f"{model} on the official {evaluation_set} set")
        return float(value)

    def mass(self, model, gender):
        """Return the mean probability of a gender over dates and prompts, in percent."""
        table = self._kept(self.tables["curves"])
        own = table[(table.model == model) & (table.variable == "date") & (table.gender == gender)]
        if own.empty:
            raise Lacking(model)
        return float(own.probability.mean())


def _rises_and_falls(source, variable):
    def one(model):
        parts, right = [], True
        for prompt in source.prompts(model, variable):
            f, u = (source.line(model, g, "r", variable, prompt) for g in ("female", "male"))
            right = right and f > 0 > u
            if not f > 0 > u:
                parts.append(f"{prompt}: r of f {f:+.2f}, of u {u:+.2f}")
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


def size_hardly_matters(source):
    """The mean difference of slope between two sizes is smaller than the spread of slopes between objectives."""

    def one():
        gaps = [abs(source.line(a, "female", "slope") - source.line(b, "female", "slope")) for a, b in SIZES]
        means = [source.mean(models, "slope") for models in (MASKED, MIXED, (INSTRUCTED,), GPT)]
        spread = max(means) - min(means)
        return np.mean(gaps) < spread, f"between sizes {np.mean(gaps):.2f}, between objectives {spread:.2f}"

    return [check(one)]


def tuning_strengthens(source):
    """The absolute slopes of tuned models are above those of the models they come from."""

    def one(tuned, base):
        after, before = (abs(source.line(m, "female", "slope")) for m in (tuned, base))
        return after > before, f"{tuned} {after:.2f}, {base} {before:.2f}"

    pairs = (("GPT-3.5 SFT", "GPT-3"), ("GPT-3.5 RLHF", "GPT-3"), (INSTRUCTED, "UL2-20B gen"))
    return [check(one, *pair) for pair in pairs]


def unspecified_move_more(source):
    """For each model the smallest S of a doctor's unspecified sentences is above the largest of the specified ones."""

    def one(model):
        own = source.metrics[(source.metrics.model == model) & (source.metrics.occupation == "doctor")]
        own = own[own.evaluation_set == "winogender"]
        if len(own) != 8:
            raise Lacking(f"{model} on the sentences about a doctor")
        specified = own.well_specified.astype(bool)
        lowest, highest = own.metric[~specified].min(), own.metric[specified].max()
        return lowest > highest, f"{model}: lowest {lowest:.1f}, highest {highest:.1f}"

    return [check(one, model) for model in TABLE2]


def time_and_occupation_are_independent(source):
    """Over occupations, level and change of the female probability are nearly uncorrelated."""

    def one(model):
        own = source.metrics[(source.metrics.model == model) & (source.metrics.evaluation_set == "winogender")]
        own = own[~own.well_specified.astype(bool)]
        means = own.groupby("occupation")[["level", "change"]].mean()
        if len(means) < 3:
            raise Lacking(f"{model} on the official winogender set")
        value = float(means.level.corr(means.change))
        return abs(value) < NEAR_ZERO, f"{model}: {value:+.2f}"

    return [check(one, model) for model in METHOD2]


def some_are_near_chance(source):
    """At least one model's BA is under 0.55 on some set."""

    def one():
        found = {(m, s): source.accuracy(m, s) for m in METHOD2 for s in ("winogender", "simplified")}
        low = [f"{m} on {s} {value:.3f}" for (m, s), value in found.items() if value < NEAR_CHANCE]
        return bool(low), ", ".join(low) or f"lowest {min(found.values()):.3f}"

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
    """At least one model has a higher BA on Winogender than on the simplified set."""

    def one():
        better = [m for m in METHOD2 if source.accuracy(m) > source.accuracy(m, "simplified")]
        return bool(better), f"{len(better)} of {len(METHOD2)} models"

    return [check(one)]


def correlation_goes_with_detection(source):
    """Over models the absolute slope over dates goes with BA on Winogender."""

    def one(metric):
        lines = [
            abs(source.line(m, "female", metric, prompt="mask" if m not in (INSTRUCTED, *GPT) else "A"))
            for m in source.need(METHOD2)
        ]
        rho = statistics.spearman(lines, [source.accuracy(m) for m in METHOD2])
        return rho > 0, f"rho with the absolute {metric} {rho:.2f}"

    return [check(one, metric) for metric in ("slope", "r")]


def missed_at_both_ends(source):
    """The TPR is lower in the lowest and in the highest quarter of occupations, by share of women, than between."""

    def one(models, name):
        if not source.shares:
            raise Lacking("the share of women by occupation")
        own = source.metrics[source.metrics.model.isin(models) & (source.metrics.evaluation_set == "winogender")]
        own = own[~own.well_specified.astype(bool)]
        if set(own.model) != set(models):
            raise Lacking(*(m for m in models if m not in set(own.model)))
        names = sorted(own.occupation.unique(), key=lambda occupation: source.shares.get(occupation, np.nan))
        quarter = len(names) // 4
        hits = (own.metric > 0.5).groupby(own.occupation).mean()
        low, middle, high = (
            float(hits[part].mean()) for part in (names[:quarter], names[quarter:-quarter], names[-quarter:])
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
