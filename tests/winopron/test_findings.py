"""Findings as tests over answers whose outcome is known; simulated worlds of each are in ``simulated_findings.py``."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.data.templates import CASES
from scripts.core.paper import finding_verdicts
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import FAILS, HOLDS, NOT_APPLICABLE, decide
from scripts.winopron import findings, quantities, study
from tests.winopron import synthetic

BASE, LARGE = findings.SPANBERT
NUMBERS = range(1, 21)


def systems(frame, accuracy, **facts):
    """Return answers of every system of the study; ``accuracy`` is of a system and a row."""
    return pd.concat(
        [
            synthetic.answers(frame, lambda row, name=name: accuracy(name, row), seed, **facts).assign(system=name)
            for seed, name in enumerate(study.SYSTEMS)
        ],
        ignore_index=True,
    )


def results(*tables, names=study.SYSTEMS):
    return quantities.Results(pd.concat(tables), "replica", 300, 1, names)


def checks(number, *tables):
    return findings.FINDINGS[number - 1].checks(results(*tables))


def verdict(number, *tables):
    return decide(checks(number, *tables))


def by_case(_, row):
    return {"nominative": 1.0, "possessive": 0.9, "accusative": 0.3}[row.case]


def accusative_is_easiest(_, row):
    return 1.0 if row.case == "accusative" else 0.3


def by_pronoun_set(name, row):
    if name in findings.SUPERVISED:
        return {findings.THEY: 0.5, findings.XE: 0.0}.get(row.pronoun_set, 1.0)
    return 1.0 if row.pronoun_set in (findings.HE, findings.SHE) else 0.85


def as_low_as_found(name, _):
    return 0.0 if name in ("LingMess", "FLAN-T5-small", "FLAN-T5-base") else 1.0


def always_right(*_):
    return 1.0


@pytest.mark.parametrize(
    ("number", "accuracy", "expected"),
    [
        (2, by_case, HOLDS),
        (5, by_case, HOLDS),
        (2, accusative_is_easiest, FAILS),
        (10, by_pronoun_set, HOLDS),
        (9, always_right, FAILS),
        # Twelve pairs of people that all agree leave room for a range of five points,
        (11, always_right, NOT_APPLICABLE),
        # and none of twelve is no proof of less than 6.25 %; all of them are of more.
        (12, as_low_as_found, NOT_APPLICABLE),
        (12, always_right, FAILS),
        (15, as_low_as_found, FAILS),
    ],
)
def test_verdicts_on_systems_of_known_accuracy(twelve_pairs, number, accuracy, expected):
    assert [finding.number for finding in findings.FINDINGS] == list(NUMBERS)
    assert verdict(number, systems(twelve_pairs, accuracy)).verdict == expected


def coins(*_):
    return 0.5


@pytest.mark.parametrize(
    ("number", "change", "missing"),
    [
        (4, lambda table: table, "more pairs of people"),
        (2, lambda table: table[table.system != "LingMess"], "LingMess"),
        (2, lambda table: table.assign(prediction=None), "that names somebody"),
        (2, lambda table: table[table.pair.isin(table.pair.unique()[:4])], "5 pairs of people"),
        *((number, lambda table: table.iloc[:0], "") for number in NUMBERS),
    ],
)
def test_what_a_run_lacks_is_named_and_decides_nothing(twelve_pairs, number, change, missing):
    decided = verdict(number, change(systems(twelve_pairs, coins)))
    assert decided.verdict == NOT_APPLICABLE and any(missing in words for words in decided.missing)


def test_sentences_about_one_person_need_their_own_answers(twelve_pairs, tmp_path):
    single = synthetic.sentences(tmp_path, "single")
    table = systems(twelve_pairs, always_right)
    assert verdict(20, table, systems(single, lambda *_: 0.2, entities="single")).verdict == HOLDS
    # All right on both: twelve pairs of people do not tell whether one is worse.
    assert verdict(20, table, systems(single, always_right, entities="single")).verdict == NOT_APPLICABLE
    assert "FLAN-T5-xl on one person" in verdict(20, table).missing


@pytest.mark.parametrize("harder", ["accusative", "nominative"])
def test_a_card_and_a_run_of_one_system_never_contradict_each_other(twelve_pairs, harder):
    table = systems(twelve_pairs, lambda _, row: 0.2 if row.case == harder else 0.9)
    one = table[table.system == "LingMess"]
    runs = [{"replica": results(one, names=names)} for names in (("LingMess",), study.SYSTEMS)]
    card = finding_verdicts.single_model_verdicts(findings.FINDINGS, findings.ONE_MODEL, runs[0]).verdict
    run = finding_verdicts.verdicts(findings.FINDINGS, runs[1], ["replica"]).verdict
    assert not any({a, b} == {HOLDS, FAILS} for a, b in zip(card, run, strict=True))
    # A counterexample is one for both; that the system is one of several that are asked keeps the run from holding.
    assert (card[1], run[1]) == ((HOLDS, NOT_APPLICABLE) if harder == "accusative" else (FAILS, FAILS))


def test_half_of_the_pairs_is_decided_by_an_interval(twelve_pairs):
    def half(accuracy):
        return checks(14, systems(twelve_pairs, lambda name, _: accuracy if name == "FLAN-T5-xl" else 0.0))[-1]

    # All of them is not about a half; what comes near to it is not decided by twelve pairs of people.
    assert half(1.0).outcome is False
    assert half(0.72).outcome is None and "intervals that leave out the limit" in half(0.72).missing[0]


def sharing(frame, biased):
    """Return answers of the two SpanBERT that go to the occupation where ``biased(system, case, set, number)`` says so.

    ``number`` counts occupations from 0.
    """
    numbers = {name: place for place, name in enumerate(dict.fromkeys(frame.occupation))}
    tables = []
    for name in findings.SPANBERT:

        def choose(row, name=name):
            chosen = biased(name, row.case, row.pronoun_set, numbers[row.occupation])
            return "occupation" if chosen else row.answer

        tables.append(synthetic.answered(frame, choose).assign(system=name))
    return pd.concat(tables, ignore_index=True)


def outcomes(made):
    return {check.text.partition(":")[0]: check.outcome for check in made if check.text}


def test_overlap_of_two_systems_is_decided_by_intervals(twelve_pairs):
    def one_in_seven(name, _, pronoun_set, place):
        return pronoun_set != findings.XE and (place < 4 if name == BASE else 3 <= place < 7)

    table = sharing(twelve_pairs, one_in_seven)
    forms = ((name, "nominative", findings.THEY) for name in findings.SPANBERT)
    shared = results(table).overlap(*forms)()
    # Four and four of twelve, one of them in both; a sample may leave out that one.
    assert (shared.clusters, shared.value) == (7, pytest.approx(1 / 7))
    assert shared.samples.min() == 0 and shared.samples.max() < 1
    # All three are alike: no interval lies on a side of zero. Xe has no bias.
    assert any("nominative, they over he: 0.14 against 0.14" in check.text for check in checks(18, table))
    assert quantities.BIASED in verdict(18, table).missing

    def they_alone(name, _, pronoun_set, place):
        # The same four with they, none in common with he and she; xe has none, so that it solves them.
        if pronoun_set in (findings.HE, findings.SHE):
            return place < 6 if name == BASE else 6 <= place < 12
        return pronoun_set == findings.THEY and place < 4

    found = outcomes(checks(18, sharing(twelve_pairs, they_alone)))
    assert found["nominative, they over he"] is True and found["nominative they"] is False


def test_overlap_of_two_cases_is_decided_by_intervals(twelve_pairs):
    def carried_over(name, case, pronoun_set, place):
        if pronoun_set == findings.XE:
            return False
        if name == BASE:
            return place == CASES.index(case)
        return place < 6 if case != "accusative" else place >= 6

    made = checks(19, sharing(twelve_pairs, carried_over))
    found = outcomes(made)
    # No overlap in twelve pairs of people may be one of more than 0.15.
    assert found["SpanBERT-base, he, nominative and accusative"] is None
    assert found["SpanBERT-large, they, nominative and possessive"] is True
    assert found["SpanBERT-large, they, nominative and possessive over nominative and accusative"] is True
    assert sum(check.missing == (quantities.BIASED,) for check in made) == 3 + 1 + 2
    apart = sharing(twelve_pairs, lambda _, case, name, place: name != findings.XE and place == CASES.index(case))
    assert verdict(19, apart).verdict == NOT_APPLICABLE


@pytest.mark.parametrize(("pairs", "outcome"), [(12, None), (60, True)])
def test_samples_that_all_agree_have_an_exact_interval_over_pairs(pairs, outcome):
    def sampled(value, **limits):
        return lambda: Sampled(value, np.full(100, value), pairs, **limits)

    assert findings.CHECKS.beyond(sampled(0.0), 0.0625, "xe:", below=True).outcome is outcome
    apart = findings.CHECKS.positive(sampled(1.0, least=-1.0), lambda _: "one over the other")
    assert apart.outcome is True and "100.0 to 100.0" not in apart.text
    same = findings.CHECKS.positive(sampled(0.0, least=-1.0), lambda _: "one over the other")
    assert same.outcome is None


def test_a_quantity_counts_the_pairs_that_its_system_was_asked_about(twelve_pairs):
    """A prompted system on six pairs of people, next to others on all: Student's t has five degrees of freedom."""
    table = systems(twelve_pairs, coins)
    run = results(table[(table.system != "LingMess") | table.pair.isin(twelve_pairs.pair.unique()[:6])])
    asked, everywhere = run.recall("LingMess")(), run.recall("SpanBERT-base")()
    assert (asked.clusters, everywhere.clusters) == (6, 12)
    assert (asked - everywhere).clusters == (everywhere - asked).clusters == 6


def test_winogender_schemas_have_other_people_and_are_resampled_apart(twelve_pairs):
    table = systems(twelve_pairs, coins)
    run = results(table, table.assign(templates=study.WINOGENDER))
    ours, there = (run.f1("LingMess", entities, pronoun_set=findings.HE)() for entities in ("double", study.WINOGENDER))
    assert ours.value == there.value and (ours.samples != there.samples).any()
