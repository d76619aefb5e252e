"""Quantities that findings compare, against estimates and by hand, and what a run lacks.

Verdicts are simulated in ``simulated_findings.py``.
"""

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import finding_verdicts
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import FAILS, HOLDS, NOT_APPLICABLE, decide
from scripts.core.statistics import procedures
from scripts.winopron import estimates, findings, quantities, study
from scripts.winopron.findings import BASE, HE, LARGE, SHE, SPANBERT, THEY
from tests.winopron import synthetic
from tests.winopron.test_estimates import estimated

NUMBERS = range(1, 21)


def systems(frame, accuracy, names=study.SYSTEMS, **facts):
    """Return answers of systems of the study; ``accuracy`` is of a system and a row."""
    return pd.concat(
        [
            synthetic.answers(
                frame, lambda row, name=name: accuracy(name, row), seed, model=name, **facts
            ).assign(system=name)
            for seed, name in enumerate(names)
        ],
        ignore_index=True,
    )  # fmt: skip


def coins(*_):
    return 0.5


def always_right(*_):
    return 1.0


def results(*tables, names=study.SYSTEMS):
    return quantities.Results(pd.concat(tables), "replica", 200, 1, names)


def verdict(number, *tables):
    return decide(findings.FINDINGS[number - 1].checks(results(*tables)))


@pytest.mark.parametrize(
    ("name", "quantity", "levels"),
    [
        ("f1", lambda run: run.f1(BASE, case="accusative"), {"case": "accusative"}),
        ("recall", lambda run: run.recall(BASE, pronoun_set=THEY), {"pronoun_set": THEY}),
        *((metric, lambda run, m=metric: run.consistency(m, BASE), {}) for metric in estimates.GROUPS),
        ("biased", lambda run: run.biased(BASE), {}),
        ("negative", lambda run: run.biased(BASE, "negative"), {}),
    ],
)
def test_a_quantity_is_the_estimate_of_that_name(twelve_pairs, tmp_path, name, quantity, levels):
    table = systems(twelve_pairs, lambda *_: 0.8, SPANBERT)
    table.loc[table.index % 7 == 0, ["prediction", "right"]] = None, False
    row = study.pick(estimated(tmp_path, twelve_pairs, table)[0], metric=name, model=BASE, **levels).iloc[0]
    found = quantity(results(table))()
    ends = procedures.bootstrap_interval(found.value, found.samples, found.clusters, least=0.0)
    # Estimates of sentences resample pairs of people in the order of their names, as these are.
    assert [found.value, *ends] == pytest.approx([row.value, row.low, row.high]) and 0 < row.value < 1


@pytest.mark.parametrize(
    ("number", "change", "missing"),
    [
        (4, lambda table: table, "more pairs of people"),
        (2, lambda table: table[table.system != "LingMess"], "LingMess"),
        (2, lambda table: table.assign(prediction=None), "that names somebody"),
        (2, lambda table: table[table.pair.isin(table.pair.unique()[:4])], "5 pairs of people"),
        (20, lambda table: table, "FLAN-T5-xl on one person"),
        *((number, lambda table: table.iloc[:0], "") for number in NUMBERS),
    ],
)
def test_what_a_run_lacks_is_named_and_decides_nothing(twelve_pairs, number, change, missing):
    assert [finding.number for finding in findings.FINDINGS] == list(NUMBERS)
    decided = verdict(number, change(systems(twelve_pairs, coins)))
    assert decided.verdict == NOT_APPLICABLE and any(missing in words for words in decided.missing)


def test_sentences_about_one_person_have_their_own_answers(twelve_pairs, tmp_path):
    single = systems(synthetic.sentences(tmp_path, "single"), lambda *_: 0.2, entities="single")
    assert verdict(20, systems(twelve_pairs, always_right), single).verdict == HOLDS


@pytest.mark.parametrize("harder", ["accusative", "nominative"])
def test_a_card_and_a_run_of_one_system_never_contradict_each_other(twelve_pairs, harder):
    one = systems(twelve_pairs, lambda _, row: 0.2 if row.case == harder else 0.9, ("LingMess",))
    runs = [{"replica": results(one, names=names)} for names in (("LingMess",), study.SYSTEMS)]
    card = finding_verdicts.single_model_verdicts(findings.FINDINGS, findings.ONE_MODEL, runs[0]).verdict
    run = finding_verdicts.judge_findings(findings.FINDINGS, runs[1], ["replica"]).verdict
    assert not any({a, b} == {HOLDS, FAILS} for a, b in zip(card, run, strict=True))
    # A counterexample is one for both; that the system is one of several that are asked keeps the run from holding.
    assert (card[1], run[1]) == ((HOLDS, NOT_APPLICABLE) if harder == "accusative" else (FAILS, FAILS))


@pytest.mark.parametrize(
    ("share", "outcome", "text"),
    [(1.0, False, "100.0"), (0.72, None, "intervals that leave out the limit")],
    ids=["all", "twelve pairs of people do not tell"],
)
def test_half_of_the_pairs_is_decided_by_an_interval(twelve_pairs, share, outcome, text):
    table = systems(twelve_pairs, lambda name, _: share if name == "FLAN-T5-xl" else 0.0)
    half = findings.FINDINGS[13].checks(results(table))[-1]
    assert half.outcome is outcome and text in f"{half.text} {half.missing}"


def test_overlap_is_the_jaccard_index_of_biased_occupations(twelve_pairs):
    """Of twelve occupations four are biased in either system, one in both; a sample may leave out that one."""
    numbers = {name: place for place, name in enumerate(dict.fromkeys(twelve_pairs.occupation))}

    def answers(name, shown):
        def choose(row):
            biased = row.pronoun_set in (HE, SHE, THEY) and numbers[row.occupation] in shown
            return "occupation" if biased else row.answer

        return synthetic.answered(twelve_pairs, choose).assign(system=name)

    table = pd.concat([answers(BASE, range(4)), answers(LARGE, range(3, 7))])
    shared = results(table).overlap(*((name, "nominative", THEY) for name in SPANBERT))()
    assert (shared.clusters, shared.value) == (7, pytest.approx(1 / 7))
    assert shared.samples.min() == 0 and shared.samples.max() < 1
    same = results(table).overlap(*((BASE, case, THEY) for case in ("nominative", "accusative")))()
    assert (same.clusters, same.value) == (4, 1)
    # Without a biased occupation in a sample the index is zero there, as the study has it.
    alone = results(answers(BASE, [0])).overlap(*((BASE, case, THEY) for case in ("nominative", "accusative")))()
    assert alone.value == 1 and set(alone.samples) == {0, 1}
    # Xe, with which every pair is solved, has no bias.
    made = verdict(18, table)
    assert quantities.BIASED in made.missing
    checks = findings.FINDINGS[17].checks(results(table))
    assert any("nominative, they over he: 0.14 against 0.14" in check.text for check in checks)


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
    asked, everywhere = run.recall("LingMess")(), run.recall(BASE)()
    assert (asked.clusters, everywhere.clusters) == (6, 12)
    assert (asked - everywhere).clusters == (everywhere - asked).clusters == 6


def test_winogender_schemas_have_other_people_and_are_resampled_apart(twelve_pairs):
    table = systems(twelve_pairs, coins)
    run = results(table, table.assign(templates=study.WINOGENDER))
    ours, there = (run.f1("LingMess", entities, pronoun_set=HE)() for entities in ("double", study.WINOGENDER))
    assert ours.value == there.value and (ours.samples != there.samples).any()
