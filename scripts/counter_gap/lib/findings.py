"""The findings of Counter-GAP as tests over the study's tidy tables (``paper/published/README.md`` says of what).

A finding is a function of the :class:`Results` of one set of quadruples that yields its checks. What the study tests
is decided by its test, and every other comparison by the bootstrap's 95 % intervals: where they overlap, it is not
decided. Where the study says that there is no difference, the interval decides: within :data:`NEGLIGIBLE` there is
none unless the test finds one, and beyond it there is one. Rules are not among the study's systems and are never
looked at.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from scripts.core.paper.estimates import (
    BOUND,
    SEPARATE_INTERVALS,
    Estimate,
    Z,
    absolute,
    compare_all,
    compare_values,
    compare_with_bound,
    compare_with_limits,
    is_greater,
    is_within,
    require_decided,
)
from scripts.core.paper.finding_verdicts import Comparison, Finding, MissingEvidence, check
from scripts.core.paper.formats import p_text, percent, with_sign
from scripts.core.statistics import procedures
from scripts.counter_gap.lib import study
from scripts.counter_gap.lib.analyses.metrics import TESTED_METRICS

SYSTEMS = tuple(study.SYSTEMS.values())
FAMILIES = (("BERT-base", "BERT-large"), ("SpanBERT-base", "SpanBERT-large"))
METHODS = ("a-CDA", "n-CDA")
ZERO = Estimate(0.0, 0.0, 0.0, 0)
WEAK = 0.1
"""A rank correlation between minus and plus this counts as close to zero, as Section 4.2 says of its Table 4."""
FEW = 100
"""Of fewer quadruples the samples of a rank correlation are too much alike."""
NEGLIGIBLE = 0.02
"""A difference counts as none when its interval lies between minus and plus two points: so close a published percentage
counts as reproduced (``paper/published/README.md``). A test that finds nothing shows nothing by that alone."""


class Results:
    """The values of one set of quadruples by system, debiasing and metric.

    Args:
        table: Of :func:`scripts.counter_gap.lib.tables.read`: metrics with their tests, of one scoring, and GAP's.
        quadruples: How many there are.
        corpus_scores: Of :func:`scripts.counter_gap.lib.analyses.metrics.of_corpora`.
    """

    def __init__(self, table: Any, quadruples: int, corpus_scores: Any):
        self.table = table[~table.system.map(study.is_rule)]
        self.quadruples = quadruples
        self.corpus_scores = corpus_scores

    def row(
        self,
        system: str,
        metric: str,
        group: str = "all",
        debiasing: str = "none",
        subset: str = "all",
        data: str | None = None,
    ) -> Any:
        """Return one row; :class:`scripts.core.paper.finding_verdicts.MissingEvidence` if it is not there."""
        rows = self._rows.get((data or "", system, debiasing, subset, metric, group), [])
        if len(rows) > 1:
            raise ValueError(f"{len(rows)} rows for {system}, {debiasing}, {metric}, {group}: give rows of one scoring")
        if not rows:
            name = system + (f" after {debiasing}" if debiasing != "none" else "")
            place = f" on {(study.DATA | study.CORPORA)[data]}" if data else ""
            known = any(key[:3] == (data or "", system, debiasing) for key in self._rows)
            raise MissingEvidence(f"{study.METRICS[metric]} of {name}{place}" if known else f"{name}{place}")
        return rows[0]

    @cached_property
    def _rows(self):
        """All rows by what they are of; quadruples have no name of their data."""
        found = {}
        for row in [*self.table.itertuples(), *self.corpus_scores.itertuples()]:
            data = row.data if row.data in (*study.DATA, *study.CORPORA) else ""
            found.setdefault((data, row.system, row.debiasing, row.subset, row.metric, row.group), []).append(row)
        return found

    def estimate(
        self, system: str, metric: str, debiasing: str = "none", subset: str = "all", data: str | None = None
    ) -> Estimate:
        """Return a value over all passages with its interval and the number of quadruples.

        An interval of quadruples that all agree is exact (:func:`scripts.core.paper.estimates.from_samples`).
        """
        row = self.row(system, metric, debiasing=debiasing, subset=subset, data=data)
        n = int(row.documents) if data in study.CORPORA else self.quadruples
        ends = float(row.ci_low), float(row.ci_high)
        least = -1.0 if metric in TESTED_METRICS else 0.0
        agreeing = np.allclose(ends, procedures.agreeing_interval(row.value, n, least=least), atol=1e-9)
        return Estimate(float(row.value), *ends, n, None if agreeing else n)


def _points(value: float):
    return percent(value, signed=True)


def _shown(estimate: Estimate, signed: bool = True):
    return (estimate * 100).text(2, signed=signed)


def _star(significant: bool):
    return "significant" if significant else "not significant"


def _doubt(name: str, row: Any, significant: bool):
    """Return what speaks against a star that a finding rests on: the centred bootstrap, or Holm's correction."""
    objections = []
    if bool(row.significant_centred) != bool(row.significant):
        objections.append(f"p {p_text(row.p_centred)} by the centred bootstrap against p {p_text(row.p_value)}")
    if significant and not row.significant_holm:
        objections.append(f"not significant after Holm's correction (p {p_text(row.p_holm)})")
    return f"{name}: {', and '.join(objections)}" if objections else ""


def _each(test: Callable[[Results, str], tuple], systems: Sequence[str] = SYSTEMS):
    """Return a finding's checks: one of ``test(results, system)`` for each system."""
    return lambda results: [check(test, results, system) for system in systems]


def _pairs(test: Callable[[Results, str, str], tuple]):
    return lambda results: [check(test, results, s, m) for s in SYSTEMS for m in METHODS]


def _is_positive(difference: Estimate, text: str, lacking: str = SEPARATE_INTERVALS):
    """Return whether a difference is positive, with the text; without one in any quadruple it may be negligible."""
    outcome = compare_with_bound(difference, 0)
    if difference.clusters is None and not difference.value:
        outcome = Comparison(wrong=compare_with_bound(difference, NEGLIGIBLE).wrong)
    return require_decided(outcome, text, difference.n, lacking)


def _sign(metric: str, sign: int):
    def test(results: Results, system: str):
        value = results.estimate(system, metric)
        return _is_positive(value * sign, f"{system}: {_shown(value)}", BOUND)

    return _each(test)


def _is_significant(metric: str, system: str, expected: bool, debiasing: str = "none"):
    def test(results: Results):
        row = results.row(system, metric, debiasing=debiasing)
        name = {"delta_i": "Delta I", "acc_diff": "Acc_Diff"}[metric]
        text = f"{system}: {name} {_points(row.value)} {_star(row.significant)}"
        doubt = _doubt(f"{system}, {name}", row, expected)
        value = results.estimate(system, metric, debiasing)
        if expected:
            return *_shown_positive(row, value, text), doubt
        none = compare_with_limits(value, -NEGLIGIBLE, NEGLIGIBLE)
        found = Comparison(1.0 if row.significant else none.right, none.wrong)
        return *require_decided(found, f"{system}: {name} {_shown(value)}", value.n, BOUND), doubt

    return test


def _shown_positive(row: Any, value: Estimate, text: str):
    """Decide a value by its test, which says nothing where it is not significant: then the interval may be below 0."""
    found = Comparison(row.p_value if row.significant and row.value > 0 else 1.0, compare_with_bound(value, 0).wrong)
    return require_decided(found, text, value.n, BOUND)


def _several(*tests: Callable[[Results], tuple]):
    return lambda results: [check(test, results) for test in tests]


def _biased(results: Results, system: str):
    row = results.row(system, "delta_i")
    text = f"{system}: {_points(row.value)}, p {p_text(row.p_value)}"
    return *_shown_positive(row, results.estimate(system, "delta_i"), text), _doubt(system, row, True)


def _smaller_difference(results: Results, system: str):
    difference, delta = absolute(results.estimate(system, "acc_diff")), results.estimate(system, "delta_i")
    return _is_positive(delta - difference, f"{system}: {_shown(difference)} against {_shown(delta)}")


def _large_is_less_biased(results: Results):
    def test(base: str, large: str, metric: str):
        small, big = absolute(results.estimate(base, metric)), absolute(results.estimate(large, metric))
        return _is_positive(small - big, f"{large}, {metric}: {_shown(big)} against {_shown(small)}")

    return [check(test, base, large, metric) for base, large in FAMILIES for metric in ("acc_diff", "delta_i")]


def _no_harder(results: Results, system: str):
    row = results.row(system, "original_minus_counterfactual")
    value = results.estimate(system, "original_minus_counterfactual")
    found = compare_with_bound(value, NEGLIGIBLE)
    outcome = Comparison(1.0 if row.significant and row.value > 0 else found.wrong, found.right)
    return *require_decided(outcome, f"{system}: {_shown(value)}", value.n, BOUND), _doubt(system, row, False)


def _uncorrelated(results: Results, system: str):
    row, rho = results.row(system, "spearman_rho"), results.estimate(system, "spearman_rho")
    if rho.n < FEW:
        # The bootstrap's interval is too narrow: that by Fisher's transformation (Fieller et al. 1957) is the least.
        reach = Z * 1.03 / math.sqrt(max(rho.n - 3, 1))
        ends = [math.tanh(math.atanh(float(np.clip(rho.value, -0.999, 0.999))) + side * reach) for side in (-1, 1)]
        rho = Estimate(rho.value, min(rho.low, ends[0]), max(rho.high, ends[1]), rho.n, rho.clusters)
    doubt = (
        f"{system}: {with_sign(row.value, 3)} is significant in the same test as the stars (p {p_text(row.p_value)})"
    )
    decided = is_within(rho, -WEAK, WEAK, f"{system}: {rho.text(3, signed=True)}, p {p_text(row.p_value)}")
    return *decided, doubt if row.significant else ""


def _quadruples_differ_less(results: Results):
    system = "SpanBERT-large"

    def test(name: str, options: dict[str, str]):
        here = absolute(results.estimate(system, "acc_diff"))
        there = absolute(results.estimate(system, "acc_diff", **options))
        return _is_positive(there - here, f"{_shown(here)} against {_shown(there)} on {name}")

    places = {"GAP": {"data": "gap_test"}, "the originals": {"subset": "originals"}}
    return [check(test, name, options) for name, options in places.items()]


def _gap_and_originals(results: Results):
    system = "SpanBERT-large"
    originals = results.estimate(system, "acc_diff", subset="originals")
    gap = results.estimate(system, "acc_diff", data="gap_test")
    outcome = compare_all([compare_values(gap, ZERO), compare_values(ZERO, originals)])
    return require_decided(outcome, f"GAP {_shown(gap)}, originals {_shown(originals)}", originals.n)


def _debiased(results: Results, system: str, method: str):
    none, value = results.estimate(system, "delta_i"), results.estimate(system, "delta_i", debiasing=method)
    return _is_positive(none - value, f"{system}, {method}: {_shown(value)} against {_shown(none)}")


def _names_beat_anonymising(results: Results, system: str):
    named, anonymous = (results.estimate(system, "delta_i", debiasing=m) for m in ("n-CDA", "a-CDA"))
    return _is_positive(anonymous - named, f"{system}: {_shown(named)} against {_shown(anonymous)}")


def _as_accurate(results: Results, system: str, method: str):
    none, value = results.estimate(system, "accuracy"), results.estimate(system, "accuracy", debiasing=method)
    return is_greater(value, none, f"{system}, {method}: {_shown(value, False)} against {_shown(none, False)}")


def _lower_f1(results: Results, system: str):
    none, named = (results.estimate(system, "conll_f1", m, data="ontonotes") for m in ("none", "n-CDA"))
    return _is_positive(none - named, f"{system}: {_shown(named, False)} against {_shown(none, False)}")


def _names_are_best(results: Results, system: str):
    named, *others = (results.estimate(system, "accuracy", debiasing=m) for m in ("n-CDA", "none", "a-CDA"))
    text = f"{system}: {_shown(named, False)} against {' and '.join(_shown(other, False) for other in others)}"
    return require_decided(compare_all(compare_values(named, other) for other in others), text, named.n)


FINDINGS = (
    Finding(
        1, "Section 4.1", "All systems are significantly more inconsistent across genders than within.", _each(_biased)
    ),
    Finding(2, "Section 4.1", "The accuracy difference is smaller than Delta I.", _each(_smaller_difference)),
    Finding(
        3, "Section 4.1", "For BERT-large the accuracy difference misses a bias that Delta I finds.",
        _several(_is_significant("acc_diff", "BERT-large", False), _is_significant("delta_i", "BERT-large", True)),
    ),
    Finding(4, "Section 4.1", "The large system of a family is less biased by both measures.", _large_is_less_biased),
    Finding(5, "Section 4.1", "Every system leans towards masculine.", _sign("acc_diff", 1)),
    Finding(6, "Section 4.1", "Inconsistency within genders is larger for feminine.", _sign("i_within_diff", -1)),
    Finding(
        7, "Section 4.1", "Inconsistency across genders is larger from feminine originals.", _sign("i_across_diff", -1)
    ),
    Finding(8, "Section 4.2", "Counterfactual instances are no harder than original ones.", _each(_no_harder)),
    Finding(
        9, "Section 4.2", "Inconsistency across genders does not depend on the original gender.", _each(_uncorrelated)
    ),
    Finding(
        10, "Section 4.3", "For SpanBERT-large the accuracy difference is smaller than on GAP and on originals alone.",
        _quadruples_differ_less,
    ),
    Finding(
        11, "Section 4.3", "GAP and the originals alone point in opposite directions.", _several(_gap_and_originals)
    ),
    Finding(12, "Section 5", "Both debiasing methods lower Delta I.", _pairs(_debiased)),
    Finding(13, "Section 5", "n-CDA lowers Delta I more than a-CDA.", _each(_names_beat_anonymising)),
    Finding(
        14, "Section 5", "After a-CDA Delta I is significant, but Acc_Diff of BERT-base and SpanBERT-large is not.",
        _several(
            *(_is_significant("delta_i", system, True, "a-CDA") for system in SYSTEMS),
            *(_is_significant("acc_diff", system, False, "a-CDA") for system in ("BERT-base", "SpanBERT-large")),
        ),
    ),
    Finding(
        15, "Section 5", "After n-CDA only BERT-base keeps a significant Delta I, without a significant Acc_Diff.",
        _several(
            *(_is_significant("delta_i", system, system == "BERT-base", "n-CDA") for system in SYSTEMS),
            _is_significant("acc_diff", "BERT-base", False, "n-CDA"),
        ),
    ),
    Finding(16, "Section 5", "Debiasing does not lower the overall accuracy.", _pairs(_as_accurate)),
    Finding(17, "Section 5", "n-CDA lowers F1 on OntoNotes.", _each(_lower_f1)),
    Finding(18, "Table 6", "n-CDA gives the highest overall accuracy of the three.", _each(_names_are_best)),
)  # fmt: skip
"""In the order of the study."""
