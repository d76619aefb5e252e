"""From scores to predictions, estimates with intervals, and what other choices change."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import model_outputs, options
from scripts.core.errors import UserError
from scripts.core.statistics.procedures import wilson
from scripts.core.statistics.ratios import POOLED
from scripts.misgendered import choices, predictions, study
from scripts.misgendered.grid import Cells, Grid
from scripts.misgendered.study import split
from scripts.misgendered.tables import name_ranks, rank_names
from tests.misgendered import synthetic

DRAWS = 300


@pytest.fixture(scope="module")
def predicted():
    return synthetic.predicted(["a", "b"], size=550, shots=(2,), draws=3)


@pytest.fixture(scope="module")
def path(predicted, tmp_path_factory):
    return synthetic.write(tmp_path_factory.mktemp("run") / "predictions.parquet", predicted)


@pytest.fixture(scope="module")
def estimated(path):
    return synthetic.estimated(path, DRAWS, study_models=["a", "b"])


def one(gold, options, groups, values, tokens):
    """Return an instance and its scores: sums ``values`` over ``tokens`` tokens."""
    table = synthetic.instances(1).assign(
        gold=[gold], options=[options], groups=[groups], group=[groups[options.index(gold)]], form=["acc"]
    )
    scores = synthetic.scores(table)
    scores["log_probability"], scores["scored_tokens"] = values, tokens
    return table, scores


def pick(*arguments):
    table, scores = one(*arguments)
    return synthetic.predictions(table, scores, "m").iloc[0]


def test_the_lowest_mean_loss_is_picked_and_the_sum_can_pick_another():
    row = pick("xem", ["him", "xem"], ["he", "xe"], [-10.0, -11.0], [5, 6])
    assert (row.picked, row.correct, row.picked_sum, row.correct_sum) == ("xem", True, "him", False)
    assert not row.tie and row.chance == 0.5


def test_equal_losses_go_to_the_first_candidate():
    row = pick("xem", ["him", "xem"], ["he", "xe"], [-10.0, -10.0], [5, 5])
    assert (row.picked, row.tie, row.correct) == ("him", True, False)


def test_a_shared_form_is_right_for_every_group_that_has_it():
    table, scores = one("em", ["him", "em"], ["he", "e/ey"], [-10.0, -9.0], [5, 5])
    for group in ("e", "ey"):
        row = synthetic.predictions(table.assign(group=group), scores, "m").iloc[0]
        assert row.correct and row.picked_group == "e/ey"


def test_rows_have_the_scores_of_their_own_instance_wherever_parts_of_the_files_begin(tmp_path, monkeypatch):
    """Files of more rows than one part are read in parts; here seven rows and eleven scores are one."""
    monkeypatch.setattr(predictions, "PART", 7)
    monkeypatch.setattr(model_outputs, "BATCH", 11)
    table = synthetic.instances(40).assign(wording=["corrected", "faithful"] * 20)
    # Some instances are drawn twice, and scored once.
    drawn = pd.concat([table, table.assign(draw=1).iloc[5:25]], ignore_index=True)
    scores = synthetic.scores(table)
    paths = {name: str(tmp_path / name) for name in ("instances", "scores", "predictions")}
    files.write_parquet(paths["instances"], drawn)
    files.write_parquet(paths["scores"], scores.sample(frac=1, random_state=1), metadata={"model": "m"})
    chosen = {"labels": "corrected", "capitals": "corrected"}
    predictions.predictions(
        **chosen, instances=[paths["instances"]], scores=[paths["scores"]], models=[["m"]], wording="corrected",
        predictions=paths["predictions"],
    )  # fmt: skip
    expected = synthetic.predictions(drawn[drawn.wording == "corrected"], scores, "m")
    pd.testing.assert_frame_equal(files.read_parquet(paths["predictions"]), expected, check_dtype=False)
    # The wording in which an instance does not count is decided from the same files.
    known = model_outputs.ExpectedOptions.read(paths["instances"])
    read = predictions.read_losses(paths["scores"], "m", known, **chosen)
    other = pd.concat(predictions.decide_parts(paths["instances"], known, read, "m", "faithful"))
    expected = synthetic.predictions(drawn[drawn.wording == "faithful"], scores, "m")
    assert other.picked.tolist() == expected.picked.tolist()


def test_a_run_of_masked_models_alone_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"no model of this run has a loss on labels.*leave misgendered out of studies"):
        predictions.predictions(
            instances=["none.parquet"], scores=[], predictions=str(tmp_path / "p.parquet"), models=[[]],
            wording="corrected", labels="corrected", capitals="corrected",
        )  # fmt: skip


def test_a_file_is_read_one_model_at_a_time_whatever_its_row_groups_hold(tmp_path, predicted, estimated):
    ordered = predicted.sort_values(["shots", "model"], kind="stable", ignore_index=True)
    files.write_parquet(tmp_path / "several.parquet", ordered)
    with files.append_parquet(tmp_path / "single.parquet") as append:
        for _, part in ordered.groupby(["shots", "model"]):
            append(part.head(100))
            append(part.iloc[100:])
    for name in ("several", "single"):
        made = synthetic.estimated(str(tmp_path / f"{name}.parquet"), DRAWS, study_models=["a", "b"])
        pd.testing.assert_frame_equal(made, estimated, obj=name)


def test_chance_by_hand(tmp_path):
    """Accusative and reflexive have ten candidates for eleven groups, the other three forms eleven."""
    groups = {g: dict(zip(synthetic.FORMS, forms[1:], strict=True)) for g, forms in synthetic.GROUPS.items()}
    assert options.chance_of_sets(groups, synthetic.FORMS) == pytest.approx((33 / 11 + 22 / 10) / 55)
    path = synthetic.write(tmp_path / "p.parquet", synthetic.predicted(["a"], size=55))
    table = synthetic.estimated(path, 10)
    assert split(table, model=POOLED).chance.item() == pytest.approx(options.chance_of_sets(groups, synthetic.FORMS))
    assert split(table, "form", model="a").set_index("form").chance.to_dict() == {
        form: pytest.approx(1 / 10 if form in ("acc", "ref") else 1 / 11) for form in synthetic.FORMS
    }


def test_accuracies_are_means_and_say_what_they_pool(path, predicted, estimated):
    zero = predicted[(predicted.shots == 0) & (predicted.model == "a")]
    row = split(estimated, "group", model="a", group="xe").iloc[0]
    part = zero[zero.group == "xe"]
    assert (row.value, row.below, row.pronoun_type) == (pytest.approx(part.correct.mean()), len(part), "neo")
    row = split(estimated, "declaration_number", "pronoun_type", model="a", declaration_number="31|32").iloc[0]
    part = zero[zero.declaration_number.isin([31, 32]) & (zero.pronoun_type == row.pronoun_type)]
    assert (row.value, row.below) == (pytest.approx(part.correct.mean()), len(part))
    assert (estimated.low.isna() | (estimated.low <= estimated.value + 1e-9)).all()
    assert set(estimated.model) == {"a", "b", POOLED, "a|b"}
    assert "a|b|c" not in set(synthetic.estimated(path, 10, study_models=["a", "b", "c"]).model)


def test_estimates_of_all_models_are_those_of_all_rows_together(predicted, estimated):
    """Cells of models add up to what their rows together give, interval included."""
    zero = predicted[predicted.shots == 0]
    grid = Grid([zero], DRAWS, 1)
    for group in ("he", "xe"):
        part = zero[zero.group == group]
        cells = grid.count(grid.places(part), part.correct.to_numpy())
        row = split(estimated, "group", model=POOLED, group=group).iloc[0]
        assert (row.value, row.below) == (part.correct.mean(), len(part))
        assert (row.low, row.high) == grid.interval(cells)


def test_intervals_widen_with_the_variance_between_templates():
    """Half of the templates are always right: instances alone would give an interval several times too narrow."""
    table = synthetic.instances(1100)
    grid = Grid([table], 1000, 1)
    low, high = grid.interval(grid.count(grid.places(table), (table.template_index < 5).to_numpy()))
    alone = 1.96 * np.sqrt(0.25 / len(table))
    assert high - low > 4 * alone


def test_where_all_are_right_or_none_is_the_interval_is_of_templates_or_names():
    table = synthetic.instances(1100)
    grid = Grid([table], 100, 1)
    trials = grid.count(grid.places(table), np.zeros(len(table), dtype=bool)).trials
    fewer = min(np.count_nonzero(trials.any(axis=axis)) for axis in (0, 1))
    assert grid.interval(Cells(trials, trials)) == pytest.approx(wilson(fewer, fewer))
    assert grid.interval(Cells(trials, 0 * trials)) == pytest.approx(wilson(0, fewer))
    # One name alone: its templates count.
    of_name = np.zeros_like(trials)
    of_name[:, 0] = trials[:, 0]
    templates = np.count_nonzero(of_name.any(axis=1))
    cells = Cells(of_name, of_name)
    assert grid.interval(cells, fixed_names=True) == pytest.approx(wilson(templates, templates))
    one = np.zeros_like(trials)
    one[0, 0] = 3
    assert np.isnan(grid.interval(Cells(one, one))).all()


def test_names_are_ranked_by_neo_pronouns(predicted, estimated):
    ranked = rank_names(estimated)
    assert ranked.value.is_monotonic_decreasing
    neo = predicted[(predicted.shots == 0) & (predicted.pronoun_type == "neo")]
    assert ranked.below.sum() == len(neo)
    # Names with fewer than ten instances are not printed.
    _, cells, _ = name_ranks(estimated.assign(below=estimated.below + 10), {})
    assert len(cells) == 10 and cells["Best: name"].iloc[0] == ranked["name"].iloc[0]
    assert cells["Worst: name"].iloc[0] == ranked["name"].iloc[-1]


def test_draws_of_examples_vary(estimated):
    rows = study.by_examples(estimated)
    shown = rows[rows.shots == "2"]
    assert (shown.draws == 3).all() and shown.sd.notna().all()
    by_draw = split(estimated, "draw", "pronoun_type", shots="2", model="a", pronoun_type="neo")
    of_a = shown[(shown.model == "a") & (shown.pronoun_type == "neo")].iloc[0]
    assert of_a.sd == pytest.approx(by_draw.value.std()) and of_a.value == pytest.approx(by_draw.value.mean())
    assert rows[rows.shots == "0"].sd.isna().all()
    assert set(rows[rows.shots == "0"].declaration_number) == {"5"}


def changed(base, other, choice="labels"):
    """Return what one choice changes, from predictions of one model or several."""
    pairs = base.assign(picked_other=other.picked.to_numpy(), correct_other=other.correct.to_numpy())
    grid, found = Grid([base], DRAWS, 1), {}
    for model, rows in pairs.groupby("model"):
        choices.add(found, model, rows, grid)
    return choices.changes(found, grid, choice, "faithful")


def test_another_choice_is_compared_on_the_same_instances(predicted):
    base = predicted[predicted.shots == 0]
    same = changed(base, base)
    assert (same.difference == 0).all() and (same.other_pick == 0).all()
    other = changed(base, base.assign(correct=True, picked=base.gold))
    row = other[(other.model == POOLED) & (other.pronoun_type == "neo")].iloc[0]
    assert row.otherwise == 1 and row.difference == pytest.approx(1 - row.accuracy)
    assert list(other.model.unique()) == ["a", "b", POOLED]


def test_what_two_declarations_say_alike_is_compared_apart(predicted):
    """He, thon and co have one form for both possessives: two instances with one id, one score and two declarations."""
    base = predicted[(predicted.shots == 0) & (predicted.model == "a")].drop_duplicates(choices.WORDS)
    twin = base.iloc[:1].assign(declaration="explicit_32")
    base = pd.concat([base.assign(declaration="explicit_31"), twin], ignore_index=True).drop_duplicates(choices.WORDS)
    assert len(choices.match_rewordings(base, base)) == len(base)


def test_reworded_instances_are_compared_with_those_that_they_reword(predicted):
    base = predicted[(predicted.shots == 0) & (predicted.model == "a")].drop_duplicates(choices.WORDS)
    reworded = base.iloc[::2].assign(instance_id=lambda rows: "reworded-" + rows.instance_id)
    wrong = reworded.correct & (reworded.pronoun_type == "neo")
    reworded = reworded.assign(correct=reworded.correct & ~wrong, picked=reworded.picked.where(~wrong, "nobody"))
    table = choices.changes_of_wording({"a": choices.match_rewordings(base, reworded)}, "faithful", DRAWS, 1)
    row = table[(table.model == POOLED) & (table.pronoun_type == "neo")].iloc[0]
    assert row.n == (reworded.pronoun_type == "neo").sum()
    assert row.otherwise == 0 and row.accuracy == pytest.approx(wrong.sum() / row.n) == row.other_pick
    binary = table[(table.model == POOLED) & (table.pronoun_type == "binary")].iloc[0]
    assert binary.difference == 0 and binary.other_pick == 0


def test_a_part_without_instances_has_no_predictions():
    table = synthetic.instances(3)
    made = synthetic.predictions(table, synthetic.scores(table), "m")
    nothing = np.empty((0, 11))
    empty = predictions.decide(table.head(0), nothing, nothing, "m")
    assert list(empty) == list(made) and not len(empty)
