"""The findings of WinoPron as tests over predictions (``paper/published/README.md`` says of what).

A finding is a function of the :class:`Results` of one template set that returns its checks. A comparison holds if the
95 % interval of the difference, over pairs of people, lies on its side, and fails if it lies on the other one;
otherwise it cannot be decided on these sentences. Systems are read as the study's authors read them; rules and systems
that the study does not have are never looked at.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise, product

from scripts.core import files
from scripts.core.data.estimate_rows import FULL, PROMPTED
from scripts.core.data.templates import CASES
from scripts.core.paper import checks
from scripts.core.paper.checks import INDEX, POINTS, Quantity, Sampled
from scripts.core.paper.estimates import Estimate, is_within
from scripts.core.paper.finding_verdicts import Check, Finding, evaluate_check, single_model_verdicts, write_verdicts
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.winopron import study
from scripts.winopron.estimates import read_answers
from scripts.winopron.quantities import Results

SYSTEMS = study.SYSTEMS
SUPERVISED, SPANBERT, FLAN_T5 = SYSTEMS[:2], SYSTEMS[2:4], SYSTEMS[4:]
BASE, LARGE = SPANBERT
XL, XXL = FLAN_T5[3:]
NOMINATIVE, ACCUSATIVE, POSSESSIVE = CASES
HE, SHE, THEY, XE = PRONOUNS = ("he/him/his", "she/her/her", "they/them/their", "xe/xem/xyr")
ONE_MODEL = frozenset({1, 2, 3, 4})
"""Findings that say something of every system by itself."""
CHECKS = checks.Checks("more pairs of people")
FINDINGS: list[Finding] = []
"""In the order of the study."""
states = partial(checks.register, FINDINGS)


def findings(
    *,
    instances: list,
    predictions: list,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    labels: dict,
    draws: int,
    seed: int,
) -> None:
    """Test every finding of the study on the predictions of the run, on each of ``template_sets``.

    For the other sets of ``every_set`` none is applicable. ``labels`` are what tables call systems, by which the
    study's are known.
    """
    answers = study.as_published(read_answers(instances, predictions))
    answers = study.with_systems(answers, labels).astype({"system": str})
    answers = answers[answers.system.isin(SYSTEMS)].sort_values("system", kind="stable")
    runs = {name: Results(answers, name, draws, seed) for name in template_sets}
    present = {name: run.answers["double"].system.nunique() for name, run in runs.items()}
    write_verdicts(FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def findings_of_model(
    *,
    instances: list,
    predictions: list,
    findings_csv: str,
    model: str,
    label: str,
    template_sets: list,
    draws: int,
    seed: int,
) -> None:
    """Test the study's findings on one model of the run.

    If it was prompted, its answers are asked, read as the study's authors read them; otherwise what it resolves by full
    likelihood.
    """
    answers = read_answers(instances, predictions)
    answers = study.as_published(answers[answers.model == model])
    scoring = PROMPTED if (answers.scoring == PROMPTED).any() else FULL
    system = study.scored_label(label, scoring)
    answers = answers[answers.scoring == scoring].assign(system=system)
    runs = {name: Results(answers, name, draws, seed, (system,)) for name in template_sets}
    files.write_csv(findings_csv, single_model_verdicts(FINDINGS, ONE_MODEL, runs))


def subtract(first: Quantity, second: Quantity) -> Quantity:
    """Return the difference of two quantities."""
    return lambda: first() - second()


def check_over_accusative(systems: Sequence[str], *metrics: Callable[..., Quantity]) -> list[Check]:
    """Return checks that systems do better in the other cases than in the accusative, by each metric."""
    return [
        CHECKS.greater(metric(s, case=case), metric(s, case=ACCUSATIVE), f"{s}, {case} over accusative")
        for s in systems
        for metric in metrics
        for case in (NOMINATIVE, POSSESSIVE)
    ]


def check_higher_f1(run: Results, pairs: Sequence[tuple[str, str]]) -> list[Check]:
    """Return checks that the first system of each pair has the higher F1, on both data sets."""
    return [
        CHECKS.greater(run.f1(best, entities), run.f1(other, entities), f"{best} over {other}")
        for entities in ("double", study.WINOGENDER)
        for best, other in pairs
    ]


@states(1, "Section 4.2", "Every system has a lower F1 on WinoPron than on Winogender Schemas.")
def lower_than_on_winogender(run: Results) -> list[Check]:
    return [CHECKS.greater(run.f1(s, study.WINOGENDER), run.f1(s), f"{s} on both sets") for s in run.systems]


@states(2, "Section 4.2", "Accusative pronouns are the hardest for every system.")
def accusative_is_hardest(run: Results) -> list[Check]:
    return check_over_accusative(run.systems, run.f1, run.recall)


@states(3, "Section 4.2", "Nominative pronouns are easiest, then possessive, then accusative.")
def order_of_cases(run: Results) -> list[Check]:
    return [
        CHECKS.greater(run.f1(s, case=easy), run.f1(s, case=hard), f"{s}, {easy} over {hard}")
        for s in run.systems
        for easy, hard in pairwise([NOMINATIVE, POSSESSIVE, ACCUSATIVE])
    ]


@states(4, "Section 4.2", "The step from possessive to accusative is the larger one.")
def larger_step(run: Results) -> list[Check]:
    def steps(system: str) -> Check:
        nominative, accusative, possessive = (run.f1(system, case=case) for case in CASES)
        small, large = subtract(nominative, possessive), subtract(possessive, accusative)

        def text(_: Sampled) -> str:
            return f"{system}: steps {POINTS.value(small().value)} and {POINTS.value(large().value)}"

        return CHECKS.positive(subtract(large, small), text)

    return [steps(system) for system in run.systems]


@states(5, "Section 4.2", "The accusative gap stays in the two best systems.")
def gap_of_the_best(run: Results) -> list[Check]:
    return check_over_accusative((XL, XXL), run.recall)


@states(6, "Section 4.2", "The two largest FLAN-T5 models are best on both data sets.")
def largest_are_best(run: Results) -> list[Check]:
    return check_higher_f1(run, list(product((XL, XXL), SYSTEMS[:-2])))


@states(7, "Section 4.2", "Larger is better inside SpanBERT and FLAN-T5, on both data sets.")
def larger_is_better(run: Results) -> list[Check]:
    return check_higher_f1(run, [(large, small) for family in (SPANBERT, FLAN_T5) for small, large in pairwise(family)])


@states(8, "Section 4.2", "The smaller FLAN-T5 models are at chance.")
def smaller_at_chance(run: Results) -> list[Check]:
    return [CHECKS.near([run.f1(s)], 0.5, 0.03, f"{s}: distance from chance") for s in FLAN_T5[:2]]


@states(9, "Section 4.2", "LingMess and CAW-coref are near chance on they and far below it on xe.")
def supervised_fail(run: Results) -> list[Check]:
    def of(system: str, name: str) -> Quantity:
        return run.recall(system, pronoun_set=name)

    rare = [
        made
        for s in SUPERVISED
        for made in (
            CHECKS.near([of(s, THEY)], 0.5, 0.1, f"{s}, they: distance from chance"),
            CHECKS.beyond(of(s, XE), 0.25, f"{s}, xe:", below=True),
        )
    ]
    return rare + [CHECKS.beyond(of(s, name), 0.75, f"{s}, {name}:") for s in SUPERVISED for name in (HE, SHE)]


@states(10, "Section 4.2", "SpanBERT has the same gap between pronoun sets, but a much smaller one.")
def smaller_gap(run: Results) -> list[Check]:
    def gap(system: str) -> Quantity:
        """How much better he and she are resolved than they and xe."""

        def quantity() -> Sampled:
            he, she, they, xe = (run.recall(system, pronoun_set=name)() for name in PRONOUNS)
            return (he - they).mean_with(she - xe)

        return quantity

    return [
        *(CHECKS.positive(gap(s), lambda found, s=s: f"{s}: gap {POINTS.value(found.value)}") for s in SPANBERT),
        *(CHECKS.greater(gap(o), gap(s), f"gap of {o} over {s}") for s in SPANBERT for o in SUPERVISED),
    ]


@states(11, "Section 4.2", "FLAN-T5 shows no large difference across pronoun sets.")
def no_large_difference(run: Results) -> list[Check]:
    # The range of noisy shares is above zero without any difference: each pair is compared.
    return [
        CHECKS.near(
            [subtract(*(run.recall(s, pronoun_set=name) for name in two)) for two in combinations(PRONOUNS, 2)],
            0.0,
            0.05,
            f"{s}: largest difference",
        )
        for s in FLAN_T5
    ]


@states(12, "Section 4.3", "LingMess and the two small FLAN-T5 alone are below chance in pronoun consistency.")
def below_chance(run: Results) -> list[Check]:
    low = ("LingMess", *FLAN_T5[:2])
    return [CHECKS.beyond(run.consistency("pronoun_consistency", s), 0.0625, f"{s}:", below=s in low) for s in SYSTEMS]


@states(13, "Section 4.3", "SpanBERT-large is the most consistent across pronoun sets.")
def most_consistent(run: Results) -> list[Check]:
    of = partial(run.consistency, "pronoun_consistency")
    return [
        *(CHECKS.greater(of(a), of(b), f"{a} over {b}") for a, b in pairwise([LARGE, XL, XXL])),
        CHECKS.greater(run.f1(XXL), run.f1(LARGE), f"F1 of {XXL} over {LARGE}"),
    ]


@states(14, "Section 4.3", "The best system disambiguates about half of the template pairs.")
def half_of_the_pairs(run: Results) -> list[Check]:
    of = partial(run.consistency, "disambiguation_consistency")

    def half() -> tuple:
        share = of(XL)()
        if share.value in (0, 1):
            low, high = procedures.wilson_interval(int(share.value) * share.clusters, share.clusters)
        else:
            low, high = procedures.bootstrap_interval(share.value, share.samples, share.clusters, least=0.0)
        text = f"{XL}: {POINTS.value(share.value)} {POINTS.ends(low, high)}"
        return is_within(Estimate(share.value, low, high, share.clusters), 0.5, 0.55, text)

    others = [s for s in SYSTEMS if s != XL]
    return [*(CHECKS.greater(of(XL), of(s), f"{XL}, {s}") for s in others), evaluate_check(half)]


@states(15, "Section 4.3", "SpanBERT-base is below chance in disambiguation.")
def base_below_chance(run: Results) -> list[Check]:
    return [CHECKS.beyond(run.consistency("disambiguation_consistency", BASE), 0.25, BASE, below=True)]


@states(16, "Section 5.2", "SpanBERT-base is biased more often than SpanBERT-large.")
def base_is_more_biased(run: Results) -> list[Check]:
    # Fair coins show as much bias in either system and of either sign, so that a difference leaves their level out.
    return [
        CHECKS.greater(run.biased(BASE, sign), run.biased(LARGE, sign), f"base over large, {sign or 'both signs'}")
        for sign in ("", "positive", "negative")
    ]


@states(17, "Section 5.2", "Negative bias is more frequent than positive bias.")
def more_negative(run: Results) -> list[Check]:
    return [
        CHECKS.greater(run.biased(s, "negative"), run.biased(s, "positive"), f"{s}, negative over positive")
        for s in SPANBERT
    ]


@states(18, "Section 5.2", "The two SpanBERT share few biased occupations, most with they and xe.")
def low_overlap(run: Results) -> list[Check]:
    def of(case: str, name: str) -> Quantity:
        return run.overlap((BASE, case, name), (LARGE, case, name))

    return [
        *(
            CHECKS.beyond(of(case, name), 0.5, f"{case} {study.short_label(name)}:", INDEX, below=True)
            for case in CASES
            for name in PRONOUNS
        ),
        *(
            CHECKS.greater(
                of(case, rare),
                of(case, known),
                f"{case}, {study.short_label(rare)} over {study.short_label(known)}",
                INDEX,
            )
            for case in CASES
            for rare in (THEY, XE)
            for known in (HE, SHE)
        ),
    ]


@states(19, "Section 5.2", "Bias hardly carries over between the cases of a pronoun set.")
def cases_differ(run: Results) -> list[Check]:
    pairs, kept = list(combinations(CASES, 2)), (NOMINATIVE, POSSESSIVE)

    def of(system: str, name: str, cases: tuple[str, str]) -> Quantity:
        return run.overlap(*((system, case, name) for case in cases))

    def text(system: str, name: str, cases: tuple[str, str]) -> str:
        return f"{system}, {study.short_label(name)}, {' and '.join(cases)}"

    return [
        *(
            CHECKS.beyond(of(BASE, name, two), 0.15, f"{text(BASE, name, two)}:", INDEX, below=True)
            for name in PRONOUNS
            for two in pairs
        ),
        *(CHECKS.beyond(of(LARGE, name, kept), 0.15, f"{text(LARGE, name, kept)}:", INDEX) for name in PRONOUNS),
        *(
            CHECKS.greater(
                of(LARGE, name, kept),
                of(LARGE, name, two),
                f"{text(LARGE, name, kept)} over {' and '.join(two)}",
                INDEX,
            )
            for name in PRONOUNS
            for two in pairs
            if two != kept
        ),
    ]


@states(20, "Appendix E", "FLAN-T5 does worse on sentences about one person.")
def single_is_worse(run: Results) -> list[Check]:
    return [CHECKS.greater(run.f1(s), run.f1(s, "single"), f"{s}, two people over one") for s in FLAN_T5]


if __name__ == "__main__":
    run_named()
