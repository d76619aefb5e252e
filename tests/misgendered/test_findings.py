"""Findings as tests over predictions."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import finding_verdicts
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import FAILS, HOLDS, NOT_APPLICABLE, decide, evaluate_check
from scripts.misgendered import findings, quantities
from tests.misgendered import synthetic

MODELS = synthetic.STUDY_MODELS
KNOWN = pd.DataFrame(
    [{"model": name} | {key: facts[key] for key in ("label", "family", "parameters")} for name, facts in MODELS.items()]
)
NOTHING = pd.DataFrame(columns=["corpus", "group", "documents"])
CORPORA = [(corpus, group) for corpus in findings.CORPORA for group in ("he", "she", *findings.NEO)]
COUNTED = pd.DataFrame(
    [(corpus, group, {"he": 100, "she": 90}.get(group, 50)) for corpus, group in CORPORA], columns=list(NOTHING)
)


@pytest.fixture(scope="module")
def predicted():
    return synthetic.predicted(list(MODELS), size=330)


def results(table, documents=NOTHING, known=KNOWN):
    names = table[(table.shots == 0) & (table.pronoun_type == "neo")].groupby(["name", "name_class"], observed=True)
    names = names.correct.agg(value="mean").reset_index().assign(low=0.0, high=1.0)
    return quantities.Results(table, known, names, documents, 300, 1)


def verdict(number, *arguments):
    finding = next(finding for finding in findings.FINDINGS if finding.number == number)
    return decide(finding.checks(results(*arguments)))


def ranked(levels, shares):
    """Return picks that are right at a level's share, and at one in twenty of other levels."""
    return np.random.default_rng(3).random(len(levels)) < levels.map(shares).astype(float).fillna(0.05)


FORMS = {"binary nom": 0.8, "binary acc": 0.95, "binary ref": 0.3, "binary pos_dep": 0.3, "binary pos_ind": 0.01,
         "neo nom": 0.01, "neo acc": 0.3, "neo ref": 0.3, "neo pos_dep": 0.9, "neo pos_ind": 0.6}  # fmt: skip
GROUPS = {"thon": 0.5, "xe": 0.25, "they": 0.8, "he": 0.95, "she": 0.95}
OWN_NAMES = {"he": "male", "she": "female", "they": "unisex"}
BLOOM = {
    "neutral bloom-560m": 0.9, "neutral bloom-1b1": 0.6, "neutral bloom-3b": 0.4, "neutral bloom-7b1": 0.1,
    "binary bloom-560m": 0.1, "binary bloom-1b1": 0.4, "binary bloom-3b": 0.6, "binary bloom-7b1": 0.9,
}  # fmt: skip
WORLDS = {
    # What is made up is easy for binary pronouns and hard for neopronouns.
    "a clear difference": (1, lambda table: table.correct, HOLDS),
    "a clear difference the other way": (1, lambda table: table.pronoun_type == "neo", FAILS),
    # All samples agree on a model that always takes *he*: no larger sample is needed.
    "a certain no": (10, lambda table: table.group == "he", FAILS),
    "explicit declarations alone": (2, lambda table: table.declaration_type == "explicit", HOLDS),
    "parenthetical declarations alone": (3, lambda table: table.declaration_type != "explicit", HOLDS),
    "more forms help": (4, lambda table: ranked(forms_declared(table), {2: 0.1, 3: 0.35, 4: 0.6, 5: 0.9}), HOLDS),
    "more forms hurt": (4, lambda table: ranked(forms_declared(table), {2: 0.9, 3: 0.6, 4: 0.35, 5: 0.1}), FAILS),
    "one model shrinks and grows": (8, lambda table: ranked(table.pronoun_type + " " + table.model, BLOOM), HOLDS),
    "the best neopronouns": (11, lambda table: ranked(table.group, GROUPS), HOLDS),
    "places of the nominative": (12, lambda table: ranked(table.pronoun_type + " " + table["form"], FORMS), HOLDS),
    "places of the possessive": (13, lambda table: ranked(table.pronoun_type + " " + table["form"], FORMS), HOLDS),
    "another best possessive": (15, lambda table: ranked(table.pronoun_type + " " + table["form"], FORMS), FAILS),
    "names that go with pronouns": (17, lambda table: table.name_class == table.group.map(OWN_NAMES), HOLDS),
}


def forms_declared(table):
    return table.declaration_number.astype(str).str[0].astype(int)


@pytest.mark.parametrize("what", WORLDS)
def test_a_world_gets_its_verdict(predicted, what):
    number, right, expected = WORLDS[what]
    assert verdict(number, predicted.assign(correct=right(predicted))).verdict == expected


def test_what_is_not_clear_asks_for_a_larger_sample(predicted):
    decided = verdict(2, predicted.assign(correct=np.random.default_rng(3).random(len(predicted)) < 0.5))
    assert decided.verdict == NOT_APPLICABLE
    assert any("instances for" in word for word in decided.missing)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        # The size grows with the square of the interval.
        ((500, 0.02, -0.02, 0.06), "about 2,000 instances"),
        ((500, 0.01, -0.03, 0.05), "about 8,000 instances"),
        ((500, 0.0, -0.1, 0.1), "more instances"),
        ((500, 0.1, np.nan, np.nan), "more instances"),
    ],
)
def test_the_size_that_would_decide(arguments, said):
    assert quantities.needed_instances(*arguments) == said


def test_without_all_models_of_the_study_nothing_is_decided(predicted):
    some = predicted[predicted.model != "gpt2"]
    for number in (1, 2, 10, 12, 17):
        decided = verdict(number, some)
        assert decided.verdict == NOT_APPLICABLE and "gpt2" in decided.missing
    assert verdict(1, predicted[predicted.model == "none"]).verdict == NOT_APPLICABLE
    # Families are looked at from the smallest model, also of those that are not there.
    assert results(some).family("OPT") == ["opt-350m", "opt-1.3b", "opt-2.7b", "opt-6.7b"]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (COUNTED, HOLDS),
        (COUNTED[COUNTED.corpus == "c4"], NOT_APPLICABLE),
        (COUNTED.assign(documents=COUNTED.documents.mask(COUNTED.group == "co", 1000)), FAILS),
    ],
    ids=["all corpora", "one corpus", "a neopronoun of many documents"],
)
def test_documents_decide_only_if_all_corpora_were_counted(predicted, counts, expected):
    assert verdict(18, predicted, counts).verdict == expected


def test_every_finding_can_be_asked_of_a_whole_run():
    assert [finding.number for finding in findings.FINDINGS] == list(range(1, 21))
    table = synthetic.predicted(list(MODELS), size=165, shots=findings.SHOTS, draws=1)
    asked = results(table, COUNTED)
    for finding in findings.FINDINGS:
        decided = decide(finding.checks(asked))
        # Nothing is missing but instances.
        lacking = [word for word in decided.missing if not ("instances" in word or "names" in word)]
        assert decided.verdict in (HOLDS, FAILS, NOT_APPLICABLE) and lacking == [], finding.number


def test_a_card_and_a_run_of_one_model_never_contradict_each_other(predicted):
    """The run needs all models of an average; the card says that it speaks of one instead of the average."""
    one = predicted[predicted.model == "gpt2"]
    one = one.assign(correct=ranked(one.pronoun_type, {"binary": 0.05, "neutral": 0.95, "neo": 0.05}))
    alone = {"replica": results(one, known=KNOWN[KNOWN.model == "gpt2"])}
    card = finding_verdicts.single_model_verdicts(
        findings.FINDINGS, findings.ONE_MODEL, alone, averages=findings.ONE_MODEL
    )
    run = finding_verdicts.judge_findings(findings.FINDINGS, {"replica": results(one)}, ["replica"])
    assert set(run.verdict) == {NOT_APPLICABLE} and {HOLDS, FAILS} & set(card.verdict)
    assert set(card.about[card.verdict != NOT_APPLICABLE]) == {finding_verdicts.AVERAGE}


@pytest.mark.parametrize(
    ("accuracies", "deviation", "expected"),
    [
        ([0.7] * 4, 0.002, HOLDS),
        ([0.7, 0.7, 0.7, 0.8], 0.002, FAILS),
        ([0.7, 0.7, 0.7, 0.75], 0.03, NOT_APPLICABLE),
        # The interval of one difference must lie within the bound as well.
        ([0.7] * 4, 0.02, NOT_APPLICABLE),
        ([0.7, 0.7, 0.7, 0.72], 0.002, NOT_APPLICABLE),
    ],
    ids=["flat", "one apart", "uneven on a small sample", "flat on a small sample", "on the border"],
)
def test_accuracies_are_alike_if_all_differences_are_clearly_within_the_bound(accuracies, deviation, expected):
    drawn = np.random.default_rng(1).normal(0, deviation, (len(accuracies), 1000))
    shares = {f"{n}": Sampled(p, p + drawn[n], 1000) for n, p in enumerate(accuracies)}
    run = SimpleNamespace(templates=1000, size=lambda: 1000)
    assert decide([evaluate_check(lambda: quantities.similar(run, shares, 0.02))]).verdict == expected


@pytest.mark.parametrize(("better", "outcome"), [(8, False), (9, False), (10, True)])
def test_a_name_is_among_the_ten_best_with_nine_above_it_and_not_with_ten(better, outcome):
    values = np.r_[0.5, np.full(better, 0.9), np.full(20 - better, 0.1)]
    names = pd.DataFrame({"name_class": ["unisex", *["male"] * 20], "value": values})
    found = quantities.among_best(names.assign(low=values - 0.02, high=values + 0.02), "unisex")
    assert decide([evaluate_check(lambda: (found, ""))]).verdict == (HOLDS if outcome else FAILS)
