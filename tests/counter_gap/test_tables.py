"""Cells of tables, and the script."""

import re

import pandas as pd

from scripts.core import files
from scripts.counter_gap import tables as script
from scripts.counter_gap.lib import tables
from scripts.counter_gap.lib.analyses import metrics
from tests.counter_gap import make


def test_marks_tell_every_test_apart():
    row = pd.Series({"value": -0.0499, "significant": True, "significant_holm": False, "significant_centred": True,
                     "significant_centred_holm": False})  # fmt: skip
    assert tables.format_value(row, "marked") == "−4.99*" and tables.format_value(row, "rho") == "−0.050*"
    assert tables.format_value(row.where(row.index != "significant_centred", False), "marked") == "−4.99*‡"
    both = row.where(row.index != "significant_holm", True)
    assert tables.format_value(both, "marked") == "−4.99*†‡"
    assert tables.format_value(both.where(row.index != "significant_centred_holm", True), "marked") == "−4.99*†"
    assert tables.format_value(row, "marked", 1) == "−5.0*" and tables.format_value(row, "rho", 1) == "−0.05*"
    untested = row.where(row.index == "value", None)
    assert tables.format_value(untested, "marked") == "−4.99"


def test_what_was_not_released_is_told_from_what_was_not_run():
    assert tables.absence_reason("released") == "not released"
    assert tables.absence_reason("clusters") == tables.absence_reason("clusters_faithful") == "not run"


def test_an_example_marks_names_pronoun_and_prediction(tmp_path):
    frame = make.eight_instances(tmp_path / "quadruples.tsv")
    row = next(frame.assign(a_pred=True, b_pred=False).itertuples(index=False))
    text = script.typeset(row, {"Mina": "violet", "Judit": "orange", "Paul": "blue", "Otto": "cyan"})
    assert r"\colorbox{yellow!60}{\textcolor{violet}{\textit{Mina}}}" in text
    assert r"\underline{\textcolor{orange}{Judit}}" in text
    assert r"\colorbox{yellow!60}{\textbf{\underline{she}}}" in text
    assert r"said \textcolor{blue}{Paul}." in text
    shorn = re.sub(r"\\(colorbox|textcolor)\{[^}]*\}|\\(textbf|textit|underline)|[{}]", "", text)
    assert shorn == row.text


def test_settings_of_training_as_the_study_prints_them():
    listed = {
        "Mine": {
            "training": {
                "encoder_learning_rate": 1.0e-5, "task_learning_rate": 2.0e-4, "max_training_segments": 11, "epochs": 20
            },
            "model": {"max_segment_pieces": 128, "dropout": 0.3},
        }
    }  # fmt: skip
    cells = tables.training(listed).set_index("Setting").Mine
    assert cells.to_dict() == {
        "bert_learning_rate": "1e-5", "task_learning_rate": "2e-4", "max_segment_len": "128",
        "max_training_sentences": "11", "epochs": "20", "dropout": "0.3",
    }  # fmt: skip


def test_scores_on_a_corpus_stand_beside_debiasing():
    f1 = metrics.of_corpora([make.corpus_score(0.6468, corpus="litbank")], [{"system": "Mine", "debiasing": "a-CDA"}])
    keys = {"data": "replica", "subset": "all", "metric": "accuracy", "group": "all", "significant": None}
    rows = [
        {**keys, "scoring": scoring, "system": system, "debiasing": method, "value": 0.5}
        for system in ("Mine", "Nearest name (rule)")
        for scoring in ("clusters", "clusters_faithful")
        for method in (("none", "a-CDA") if system == "Mine" else ("none",))
    ]
    cells = tables.debiasing(pd.DataFrame(rows), "replica", f1)
    shown = cells.set_index(["System", "Scoring", "Debiasing"])["F1 on LitBank (test set)"]
    assert shown["Mine", tables.SCORING["clusters"], "a-CDA"] == "64.68"
    assert shown["Mine", tables.SCORING["clusters"], "none"] == shown["Mine", tables.SCORING["clusters"], "n-CDA"]
    assert shown["Mine", tables.SCORING["clusters"], "n-CDA"] == "not run"
    assert "F1 on OntoNotes (development set)" in tables.debiasing(pd.DataFrame(rows), "replica", f1[:0])


def test_systems_that_were_trained_here_stand_for_the_studys_where_its_own_are_not_there(tmp_path):
    table = pd.DataFrame(
        [("replica", "BERT-base (trained here)"), ("official", "BERT-base"), ("official", "BERT-base (trained here)")],
        columns=["data", "system"],
    )
    assert list(tables.take_study_names(table).system) == ["BERT-base", "BERT-base", "BERT-base (trained here)"]
    nothing = metrics.of_corpora([], [])
    files.write_csv(tmp_path / "none.csv", nothing)
    assert tables.take_study_names(files.read_csv(tmp_path / "none.csv")).empty
