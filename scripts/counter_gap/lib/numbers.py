"""The numbers that the Counter-GAP section's prose uses, each with an id and the table cell that it comes from.

Entries are ``{"value", "text", "source", "cell"}``, as in the other studies.
"""

from scripts.core.paper.formats import number, p_text, percent
from scripts.core.paper.numbers import entry
from scripts.counter_gap.lib.figures import label, main_scoring
from scripts.counter_gap.lib.study import is_rule
from scripts.counter_gap.lib.tables import disputed

METRICS = {
    "acc_diff": "the accuracy difference",
    "delta_i": "the difference of inconsistencies",
    "original_minus_counterfactual": "the difference of original and counterfactual accuracy",
    "i_within_diff": "the difference within genders",
    "i_across_diff": "the difference across genders",
    "spearman_rho": "the rank correlation",
}
"""The tested metrics in words."""

KEYS = {
    "alpha": "counter_gap.alpha",
    "draws": "counter_gap.bootstrap.draws",
    "simulated_quadruples": "counter_gap.simulation.quadruples",
    "simulated_data_sets": "counter_gap.simulation.repeats",
}
"""Settings to their keys in config.yaml."""


def from_sizes(sizes, templates):
    """Return ``size.<subset>`` (quadruples), ``size.instances``, ``size.masculine``, ``artefact`` and ``marked``.

    ``artefact`` is how many quadruples the conversion spoilt, ``marked`` how many more have another mark behind the
    pronoun.
    """
    subsets = sizes[sizes.data == templates].set_index("subset")
    quadruples = {subset: int(n) for subset, n in subsets.quadruples.items()}
    total = quadruples["all"]
    without = quadruples.get("all without artefact", total)
    numbers = {
        f"size.{subset}": entry(n, f"{n:,}", "subset_sizes.csv", subset=subset) for subset, n in quadruples.items()
    }
    for name, value in (
        ("size.instances", 4 * total),
        ("size.masculine", int(subsets.masculine["all"])),
        ("artefact", total - without),
        ("marked", without - quadruples.get("all without any mark", without)),
    ):
        numbers[name] = entry(value, f"{value:,}", "subset_sizes.csv", data=templates)
    return numbers


def from_tests(tests, metrics):
    """Return what the prose says of all systems at once, for those without debiasing and with the main scoring.

    Parameters
    ----------
    tests : DataFrame
        The rows of significance.csv on one set of quadruples.
    metrics : DataFrame
        Those of metrics.csv.

    Returns
    -------
    dict
        ``systems``, and ``rules`` among them; for the metrics ``acc_diff`` and ``delta_i`` ``<metric>.positive``,
        ``.significant``, ``.significant_holm`` (counts of systems), ``.lowest`` and ``.highest`` (with ``system``); the
        same with ``without.`` before them for the quadruples without artefact; ``<method>.systems`` and
        ``<method>.<metric>.<count>`` after debiasing; ``disputed``, how many tests the centred bootstrap decides
        otherwise, and of each ``disputed.<number>.percentile`` and ``.centred`` (with ``test``); and
        ``cancelled.highest`` and ``cancelled.lowest``.
    """
    numbers = {}
    plain = main_scoring(tests)
    undebiased = plain[plain.debiasing == "none"]
    count = int(undebiased.system.nunique())
    numbers["systems"] = entry(count, f"{count}", "metrics.csv", column="system")
    rules = sum(map(is_rule, undebiased.system.unique()))
    numbers["rules"] = entry(rules, f"{rules}", "metrics.csv", column="system")
    for prefix, subset in (("", "all"), ("without.", "all without artefact")):
        for metric in ("acc_diff", "delta_i"):
            rows = undebiased[(undebiased.metric == metric) & (undebiased.subset == subset)]
            if not rows.empty:
                numbers |= _of_tests(f"{prefix}{metric}", rows)
    for method in ("a-CDA", "n-CDA"):
        trained = int(plain[plain.debiasing == method].system.nunique())
        if trained:
            numbers[f"{method}.systems"] = entry(trained, f"{trained}", "significance.csv", column="system")
        for metric in ("acc_diff", "delta_i"):
            rows = plain[(plain.debiasing == method) & (plain.subset == "all") & (plain.metric == metric)]
            if not rows.empty:
                numbers |= _of_tests(f"{method}.{metric}", rows)
    numbers |= _disputed(plain[plain.subset.isin(["all", "all without artefact"])])
    values = main_scoring(metrics)
    rows = values[(values.metric == "cancelled") & (values.subset == "all") & (values.debiasing == "none")]
    rows = rows.dropna(subset=["value"]).reset_index(drop=True)
    for bound in () if rows.empty else ("lowest", "highest"):
        row = rows.iloc[rows.value.idxmin() if bound == "lowest" else rows.value.idxmax()]
        numbers[f"cancelled.{bound}"] = entry(
            row.value, percent(row.value), "metrics.csv", system=row.system, metric="cancelled"
        ) | {"system": label(row)}
    return numbers


def _disputed(tests):
    rows = [row for _, row in tests.iterrows() if disputed(row)]
    numbers = {"disputed": entry(len(rows), f"{len(rows)}", "significance.csv", column="significant_centred")}
    for place, row in enumerate(rows, 1):
        corrected = bool(row.significant) == bool(row.significant_centred)
        columns = ("p_holm", "p_centred_holm") if corrected else ("p_value", "p_centred")
        without = " without the artefact" if row.subset.endswith("artefact") else ""
        test = f"{METRICS[row.metric]} of {label(row)}{without}" + (" after correction" if corrected else "")
        for variant, column in zip(("percentile", "centred"), columns, strict=True):
            key = f"disputed.{place}.{variant}"
            numbers[key] = entry(
                row[column], f"p {p_text(row[column])}", "significance.csv", system=row.system,
                debiasing=row.debiasing, subset=row.subset, metric=row.metric, column=column,
            ) | {"test": test}  # fmt: skip
    return numbers


def _of_tests(name, rows):
    rows = rows.reset_index(drop=True)
    numbers = {}
    for key, flags in (
        ("positive", rows.value > 0),
        ("significant", rows.significant),
        ("significant_holm", rows.significant_holm),
    ):
        numbers[f"{name}.{key}"] = entry(int(flags.sum()), f"{int(flags.sum())}", "significance.csv", metric=name)
    for bound in ("lowest", "highest"):
        row = rows.iloc[rows.value.idxmin() if bound == "lowest" else rows.value.idxmax()]
        numbers[f"{name}.{bound}"] = entry(
            row.value, percent(row.value, signed=True), "significance.csv", system=row.system, metric=name
        ) | {"system": label(row)}
    return numbers


def from_simulation(simulation):
    """Return, for the strongest bias in either setting, ``simulation.<setting>.<true_gap or metric>``."""
    numbers = {}
    for setting, key in (("one direction", "one"), ("both directions", "both"), ("names only", "names")):
        rows = simulation[simulation.setting == setting]
        strongest = rows[rows.strength == rows.strength.max()].set_index("metric")
        for metric, row in strongest.iterrows():
            numbers[f"simulation.{key}.{metric}"] = entry(
                row.value, number(row.value, 2), "simulation.csv", setting=setting, metric=metric, strength=row.strength
            )
        gap = float(strongest.true_gap.iloc[0])
        numbers[f"simulation.{key}.true_gap"] = entry(gap, f"{gap:.2f}", "simulation.csv", setting=setting)
    return numbers


def from_examples(examples):
    """Return ``examples.<rule>``, the quadruple that is shown, for each rule that has one."""
    return {
        f"examples.{row.rule}": entry(
            str(row.quadruple), str(row.quadruple), "examples.csv", rule=row.rule, quadruple=row.quadruple
        )
        for row in examples.drop_duplicates("rule").itertuples()
    }
