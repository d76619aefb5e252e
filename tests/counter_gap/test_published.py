"""The released outputs against the published tables, and what of a run stands beside them."""

import pandas as pd
import pytest

from scripts.core.paper import published as published_numbers
from scripts.counter_gap import published, study
from tests.counter_gap import make

STARRED = {
    "acc_diff": "acc_diff",
    "delta_i": "delta_i",
    "acc_orig_minus_counter": "original_minus_counterfactual",
}
"""Items of paper/published/counter_gap.csv that are printed with stars, to our metrics."""


@pytest.fixture(scope="module")
def compared(root, results):
    """The published numbers beside the released flags and made-up F1 of systems that were trained here."""
    paths = (root / f"paper/published/counter_gap{end}.csv" for end in ("", "_mapping", "_models"))
    listed, mapping, known = published_numbers.read_study(*paths)
    scores = make.f1_scores(dict.fromkeys(study.METHODS, 0.7), "{} (trained here)")
    table = published.comparable(pd.concat([results, scores], ignore_index=True), "official")
    ours = {"estimates.csv": published.name_models(table, dict(zip(known.label, known.model, strict=True)))}
    return published_numbers.compare_numbers(listed, mapping, known, {"official": ours}, ["official"]), listed


def test_all_cells_but_one_and_all_stars_come_out_as_printed(compared, results):
    table, listed = compared
    ours = table[(table.kind == "table") & table.ours.notna() & (table["column"] != "F1 on OntoNotes")]
    counts = {"Table 2": 12, "Table 3": 36, "Table 4": 16, "Table 5": 9, "Table 6": 24}
    assert ours.source.value_counts().to_dict() == counts
    others = ours[ours.verdict != "as printed"]
    assert others[["row", "column", "published"]].values.tolist() == [["SpanBERT-base", "Spearman's rho", "-0.060"]]
    assert others.ours.round(3).tolist() == [-0.057]
    tested = results[(results[study.FACTORS] == "").all(axis=1)].set_index(["system", "debiasing", "metric"])
    stars = {}
    # Table 5 prints no stars.
    for row in listed[(listed.kind == "table") & (listed.source != "Table 5")].itertuples():
        system, _, method = row.row.partition(" | ")
        key = system, method or "none", STARRED.get(row.item.removeprefix("counter_gap_"), "")
        if key in tested.index:
            stars[row.source, key] = row.note.startswith("*"), bool(tested.significant[key])
    assert len(stars) == 12 + 16 and all(printed == found for printed, found in stars.values())


def test_what_stands_beside_the_study():
    """A system once: its released flags, else its clusters read rightly; one trained here only without the study's."""
    flags = make.estimated(("official", "BERT-base", "released", "none", "accuracy", 0.6), scoring="", reading="")
    clusters = [("official", "BERT-base", "system", method, "accuracy", 0.7) for method in ("none", "a-CDA")]
    clusters += [
        ("official", "BERT-base (trained here)", "system", "none", "accuracy", 0.8),
        ("official", "BERT-large (trained here)", "system", "none", "accuracy", 0.8),
        ("replica", "BERT-base (trained here)", "system", "none", "accuracy", 0.8),
    ]
    table = pd.concat(
        [flags, make.estimated(*clusters), make.estimated(*clusters, reading=study.PUBLISHED)], ignore_index=True
    )
    shown = published.comparable(table.assign(system=table.model), "official")
    assert shown[["system", "debiasing", "reading"]].values.tolist() == [
        ["BERT-base", "none", ""], ["BERT-base", "a-CDA", study.CORRECTED],
        ["BERT-base (trained here)", "none", study.CORRECTED], ["BERT-large", "none", study.CORRECTED],
    ]  # fmt: skip
    assert published.comparable(table.assign(system=table.model), "replica").system.tolist() == ["BERT-base"]


def test_f1_of_systems_that_were_trained_here_stands_beside_the_published(compared):
    f1 = compared[0][compared[0]["column"] == "F1 on OntoNotes"]
    assert len(f1) == 4 * 3 and set(f1.ours) == {70} and set(f1.verdict) == {"differs"}
    assert (compared[0].verdict == "differs").sum() == len(f1)
