"""The cells of the tables, from small tidy tables."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.ruff import section_numbers, study, tables
from tests.ruff.synthetic import of_models


def facts(label, family, size, architecture, parameters, demonstration):
    return {
        "label": label, "family": family, "size": size, "architecture": architecture, "parameters": parameters,
        "demonstration": demonstration,
    }  # fmt: skip


MODELS = {
    "a": facts("A-base", "A", "base", "encoder", 11_000_000, False),
    "b": facts("A-large", "A", "large", "encoder", 1_300_000_000, False),
    "c": facts("C", "C", "tiny", "decoder", 46_392, True),
}


def test_instance_counts_count_files_and_what_is_scored():
    selected = pd.DataFrame({"n_distractors": [None, None, 0, 0, 0, 1], "priority": [None, None, 0, 3, 0, 0]})
    drawn = {0: 10, 1: 1000}, {0: [5, 5], 1: [5, 5]}
    table = tables.count_instances(2, *drawn, selected, [4, 4])
    assert table.scored.tolist() == [2, 3, 1]
    cells = tables.instance_count_cells(table, {"a": 4, "b": 4}, MODELS)
    assert cells.values.tolist() == [
        ["no context", "2", "–", "2"],
        ["+ 0 distractors", "10", "2 × 5", "3"],
        ["+ 1 distractor", "1,000", "2 × 5", "1"],
    ]
    with pytest.raises(ValueError, match="differ in size"):
        tables.count_instances(2, {0: 10}, {0: [5, 6]}, selected, [4])
    sizes = {"a": 4, "b": 4, "c": 1}
    table = tables.count_instances(2, *drawn, selected, sizes.values())
    assert table.scored.tolist() == [2, 3, 1]
    assert table.scored_1.tolist() == [2, 2, 1]
    cells = tables.instance_count_cells(table, sizes, MODELS)
    assert list(cells)[3:] == ["Scored: A-base, A-large", "Scored: C"]
    assert cells["Scored: C"].tolist() == ["2", "2", "1"]


def test_models_are_listed_by_family():
    cells = tables.model_cells(MODELS)
    assert cells.values.tolist() == [
        ["A", "base (11M), large (1.3B)", "encoder"],
        ["C (demonstration)", "tiny (46k)", "decoder"],
    ]


def test_accuracies_show_their_sd_where_there_is_one():
    rows = [
        {"model": model, "n_distractors": str(n), "metric": "accuracy", "value": value, "sd": sd}
        for model, n, value, sd in (("a", 0, 0.5, 0.1), ("a", 1, 0.25, np.nan), ("b", 0, 1, 0), ("b", 1, 0, 0))
    ]
    _, cells = tables.accuracy(of_models(rows, **study.SCORED), {k: MODELS[k] for k in "ab"})
    assert list(cells) == ["Model", "0", "1"]
    assert cells.values.tolist() == [["A-base", "0.50 ± 0.10", "0.25"], ["A-large", "1.00 ± 0.00", "0.00 ± 0.00"]]


def test_tests_of_many_models_are_shown_pooled_only(monkeypatch):
    tests = pd.DataFrame(
        {"model": ["", "", "a"], "pronoun_a": "he", "pronoun_b": ["she", "xe", "she"],
         "difference": [-0.1, 0.3, 0.2], "t": [-2.0, 1.0, np.nan], "df": [10.0, 9.5, np.nan],
         "p": [0.0004, 0.3, np.nan], "p_holm": [0.04, 0.3, np.nan], "significant_holm": [True, False, False],
         "n_pairs": [12, 0, 7], "difference_paired": [-0.12, np.nan, 0.25], "t_paired": [-4.0, np.nan, 3.0],
         "df_paired": [11.0, np.nan, 6.0], "p_paired": [0.002, np.nan, 0.024], "p_paired_holm": [0.004, np.nan, 0.024],
         "significant_paired_holm": [True, False, True]}
    )  # fmt: skip
    _, cells = tables.pronoun_tests(tests, MODELS)
    # No test of A-base by Welch, and none of the second pair by the paired test.
    assert cells.to_dict("records") == [
        {"Sets": "he – she", "all models: difference": "−0.10", "all models: p, Welch": "0.040*",
         "all models: p, paired": "0.004*", "A-base: difference": "+0.20", "A-base: p, paired": "0.024*"},
        {"Sets": "he – xe", "all models: difference": "+0.30", "all models: p, Welch": "0.300",
         "all models: p, paired": "–", "A-base: difference": "–", "A-base: p, paired": "–"},
    ]  # fmt: skip
    monkeypatch.setattr(tables, "MOST", 2)
    _, pooled = tables.pronoun_tests(tests, MODELS)
    assert [head for head in pooled if head.startswith("A-base")] == []
    # Of one model, all models would be that one again.
    _, alone = tables.pronoun_tests(tests, {"a": MODELS["a"]})
    assert list(alone) == ["Sets", "A-base: difference", "A-base: p, paired"]


def test_a_number_of_parameters_that_is_not_known_is_a_dash():
    assert [tables.count_parameters(count) for count in (None, float("nan"), 11e6, 1.3e9)] == ["–", "–", "11M", "1.3B"]


def test_pairs_without_any_test_have_no_row(tmp_path):
    tests = pd.DataFrame(
        {"templates": "replica", "model": [""], "pronoun_a": "he", "pronoun_b": "she", "difference": 0.5,
         "p_holm": np.nan, "significant_holm": False, "p_paired_holm": np.nan, "significant_paired_holm": False}
    )  # fmt: skip
    assert tables.pronoun_tests(tests, MODELS)[1].empty
    paths = {kind: tmp_path / f"tests.{kind}" for kind in ("csv", "tex")}
    files.write_csv(tmp_path / "given.csv", tests)
    tables.table(
        estimates="", pronoun_tests=str(tmp_path / "given.csv"), table="pronoun_tests", templates="replica",
        models=MODELS, asked={}, **paths,
    )  # fmt: skip
    assert paths["tex"].read_text(encoding="utf-8").startswith("% ") and len(files.read_csv(paths["csv"])) == 1


def accuracies(**of_models_values):
    """Return accuracies of models: model to value, low and high with each number of distractors from 0 on."""
    rows = [
        {"model": model, "n_distractors": str(n), "metric": "accuracy", "value": value, "low": low, "high": high}
        for model, cells in of_models_values.items()
        for n, (value, low, high) in enumerate(cells)
    ]
    return of_models(rows, **study.SCORED)


def test_what_rounds_to_zero_has_no_sign():
    tests = pd.DataFrame(
        {"model": "", "pronoun_a": "he", "pronoun_b": ["she", "xe"], "difference": [-0.001, 0.001],
         "t": [-0.004, 0.004], "df": 10.0, "p": 0.9, "p_holm": 0.9, "significant_holm": False, "n_pairs": 12,
         "difference_paired": [-0.001, 0.001], "t_paired": [-0.004, 0.004], "df_paired": 11.0, "p_paired": 0.9,
         "p_paired_holm": 0.9, "significant_paired_holm": False}
    )  # fmt: skip
    _, cells = tables.pronoun_tests(tests, MODELS)
    heads = [head for head in cells if head.endswith(": difference")]
    assert set(cells[heads].to_numpy().ravel()) == {"0.00"}
    rows = accuracies(a=[(0.501, 0.4, 0.6), (0.5, 0.4, 0.55)])
    assert section_numbers.of_accuracies(rows, {"a": MODELS["a"]}, 0.25)["accuracy_change.all"]["text"] == "0"


def test_numbers_count_tests_and_occupations():
    tests = pd.DataFrame(
        {"needed": 8, "model": ["", "a"], "n_a": [60, 58], "n_b": 60, "n_pairs": [60, 1],
         "p_paired_holm": [0.0002, np.nan], "significant_paired_holm": [True, False]}
    )  # fmt: skip
    made = section_numbers.of_tests(tests)
    assert [made[f"paired.{model}.{name}"]["value"] for model in ("all", "a") for name in ("tests", "significant")] == [
        1, 1, 0, 0
    ]  # fmt: skip
    assert [made[f"test_pairs.{bound}"]["value"] for bound in ("lowest", "highest")] == [1, 60]
    assert [made[f"test_n.{bound}"]["value"] for bound in ("lowest", "highest")] == [58, 60]


def test_error_shares_side_by_side():
    rows = [
        {"model": "a", "n_distractors": str(n), "metric": kind, "value": share}
        for n in (1, 2)
        for kind, share in (("distraction", 0.5), ("bias", np.nan), ("other", 0.5))
    ]
    _, cells = tables.error_types(of_models(rows), {"a": MODELS["a"]})
    assert cells.columns.tolist() == ["Model", "D1", "D2", "B1", "B2"]
    assert cells.values.tolist() == [["A-base", "0.50", "0.50", "–", "–"]]


def test_errors_are_counted_and_those_explained_have_a_range():
    rows = [
        {"model": "a", "n_distractors": str(n), "metric": metric, "above": above, "below": below}
        for n, cells in ((1, (8, 20, 2, 3, 1)), (2, (8, 10, 2, 4, 2)))
        for metric, above, below in (
            ("error", cells[0], cells[1]), ("ambiguous", cells[2], cells[0]), ("unbiased", 1, 6),
            ("distraction", cells[3], 6), ("bias", cells[4], 6),
        )
    ]  # fmt: skip
    table = of_models(rows)
    made = section_numbers.of_errors(table.assign(value=table.above / table.below))
    counted = {name: made[f"errors.{name}"]["value"] for name in ("all", "ambiguous", "unambiguous", "unbiased")}
    assert counted == {"all": 16, "ambiguous": 4, "unambiguous": 12, "unbiased": 2}
    assert [made[f"error_range.{bound}"]["text"] for bound in ("lowest", "highest")] == ["67", "100"]


def test_the_set_that_another_score_moves_most_is_one_whose_change_is_clear():
    rows = [("she", "sum", 0.5, None), ("she", "tokens", 0.9, (-0.1, 0.9)), ("xe", "sum", 0.75, None),
            ("xe", "tokens", 0.7, (-0.2, 0.1)), ("xe", "bytes", 0.25, (-0.6, -0.4))]  # fmt: skip
    table = pd.DataFrame(
        [
            {"model": "a", "pronoun": level, "normalisation": score, "accuracy": value,
             "low": value - 0.1, "high": value + 0.1, "difference": None if ends is None else sum(ends) / 2,
             "difference_low": ends and ends[0], "difference_high": ends and ends[1]}
            for level, score, value, ends in rows
        ]
    )  # fmt: skip
    made = section_numbers._of_the_set_that_moves_most(table, "normalisation.csv")
    assert {name: found["text"] for name, found in made.items()} == {
        "set_sum.a": "0.75", "set_sum_interval.a": "0.65 to 0.85",
        "set_other.a": "0.25", "set_other_interval.a": "0.15 to 0.35",
    }  # fmt: skip
    assert (made["set_other.a"]["set"], made["set_other.a"]["normalisation"]) == ("xe", "bytes")
    assert section_numbers._of_the_set_that_moves_most(table[table.normalisation != "bytes"], "") == {}


def test_models_are_above_chance_by_their_intervals():
    of_all = [(0.3, 0.2, 0.4), (0.4, 0.3, 0.5), (0.2, 0.1, 0.3)]
    rows = accuracies(**{name: [cell, cell] for name, cell in zip("abc", of_all, strict=True)})
    made = section_numbers.of_accuracies(rows, MODELS, 0.25)
    assert made["above_chance.0"]["value"] == 1
    # The demonstration model is not pooled.
    assert made["accuracy.all.0"]["value"] == pytest.approx(0.35) and made["models.pooled"]["value"] == 2
    assert (made["models.n"]["value"], made["distractors.fewest"]["value"]) == (3, 1)


def test_the_most_frequent_sets_without_context_are_told_apart_by_a_test():
    """Of a model with 69 and 67 picks none is said to be preferred; sets that are equally frequent are no favourite."""
    picks = {"close": (69, 67, 44, 0), "clear": (10, 120, 30, 20), "tied": (60, 60, 60, 0)}
    rows = [
        {"model": model, "preferred": name, "metric": metric, "above": above}
        for model, counts in picks.items()
        for ties, (name, n) in enumerate(zip(study.PRONOUN_SETS, counts, strict=True))
        for metric, above in (("picked", n), ("tied", ties))
    ]
    made = section_numbers.of_picks(of_models(rows))
    assert (made["first.close"]["set"], made["second.close"]["set"]) == ("he", "she")
    assert (made["first.clear"]["set"], made["second.clear"]["set"]) == ("she", "they")
    assert made["first_p.close"]["value"] > 0.9 and made["first_p.clear"]["value"] < 0.001
    assert made["ties.close"]["value"] == 6
    assert [made[f"favourite.{p}"]["value"] for p in study.PRONOUN_SETS] == [1, 1, 0, 0]
    assert made["favourites.tied"]["value"] == 1


def test_an_accuracy_near_chance_takes_many_instances():
    counts = pd.DataFrame({"n_distractors": [np.nan, 0], "scored": [180, 60]})
    made = section_numbers.of_settings(counts, {"chance": 0.25, "alpha": 0.05}, {"a": 20})
    # An interval of an accuracy at chance is 0.1 wide on either side: 1.96 times the root of 0.25 · 0.75 / 73.
    assert made["chance.needed"]["value"] == 73
    assert [made[f"scored.{name}"]["value"] for name in ("context_free", "0", "a.0", "total")] == [180, 60, 60, 240]
