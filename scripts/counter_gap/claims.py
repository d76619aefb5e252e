"""The study's findings as tests over the wing's tidy tables.

Each claim is a function of the rows of one source (metrics.csv joined with significance.csv, see
:func:`scripts.counter_gap.tables.read`; for GAP also its rows) that returns a verdict and a detail. Verdicts are
``holds``, ``fails`` (the detail is the counterexample) and ``not run`` (the detail is what is missing). Rules are not
among the study's models and are never looked at. Values are shares; ``subset`` asks the same of fewer quadruples.
"""

HOLDS, FAILS, NOT_RUN = "holds", "fails", "not run"
FAMILIES = (("BERT-base", "BERT-large"), ("SpanBERT-base", "SpanBERT-large"))


class Missing(Exception):
    """A value that a claim needs is not in the table."""


class Results:
    """One source's values by system, debiasing and metric."""

    def __init__(self, table, subset="all"):
        self.table = table[~table.system.str.endswith("(rule)")]
        self.subset = subset

    @property
    def models(self):
        """The systems that were run without debiasing, in order; :class:`Missing` without any."""
        own = self.table[(self.table.debiasing == "none") & ~self.table.source.str.startswith("gap_")]
        if own.empty:
            raise Missing("no coreference system was run")
        return list(own.system.unique())

    def row(self, system, metric, group="all", debiasing="none", subset=None, data=None):
        """Return one row; :class:`Missing` if it is not there."""
        gap = self.table.source.str.startswith("gap_")
        own = self.table[
            (self.table.source.str.startswith(f"{data}/") if data else ~gap)
            & (self.table.system == system)
            & (self.table.debiasing == debiasing)
            & (self.table.subset == (subset or self.subset))
            & (self.table.metric == metric)
            & (self.table.group == group)
        ]
        if len(own) > 1:
            raise ValueError(f"{len(own)} rows for {system}, {debiasing}, {metric}, {group}: give rows of one source")
        if own.empty:
            place = data or (subset or self.subset)
            raise Missing(f"{metric} ({group}) of {system}, {debiasing}, on {place}")
        return own.iloc[0]

    def value(self, *arguments, **options):
        """Return one value."""
        return float(self.row(*arguments, **options).value)

    def significant(self, *arguments, **options):
        """Tell whether one value is significant, before correction, as the study counts it."""
        return bool(self.row(*arguments, **options).significant)


def _points(value):
    return f"{100 * value:+.2f}"


def _verdict(failures, checked):
    if failures:
        return FAILS, "; ".join(failures)
    return HOLDS, f"in all {checked} cases"


def _claim(function):
    """Let a claim return its failures and how many cases it checked; turn what is missing into ``not run``."""

    def claim(table, subset="all"):
        try:
            return _verdict(*function(Results(table, subset)))
        except Missing as missing:
            return NOT_RUN, f"missing: {missing}"

    claim.__name__, claim.__doc__ = function.__name__, function.__doc__
    return claim


@_claim
def all_models_are_biased(results):
    """Delta I is positive and significant for every model (Section 4.1, Table 3)."""
    failures = []
    for model in results.models:
        row = results.row(model, "delta_i")
        if not (row.value > 0 and row.significant):
            failures.append(f"{model}: {_points(row.value)}, p = {row.p_value:.4f}")
    return failures, len(results.models)


@_claim
def accuracy_difference_is_smaller(results):
    """The absolute accuracy difference is smaller than Delta I (Section 4.1)."""
    failures = []
    for model in results.models:
        difference, delta = abs(results.value(model, "acc_diff")), results.value(model, "delta_i")
        if not difference < delta:
            failures.append(f"{model}: {_points(difference)} against {_points(delta)}")
    return failures, len(results.models)


@_claim
def bert_large_hides_its_bias(results):
    """For BERT-large the accuracy difference is not significant and Delta I is (Section 4.1)."""
    failures = []
    if results.significant("BERT-large", "acc_diff"):
        failures.append(f"the accuracy difference {_points(results.value('BERT-large', 'acc_diff'))} is significant")
    if not results.significant("BERT-large", "delta_i"):
        failures.append(f"Delta I {_points(results.value('BERT-large', 'delta_i'))} is not significant")
    return failures, 2


@_claim
def large_models_are_less_biased(results):
    """In both families the large model has the lower absolute accuracy difference and Delta I (Section 4.1)."""
    failures = []
    for base, large in FAMILIES:
        for metric in ("acc_diff", "delta_i"):
            small, big = abs(results.value(base, metric)), abs(results.value(large, metric))
            if not big < small:
                failures.append(f"{large}, {metric}: {_points(big)} against {_points(small)}")
    return failures, 4


@_claim
def models_lean_to_masculine(results):
    """The accuracy difference is positive for every model (Section 4.1, Table 2)."""
    return _signs(results, "acc_diff", 1)


@_claim
def within_is_larger_for_feminine(results):
    """Inconsistency within genders is larger in the feminine group for every model (Section 4.1, Table 3)."""
    return _signs(results, "i_within_diff", -1)


@_claim
def feminine_originals_change_more(results):
    """Inconsistency across genders is larger from feminine originals for every model (Section 4.1, Table 3)."""
    return _signs(results, "i_across_diff", -1)


def _signs(results, metric, sign):
    failures = []
    for model in results.models:
        value = results.value(model, metric)
        # Sums of shares that should be zero can be off by a rounding error.
        if not sign * value > 1e-12:
            failures.append(f"{model}: {_points(value) if abs(value) > 1e-12 else '0.00'}")
    return failures, len(results.models)


@_claim
def counterfactuals_are_no_harder(results):
    """The accuracies on original and counterfactual genders do not differ significantly (Section 4.2, Table 4)."""
    metric = "original_minus_counterfactual"
    failures = [
        f"{model}: {_points(results.value(model, metric))}"
        for model in results.models
        if results.significant(model, metric)
    ]
    return failures, len(results.models)


@_claim
def original_gender_does_not_matter(results):
    """The rank correlation with the original gender is under 0.1 in absolute value (Section 4.2, Table 4)."""
    values = {model: results.value(model, "spearman_rho") for model in results.models}
    return [f"{model}: {value:+.3f}" for model, value in values.items() if not abs(value) < 0.1], len(values)


@_claim
def quadruples_reduce_the_difference(results):
    """SpanBERT-large differs less on quadruples than on GAP and on the originals alone (Section 4.3, Table 5)."""
    model = "SpanBERT-large"
    own, originals = (abs(results.value(model, "acc_diff", subset=s)) for s in ("all", "originals"))
    gap = abs(results.value(model, "acc_diff", subset="all", data="gap_test"))
    failures = [f"{_points(own)} against {_points(other)}" for other in (gap, originals) if not own < other]
    return failures, 2


@_claim
def gap_and_originals_disagree(results):
    """For SpanBERT-large GAP gives a positive, the originals alone a negative difference (Section 4.3, Table 5)."""
    model = "SpanBERT-large"
    originals = results.value(model, "acc_diff", subset="originals")
    gap = results.value(model, "acc_diff", subset="all", data="gap_test")
    return [] if gap > 0 > originals else [f"GAP {_points(gap)}, originals {_points(originals)}"], 1


@_claim
def debiasing_lowers_bias(results):
    """Both debiasing methods lower Delta I of every model (Section 5, Table 6)."""
    failures = []
    for model in results.models:
        none = results.value(model, "delta_i")
        for method in ("a-CDA", "n-CDA"):
            value = results.value(model, "delta_i", debiasing=method)
            if not value < none:
                failures.append(f"{model}, {method}: {_points(value)} against {_points(none)}")
    return failures, 2 * len(results.models)


@_claim
def names_lower_bias_more(results):
    """Delta I is lower after n-CDA than after a-CDA for every model (Section 5, Table 6)."""
    failures = []
    for model in results.models:
        named, anonymous = (results.value(model, "delta_i", debiasing=m) for m in ("n-CDA", "a-CDA"))
        if not named < anonymous:
            failures.append(f"{model}: {_points(named)} against {_points(anonymous)}")
    return failures, len(results.models)


@_claim
def anonymising_hides_bias(results):
    """After a-CDA Delta I is significant for every model, Acc_Diff not for BERT-base and SpanBERT-large (Section 5)."""
    failures = [
        f"Delta I of {model}"
        for model in results.models
        if not results.significant(model, "delta_i", debiasing="a-CDA")
    ]
    for model in ("BERT-base", "SpanBERT-large"):
        if results.significant(model, "acc_diff", debiasing="a-CDA"):
            failures.append(f"Acc_Diff of {model}")
    return failures, len(results.models) + 2


@_claim
def names_leave_bias_in_bert_base_only(results):
    """After n-CDA only BERT-base keeps a significant Delta I, without a significant Acc_Diff (Section 5, Table 6)."""
    failures = []
    for model in results.models:
        row = results.row(model, "delta_i", debiasing="n-CDA")
        if bool(row.significant) != (model == "BERT-base"):
            failures.append(f"{model}: Delta I {_points(row.value)}, p = {row.p_value:.4f}")
    row = results.row("BERT-base", "acc_diff", debiasing="n-CDA")
    if row.significant:
        failures.append(f"BERT-base: Acc_Diff {_points(row.value)}, p = {row.p_value:.4f}")
    return failures, len(results.models) + 1


@_claim
def debiasing_keeps_accuracy(results):
    """Overall accuracy does not fall with either debiasing method (Section 5, Table 6)."""
    failures = []
    for model in results.models:
        none = results.value(model, "accuracy")
        for method in ("a-CDA", "n-CDA"):
            value = results.value(model, "accuracy", debiasing=method)
            if value < none:
                failures.append(f"{model}, {method}: {_points(value)} against {_points(none)}")
    return failures, 2 * len(results.models)


@_claim
def names_lower_ontonotes(results):
    """n-CDA lowers F1 on OntoNotes for every model (Section 5, Table 6)."""
    failures = []
    for model in results.models:
        none, named = (results.value(model, "ontonotes_f1", debiasing=m) for m in ("none", "n-CDA"))
        if not named < none:
            failures.append(f"{model}: {_points(named)} against {_points(none)}")
    return failures, len(results.models)


@_claim
def names_give_the_best_accuracy(results):
    """n-CDA has the highest overall accuracy of the three settings for every model (Table 6)."""
    failures = []
    for model in results.models:
        values = {m: results.value(model, "accuracy", debiasing=m) for m in ("none", "a-CDA", "n-CDA")}
        best = max(values, key=values.get)
        if best != "n-CDA":
            failures.append(f"{model}: {best} with {_points(values[best])}")
    return failures, len(results.models)


CLAIMS = (
    all_models_are_biased,
    accuracy_difference_is_smaller,
    bert_large_hides_its_bias,
    large_models_are_less_biased,
    models_lean_to_masculine,
    within_is_larger_for_feminine,
    feminine_originals_change_more,
    counterfactuals_are_no_harder,
    original_gender_does_not_matter,
    quadruples_reduce_the_difference,
    gap_and_originals_disagree,
    debiasing_lowers_bias,
    names_lower_bias_more,
    anonymising_hides_bias,
    names_leave_bias_in_bert_base_only,
    debiasing_keeps_accuracy,
    names_lower_ontonotes,
    names_give_the_best_accuracy,
)
"""In the order of the study."""
