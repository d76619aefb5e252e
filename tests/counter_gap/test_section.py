"""What the section's text counts; the golden files have the summary."""

from pathlib import Path

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.paper import sections
from scripts.counter_gap import section, study
from scripts.paper.front import Front
from scripts.paper.paper_overview import overview_text
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


def test_the_sentence_for_abstracts_leaves_the_direction_to_the_intervals(tmp_path):
    row = {"kind": "system", "part": "replica", "scoring": "", "n": 24, "n_unit": "quadruples", "headline": True}
    row |= {"metric": "inconsistency, across minus within genders", "value": -0.01, "low": -0.03, "high": 0.02}
    other = row | {"model": "b", "label": "B", "value": 0.04, "low": 0.01, "high": 0.06}
    rows = [row | {"model": "a", "label": "A"}, other]
    said = []
    for systems in (rows[:1], rows):
        estimate_rows.write_estimates(tmp_path / "summary.csv", "counter_gap", systems)
        front = Front("counter_gap", estimate_rows.read_estimates([tmp_path / "summary.csv"]), {})
        template = Path(__file__).parents[2] / "paper/sections/counter_gap_front.tex.j2"
        said.append(" ".join(sections.unmark_numbers(overview_text(front, template, "thesis")).split()))
    assert said[0].startswith("The inconsistency of coreference systems across genders minus that within them")
    assert said[0].endswith(r"is \ensuremath{-}1 points (\ensuremath{-}3 to +2; n = 24 quadruples).")
    assert said[1].endswith("; the interval leaves out zero for 1 of 2 systems.")
