"""Cells of tables: those that are derived, and a row of a published table."""

import pandas as pd

from scripts.counter_gap import estimates, study, tables
from tests.counter_gap import make


def test_marks_tell_every_test_apart():
    row = pd.Series({"metric": "acc_diff", "value": -0.0499, "significant": True, "significant_holm": False,
                     "significant_centred": True, "significant_centred_holm": False})  # fmt: skip

    def shown(decimals=2, intervals=False, **changes):
        return tables.show_value(pd.Series(row.to_dict() | changes), decimals, intervals)

    assert shown() == "−4.99*" and shown(metric="spearman_rho") == "−0.050*"
    assert shown(significant_centred=False) == "−4.99*‡"
    assert shown(significant_holm=True) == "−4.99*†‡"
    assert shown(significant_holm=True, significant_centred_holm=True) == "−4.99*†"
    assert shown(1) == "−5.0*" and shown(1, metric="spearman_rho") == "−0.05*"
    assert shown(significant=False) == "−4.99‡"
    assert shown(significant=None) == "−4.99"
    assert shown(1, True, low=-0.061, high=-0.04) == "−5.0 (−6.1 to −4.0)*"
    # An interval without a width would say that the value is known exactly.
    assert shown(1, True, low=-0.0499, high=-0.0499) == "−5.0*"


def test_scores_on_a_corpus_stand_beside_debiasing():
    f1 = estimates.estimate_corpora(
        [make.corpus_score(0.6468, corpus="litbank")], [{"model": "m", "debiasing": "a-CDA"}]
    )
    rows = [("replica", "m", "system", "none", "accuracy", 0.5), ("replica", "m", "system", "a-CDA", "accuracy", 0.5)]
    rows += [("replica", "nearest", "heuristic", "none", "accuracy", 0.5)]
    flags = make.estimated(("replica", "m", "released", "a-CDA", "accuracy", 0.5), scoring="", reading="")
    table = pd.concat([make.estimated(*rows), make.estimated(*rows, reading=study.PUBLISHED), flags])
    labels = study.RULES | {"m": "Mine"}
    with_f1 = study.with_systems(study.add_significance(pd.concat([table, f1]), 0.01), labels)
    cells = tables.debiasing(with_f1.rename(columns=tables.HEADS), "replica")
    shown = cells.set_index(["System", "Scoring", "Debiasing"])["F1 on LitBank (test set)"]
    assert shown["Mine", "spans", "a-CDA"] == "64.68" and shown["Mine", "released flags", "a-CDA"] == "not released"
    assert shown["Mine", "spans", "none"] == shown["Mine", "spans", "n-CDA"] == "not run"
    assert [key[2] for key in shown.index if key[:2] == ("Nearest name (rule)", "spans")] == ["none"]
    cells = tables.debiasing(study.with_systems(table, labels).rename(columns=tables.HEADS), "replica")
    assert set(cells["F1 on OntoNotes (development set)"]) == {"not run", "not released"}
