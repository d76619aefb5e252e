"""What the section's text counts; the golden files have the summary."""

import pandas as pd

from scripts.counter_gap import section, study
from tests.counter_gap import make


def test_what_the_text_counts():
    """Of two rules and a system, which was debiased as well and whose tests are significant after correction."""
    tested = {"p_value": 0.001, "p_centred": 0.5, "p_centred_holm": 0.5, "clusters": 24}
    metrics = ("acc_diff", "delta_i", "split_masculine")
    rules = [("replica", rule, "heuristic", "none", metric, 0.1) for rule in ("nearest", "first") for metric in metrics]
    runs = [("replica", "m", "system", method, metric, 0.1) for method in ("none", "a-CDA") for metric in metrics]
    across = make.estimated(*[("replica", "m", "system", "none", "i_across", 0.3)] * 3)
    alone = make.estimated(("replica", "m", "system", "none", "acc_diff", 0.3), **tested, p_holm=0.5)
    table = pd.concat(
        [
            make.estimated(*rules, **tested, p_holm=0.5),
            make.estimated(*runs, **tested, p_holm=0.001),
            make.estimated(*runs, **tested, p_holm=0.5, reading=study.PUBLISHED),
            across.assign(original_gender=["M", "F", ""], clusters=[10, 14, 24]),
            alone.assign(role="original"),
        ],
        ignore_index=True,
    )
    main = study.main_outputs(table)
    found = section.count_systems(main, "replica") | section.count_quadruples(main, "replica")
    assert {name: entry["value"] for name, entry in found.items()} == {
        "systems": 3, "rules": 2, "acc_diff.significant_holm": 1, "delta_i.significant_holm": 1, "a-CDA.systems": 1,
        "a-CDA.acc_diff.significant_holm": 1, "a-CDA.delta_i.significant_holm": 1, "disputed": 12,
        "size.all": 24, "size.M": 10, "size.F": 14,
    }  # fmt: skip
