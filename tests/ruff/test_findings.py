"""Each finding on tables where it holds, on tables where it fails, and on runs that cannot tell."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from scripts.core.paper import estimates, finding_verdicts, published
from scripts.ruff import findings, findings_prompting, quantities
from tests.ruff import simulated_findings, synthetic
from tests.ruff.test_published import PUBLISHED, run_script

PRINTED = str(PUBLISHED / "ruff.csv")
NUMBERS = published.read_published(PRINTED)
MODELS = quantities.study_models(published.read_models(PUBLISHED / "ruff_models.csv"), NUMBERS)
RUN = synthetic.paper_models()
SETS = synthetic.SETS[:4]


def prompted_accuracies():
    """Return accuracies of the study's prompted models: ten prompts each, chains for FLAN-T5-xxl."""
    vanilla = [("vanilla", "final", 0, 0.01)]
    chains = [(method, answer, 0.1, 0.03 if answer == "final" else 0.01) for method in findings_prompting.CHAINS
              for answer in ("final", "chain")]  # fmt: skip
    rows = []
    for i, name in enumerate(synthetic.prompted_models()):
        for method, answer, loss, spread in vanilla + (chains if name == "flan-t5-xxl" else []):
            for k in quantities.COUNTS:
                # What a chain says without distractors is what vanilla prompting says.
                less = 0 if answer == "chain" and k == 0 else loss
                mean = 0.42 * 0.5**k if "llama" in name else 0.6 + 0.01 * i - 0.1 * k - less
                cell = {"model": name, "method": method, "answer": answer, "n_distractors": str(k)}
                rows += [
                    cell | {"metric": "accuracy", "prompt": str(prompt), "value": mean + spread * (-1) ** prompt}
                    for prompt in range(10)
                ]
    return synthetic.of_models(rows, scoring="prompted")


def made(**options):
    """Return a run of all models in which every finding holds."""
    tables = synthetic.tables(RUN, SETS)
    rows = pd.concat([tables["estimates"], prompted_accuracies()], ignore_index=True)
    return quantities.Results(MODELS, quantities.printed_numbers(NUMBERS), rows, tables["pronoun_tests"], **options)


def verdict(number, run):
    return finding_verdicts.decide(findings.FINDINGS[number - 1].checks(run))


def put(frame, column, value, **cell):
    """Change the cells of a table that have all of the given values."""
    chosen = pd.Series(True, index=frame.index)
    for name, wanted in cell.items():
        wanted = wanted if isinstance(wanted, list) else [wanted]
        chosen &= frame[name].isin(list(map(str, wanted)))
    assert chosen.any()
    frame[column] = frame[column].astype(float)
    frame.loc[chosen, column] = value


def accuracy(value, model, k=0, pronoun="", half=0.002):
    cell = {"metric": "accuracy", "model": model, "n_distractors": k, "pronoun": pronoun}
    cell |= dict.fromkeys(("case", "polarity", "method"), "")

    def change(run):
        values = np.asarray(value)
        for column, numbers in (("value", values), ("low", values - half), ("high", values + half)):
            put(run.estimates, column, numbers, **cell)

    return change


def error(value, model, k, kind):
    return lambda run: put(run.estimates, "value", value, model=model, n_distractors=k, metric=kind)


def picks(value, model, pronoun):
    return lambda run: put(run.estimates, "above", value, metric="picked", model=model, preferred=pronoun)


def p_value(value, model, a, b):
    return lambda run: put(run.tests, "p", value, model=model, pronoun_a=a, pronoun_b=b)


def prompted(value, model, k, method="vanilla", answer="final"):
    where = {"model": model, "n_distractors": k, "method": method, "answer": answer}
    return lambda run: put(run.estimates, "value", value, **where)


def errors(n, model, k):
    """Leave a model few unambiguous errors."""
    kinds = ["distraction", "bias", "other"]
    return lambda run: put(run.estimates, "below", n, metric=kinds, model=model, n_distractors=k)


def smaller_is_better(run):
    for names in run.families.values():
        for i, model in enumerate(names):
            accuracy(0.5 - 0.05 * i, model, 5)(run)


ENCODERS = MODELS[MODELS.groups.str.contains("encoder")].model.tolist()
LOW_AND_CLOSE, HIGH_AND_WIDE = [0.3, 0.301] * 5, [0.65, 0.85] * 5

# What breaks each finding, and what the counterexample says.
BROKEN = [
    (1, picks(170, "opt-350m", "they"), "OPT-350M: she 50, they 170 of 180 (sign test: p < 0.001)"),
    (1, picks(170, "roberta-base", "xe"), "RoBERTa-base: she 45, xe 170 of 180 (sign test: p < 0.001)"),
    (2, picks(0, ENCODERS, ["she", "they", "xe"]), "bits (decoders), Welch's test over models: p < 0.001"),
    (3, accuracy(0.24, "pythia-14m"), "Pythia-14M: 0.240 (0.238 to 0.242)"),
    (3, accuracy(0.96, "roberta-large"), "highest: RoBERTa-large 0.960 (0.958 to 0.962), MosaicBERT 0.950"),
    (3, accuracy(0.92, "mosaicbert"), "MosaicBERT 0.920 (0.918 to 0.922), published 0.95"),
    (4, accuracy(0.90, "bert-base"), "BERT: rho −1.00 (−1.00 to −1.00)"),
    (4, accuracy(0.20, ["opt-6.7b", "opt-13b", "opt-30b", "opt-66b"]), "OPT: rho −"),
    (5, accuracy(0.95, list(RUN), 0, "xe"), "she 0.808, xe 0.950, p = 0.001"),
    (6, accuracy(0.10, [m for m in ENCODERS if m != "bert-large"][:5], 0, "xe"),
     "4 of 9 encoders better on xe, 5 on they (Welch's tests)"),
    (6, accuracy(0.10, "bert-large", 0, "xe"), "BERT-large: xe 0.100, they 0.600, p = 0.001"),
    (7, accuracy(0.26, "opt-1.3b", 0, "xe"), "OPT-1.3B: 0.260 (0.258 to 0.262)"),
    (7, accuracy(0.06, "pythia-160m", 0, "xe"), "Pythia-160M: 0.060 (0.058 to 0.062)"),
    (8, accuracy(0.10, "opt-6.7b", 0, "xe"), "OPT-6.7B: xe 0.100"),
    (8, accuracy(0.90, "llama-2-13b", 0, "xe"), "Llama-2-13B 0.900 (0.898 to 0.902), published 0.96"),
    (9, accuracy(0.90, "opt-125m", 3), "OPT-125M: 0.550 (0.548 to 0.552) with 0, 0.900 (0.898 to 0.902) with 3"),
    (10, accuracy(0.60, list(RUN), 1), "points over 29 scored models: 12.2 (11.8 to 12.6), published 34"),
    (11, accuracy(0.50, "pythia-1b", 4), "Pythia-1B"),
    (12, accuracy(0.01, "bert-base", 5), "BERT-base: 0.010 (0.008 to 0.012) with 5, 0.410 (0.408 to 0.412) with 1"),
    (12, accuracy(0.90, "bert-base", 4), "BERT-base: 0.770 (0.768 to 0.772) with 0, 0.900 (0.898 to 0.902) with 4"),
    (13, smaller_is_better, "0 of 22 pairs, 0 with intervals that overlap, but"),
    (14, accuracy(0.90, "opt-66b"), "RoBERTa-base 0.860 (0.858 to 0.862), OPT-66B 0.900 (0.898 to 0.902)"),
    (14, accuracy(0.30, "bert-large"), "BERT-large 0.300 (0.298 to 0.302), mean of decoders of about its size 0.580"),
    (15, accuracy(0.90, "llama-2-70b", 5), "MosaicBERT 0.870 (0.868 to 0.872), Llama-2-70B 0.900 (0.898 to 0.902)"),
    (16, error(0.98, "opt-13b", 2, "other"), "OPT-13B with 2: 0.020"),
    (16, error(0.02, "bert-base", 4, "other"), "BERT-base with 4: 0.980"),
    (17, error(0.30, "pythia-70m", 5, "distraction"), "Pythia-70M: 0.640 (0.637 to 0.643) with 4, 0.300"),
    (17, error(0.86, "pythia-70m", 5, "distraction"), "Pythia-70M with 5: 0.860 (0.858 to 0.862)"),
    (18, error(0.80, "albert-xlarge-v2", 5, "distraction"), "ALBERT-v2-xlarge: distraction 0.600 (0.597 to 0.603)"),
    (18, error(0.01, "roberta-large", 5, "bias"), "RoBERTa-large: bias"),
    (18, error(0.90, "bert-large", 2, "distraction"), "BERT-large with 2: bias 0.460"),
    (19, error(0.10, "llama-2-70b", [1, 2, 3], "distraction"), "distraction: Llama-2-13B"),
    (19, error(0.90, "bert-large", [1, 2, 3, 4, 5], "distraction"), "distraction: BERT-base 0.480"),
    (20, prompted([0.98, 0.99] * 5, "llama-2-7b-chat", 3), "Llama-2-7B-chat 0.985, Llama-2-7B"),
    (20, prompted(0.99, "flan-t5-small", 3), "FLAN-T5-small: "),
    (20, prompted(LOW_AND_CLOSE, "flan-t5-xxl", 2, "zhou"), "zhou with 2: 0.300 ± 0.001"),
    (20, prompted(HIGH_AND_WIDE, "flan-t5-xxl", 2, "zhou"), "zhou with 2: 0.750 ± 0.100"),
    (20, prompted(0.10, "flan-t5-xxl", 0, "kojima", "chain"), "kojima with 0, answer from the chain: −"),
    (20, prompted(0.99, "flan-t5-xxl", 1, "kojima", "chain"), "kojima with 1, answer from the chain: +"),
]  # fmt: skip

OVERLAP, LIMIT = "intervals that do not overlap (n = 6,480)", "intervals that leave out the limit (n = 6,480)"

# What leaves each finding open: no value is refuted, but intervals overlap or a test is not significant.
UNDECIDED = [
    (1, picks(52, "opt-350m", ["he", "she"]), "a significant test (n = 180)", "he 52, she 52 of 180"),
    (2, picks(2, ENCODERS[:4], ["she", "they", "xe"]), "a significant test (n = 29)", "Welch's test over models: p = "),
    (3, accuracy(0.26, "pythia-14m", half=0.02), LIMIT, "Pythia-14M: 0.260 (0.240 to 0.280)"),
    (3, accuracy(0.24, "pythia-14m", half=0.02), LIMIT, "Pythia-14M: 0.240 (0.220 to 0.260)"),
    (3, accuracy(0.94, "roberta-large", half=0.01), OVERLAP, "highest: MosaicBERT 0.950 (0.948 to 0.952), RoBERTa-l"),
    (4, accuracy(0.801, "bert-base"), LIMIT, "BERT: rho"),
    (4, accuracy([0.70, 0.71, 0.72, 0.721], list(RUN)[:4]), OVERLAP, "ALBERT-v2: 0.700"),
    (5, p_value(0.06, "", "she", "they"), "a significant test (n = 60)", "she 0.808, they 0.653, p = 0.060"),
    (5, p_value(float("nan"), "", "he", "she"), "a significant test (n = 60)", "he 0.879, she 0.808, no test"),
    (6, p_value(0.5, ENCODERS[:5], "they", "xe"), "a significant test (n = 60)", "4 of 9 encoders better on xe, 0 on"),
    (7, accuracy(0.24, "opt-1.3b", 0, "xe", half=0.02), "intervals that leave out the limit (n = 1,620)", "OPT-1.3B"),
    (8, p_value(0.2, "llama-2-7b", "they", "xe"), "a significant test (n = 60)", "Llama-2-7B: xe"),
    (9, accuracy(0.54, "opt-125m", 3, half=0.02), OVERLAP, "OPT-125M: 0.550 (0.548 to 0.552) with 0, 0.540 (0.520"),
    (10, accuracy(0.34, list(RUN), 1, half=0.05), LIMIT, "points over 29 scored models: 38.2 (33.0 to 43.4)"),
    (11, accuracy(0.20, "pythia-1b", 4, half=0.2), OVERLAP, "Pythia-1B: "),
    (12, accuracy(0.42, "bert-base", 5, half=0.02), OVERLAP, "BERT-base: 0.420 (0.400 to 0.440) with 5, 0.410"),
    (13, accuracy(0.10, list(RUN), 5), OVERLAP, "0 of 22 pairs, 22 with intervals that overlap"),
    (14, accuracy(0.859, "opt-66b"), OVERLAP, "RoBERTa-base 0.860 (0.858 to 0.862), OPT-66B 0.859"),
    (15, accuracy(0.65, "llama-2-70b", 5, half=0.4), OVERLAP, "Llama-2-70B 0.650 (0.250 to 1.050)"),
    (16, errors(30, "opt-13b", 2), "intervals that leave out the limit (n = 10)", "OPT-13B with 2: 0.840 (0.4"),
    (17, errors(300, "pythia-70m", 4), "intervals that do not overlap (n = 100)", "Pythia-70M: "),
    (18, errors(30, "roberta-large", 5), "intervals that do not overlap (n = 10)", "RoBERTa-large: bias"),
    (19, errors(300, "llama-2-70b", [1, 2, 3]), "intervals that do not overlap (n = 100)", "Llama-2-70B"),
    (20, prompted([0.40, 0.82] * 5, "flan-t5-small", 1), "a significant test (n = 10)", "FLAN-T5-small: "),
]


@pytest.mark.parametrize("number", range(1, 21))
def test_every_finding_holds_where_it_should(number):
    found = verdict(number, made())
    assert (found.verdict, found.missing) == ("holds", ()), found
    assert found.evidence


@pytest.mark.parametrize(("number", "change", "lacking", "words"), UNDECIDED)
def test_every_finding_is_open_where_intervals_and_tests_do_not_tell(number, change, lacking, words):
    run = made()
    change(run)
    found = verdict(number, run)
    assert (found.verdict, found.missing) == ("undecided", (lacking,)), found
    texts = [c.text for c in findings.FINDINGS[number - 1].checks(run) if c.outcome is None]
    assert any(words in text for text in texts), texts


@pytest.mark.parametrize(("number", "change", "words"), BROKEN)
def test_every_finding_fails_where_it_should(number, change, words):
    run = made()
    change(run)
    found = verdict(number, run)
    assert found.verdict == "fails", found
    assert words in found.evidence


def test_every_finding_is_in_the_tables():
    assert {number for number, *_ in BROKEN} == {number for number, *_ in UNDECIDED} == set(range(1, 21))
    assert [finding.number for finding in findings.FINDINGS] == list(range(1, 21))


def test_comparisons_over_few_occupations_are_students():
    run = made()
    run.estimates["clusters"] = 4
    accuracy(0.60, "opt-125m", 3, half=0.03)(run)
    found = findings.distractors_hurt(run)[run.everyone.index("opt-125m") * 5 + 2]
    assert found.text == "OPT-125M: 0.550 (0.548 to 0.552) with 0, 0.600 (0.570 to 0.630) with 3"
    assert found.p == pytest.approx(2 * t.sf(t.ppf(0.975, 3) * 0.05 / 0.032, 3))
    # A mean over models rests on no more occupations than they, and four tell nothing about a rank correlation.
    assert run.mean_acc(run.encoders, 0).clusters == 4
    assert verdict(4, run).missing[0] == estimates.BOUND + " (n = 6,480)"


@pytest.mark.parametrize("occupations", [60, 4])
def test_a_model_that_always_picks_one_set_is_not_hurt_by_distractors(occupations):
    """No occupation differs: that is a certain no, if there are enough of them."""
    run = made()
    for k in range(6):
        accuracy(0.25, "opt-125m", k, half=0.02)(run)
        for kind, value in (("distraction", 0), ("bias", 1), ("other", 0)):
            if k:
                error(value, "opt-125m", k, kind)(run)
    rows = run.estimates
    of_model = (rows.model == "opt-125m") & (rows.metric == "accuracy")
    overall = rows[of_model & (rows.pronoun == "") & (rows["case"] == "")]
    sets = [overall.assign(pronoun=name, value=float(name == "he")) for name in synthetic.FOUR]
    changed = pd.concat([rows[~of_model], overall, *sets], ignore_index=True)
    changed.loc[changed.metric == "accuracy", "clusters"] = occupations
    run = replace(run, estimates=changed)
    opposite = "fails" if occupations == 60 else "undecided"
    assert [verdict(number, run).verdict for number in (9, 11)] == [opposite] * 2
    # In none of its errors it follows the distractor, with two as with one.
    assert "OPT-125M: 0.000 (0.000 to 0.000) with 1, 0.000 (0.000 to 0.000) with 2" in verdict(17, run).evidence


def restricted(run, keep):
    """Return a run that has only some models."""
    tables = (frame[frame.model.isin([*keep, ""])] for frame in (run.estimates, run.tests))
    return quantities.Results(run.models, run.printed, *tables)


def test_a_finding_about_all_models_is_not_shown_by_some():
    some = restricted(made(), [m for m in RUN if m != "opt-66b"])
    found = verdict(9, some)
    assert (found.verdict, found.missing) == ("undecided", ("OPT-66B",))
    assert found.evidence == "all 140 checks that could be made hold"
    # A finding that does not speak of it is decided.
    assert (verdict(2, some).missing, verdict(12, some).verdict) == (("OPT-66B",), "holds")
    # One model is enough for a counterexample.
    run = made()
    accuracy(0.90, "opt-125m", 3)(run)
    found = verdict(9, restricted(run, ["opt-125m"]))
    assert (found.verdict, len(found.missing)) == ("fails", 28)


def test_findings_say_what_a_run_lacks():
    run = made()
    few = replace(run, estimates=run.estimates[run.estimates.n_distractors.isin(["0", "5"])])
    counts = ("1 distractor", "2 distractors", "3 distractors", "4 distractors")
    assert (verdict(11, few).verdict, verdict(11, few).missing) == ("undecided", counts)
    assert verdict(15, few).verdict == "holds"
    other = run.tests[run.tests.model == "opt-125m"].assign(model="tiny")
    pooled = replace(run, tests=pd.concat([run.tests, other]))
    assert verdict(5, pooled).missing == ("a test over the study's models alone",)
    # A model without unambiguous errors decides nothing.
    error(float("nan"), "mosaicbert", 5, ["distraction", "bias", "other"])(run)
    assert (verdict(16, run).evidence, verdict(18, run).verdict) == ("all 144 checks hold", "holds")


@pytest.mark.parametrize(
    "options", [{"excluded": frozenset(MODELS.model)}, {"obstacle": "not in this run: a choice among exactly he"}]
)
def test_excluded_models_and_other_options_decide_nothing(options):
    run = made(**options)
    assert {(verdict(number, run).verdict, verdict(number, run).evidence) for number in range(1, 21)} == {
        ("undecided", "")
    }


@pytest.mark.parametrize(
    ("models", "verdicts"), [(synthetic.DEMONSTRATION, {"undecided"}), (RUN, {"holds"})], ids=["default", "study"]
)
def test_findings_are_counted_by_template_set(tmp_path, models, verdicts):
    """The default run has two models that belong to no study; neither run has prompted models (finding 20)."""
    tables = synthetic.tables(models, SETS)
    found, tex, numbers = run_script(
        findings.findings, tmp_path, tables, ("replica", "official"), printed=PRINTED, models=models
    )
    assert set(found[found.number < 20].verdict) == verdicts
    assert set(found[found.number == 20].verdict) == {"undecided"} and len(found) == 40
    held = 19 if verdicts == {"holds"} else 0
    assert [numbers[f"findings.{name}"]["value"] for name in ("official.holds", "total")] == [held, 20]
    assert not held or numbers["findings.same"]["value"] == numbers["findings.decided_twice"]["value"] == 19
    # The sets agree in all evidence.
    assert ("Replica and Official & Evidence" in tex) == (held > 0) == (tex != finding_verdicts.EMPTY_TABLE)
    first = found[found.number == 1].iloc[0]
    assert (first.n_missing, str(first.missing).split("; ")[0]) == ((0, "nan") if held else (29, "ALBERT-v2-base"))


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["opt-125m", "bert-base"])
def test_a_card_and_a_run_with_the_model_never_contradict_each_other(model):
    decided = set()
    alone = MODELS[MODELS.model == model]
    for number, world in product(sorted(findings.ONE_MODEL), ("true", "false", "border")):
        whole = simulated_findings.SIMULATION.data(number, world, "study", np.random.default_rng(1))
        one = restricted(whole, [model])
        results = {"replica": quantities.Results(alone, one.printed, one.estimates, one.tests)}
        card = finding_verdicts.single_model_verdicts(findings.FINDINGS, findings.ONE_MODEL, results)
        card = card.set_index("number")
        assert set(card.about) == {finding_verdicts.EACH_MODEL, finding_verdicts.MODELS_TOGETHER}
        # With this model alone, and with all models of the study.
        for run in (one, whole):
            assert (verdict(number, run).verdict, card.verdict[number]) != ("holds", "fails")
        assert (verdict(number, one).verdict, card.verdict[number]) != ("fails", "holds")
        decided.add(card.verdict[number])
    assert {"holds", "fails"} <= decided
