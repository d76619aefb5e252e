"""Cells of tables, and the numbers of the section and the summary."""

import re

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import summary as summaries
from scripts.counter_gap import estimates, examples, published, section, study, tables
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


def test_what_was_not_released_is_told_from_what_was_not_run():
    shown = {reading: tables.absence_reason(label) for reading, label in study.READINGS.items()}
    assert shown == {"": "not released", study.CORRECTED: "not run", study.PUBLISHED: "not run"}


def test_an_example_marks_names_pronoun_and_prediction(tmp_path):
    frame = make.eight_instances(tmp_path / "quadruples.tsv")
    row = next(frame.assign(a_pred=True, b_pred=False).itertuples(index=False))
    text = examples.typeset(row, {"Mina": "violet", "Judit": "orange", "Paul": "blue", "Otto": "cyan"})
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


def test_systems_that_were_trained_here_stand_for_the_studys_where_its_own_are_not_there():
    systems = [
        ("replica", "BERT-base (trained here)"),
        ("official", "BERT-base"),
        ("official", "BERT-base (trained here)"),
    ]
    table = pd.DataFrame(systems, columns=["templates", "system"])
    assert list(published.take_study_names(table).system) == ["BERT-base", "BERT-base", "BERT-base (trained here)"]
    assert published.take_study_names(table[:0]).empty


def test_a_system_stands_beside_the_study_once():
    """Its released flags with a debiasing method, or its clusters if they are read rightly."""
    flags = estimated(("official", "BERT-base", "released", "none", "accuracy", 0.6), scoring="", reading="")
    clusters = [("official", "BERT-base", "system", method, "accuracy", 0.7) for method in ("none", "a-CDA")]
    table = pd.concat([flags, estimated(*clusters), estimated(*clusters, reading=study.PUBLISHED)], ignore_index=True)
    shown = published.comparable(table.assign(system=table.model), "official")
    assert shown[["debiasing", "reading"]].values.tolist() == [["none", ""], ["a-CDA", study.CORRECTED]]


def test_what_is_counted_and_summarised(tmp_path):
    """Of two rules and a system, which was debiased as well, in the numbers of the text and in the summary."""
    runs = [("nearest", "heuristic", "none"), ("first", "heuristic", "none"), ("m", "system", "none")]
    runs += [("m", "system", "a-CDA")]
    rows = [
        ("replica", *run, metric, value)
        for run, value in zip(runs, (-0.1, 0.0, 0.2, 0.3), strict=True)
        for metric in ("acc_diff", "delta_i", "split_masculine")
    ]
    tested = {"p_value": 0.001, "p_centred": 0.5, "p_holm": 0.5, "p_centred_holm": 0.5, "clusters": 24}
    table = estimated(*rows, **tested, low=-0.2, high=0.4)
    table.loc[table.model == "m", "p_holm"] = 0.001
    others = estimated(("replica", "m", "system", "none", "i_across", 0.3), low=0.2, high=0.4, clusters=10)
    others = pd.concat([others.assign(original_gender="M"), others.assign(original_gender="F", clusters=14),
                        others.assign(clusters=24), others.assign(metric="accuracy", role=study.ORIGINAL, clusters=24),
                        others.assign(metric="accuracy", role="original", clusters=24)])  # fmt: skip
    table = pd.concat([table, others, table.assign(reading=study.PUBLISHED, value=0.9)], ignore_index=True)
    files.write_csv(tmp_path / "estimates.csv", table[estimates.COLUMNS])
    read = study.with_systems(study.read_estimates(tmp_path / "estimates.csv", 0.01), study.RULES | {"m": "Mine"})
    main = study.main_outputs(read)
    found = section.count_systems(main, "replica") | section.count_quadruples(main, "replica")
    assert {name: entry["value"] for name, entry in found.items()} == {
        "systems": 3, "rules": 2, "acc_diff.significant_holm": 1, "delta_i.significant_holm": 1, "a-CDA.systems": 1,
        "a-CDA.acc_diff.significant_holm": 1, "a-CDA.delta_i.significant_holm": 1, "disputed": 12,
        "size.all": 24, "size.M": 10, "size.F": 14,
    }  # fmt: skip
    section.summary(
        estimates=str(tmp_path / "estimates.csv"), summary=str(tmp_path / "summary.csv"),
        labels=study.RULES | {"m": "Mine"}, systems={"m": {"demonstration": True}},
    )  # fmt: skip
    made = estimate_rows.read([tmp_path / "summary.csv"])
    told = [
        (summaries.describe_subject(row), "demonstration" if row["demonstration"] else row["kind"], row["headline"])
        for row in made.to_dict("records")
    ]
    # Headlines are first, and nothing is read in another way or explains a metric alone.
    assert told[:5] == [
        ("Nearest name (rule)", "heuristic", True), ("First name (rule)", "heuristic", True),
        ("Mine", "demonstration", True), ("Mine, a-CDA", "demonstration", True), ("Mine", "demonstration", False),
    ]  # fmt: skip
    groups = made[~made.headline & (made.metric != "accuracy, masculine minus feminine")]
    assert groups[["original_gender", "role", "n"]].values.tolist() == [
        ["M", "", 10], ["F", "", 14], ["", "", 24], ["", "original|control", 24]
    ]  # fmt: skip
