"""Counter-GAP's rows of the summary over all studies: accuracy and inconsistencies of each system."""

from scripts.core.paper.summary import BASELINE, DEMONSTRATION, RELEASED, RUN
from scripts.counter_gap.lib.study import DATA, is_rule

METRICS = {
    "delta_i": "inconsistency, across minus within genders",
    "i_across": "inconsistency, across genders",
    "i_within": "inconsistency, within genders",
    "acc_diff": "accuracy, masculine minus feminine",
    "accuracy": "accuracy",
}
"""Metrics of the summary to what it calls them; the first is the headline."""
SCORING = {"released": RELEASED, "clusters": RUN}
"""Ways of scoring that the summary has, to the status of what they score; released flags where there are some."""


def status(row, demonstration):
    """Return what a row of the metrics is about, one of the summary's statuses."""
    if is_rule(row.system):
        return BASELINE
    of_this_run = SCORING[row.scoring] == RUN
    return DEMONSTRATION if of_this_run and row.system in demonstration else SCORING[row.scoring]


def rows(metrics, sizes, demonstration=()):
    """Return rows as :func:`scripts.core.paper.summary.write` takes them, all values being shares.

    Parameters
    ----------
    metrics : DataFrame
        ``data``, ``scoring``, ``system``, ``debiasing``, ``subset``, ``metric``, ``group``, ``value``, ``ci_low``,
        ``ci_high``.
    sizes : DataFrame
        ``data``, ``subset``, ``quadruples``.
    demonstration : collection of str
        Labels of demonstration systems.
    """
    whole = metrics[(metrics.subset == "all") & metrics.metric.isin(METRICS) & metrics.scoring.isin(SCORING)]
    quadruples = sizes[sizes.subset == "all"].set_index("data").quadruples
    found = []
    for metric, name in METRICS.items():
        for row in whole[whole.metric == metric].itertuples():
            found.append(
                {
                    "data": DATA.get(row.data, row.data),
                    "model": row.system if row.debiasing == "none" else f"{row.system}, {row.debiasing}",
                    "metric": name,
                    "group": {"M": "masculine", "F": "feminine"}.get(row.group, row.group),
                    "value": row.value,
                    "ci_low": row.ci_low,
                    "ci_high": row.ci_high,
                    "n": quadruples.get(row.data),
                    "status": status(row, demonstration),
                    "headline": metric == "delta_i" and row.group == "all",
                }
            )
    return found
