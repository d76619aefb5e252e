"""Cells that the golden files do not have: several sizes of samples, tests of many models, what is missing."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper import formats
from scripts.ruff import tables
from tests.ruff import synthetic

MODELS = {
    name: {"label": label, "family": family, "size": size, "architecture": "encoder", "parameters": count,
           "demonstration": name == "c"}
    for name, label, family, size, count in (
        ("a", "A-base", "A", "base", 11_000_000),
        ("b", "A-large", "A", "large", 1_300_000_000),
        ("c", "C", "C", "tiny", 46_392),
    )
}  # fmt: skip


def test_instances_are_counted_by_size_of_samples():
    selected = pd.DataFrame({"n_distractors": [None, None, 0, 0, 0, 1], "priority": [None, None, 0, 3, 0, 0]})
    drawn = {0: 10, 1: 1000}, {0: [5, 5], 1: [5, 5]}
    sizes = {"a": 4, "b": 4, "c": 1}
    table = tables.count_instances(2, *drawn, selected, sizes.values())
    assert table.scored.tolist() == [2, 3, 1] and table.scored_1.tolist() == [2, 2, 1]
    cells = tables.instance_count_cells(table, sizes, MODELS)
    assert list(cells) == ["Setting", "Instances", "Samples", "Scored: A-base, A-large", "Scored: C"]
    assert cells.values.tolist() == [
        ["no context", "2", "–", "2", "2"],
        ["+ 0 distractors", "10", "2 × 5", "3", "2"],
        ["+ 1 distractor", "1,000", "2 × 5", "1", "1"],
    ]
    with pytest.raises(ValueError, match="differ in size"):
        tables.count_instances(2, {0: 10}, {0: [5, 6]}, selected, [4])


def test_models_are_listed_by_family_with_their_sizes():
    assert tables.model_cells(MODELS).values.tolist() == [
        ["A", "base (11M), large (1.3B)", "encoder"],
        ["C (demonstration)", "tiny (46k)", "encoder"],
    ]
    assert [formats.count_parameters(count) for count in (None, float("nan"), 1e12)] == ["–", "–", "1T"]


def made_tests(**columns):
    """Return tests between two pairs of sets over models and one of a single model."""
    table = {"templates": "replica", "model": ["", "", "a"], "pronoun_a": "he", "pronoun_b": ["she", "xe", "she"]}
    table |= {"difference": [-0.1, 0.3, 0.2], "p_holm": [0.04, 0.3, np.nan], "significant_holm": [True, False, False]}
    table |= {"p_paired_holm": [0.004, np.nan, 0.024], "significant_paired_holm": [True, False, True]}
    return pd.DataFrame(table | columns)


def test_tests_of_many_models_are_shown_pooled_only(monkeypatch):
    _, cells = tables.pronoun_tests(made_tests(), MODELS)
    # No test of A-base by Welch, and none of the second pair by the paired test.
    assert cells.to_dict("records") == [
        {"Sets": "he – she", "all models: difference": "−0.10", "all models: p, Welch": "0.040*",
         "all models: p, paired": "0.004*", "A-base: difference": "+0.20", "A-base: p, paired": "0.024*"},
        {"Sets": "he – xe", "all models: difference": "+0.30", "all models: p, Welch": "0.300",
         "all models: p, paired": "–", "A-base: difference": "–", "A-base: p, paired": "–"},
    ]  # fmt: skip
    # What rounds to zero has no sign; of one model, all models would be that one again.
    _, alone = tables.pronoun_tests(made_tests(difference=[-0.1, 0.3, -0.001]), {"a": MODELS["a"]})
    assert list(alone) == ["Sets", "A-base: difference", "A-base: p, paired"]
    assert alone["A-base: difference"].tolist() == ["0.00"]
    monkeypatch.setattr(tables, "MOST", 2)
    _, pooled = tables.pronoun_tests(made_tests(), MODELS)
    assert not any(head.startswith("A-base") for head in pooled)


def test_pairs_without_any_test_have_no_row(tmp_path):
    tests = made_tests(p_holm=np.nan, p_paired_holm=np.nan)
    assert tables.pronoun_tests(tests, MODELS)[1].empty
    paths = {kind: tmp_path / f"tests.{kind}" for kind in ("csv", "tex")}
    files.write_csv(tmp_path / "given.csv", tests)
    tables.table(
        estimates="", pronoun_tests=str(tmp_path / "given.csv"), table="pronoun_tests", templates="replica",
        models=MODELS, asked={}, **paths,
    )  # fmt: skip
    assert paths["tex"].read_text(encoding="utf-8").startswith("% ") and len(files.read_csv(paths["csv"])) == 3


def test_chains_of_thought_have_a_row_for_each_place_of_the_answer():
    outputs = synthetic.prompted_outputs({"m": {}}, synthetic.SETS[:4], [0, 1], ["m"], size=4)
    chains = (outputs.method == "vanilla") | (outputs.n_distractors == 1)
    _, cells = tables.prompting(synthetic.prompted_tables(outputs[chains])["estimates"], {"m": {"label": "M"}})
    counts = [f"accuracy by distractors: {n}" for n in (0, 1)]
    shares = [f"no answer: {name}" for name in ("wrong case", "several", "no pronoun")]
    assert list(cells) == ["Model", "Method", "Answer in", *counts, *shares]
    assert cells.Model.tolist() == ["M", "", "", "", ""]
    assert cells.Method.tolist() == ["vanilla", "Kojima", "Kojima", "Zhou", "Zhou"]
    assert cells["Answer in"].tolist() == ["", "final", "chain", "final", "chain"]
    assert (cells[counts[0]] == "–").tolist() == [False, True, True, True, True]
    # Shares are of the outputs of a method, not of all.
    kojima = outputs[chains & (outputs.method == "kojima") & (outputs.answer == "final")].outcome
    expected = [f"{(kojima == kind).mean():.2f}" for kind in ("wrong_case", "several", "none")]
    assert cells[shares].iloc[1].tolist() == expected and len(kojima) == 40
