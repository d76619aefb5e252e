"""The released outputs against the published tables, and what of a run stands beside them."""

import pandas as pd
import pytest

from scripts.core.paper import published as published_numbers
from scripts.counter_gap import published, study
from scripts.counter_gap.metrics import key
from tests.counter_gap import make

# Items of paper/published/counter_gap.csv in terms of estimates.csv.
ITEMS = {
    "acc_m": key("accuracy", gender="M"),
    "acc_f": key("accuracy", gender="F"),
    "acc_diff": key("acc_diff"),
    "i_within_m": key("i_within", gender="M"),
    "i_within_f": key("i_within", gender="F"),
    "i_within_diff": key("i_within_diff"),
    "i_within": key("i_within"),
    "i_across_m2f": key("i_across", original_gender="M"),
    "i_across_f2m": key("i_across", original_gender="F"),
    "i_across_diff": key("i_across_diff"),
    "i_across": key("i_across"),
    "delta_i": key("delta_i"),
    "acc_orig": key("accuracy", study.ORIGINAL),
    "acc_counter": key("accuracy", study.COUNTERFACTUAL),
    "acc_orig_minus_counter": key("original_minus_counterfactual"),
    "spearman_rho": key("spearman_rho"),
    "overall_accuracy": key("accuracy"),
}


def printed(row, value):
    """Return our value as the table prints it."""
    decimals = len(row.value.partition(".")[2])
    scaled = value if row.unit == "correlation" else 100 * value
    return f"{scaled:{'+' if row.value[0] == '+' else ''}.{decimals}f}".replace("-0.00", "0.00")


@pytest.fixture(scope="module")
def cells(root, results):
    """Every cell of Tables 2 to 6 about systems whose flags were released: what is printed, and ours."""
    everything = results.set_index(["system", "debiasing", "metric", *study.FACTORS])
    listed = pd.read_csv(root / "paper/published/counter_gap.csv", dtype=str, keep_default_na=False)
    listed["item"] = listed["item"].str.removeprefix("counter_gap_")
    found = []
    for row in listed[(listed.kind == "table") & listed["item"].isin(ITEMS)].itertuples():
        system, _, of = row.row.partition(" | ")
        if of not in ("original GAP", "a-CDA"):
            metric, role, *genders = ITEMS[row.item]
            levels = metric, "original" if of == "our-GAP" else role, *genders
            ours = everything.loc[(system, of if of in study.METHODS else "none", *levels)]
            star = row.note.startswith("*"), bool(ours.significant)
            found.append((row.source, row.row, row.item, row.value, printed(row, ours.value), *star))
    return pd.DataFrame(found, columns=["source", "row", "item", "published", "ours", "published_star", "star"])


def test_all_cells_but_one_and_all_stars_come_out_as_printed(cells):
    counts = {"Table 2": 12, "Table 3": 36, "Table 4": 16, "Table 5": 9, "Table 6": 24}
    assert cells.source.value_counts().to_dict() == counts
    differing = cells[cells.published != cells.ours].iloc[:, :5]
    assert differing.values.tolist() == [["Table 4", "SpanBERT-base", "spearman_rho", "-0.060", "-0.057"]]
    # Table 5 prints no stars.
    tested = cells["item"].isin(["acc_diff", "delta_i", "acc_orig_minus_counter"]) & (cells.source != "Table 5")
    assert tested.sum() == 12 + 16
    assert (cells.star == cells.published_star)[tested].all()


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


def test_f1_of_systems_that_were_trained_here_stands_beside_the_published(root, results):
    """The golden files have all other comparisons."""
    paths = (root / f"paper/published/counter_gap{end}.csv" for end in ("", "_mapping", "_models"))
    listed, mapping, known = published_numbers.read(*paths)
    scores = make.f1_scores(dict.fromkeys(study.METHODS, 0.7), "{} (trained here)")
    table = published.comparable(pd.concat([results, scores], ignore_index=True), "official")
    ours = {"estimates.csv": published.name_models(table, dict(zip(known.label, known.model, strict=True)))}
    official = published_numbers.compare(listed, mapping, known, {"official": ours}, ["official"])
    f1 = official[official["column"] == "F1 on OntoNotes"]
    assert len(f1) == 4 * 3 and set(f1.ours) == {70} and set(f1.verdict) == {"differs"}
    assert (official.verdict == "differs").sum() == len(f1)
