"""From scores to predictions, estimates with intervals, and what other choices change."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import model_outputs, options
from scripts.core.errors import UserError
from scripts.core.statistics.procedures import wilson_interval
from scripts.core.statistics.ratios import POOLED
from scripts.misgendered import choices, predictions, study
from scripts.misgendered.grid import Grid
from scripts.misgendered.study import estimates_by
from scripts.misgendered.tables import name_ranks, rank_names
from tests.misgendered import synthetic

DRAWS = 300
CHOSEN = {"labels": "corrected", "capitals": "corrected"}


@pytest.fixture(scope="module")
def predicted():
    return synthetic.predicted(["a", "b"], size=550, shots=(2,), draws=3)


@pytest.fixture(scope="module")
def base(predicted):
    """Return what one model picks without examples."""
    rows = predicted[(predicted.shots == 0) & (predicted.model == "a")]
    return rows.drop_duplicates(choices.WORDS)


@pytest.fixture(scope="module")
def path(predicted, tmp_path_factory):
    return synthetic.write(tmp_path_factory.mktemp("run") / "predictions.parquet", predicted)


@pytest.fixture(scope="module")
def estimated(path):
    return synthetic.estimated(path, DRAWS, study_models=["a", "b"])


# Predictions.


@pytest.mark.parametrize(
    ("gold", "groups", "sums", "tokens", "expected"),
    [
        # The mean over tokens and the sum pick different forms.
        ("xem", ["he", "xe"], [-10.0, -11.0], [5, 6], ("xem", True, "him", False, False, 0.5)),
        # Equal losses go to the first candidate.
        ("xem", ["he", "xe"], [-10.0, -10.0], [5, 5], ("him", False, "him", False, True, 0.5)),
        # A form that two groups share is right for both.
        ("em", ["he", "e/ey"], [-10.0, -9.0], [5, 5], ("em", True, "em", True, False, 0.5)),
    ],
    ids=["mean and sum", "tie", "shared form"],
)
def test_the_lowest_mean_loss_is_picked(gold, groups, sums, tokens, expected):
    offered = {"gold": [gold], "options": [["him", gold]], "groups": [groups], "form": ["acc"]}
    table = synthetic.instances(1).assign(**offered)
    scores = synthetic.scores(table).assign(log_probability=sums, scored_tokens=tokens)
    for group in groups[1].split("/"):
        row = synthetic.predictions(table.assign(group=group), scores, "m").iloc[0]
        found = (row.picked, row.correct, row.picked_sum, row.correct_sum, row.tie, row.chance)
        assert found == expected
        assert row.picked_group == groups[row.picked == gold]


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
    predictions.predictions(
        **CHOSEN, instances=[paths["instances"]], scores=[paths["scores"]], models=[["m"]], wording="corrected",
        predictions=paths["predictions"],
    )  # fmt: skip
    expected = synthetic.predictions(drawn[drawn.wording == "corrected"], scores, "m")
    pd.testing.assert_frame_equal(files.read_parquet(paths["predictions"]), expected, check_dtype=False)
    # The wording in which an instance does not count is decided from the same files.
    known = model_outputs.ExpectedOptions.read(paths["instances"])
    read = predictions.read_losses(paths["scores"], "m", known, **CHOSEN)
    other = pd.concat(predictions.decide_parts(paths["instances"], known, read, "m", "faithful"))
    expected = synthetic.predictions(drawn[drawn.wording == "faithful"], scores, "m")
    assert other.picked.tolist() == expected.picked.tolist()
    # A part without instances has no predictions.
    nothing = np.empty((0, 11))
    assert list(predictions.decide(table.head(0), nothing, nothing, "m")) == list(expected)


def test_a_run_of_masked_models_alone_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"no model of this run has a loss on labels.*leave misgendered out of studies"):
        predictions.predictions(
            **CHOSEN, instances=["none.parquet"], scores=[], predictions="p.parquet", models=[[]], wording="corrected"
        )


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


# Estimates.


def test_accuracies_are_means_and_say_what_they_pool(path, predicted, estimated):
    zero = predicted[(predicted.shots == 0) & (predicted.model == "a")]
    row = estimates_by(estimated, "group", model="a", group="xe").iloc[0]
    part = zero[zero.group == "xe"]
    assert (row.value, row.below, row.pronoun_type) == (pytest.approx(part.correct.mean()), len(part), "neo")
    row = estimates_by(estimated, "declaration_number", "pronoun_type", model="a", declaration_number="31|32").iloc[0]
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
        cells = grid.count(grid.places(part), None, part.correct)
        row = estimates_by(estimated, "group", model=POOLED, group=group).iloc[0]
        assert (row.value, row.below) == (part.correct.mean(), len(part))
        assert (row.low, row.high) == grid.interval(cells)


def test_chance_by_hand(estimated):
    """Accusative and reflexive have ten candidates for eleven groups, the other three forms eleven."""
    whole = (33 / 11 + 22 / 10) / 55
    assert options.chance_of_sets(synthetic.loaded().groups, study.FORMS) == pytest.approx(whole)
    assert estimates_by(estimated, model=POOLED).chance.item() == pytest.approx(whole)
    assert estimates_by(estimated, "form", model="a").set_index("form").chance.to_dict() == {
        form: pytest.approx(1 / 10 if form in ("acc", "ref") else 1 / 11) for form in study.FORMS
    }


def test_a_share_is_resampled_by_templates_and_names_as_a_plain_loop_does(base):
    """An instance counts as often as its template was drawn times its name."""
    grid = Grid([base], 20, 1)
    part = base[base.group == "he"]
    samples = grid.samples(grid.count(grid.places(part), None, part.correct))
    templates, names = list(grid.templates), list(grid.names)
    for draw, share in enumerate(samples):
        weights = [
            grid.row_weights[draw, templates.index((row.form, row.template_index))]
            * grid.column_weights[draw, names.index((row.name_class, row.name))]
            for row in part.itertuples(index=False)
        ]
        assert share == pytest.approx(np.average(part.correct, weights=weights))


def test_where_all_are_right_or_none_is_the_interval_is_of_templates_or_names():
    table = synthetic.instances(1100)
    grid = Grid([table], 100, 1)
    (trials,) = grid.count(grid.places(table), None)
    fewer = min(np.count_nonzero(trials.any(axis=axis)) for axis in (0, 1))
    assert grid.interval(np.array([trials, trials])) == pytest.approx(wilson_interval(fewer, fewer))
    assert grid.interval(np.array([trials, 0 * trials])) == pytest.approx(wilson_interval(0, fewer))
    # One name alone: its templates count.
    of_name = np.where(np.arange(trials.shape[1]) == 0, trials, 0)
    templates = np.count_nonzero(of_name.any(axis=1))
    assert grid.interval(np.array([of_name, of_name]), fixed_names=True) == pytest.approx(
        wilson_interval(templates, templates)
    )
    single = np.zeros_like(trials)
    single[0, 0] = 3
    assert np.isnan(grid.interval(np.array([single, single]))).all()


def test_names_are_ranked_by_neo_pronouns(predicted, estimated):
    ranked = rank_names(estimated)
    assert ranked.value.is_monotonic_decreasing
    neo = predicted[(predicted.shots == 0) & (predicted.pronoun_type == "neo")]
    assert ranked.below.sum() == len(neo)
    shares = neo.groupby("name").correct.mean()
    assert ranked.value.tolist() == shares[ranked["name"]].tolist()
    # Names with fewer than ten instances are not printed.
    _, cells, _ = name_ranks(estimated.assign(below=estimated.below + 10), {})
    assert len(cells) == 10 and cells["Best: name"].iloc[0] == ranked["name"].iloc[0]
    assert cells["Worst: name"].iloc[0] == ranked["name"].iloc[-1]


def test_draws_of_examples_vary(estimated):
    rows = study.by_examples(estimated)
    shown = rows[rows.shots == "2"]
    assert (shown.draws == 3).all() and shown.sd.notna().all()
    by_draw = estimates_by(estimated, "draw", "pronoun_type", shots="2", model="a", pronoun_type="neo")
    of_a = shown[(shown.model == "a") & (shown.pronoun_type == "neo")].iloc[0]
    assert of_a.sd == pytest.approx(by_draw.value.std()) and of_a.value == pytest.approx(by_draw.value.mean())
    # Without examples it is the declaration that examples use, not all of them.
    without = rows[rows.shots == "0"]
    assert without.sd.isna().all() and set(without.declaration_number) == {"5"}


# Other choices.


def changed(base, other):
    """Return what one choice changes, from predictions of one model or several."""
    pairs = base.assign(picked_other=other.picked.to_numpy(), correct_other=other.correct.to_numpy())
    grid = Grid([base], DRAWS, 1)
    found = {model: choices.count_changes(rows, grid) for model, rows in pairs.groupby("model")}
    return choices.tabulate_changes(found, grid, "labels", "faithful").set_index(["model", "pronoun_type"])


def test_another_choice_is_compared_on_the_same_instances(predicted):
    base = predicted[predicted.shots == 0]
    same = changed(base, base)
    assert (same.difference == 0).all() and (same.other_pick == 0).all()
    other = changed(base, base.assign(correct=True, picked=base.gold))
    row = other.loc[POOLED, "neo"]
    assert row.otherwise == 1 and row.difference == pytest.approx(1 - row.accuracy)
    assert 0 < row.low < row.difference < row.high
    assert list(other.index.unique(0)) == ["a", "b", POOLED]


def test_reworded_instances_are_compared_with_those_that_they_reword(base):
    # He, thon and co have one form for both possessives: two instances with one id, one score and two declarations.
    twin = base.iloc[:1].assign(declaration="another")
    twins = pd.concat([base, twin], ignore_index=True)
    assert len(choices.match_rewordings(twins, twins)) == len(twins)
    reworded = base.iloc[::2].assign(instance_id=lambda rows: "reworded-" + rows.instance_id)
    wrong = reworded.correct & (reworded.pronoun_type == "neo")
    # Of binary pronouns another form is picked that is wrong, too.
    moved = wrong | (~reworded.correct & (reworded.pronoun_type == "binary"))
    reworded = reworded.assign(correct=reworded.correct & ~wrong, picked=reworded.picked.where(~moved, "nobody"))
    table = choices.changes_of_wording({"a": choices.match_rewordings(base, reworded)}, "faithful", DRAWS, 1)
    table = table.set_index(["model", "pronoun_type"])
    row = table.loc[POOLED, "neo"]
    assert row.n == (reworded.pronoun_type == "neo").sum()
    assert row.otherwise == 0 and row.accuracy == pytest.approx(wrong.sum() / row.n) == row.other_pick
    binary = table.loc[POOLED, "binary"]
    assert binary.difference == 0 and 0 < binary.other_pick == pytest.approx(1 - binary.accuracy)
