"""Cells of tables, what stands beside the study, and the numbers of the section and the summary."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.counter_gap import estimates, published, section, study, tables
from tests.counter_gap import make


def test_marks_tell_every_test_apart():
    row = pd.Series({"metric": "acc_diff", "value": -0.0499, "significant": True, "significant_holm": False,
                     "significant_centred": True, "significant_centred_holm": False})  # fmt: skip

    def shown(decimals=2, **changes):
        return tables.show_value(pd.Series(row.to_dict() | changes), decimals)

    assert shown() == "−4.99*" and shown(metric="spearman_rho") == "−0.050*"
    assert shown(significant_centred=False) == "−4.99*‡"
    assert shown(significant_holm=True) == "−4.99*†‡"
    assert shown(significant_holm=True, significant_centred_holm=True) == "−4.99*†"
    assert shown(1) == "−5.0*" and shown(1, metric="spearman_rho") == "−0.05*"
    assert shown(significant=None) == "−4.99"


def estimated(*rows, **columns):
    """Return estimates with significance from (templates, model, kind, debiasing, metric, value)."""
    names = ["templates", "model", "kind", "debiasing", "metric", "value"]
    table = pd.DataFrame(rows, columns=names).reindex(columns=estimates.COLUMNS)
    table[study.FACTORS] = ""
    return study.add_significance(table.assign(**{"scoring": "clusters", "reading": study.CORRECTED} | columns), 0.01)


def test_scores_on_a_corpus_stand_beside_debiasing():
    f1 = estimates.of_corpora([make.corpus_score(0.6468, corpus="litbank")], [{"model": "m", "debiasing": "a-CDA"}])
    rows = [("replica", "m", "system", "none", "accuracy", 0.5), ("replica", "m", "system", "a-CDA", "accuracy", 0.5)]
    rows += [("replica", "nearest", "heuristic", "none", "accuracy", 0.5)]
    table = pd.concat([estimated(*rows), estimated(*rows, reading=study.PUBLISHED)])
    labels = study.RULES | {"m": "Mine"}
    with_f1 = study.with_systems(study.add_significance(pd.concat([table, f1]), 0.01), labels)
    cells, _ = tables.debiasing(with_f1, "replica")
    shown = cells.set_index(["System", "Scoring", "Debiasing"])["F1 on LitBank (test set)"]
    assert shown["Mine", "spans", "a-CDA"] == "64.68"
    assert shown["Mine", "spans", "none"] == shown["Mine", "spans", "n-CDA"] == "not run"
    assert [key[2] for key in shown.index if key[:2] == ("Nearest name (rule)", "spans")] == ["none"]
    cells, _ = tables.debiasing(study.with_systems(table, labels), "replica")
    assert set(cells["F1 on OntoNotes (development set)"]) == {"not run"}


def test_what_stands_beside_the_study():
    """A system once: its released flags, else its clusters read rightly; one trained here only without the study's."""
    flags = estimated(("official", "BERT-base", "released", "none", "accuracy", 0.6), scoring="", reading="")
    clusters = [("official", "BERT-base", "system", method, "accuracy", 0.7) for method in ("none", "a-CDA")]
    clusters += [
        ("official", "BERT-base (trained here)", "system", "none", "accuracy", 0.8),
        ("official", "BERT-large (trained here)", "system", "none", "accuracy", 0.8),
        ("replica", "BERT-base (trained here)", "system", "none", "accuracy", 0.8),
    ]
    table = pd.concat([flags, estimated(*clusters), estimated(*clusters, reading=study.PUBLISHED)], ignore_index=True)
    shown = published.comparable(table.assign(system=table.model), "official")
    assert shown[["system", "debiasing", "reading"]].values.tolist() == [
        ["BERT-base", "none", ""], ["BERT-base", "a-CDA", study.CORRECTED],
        ["BERT-base (trained here)", "none", study.CORRECTED], ["BERT-large", "none", study.CORRECTED],
    ]  # fmt: skip
    assert published.comparable(table.assign(system=table.model), "replica").system.tolist() == ["BERT-base"]


RUNS = {("nearest", "heuristic", "none"): -0.1, ("first", "heuristic", "none"): 0.0, ("m", "system", "none"): 0.2,
        ("m", "system", "a-CDA"): 0.3}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """Estimates of two rules and a system, which was debiased as well and whose tests are significant."""
    metrics = ("acc_diff", "delta_i", "split_masculine")
    rows = [("replica", *run, metric, value) for run, value in RUNS.items() for metric in metrics]
    tested = {"p_value": 0.001, "p_centred": 0.5, "p_holm": 0.5, "p_centred_holm": 0.5, "clusters": 24}
    table = estimated(*rows, **tested, low=-0.2, high=0.4)
    table.loc[table.model == "m", "p_holm"] = 0.001
    others = estimated(*[("replica", "m", "system", "none", "i_across", 0.3)] * 3, low=0.2, high=0.4)
    others = others.assign(original_gender=["M", "F", ""], clusters=[10, 14, 24])
    alone = others[2:].assign(metric="acc_diff", role="original", **tested)
    table = pd.concat([table, others, alone, table.assign(reading=study.PUBLISHED, value=0.9)], ignore_index=True)
    files.write_csv(tmp_path / "estimates.csv", table[estimates.COLUMNS])
    return str(tmp_path / "estimates.csv")


def test_what_the_text_counts(path):
    read = study.with_systems(study.read_estimates(path, 0.01), study.RULES | {"m": "Mine"})
    main = study.main_outputs(read)
    found = section.count_systems(main, "replica") | section.count_quadruples(main, "replica")
    assert {name: entry["value"] for name, entry in found.items()} == {
        "systems": 3, "rules": 2, "acc_diff.significant_holm": 1, "delta_i.significant_holm": 1, "a-CDA.systems": 1,
        "a-CDA.acc_diff.significant_holm": 1, "a-CDA.delta_i.significant_holm": 1, "disputed": 12,
        "size.all": 24, "size.M": 10, "size.F": 14,
    }  # fmt: skip


def test_what_is_summarised(path, tmp_path):
    """Headlines first; nothing is read in another way, of originals alone, or explains a metric."""
    section.summary(
        estimates=path, summary=str(tmp_path / "summary.csv"), labels=study.RULES | {"m": "Mine"},
        systems={"m": {"demonstration": True}},
    )  # fmt: skip
    made = estimate_rows.read([tmp_path / "summary.csv"])
    assert made.headline.tolist() == [True] * 4 + [False] * 7
    headlines = made[["label", "kind", "debiasing", "demonstration", "value", "n_unit"]].values.tolist()[:4]
    assert headlines == [
        ["Nearest name (rule)", "heuristic", "", False, -0.1, "quadruples"],
        ["First name (rule)", "heuristic", "", False, 0.0, "quadruples"],
        ["Mine", "system", "", True, 0.2, "quadruples"],
        ["Mine", "system", "a-CDA", True, 0.3, "quadruples"],
    ]
    assert made[4:7][["original_gender", "n"]].values.tolist() == [["M", 10], ["F", 14], ["", 24]]
