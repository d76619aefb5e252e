"""The findings of RUFF as tests over estimates (``paper/published/README.md`` says of what).

A comparison of accuracies holds or fails where their 95 % intervals (bootstrap over occupations) do not overlap;
between pronoun sets of a model Welch's test decides, between picks of one model the exact sign test. Shares of errors
have the exact binomial interval of the unambiguous errors of one sample. What these do not decide is undecided. A mean
over models has the widest interval that those of its models allow, since all answer about the same occupations.
"""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy

from scripts.core import files
from scripts.core.paper import checks, published
from scripts.core.paper.estimates import at_least, compare_all, compare_by_test, compare_values, require_decided
from scripts.core.paper.finding_verdicts import (
    Check,
    Finding,
    evaluate_check,
    single_model_verdicts,
    write_verdicts,
)
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.ruff import findings_prompting, quantities
from scripts.ruff.quantities import COUNTS, NEAR, SIGNIFICANT, Results, describe_test, is_between, is_greater
from scripts.ruff.study import PRONOUN_SETS, SENTENCES

CHANCE = 0.25
EASIER = (("he", "she"), ("she", "they"), ("she", "xe"))
"""Pairs of pronoun sets, the one that the study finds easier or more frequent first."""
ONE_MODEL = frozenset({1, 9, 11, 12, 16, 17})
"""Findings that say something of each model by itself."""
FINDINGS: list[Finding] = []
states = partial(checks.register, FINDINGS)


def findings(
    *, printed: str, study_models: str, estimates: str, pronoun_tests: str, csv: str, tex: str, numbers: str,
    template_sets: list, every_set: list, models: dict, pronoun_sets: list,
) -> None:  # fmt: skip
    """Test every finding of the study; write verdicts (CSV), the paper's table (LaTeX) and how often each fell (JSON).

    Demonstration models among ``models`` are left out.
    """
    listed = published.read_published(printed)
    known = quantities.study_models(published.read_models(study_models), listed)
    excluded = published.find_demonstration_models(models)
    runs = quantities.read_results(known, listed, estimates, pronoun_tests, template_sets, pronoun_sets, excluded)
    present = {name: run.present(known.model) for name, run in runs.items()}
    write_verdicts(FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def findings_of_model(
    *, printed: str, estimates: str, pronoun_tests: str, findings_csv: str, model: str, facts: dict,
    template_sets: list, pronoun_sets: list,
) -> None:  # fmt: skip
    """Test the study's findings on one model of the run, of which ``facts`` are those of the registry."""
    group = f"likelihood;likelihood {facts['architecture']}"
    alone = pd.DataFrame([["", facts["family"], facts["label"], model, group]], columns=published.MODEL_COLUMNS)
    alone = alone.assign(parameters=float(facts["parameters"]))
    listed = published.read_published(printed)
    runs = quantities.read_results(alone, listed, estimates, pronoun_tests, template_sets, pronoun_sets)
    files.write_csv(findings_csv, single_model_verdicts(FINDINGS, ONE_MODEL, runs))


@states(1, "Section 5, Appendix G", "Without context every model prefers he most often, then she; they and xe least")
def without_context(run: Results) -> list[Check]:
    """For each model, he is picked more often than she, and she more often than they and xe, by the sign test.

    The sentences about an occupation can all have the same pick for its sake, so that as many count as one.
    """

    def more(model: str, a: str, b: str):
        (first, n), (second, _) = run.picks(model, a), run.picks(model, b)
        p = procedures.sign_test(first / SENTENCES, second / SENTENCES)
        text = f"{run.label(model)}: {a} {first}, {b} {second} of {n} ({describe_test(p, 'sign test:')})"
        return require_decided(compare_by_test(p, first > second), text, n, SIGNIFICANT)

    return [evaluate_check(more, model, *pair) for model in run.everyone for pair in EASIER]


@states(2, "Appendix G", "Without context encoders spread their predictions more evenly than decoders")
def encoders_are_balanced(run: Results) -> list[Check]:
    """The mean entropy of context-free picks is greater over encoders than over decoders, by Welch's test."""

    def entropy(model: str):
        return scipy.stats.entropy([run.picks(model, pronoun)[0] for pronoun in PRONOUN_SETS], base=2)

    def one():
        run.need(run.everyone, "picked")
        encoders, decoders = ([entropy(m) for m in names] for names in (run.encoders, run.decoders))
        p = procedures.welch_test(encoders, decoders)[2]
        first, second = np.mean(encoders), np.mean(decoders)
        text = f"mean entropy {first:.2f} bits (encoders), {second:.2f} bits (decoders), "
        text += describe_test(p, "Welch's test over models:")
        return require_decided(compare_by_test(p, first > second), text, len(run.everyone), SIGNIFICANT)

    return [evaluate_check(one)]


@states(3, "Section 6, Figure 5", "With an introduction every model is between chance and people; MosaicBERT is best")
def above_chance_below_people(run: Results) -> list[Check]:
    """Without distractors every accuracy is between chance and one; MosaicBERT has the highest, as printed."""

    def best():
        run.need(run.everyone)
        ranked = sorted(run.everyone, key=lambda model: -run.acc(model, 0).value)
        others = [run.acc(m, 0) for m in run.everyone if m != "mosaicbert"]
        outcome = compare_all(compare_values(run.acc("mosaicbert", 0), other) for other in others)
        text = f"highest: {', '.join(f'{run.label(m)} {run.acc(m, 0).text()}' for m in ranked[:2])}"
        return require_decided(outcome, text, run.acc(ranked[0], 0).n)

    printed = evaluate_check(run.is_printed, "mosaicbert", "", "MosaicBERT | 0 | all", NEAR)
    return [
        *(evaluate_check(run.lies_within, model, CHANCE, 1) for model in run.everyone),
        evaluate_check(best),
        printed,
    ]


@states(4, "Section 6", "Without distractors accuracy grows with size in every family but ALBERT-v2")
def grows_with_size(run: Results) -> list[Check]:
    """Size and accuracy without distractors go together in each family but ALBERT-v2, whose order is mixed."""

    def mixed(family: str):
        names = run.families[family]
        run.need(names)
        values = [run.acc(m, 0) for m in names]
        rising = compare_all(compare_values(b, a) for a, b in pairwise(values))
        text = f"{family}: {', '.join(v.text() for v in values)}"
        return require_decided(~rising, text, min(v.n for v in values))

    growing = [
        evaluate_check(run.grows_with_size, family) for family in ("BERT", "RoBERTa", "OPT", "Pythia", "Llama-2")
    ]
    return [*growing, evaluate_check(mixed, "ALBERT-v2")]


@states(5, "Section 6, Figure 6", "He is easiest, she next, they and xe hardest; each step is significant")
def order_of_pronouns(run: Results) -> list[Check]:
    return [evaluate_check(run.prefers, *pair) for pair in EASIER]


@states(6, "Section 6", "Most encoders are better on xe than on they")
def encoders_prefer_xe(run: Results) -> list[Check]:
    """At least five of the nine encoders are better on xe than on they by Welch's test, BERT-large among them."""

    def most():
        run.need(run.encoders)
        tests = [run.compare_sets("xe", "they", model) for model in run.encoders]
        found = [outcome for outcome, _, _ in tests]
        outcomes = [comparison.outcome for comparison in found]
        text = f"{outcomes.count(True)} of {len(tests)} encoders better on xe, {outcomes.count(False)} on they"
        least = at_least(len(tests) // 2 + 1, found)
        return require_decided(least, f"{text} (Welch's tests)", min(n for _, _, n in tests), SIGNIFICANT)

    return [evaluate_check(most), evaluate_check(run.prefers, "xe", "they", "bert-large")]


@states(7, "Section 6", "OPT and Pythia under 2.7B are below chance on xe, the smallest Pythia near zero")
def small_decoders_fail_on_xe(run: Results) -> list[Check]:
    small = [m for family in ("OPT", "Pythia") for m in run.families[family] if run.size(m) < 2.7e9]
    tiny = ("pythia-14m", "pythia-70m", "pythia-160m")
    limits = [*((model, CHANCE) for model in small), *((model, 0.05) for model in tiny)]
    return [evaluate_check(run.lies_within, model, -1, limit, "xe") for model, limit in limits]


@states(8, "Section 6", "Decoders of 6.7B and more are significantly better on xe than on they")
def large_decoders_prefer_xe(run: Results) -> list[Check]:
    large = [m for m in run.decoders if run.size(m) >= 6.7e9]
    printed = evaluate_check(run.is_printed, "llama-2-13b", "xe", "Llama-13B | 0 | xe/xem/xyr", 2 * NEAR)
    return [*(evaluate_check(run.prefers, "xe", "they", m) for m in large), printed]


@states(9, "Section 7, Figure 7", "Distractors lower the accuracy of every model")
def distractors_hurt(run: Results) -> list[Check]:
    return [evaluate_check(run.falls, model, k) for model in run.everyone for k in COUNTS[1:]]


@states(10, "Abstract", "One distractor costs 34 points on average")
def one_distractor_costs(run: Results) -> list[Check]:
    def one():
        loss = run.mean_acc(run.everyone, 0) - run.mean_acc(run.everyone, 1)
        key = ("ruff_accuracy_drop", "mean over models | 0 to 1 distractor | all", "accuracy drop")
        return run.near(loss * 100, key, 100 * NEAR, f"points over {len(run.everyone)} scored models:")

    return [evaluate_check(one)]


@states(11, "Section 7, Figure 7", "Decoders get worse with every further distractor")
def decoders_keep_falling(run: Results) -> list[Check]:
    return [evaluate_check(run.falls, model, k + 1, k) for model in run.decoders for k in COUNTS[:-1]]


@states(12, "Section 7, Figure 7", "Encoders are worst with one distractor and recover in part")
def encoders_recover(run: Results) -> list[Check]:
    lowest = [evaluate_check(run.falls, model, 1, k) for model in run.encoders for k in COUNTS if k != 1]
    return [*lowest, *(evaluate_check(run.falls, model, k) for model in run.encoders for k in COUNTS[2:])]


@states(13, "Section 7", "With five distractors larger models of a family are better as a rule")
def larger_is_better_with_distractors(run: Results) -> list[Check]:
    """Of two neighbouring sizes the larger is the better one in more than half of the pairs."""

    def one():
        run.need(run.everyone)
        outcomes = {(a, b): compare_values(run.acc(b, 5), run.acc(a, 5)) for a, b in run.neighbours}
        found = [above.outcome for above in outcomes.values()]
        text = f"{found.count(True)} of {len(found)} pairs, {found.count(None)} with intervals that overlap"
        wrong = [f"{run.label(b)} under {run.label(a)}" for (a, b), above in outcomes.items() if above.outcome is False]
        text += f", but {', '.join(wrong)}" if wrong else ""
        least = at_least(len(found) // 2 + 1, outcomes.values())
        return require_decided(least, text, min(run.acc(m, 5).n for m in run.everyone))

    return [evaluate_check(one)]


@states(14, "Section 7, Figure 8", "Without distractors encoders match or beat much larger decoders")
def encoders_match_large_decoders(run: Results) -> list[Check]:
    """RoBERTa-base is above OPT-125M and OPT-66B, and each encoder above the mean decoder of about its size."""

    def above_its_size(model: str):
        similar = [d for d in run.decoders if 0.5 <= run.size(d) / run.size(model) <= 2]
        ours, other = run.acc(model, 0), run.mean_acc(similar, 0)
        text = f"{run.label(model)} {ours.text()}, mean of decoders of about its size {other.text()}"
        return is_greater(ours, other, text)

    named = [evaluate_check(run.is_ahead, "roberta-base", model, 0) for model in ("opt-125m", "opt-66b")]
    return [*named, *(evaluate_check(above_its_size, model) for model in run.encoders)]


@states(15, "Section 7, Figure 8", "With five distractors every encoder is ahead of every decoder")
def encoders_lead_with_distractors(run: Results) -> list[Check]:
    return [evaluate_check(run.is_ahead, encoder, decoder, 5) for encoder in run.encoders for decoder in run.decoders]


@states(16, "Section 8", "Distraction and bias explain 74 to 93 percent of the unambiguous errors")
def distraction_and_bias_explain(run: Results) -> list[Check]:
    item, row = "ruff_explained_error_share", "all models | unambiguous errors | distraction or bias"
    ends = [run.printed[(item, row, end)] for end in ("lowest", "highest")]
    # The study prints whole percents: what rounds to an end is inside.
    low, high = (float(text) / 100 for text in ends)
    half = published.half_unit(ends[0]) / 100

    def inside(model: str, k: int):
        return is_between(run.explained(model, k), low - half, high + half, f"{run.label(model)} with {k}")

    return [evaluate_check(inside, model, k) for model in run.everyone for k in COUNTS[1:]]


@states(17, "Section 8, Figure 9", "In decoders distraction grows with every distractor and stays under 85 percent")
def decoders_are_distracted(run: Results) -> list[Check]:
    key = ("ruff_distraction_error_share", "decoder-only | unambiguous errors | distraction", "saturation level")
    level = float(run.printed[key]) / 100

    def rises(model: str, k: int):
        before, after = (run.share(model, n, "distraction") for n in (k, k + 1))
        return is_greater(after, before, f"{run.label(model)}: {before.text()} with {k}, {after.text()} with {k + 1}")

    def under(model: str, k: int):
        return is_between(run.share(model, k, "distraction"), -1, level, f"{run.label(model)} with {k}")

    rising = [evaluate_check(rises, model, k) for model in run.decoders for k in COUNTS[1:-1]]
    return [*rising, *(evaluate_check(under, model, k) for model in run.decoders for k in COUNTS[1:])]


@states(18, "Section 8, Figure 9", "In encoders distraction falls and bias rises with distractors")
def encoders_turn_to_bias(run: Results) -> list[Check]:
    """In encoders distraction falls and bias rises from one to five distractors; in BERT-large bias leads from two."""

    def moves(model: str, kind: str, sign: int):
        first, last = (run.share(model, k, kind) for k in (1, 5))
        text = f"{run.label(model)}: {kind} {first.text()} with 1, {last.text()} with 5"
        return is_greater(last * sign, first * sign, text)

    def leads(k: int):
        bias, distraction = (run.share("bert-large", k, kind) for kind in ("bias", "distraction"))
        text = f"BERT-large with {k}: bias {bias.text()}, distraction {distraction.text()}"
        return is_greater(bias, distraction, text)

    moving = [evaluate_check(moves, m, *way) for m in run.encoders for way in (("distraction", -1), ("bias", 1))]
    return [*moving, *(evaluate_check(leads, k) for k in COUNTS[2:])]


@states(19, "Section 8", "Larger models are more distracted and less biased; BERT is the exception")
def larger_is_more_distracted(run: Results) -> list[Check]:
    """Of two neighbouring sizes the larger has more distraction and less bias; in BERT it is the other way round."""

    def moves(small: str, large: str, kind: str, sign: int):
        first, second = (run.mean_share(m, kind) for m in (small, large))
        text = f"{kind}: {run.label(small)} {first.text()}, {run.label(large)} {second.text()}"
        return is_greater(second * sign, first * sign, text)

    return [
        evaluate_check(moves, *pair, kind, -sign if pair[0] in run.families["BERT"] else sign)
        for pair in run.neighbours
        for kind, sign in (("distraction", 1), ("bias", -1))
    ]


FINDINGS += findings_prompting.FINDINGS


if __name__ == "__main__":
    run_named()
