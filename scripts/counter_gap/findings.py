"""The findings of Counter-GAP as tests over its estimates (``paper/published/README.md`` says of what).

A finding is a function of the :class:`Results` of one set of quadruples that returns its checks. What the study tests
is decided by its test, and every other comparison by the bootstrap's 95 % intervals: where they overlap, it is not
decided. Where the study says that there is no difference, the interval decides: within :data:`NEGLIGIBLE` there is
none unless the test finds one, and beyond it there is one. Rules are not among the study's systems and are never
looked at.
"""

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.paper import checks
from scripts.core.paper.estimates import (
    BOUND,
    SEPARATE_INTERVALS,
    Estimate,
    Z,
    absolute_estimate,
    compare_all,
    compare_values,
    compare_with_bound,
    compare_with_limits,
    is_greater,
    is_within,
    require_decided,
)
from scripts.core.paper.finding_verdicts import (
    Check,
    Comparison,
    Finding,
    MissingEvidence,
    evaluate_check,
    write_verdicts,
)
from scripts.core.paper.formats import format_percent, p_text, with_sign
from scripts.core.statistics import procedures
from scripts.core.workflow.job import run_named
from scripts.counter_gap import study
from scripts.counter_gap.metrics import TESTED_METRICS
from scripts.counter_gap.published import comparable

SYSTEMS = tuple(study.SYSTEMS.values())
FAMILIES = (("BERT-base", "BERT-large"), ("SpanBERT-base", "SpanBERT-large"))
METHODS = study.METHODS[1:]
SHORT = {"delta_i": "Delta I", "acc_diff": "Acc_Diff"}
METRICS = {
    "accuracy": "the accuracy",
    "acc_diff": "the accuracy difference",
    "delta_i": "the difference of inconsistencies",
    "original_minus_counterfactual": "the difference of original and counterfactual accuracy",
    "i_within_diff": "the difference within genders",
    "i_across_diff": "the difference across genders",
    "spearman_rho": "the rank correlation",
    "conll_f1": "F1",
}
"""Metrics in words."""
ZERO = Estimate(0.0, 0.0, 0.0, 0)
WEAK = 0.1
"""A rank correlation between minus and plus this counts as close to zero, as Section 4.2 says of its Table 4."""
FEW = 100
"""Of fewer quadruples the samples of a rank correlation are too much alike."""
NEGLIGIBLE = 0.02
"""A difference counts as none when its interval lies between minus and plus two points: so close a published percentage
counts as reproduced (``paper/published/README.md``). A test that finds nothing shows nothing by that alone."""
FINDINGS: list[Finding] = []
"""In the order of the study."""
states = partial(checks.register, FINDINGS)


class Results:
    """The values of one set of quadruples, of GAP and of corpora, from estimates with each system once."""

    def __init__(self, table: pd.DataFrame):
        rows = study.pick(table[table.kind != HEURISTIC], role=["", "original"])
        # Quadruples have no name of their data.
        rows = rows.assign(data=rows.templates.where(rows.templates.isin([*study.GAP, *study.CORPORA]), ""))
        keys = rows[["data", "system", "debiasing", "role", "metric"]].itertuples(index=False, name=None)
        self._rows: dict[tuple, Any] = dict(zip(keys, rows.itertuples(), strict=True))
        assert len(self._rows) == len(rows), "each system once"

    def row(self, system: str, metric: str, debiasing: str = "none", role: str = "", data: str = "") -> Any:
        """Return a row over both genders; :class:`MissingEvidence` if it is not there."""
        key = data, system, debiasing, role, metric
        if key in self._rows:
            return self._rows[key]
        name = system + (f" after {debiasing}" if debiasing != "none" else "")
        name += f" on {(study.GAP | study.CORPORA)[data]}" if data else ""
        known = any(other[:3] == key[:3] for other in self._rows)
        raise MissingEvidence(f"{METRICS[metric]} of {name}" if known else name)

    def estimate(self, *levels: str, **named: str) -> Estimate:
        """Return a value (arguments of :meth:`row`) with its interval and the number of quadruples.

        An interval of quadruples that all agree is exact (:func:`scripts.core.paper.estimates.from_samples`).
        """
        row = self.row(*levels, **named)
        n, ends = int(row.clusters), (float(row.low), float(row.high))
        least = -1.0 if row.metric in TESTED_METRICS else 0.0
        agreeing = np.allclose(ends, procedures.agreeing_interval(row.value, n, least=least), atol=1e-9)
        return Estimate(float(row.value), *ends, n, None if agreeing else n)


def findings(
    *, estimates: str, csv: str, tex: str, numbers: str, template_sets: list, every_set: list, labels: dict,
    alpha: float,
) -> None:  # fmt: skip
    """Test every finding of the study on the estimates of the run.

    Write the verdicts (CSV), the table of the paper (LaTeX) and how often each fell (JSON). For the sets of
    ``every_set`` that are not among ``template_sets`` no finding is applicable.
    """
    table = study.read_estimates(estimates, labels, alpha)
    compared = {name: comparable(table, name) for name in template_sets}
    present = {name: len({*rows.system[rows.templates == name]} & {*SYSTEMS}) for name, rows in compared.items()}
    runs = {name: Results(rows) for name, rows in compared.items()}
    write_verdicts(FINDINGS, runs, every_set, csv=csv, tex=tex, numbers=numbers, models=present)


def in_points(value: float) -> str:
    """Return a difference in percent with its sign."""
    return format_percent(value, signed=True)


def in_percent(estimate: Estimate, signed: bool = True) -> str:
    """Return an estimate in percent with its interval."""
    return (estimate * 100).text(2, signed=signed)


def describe_doubt(name: str, row: Any, significant: bool) -> str:
    """Return what speaks against a star that a finding rests on: the centred bootstrap, or Holm's correction."""
    objections = []
    if bool(row.significant_centred) != bool(row.significant):
        objections.append(f"p {p_text(row.p_centred)} by the centred bootstrap against p {p_text(row.p_value)}")
    if significant and not row.significant_holm:
        objections.append(f"not significant after Holm's correction (p {p_text(row.p_holm)})")
    return f"{name}: {', and '.join(objections)}" if objections else ""


def is_positive(difference: Estimate, text: str, lacking: str = SEPARATE_INTERVALS) -> tuple:
    """Return whether a difference is positive, with the text; without one in any quadruple it may be negligible."""
    outcome = compare_with_bound(difference, 0)
    if difference.clusters is None and not difference.value:
        outcome = Comparison(wrong=compare_with_bound(difference, NEGLIGIBLE).wrong)
    return require_decided(outcome, text, difference.n, lacking)


def is_smaller(smaller: Estimate, larger: Estimate, text: str, signed: bool = True) -> tuple:
    """Return whether one value is below another, whose numbers stand behind the text, the smaller first."""
    return is_positive(larger - smaller, f"{text}{in_percent(smaller, signed)} against {in_percent(larger, signed)}")


def decide_by_test(row: Any, value: Estimate, text: str) -> tuple:
    """Decide a value by its test, which says nothing where it is not significant: then the interval may be below 0."""
    found = Comparison(row.p_value if row.significant and row.value > 0 else 1.0, compare_with_bound(value, 0).wrong)
    return require_decided(found, text, value.n, BOUND)


def is_significant(run: Results, metric: str, system: str, expected: bool, debiasing: str = "none") -> tuple:
    """Return whether a value is significant, or whether there is none."""
    row, value = run.row(system, metric, debiasing), run.estimate(system, metric, debiasing)
    name = SHORT[metric]
    objection = describe_doubt(f"{system}, {name}", row, expected)
    if expected:
        star = "significant" if row.significant else "not significant"
        return *decide_by_test(row, value, f"{system}: {name} {in_points(row.value)} {star}"), objection
    none = compare_with_limits(value, -NEGLIGIBLE, NEGLIGIBLE)
    found = Comparison(1.0 if row.significant else none.right, none.wrong)
    return *require_decided(found, f"{system}: {name} {in_percent(value)}", value.n, BOUND), objection


def has_sign(run: Results, metric: str, sign: int, system: str) -> tuple:
    """Return whether a difference has a sign."""
    value = run.estimate(system, metric)
    return is_positive(value * sign, f"{system}: {in_percent(value)}", BOUND)


@states(1, "Section 4.1", "All systems are significantly more inconsistent across genders than within.")
@checks.each(SYSTEMS)
def all_are_biased(run: Results, system: str) -> tuple:
    row = run.row(system, "delta_i")
    text = f"{system}: {in_points(row.value)}, p {p_text(row.p_value)}"
    return *decide_by_test(row, run.estimate(system, "delta_i"), text), describe_doubt(system, row, True)


@states(2, "Section 4.1", "The accuracy difference is smaller than Delta I.")
@checks.each(SYSTEMS)
def smaller_difference(run: Results, system: str) -> tuple:
    return is_smaller(
        absolute_estimate(run.estimate(system, "acc_diff")), run.estimate(system, "delta_i"), f"{system}: "
    )


@states(3, "Section 4.1", "For BERT-large the accuracy difference misses a bias that Delta I finds.")
def missed_bias(run: Results) -> list[Check]:
    stars = {"acc_diff": False, "delta_i": True}
    return [evaluate_check(is_significant, run, metric, "BERT-large", star) for metric, star in stars.items()]


@states(4, "Section 4.1", "The large system of a family is less biased by both measures.")
@checks.each(FAMILIES, ("acc_diff", "delta_i"))
def large_is_less_biased(run: Results, pair: tuple[str, str], metric: str) -> tuple:
    small, big = (absolute_estimate(run.estimate(system, metric)) for system in pair)
    return is_smaller(big, small, f"{pair[1]}, {metric}: ")


@states(5, "Section 4.1", "Every system leans towards masculine.")
@checks.each(SYSTEMS)
def leans_to_masculine(run: Results, system: str) -> tuple:
    return has_sign(run, "acc_diff", 1, system)


@states(6, "Section 4.1", "Inconsistency within genders is larger for feminine.")
@checks.each(SYSTEMS)
def within_feminine(run: Results, system: str) -> tuple:
    return has_sign(run, "i_within_diff", -1, system)


@states(7, "Section 4.1", "Inconsistency across genders is larger from feminine originals.")
@checks.each(SYSTEMS)
def across_feminine(run: Results, system: str) -> tuple:
    return has_sign(run, "i_across_diff", -1, system)


@states(8, "Section 4.2", "Counterfactual instances are no harder than original ones.")
@checks.each(SYSTEMS)
def no_harder(run: Results, system: str) -> tuple:
    row = run.row(system, "original_minus_counterfactual")
    value = run.estimate(system, "original_minus_counterfactual")
    found = compare_with_bound(value, NEGLIGIBLE)
    outcome = Comparison(1.0 if row.significant and row.value > 0 else found.wrong, found.right)
    decided = require_decided(outcome, f"{system}: {in_percent(value)}", value.n, BOUND)
    return *decided, describe_doubt(system, row, False)


@states(9, "Section 4.2", "Inconsistency across genders does not depend on the original gender.")
@checks.each(SYSTEMS)
def uncorrelated(run: Results, system: str) -> tuple:
    row, rho = run.row(system, "spearman_rho"), run.estimate(system, "spearman_rho")
    if rho.n < FEW:
        # The bootstrap's interval is too narrow: Fisher's transformation (Fieller et al. 1957) has the least.
        reach = Z * 1.03 / math.sqrt(max(rho.n - 3, 1))
        ends = [math.tanh(math.atanh(float(np.clip(rho.value, -0.999, 0.999))) + side * reach) for side in (-1, 1)]
        rho = Estimate(rho.value, min(rho.low, ends[0]), max(rho.high, ends[1]), rho.n, rho.clusters)
    p = p_text(row.p_value)
    objection = f"{system}: {with_sign(row.value, 3)} is significant in the same test as the stars (p {p})"
    decided = is_within(rho, -WEAK, WEAK, f"{system}: {rho.text(3, signed=True)}, p {p}")
    return *decided, objection if row.significant else ""


@states(10, "Section 4.3", "For SpanBERT-large the accuracy difference is smaller than on GAP and on originals alone.")
@checks.each((("GAP", {"data": "gap_test"}), ("the originals", {"role": "original"})))
def quadruples_differ_less(run: Results, other: tuple[str, dict[str, str]]) -> tuple:
    name, place = other
    here, there = (absolute_estimate(run.estimate("SpanBERT-large", "acc_diff", **levels)) for levels in ({}, place))
    return is_positive(there - here, f"{in_percent(here)} against {in_percent(there)} on {name}")


@states(11, "Section 4.3", "GAP and the originals alone point in opposite directions.")
@checks.each()
def opposite_directions(run: Results) -> tuple:
    originals = run.estimate("SpanBERT-large", "acc_diff", role="original")
    gap = run.estimate("SpanBERT-large", "acc_diff", data="gap_test")
    outcome = compare_all([compare_values(gap, ZERO), compare_values(ZERO, originals)])
    return require_decided(outcome, f"GAP {in_percent(gap)}, originals {in_percent(originals)}", originals.n)


@states(12, "Section 5", "Both debiasing methods lower Delta I.")
@checks.each(SYSTEMS, METHODS)
def debiased(run: Results, system: str, method: str) -> tuple:
    none, value = (run.estimate(system, "delta_i", of) for of in ("none", method))
    return is_smaller(value, none, f"{system}, {method}: ")


@states(13, "Section 5", "n-CDA lowers Delta I more than a-CDA.")
@checks.each(SYSTEMS)
def names_beat_anonymising(run: Results, system: str) -> tuple:
    named, anonymous = (run.estimate(system, "delta_i", method) for method in ("n-CDA", "a-CDA"))
    return is_smaller(named, anonymous, f"{system}: ")


@states(14, "Section 5", "After a-CDA Delta I is significant, but Acc_Diff of BERT-base and SpanBERT-large is not.")
def bias_after_anonymising(run: Results) -> list[Check]:
    stars = [("delta_i", system, True) for system in SYSTEMS]
    stars += [("acc_diff", system, False) for system in ("BERT-base", "SpanBERT-large")]
    return [evaluate_check(is_significant, run, *star, "a-CDA") for star in stars]


@states(15, "Section 5", "After n-CDA only BERT-base keeps a significant Delta I, without a significant Acc_Diff.")
def bias_after_names(run: Results) -> list[Check]:
    stars = [("delta_i", system, system == "BERT-base") for system in SYSTEMS] + [("acc_diff", "BERT-base", False)]
    return [evaluate_check(is_significant, run, *star, "n-CDA") for star in stars]


@states(16, "Section 5", "Debiasing does not lower the overall accuracy.")
@checks.each(SYSTEMS, METHODS)
def as_accurate(run: Results, system: str, method: str) -> tuple:
    none, value = (run.estimate(system, "accuracy", of) for of in ("none", method))
    return is_greater(value, none, f"{system}, {method}: {in_percent(value, False)} against {in_percent(none, False)}")


@states(17, "Section 5", "n-CDA lowers F1 on OntoNotes.")
@checks.each(SYSTEMS)
def lower_f1(run: Results, system: str) -> tuple:
    none, named = (run.estimate(system, "conll_f1", method, data="ontonotes") for method in ("none", "n-CDA"))
    return is_smaller(named, none, f"{system}: ", signed=False)


@states(18, "Table 6", "n-CDA gives the highest overall accuracy of the three.")
@checks.each(SYSTEMS)
def names_are_best(run: Results, system: str) -> tuple:
    named, *others = (run.estimate(system, "accuracy", method) for method in ("n-CDA", "none", "a-CDA"))
    text = f"{system}: {in_percent(named, False)} against {' and '.join(in_percent(other, False) for other in others)}"
    return require_decided(compare_all(compare_values(named, other) for other in others), text, named.n)


if __name__ == "__main__":
    run_named()
