"""How Counter-GAP's tables call what its instances have other names for (:mod:`scripts.core.data.traces`)."""

from scripts.core.data.traces import trace, trace_published
from scripts.counter_gap.lib import study

# Metrics of groups, which are columns of tables: of tables of a set, and of tables over all sets.
BY_SET = (
    ("(Acc_)?(?P<gender>[MF])", {"group": "{gender}", "metric": "accuracy"}),
    ("(?P<group>M2F|F2M)", {"group": "{group}"}),
    ("Original|Counterfactual", {"group": "{@column}"}),
)
OVER_SETS = (
    ("accuracy: (?P<gender>[MF])", {"group": "{gender}", "metric": "accuracy"}),
    ("within: (?P<gender>[MF])", {"group": "{gender}", "metric": "i_within"}),
    ("across: (?P<group>M2F|F2M)", {"group": "{group}"}),
    ("accuracy: (?P<group>original|counterf)[.]?", {"group": "{group}"}),
)
# Of one gender, of the genders that a quadruple has before and after swapping, of the original and the other one.
GROUPS = (
    ("(?P<gender>[MF])", {"metric": "accuracy|i_within"}, {"gender": "{gender}"}),
    ("(?P<gender>[MF])2[MF]", {}, {"original_gender": "{gender}"}),
    ("[Oo]riginal", {}, {"role": ["original", "control"]}),
    ("[Cc]ounterf(actual)?", {}, {"role": ["swap-1", "swap-2"]}),
)


def list_traces() -> list[dict]:
    """Return the study's entries for the audit."""
    return [
        trace("results/counter_gap/*", {"templates": ".+"}, {"data": "{templates}", "templates": "{templates}"}),
        *(
            trace(f"*/counter_gap/tables/{name}.csv", {"@column": column}, then)
            for names, columns in (
                ("*/accuracy */inconsistency */original_counterfactual */datasets", BY_SET),
                ("bias by_gender", OVER_SETS),
            )
            for name in names.split()
            for column, then in columns
        ),
        *(
            trace("*/counter_gap/tables/*.csv", {"Scoring": label}, {"scoring": scoring})
            for scoring, label in study.SCORING.items()
        ),
        trace("*/datasets.csv", {"Data": "originals only"}, {"subset": "originals"}),
        trace("*/datasets.csv", {"Data": "quadruples"}, {"subset": "all"}),
        *(trace("*/datasets.csv", {"Data": label}, {"data": data}) for data, label in study.DATA.items()),
        *(trace("*/counter_gap/*", {"group": group, **when}, then) for group, when, then in GROUPS),
        trace("*/subset_sizes.csv", {"@column": "masculine"}, {"original_gender": "M"}),
        trace_published("counter_gap", "system"),
    ]
