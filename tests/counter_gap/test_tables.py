"""Cells of tables, and the examples."""

import re

import pandas as pd

from scripts.counter_gap.lib import examples, tables
from tests.counter_gap import make


def test_marks_tell_every_test_apart():
    row = pd.Series({"value": -0.0499, "significant": True, "significant_holm": False, "significant_centred": True,
                     "significant_centred_holm": False})  # fmt: skip
    assert tables.formatted(row, "marked") == "−4.99*" and tables.formatted(row, "rho") == "−0.050*"
    assert tables.marked(row.where(row.index != "significant_centred", False)) == "−4.99*‡"
    both = row.where(row.index != "significant_holm", True)
    assert tables.marked(both) == "−4.99*†‡"
    assert tables.marked(both.where(row.index != "significant_centred_holm", True)) == "−4.99*†"
    untested = row.where(row.index == "value", None)
    assert tables.marked(untested) == "−4.99"


def test_what_was_not_released_is_told_from_what_was_not_run():
    assert tables.absent("released") == "not released"
    assert tables.absent("clusters") == tables.absent("clusters_faithful") == "not run"


def test_an_example_marks_names_pronoun_and_prediction(tmp_path):
    frame = make.eight_instances(tmp_path / "quadruples.tsv")
    row = next(frame.assign(a_pred=True, b_pred=False).itertuples(index=False))
    text = examples.typeset(row, {"Mina": "violet", "Judit": "orange", "Paul": "blue", "Otto": "cyan"})
    assert r"\colorbox{yellow!60}{\textcolor{violet}{Mina}}" in text
    assert r"\underline{\textcolor{orange}{Judit}}" in text
    assert r"\colorbox{yellow!60}{\textbf{\underline{she}}}" in text
    assert r"said \textcolor{blue}{Paul}." in text
    shorn = re.sub(r"\\(colorbox|textcolor)\{[^}]*\}|\\(textbf|underline)|[{}]", "", text)
    assert shorn == row.text
