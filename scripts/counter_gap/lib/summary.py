"""Counter-GAP's rows of the summary over all studies: accuracy and inconsistencies of each system."""

from typing import TYPE_CHECKING, Any

from scripts.core.data.estimate_rows import CLUSTERS, HEURISTIC, RELEASED_OUTPUTS, SYSTEM
from scripts.counter_gap.lib.study import RULES

if TYPE_CHECKING:
    import pandas as pd

METRICS = {
    "delta_i": "inconsistency, across minus within genders",
    "i_across": "inconsistency, across genders",
    "i_within": "inconsistency, within genders",
    "acc_diff": "accuracy, masculine minus feminine",
    "accuracy": "accuracy",
}
"""Metrics of the summary to what it calls them; the first is the headline."""
SCORING = {"released": "", "clusters": CLUSTERS}
"""Ways of scoring that the summary has, to what it calls them; released flags where there are some."""
GROUPS = {
    "M": {"gender": "M"},
    "F": {"gender": "F"},
    "M2F": {"original_gender": "M"},
    "F2M": {"original_gender": "F"},
    "original": {"role": "original|control"},
    "counterfactual": {"role": "swap-1|swap-2"},
}
"""Groups of the metrics to the factors of instances."""


def identity(row: Any, systems: dict[str, dict]) -> dict[str, Any]:
    """Return whose a row of the metrics is: a rule's, a system's of this run, or one of which flags were released."""
    rules = {label: name for name, label in RULES.items()}
    debiasing = "" if row.debiasing == "none" else row.debiasing
    whose = {"scoring": SCORING[row.scoring], "debiasing": debiasing, "label": row.system}
    if row.system in rules:
        return whose | {"model": rules[row.system], "kind": HEURISTIC}
    if row.scoring == "released":
        return whose | {"model": row.system, "kind": RELEASED_OUTPUTS}
    for name, facts in systems.items():
        if (facts["label"], facts["debiasing"]) == (row.system, row.debiasing):
            return whose | {"model": name, "kind": SYSTEM, "demonstration": facts["demonstration"]}
    return whose | {"model": row.system, "kind": SYSTEM}


def rows(metrics: Any, sizes: "pd.DataFrame", systems: dict[str, dict]) -> list[dict]:
    """Return rows as :func:`scripts.core.data.estimate_rows.write` takes them, all values being shares.

    Args:
        metrics: ``data``, ``scoring``, ``system``, ``debiasing``, ``subset``, ``metric``, ``group``, ``value``,
            ``ci_low``, ``ci_high``.
        sizes: ``data``, ``subset``, ``quadruples``, ``masculine`` (originals about men).
        systems: The coreference systems of the run. A system that is not there was given as a file, under its label.
    """
    whole = metrics[(metrics.subset == "all") & metrics.metric.isin(METRICS) & metrics.scoring.isin(SCORING)]
    whole_sizes = sizes[sizes.subset == "all"].set_index("data")
    quadruples = {
        "M2F": whole_sizes.masculine,
        "F2M": whole_sizes.quadruples - whole_sizes.masculine,
    }
    found = []
    for metric, name in METRICS.items():
        for row in whole[whole.metric == metric].itertuples():
            found.append(
                {
                    "part": row.data,
                    **identity(row, systems),
                    "metric": name,
                    **GROUPS.get(row.group, {}),
                    "value": row.value,
                    "low": row.ci_low,
                    "high": row.ci_high,
                    "n": quadruples.get(row.group, whole_sizes.quadruples).get(row.data),
                    "n_unit": "quadruples",
                    "headline": metric == "delta_i" and row.group == "all",
                }
            )
    return found
