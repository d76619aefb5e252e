"""The counts that the section's prose uses."""

import pandas as pd

from scripts.counter_gap.lib import numbers


def test_rules_are_counted_among_the_systems():
    """Two rules and a system, which was debiased in one of two ways as well."""
    runs = [("Nearest name (rule)", "none"), ("First name (rule)", "none"), ("Mine", "none"), ("Mine", "a-CDA")]
    rows = [
        {
            "data": "replica", "scoring": "clusters", "system": system, "debiasing": method, "subset": "all",
            "metric": metric, "group": "all", "value": value, "significant": value > 0, "significant_holm": False,
            "significant_centred": value > 0, "significant_centred_holm": False, "p_value": 0.5, "p_centred": 0.5,
            "p_holm": 1.0, "p_centred_holm": 1.0,
        }
        for (system, method), value in zip(runs, (-0.1, 0.0, 0.2, 0.3), strict=True)
        for metric in ("acc_diff", "delta_i")
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    found = {name: entry["value"] for name, entry in numbers.from_tests(table, table).items()}
    assert (found["systems"], found["rules"], found["a-CDA.systems"]) == (3, 2, 1)
    assert (found["delta_i.significant"], found["a-CDA.delta_i.significant"]) == (1, 1)
    assert "n-CDA.systems" not in found
