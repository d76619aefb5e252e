"""Findings as tests over predictions, and published numbers beside ours."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import finding_verdicts, published
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import FAILS, HOLDS, NOT_APPLICABLE, check, decide
from scripts.misgendered import findings, quantities
from tests.misgendered import synthetic

MODELS = synthetic.STUDY_MODELS
KNOWN = pd.DataFrame(
    [{"model": name} | {key: facts[key] for key in ("label", "family", "parameters")} for name, facts in MODELS.items()]
)
NOTHING = pd.DataFrame(columns=["corpus", "group", "documents"])


@pytest.fixture(scope="module")
def predicted():
    return synthetic.predicted(list(MODELS), size=330)


def names(table):
    """Return estimates by name."""
    neo = table[(table.shots == 0) & (table.pronoun_type == "neo")]
    return (
        neo.groupby(["name", "name_class"], observed=True)
        .correct.agg(value="mean")
        .reset_index()
        .assign(low=0.0, high=1.0)
    )


def results(table, documents=NOTHING):
    return quantities.Results(table, KNOWN, names(table), documents, 300, 1)


def verdict(number, *arguments):
    finding = next(finding for finding in findings.FINDINGS if finding.number == number)
    return decide(finding.checks(results(*arguments)))


def test_there_are_twenty_findings_in_order():
    assert [finding.number for finding in findings.FINDINGS] == list(range(1, 21))


def test_a_clear_difference_decides(predicted):
    assert verdict(1, predicted).verdict == HOLDS
    swapped = predicted.assign(
        pronoun_type=predicted.pronoun_type.map({"binary": "neo", "neo": "binary"}.get).fillna("neutral")
    )
    assert verdict(1, swapped).verdict == FAILS


def test_a_certain_no_is_a_no(predicted):
    """All samples agree on a model that always takes *he*: no larger sample is needed to see that *she* is worse."""
    decided = verdict(10, predicted.assign(correct=predicted.group == "he"))
    assert decided.verdict == FAILS


def test_what_is_not_clear_asks_for_a_larger_sample(predicted):
    random = predicted.assign(correct=np.random.default_rng(3).random(len(predicted)) < 0.5)
    decided = verdict(2, random)
    assert decided.verdict == NOT_APPLICABLE
    assert any("instances for" in word for word in decided.missing)


def test_the_size_that_would_decide_grows_with_the_square_of_the_interval():
    assert quantities.needed_instances(500, 0.02, -0.02, 0.06) == "about 2,000 instances"
    assert quantities.needed_instances(500, 0.01, -0.03, 0.05) == "about 8,000 instances"
    assert (
        quantities.needed_instances(500, 0.0, -0.1, 0.1)
        == quantities.needed_instances(500, 0.1, np.nan, np.nan)
        == "more instances"
    )


def test_without_all_models_of_the_study_nothing_is_decided(predicted):
    some = predicted[predicted.model != "gpt2"]
    for number in (1, 2, 10, 12, 17):
        decided = verdict(number, some)
        assert decided.verdict == NOT_APPLICABLE and "gpt2" in decided.missing
    assert verdict(1, predicted[predicted.model == "none"]).verdict == NOT_APPLICABLE


def test_families_are_looked_at_from_the_smallest_model():
    assert results(synthetic.predicted(["gpt2"], 55)).family("OPT") == ["opt-350m", "opt-1.3b", "opt-2.7b", "opt-6.7b"]


def test_documents_decide_only_if_all_corpora_were_counted(predicted):
    counts = pd.DataFrame(
        [(corpus, group, 100 - 10 * (group == "she") - 50 * (group in findings.NEO))
         for corpus in findings.CORPORA for group in ("he", "she", *findings.NEO)],
        columns=["corpus", "group", "documents"],
    )  # fmt: skip
    assert verdict(18, predicted, counts).verdict == HOLDS
    assert verdict(18, predicted, counts[counts.corpus == "c4"]).verdict == NOT_APPLICABLE
    many = counts.assign(documents=counts.documents.mask(counts.group == "co", 1000))
    assert verdict(18, predicted, many).verdict == FAILS


def test_every_finding_can_be_asked_of_a_whole_run():
    table = synthetic.predicted(list(MODELS), size=165, shots=(2, 4, 6, 10, 20), draws=1)
    for finding in findings.FINDINGS:
        assert decide(finding.checks(results(table))).verdict in (HOLDS, FAILS, NOT_APPLICABLE)


def test_every_published_number_is_mapped():
    printed = published.read(*(f"paper/published/misgendered{part}.csv" for part in ("", "_mapping", "_models")))
    assert len(printed.mapping) == len(printed.numbers.drop_duplicates(published.KEY)) == 209
    assert set(printed.models.model) == set(MODELS)


def test_a_card_and_a_run_of_one_model_never_contradict_each_other(predicted):
    """The run needs all models of an average; the card says that it speaks of one instead of the average."""
    one = predicted[predicted.model == "gpt2"]
    levels = one.pronoun_type.map({"binary": 0.05, "neutral": 0.95, "neo": 0.05}).astype(float)
    one = one.assign(correct=np.random.default_rng(3).random(len(one)) < levels)
    alone = {"replica": quantities.Results(one, KNOWN[KNOWN.model == "gpt2"], names(one), NOTHING, 300, 1)}
    card = finding_verdicts.single_model_verdicts(
        findings.FINDINGS, findings.ONE_MODEL, alone, averages=findings.ONE_MODEL
    )
    run = finding_verdicts.verdicts(findings.FINDINGS, {"replica": results(one)}, ["replica"])
    assert set(run.verdict) == {NOT_APPLICABLE} and {HOLDS, FAILS} & set(card.verdict)
    assert set(card.about[card.verdict != NOT_APPLICABLE]) == {finding_verdicts.AVERAGE}


def drawn(rng, accuracies, size):
    """Return simulated accuracies by name, each with bootstrap samples."""
    found = rng.binomial(size, accuracies) / size
    return {f"{n}": Sampled(p, rng.binomial(size, p, 300) / size, size) for n, p in enumerate(found)}


class OfSize:
    def __init__(self, size):
        self.n = self.templates = size

    def size(self):
        return self.n


def verdicts(accuracies, size, worlds=200):
    rng = np.random.default_rng(20240601)
    made = []
    for _ in range(worlds):
        shares = drawn(rng, accuracies, size)
        made.append(decide([check(lambda shares=shares: quantities.similar(OfSize(size), shares, 0.02))]).verdict)
    return {verdict: made.count(verdict) / worlds for verdict in (HOLDS, FAILS, NOT_APPLICABLE)}


@pytest.mark.parametrize("size", [20, 100, 1000, 20000])
def test_a_flat_model_is_not_called_uneven_and_an_uneven_one_not_flat(size):
    """The largest of four noisy differences beyond the bound is no finding; neither is silence on a small sample."""
    flat, border = verdicts([0.7] * 4, size), verdicts([0.7, 0.7, 0.7, 0.72], size)
    steep = verdicts([0.6, 0.65, 0.7, 0.75], size)
    assert flat[FAILS] <= 0.05 and border[FAILS] <= 0.05
    assert steep[HOLDS] <= 0.05 and border[HOLDS] <= 0.05
    if size < 1000:
        assert flat[HOLDS] == 0
    if size == 20000:
        assert flat[HOLDS] > 0.9 and steep[FAILS] > 0.9
