"""From scores to tidy tables: predictions, intervals, and what the study does not have."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.core.errors import UserError
from scripts.core.statistics.procedures import wilson
from scripts.misgendered import analyses
from scripts.misgendered.lib import numbers, study, tables
from scripts.misgendered.lib.analyses import choices, predictions
from scripts.misgendered.lib.analyses.resampling import BootstrapFrame, ResampledPredictions, rows_at
from scripts.misgendered.lib.labels import ALL, STUDY
from tests.misgendered import synthetic

DRAWS = 300


@pytest.fixture(scope="module")
def predicted():
    return synthetic.predicted(["a", "b"], size=550, shots=(2,), draws=3)


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
    assert row.declaration_number == len(synthetic.COMBINATIONS[int(row.declaration.rpartition("_")[2])])


def test_rows_have_the_scores_of_their_own_instance_wherever_parts_of_the_files_begin(tmp_path, monkeypatch):
    """Files of more rows than one part are read in parts; here seven rows and eleven scores are one."""
    monkeypatch.setattr(predictions, "PART", 7)
    monkeypatch.setattr(model_outputs, "BATCH", 11)
    table = synthetic.instances(40).assign(wording=["corrected", "faithful"] * 20)
    # Some instances are drawn twice, and scored once.
    drawn = pd.concat([table, table.assign(draw=1).iloc[5:25]], ignore_index=True)
    scores = synthetic.scores(table)
    paths = {name: str(tmp_path / name) for name in ("instances", "scores", "predictions", "choices")}
    files.write_parquet(paths["instances"], drawn)
    files.write_parquet(paths["scores"], scores.sample(frac=1, random_state=1), metadata={"model": "m"})
    run = {"combinations": "templates/misgendered/declarations.tsv", "wording": "corrected"}
    chosen = {"labels": "corrected", "capitals": "corrected"}
    analyses.predictions(
        **run, **chosen, instances=[paths["instances"]], scores=[paths["scores"]], models=[["m"]],
        predictions=paths["predictions"],
    )  # fmt: skip
    expected = synthetic.predictions(drawn[drawn.wording == "corrected"], scores, "m")
    pd.testing.assert_frame_equal(files.read_parquet(paths["predictions"]), expected, check_dtype=False)
    # The wording in which an instance does not count is decided from the same files.
    known = model_outputs.ExpectedOptions.read(paths["instances"])
    read = predictions.Losses(paths["scores"], "m", known)
    other = analyses._decided(
        read, known, paths["instances"], "m", synthetic.COMBINATIONS, lambda rows: rows.wording == "faithful"
    )
    expected = synthetic.predictions(drawn[drawn.wording == "faithful"], scores, "m")
    assert other.picked.tolist() == expected.picked.tolist()


def test_equal_losses_go_to_the_first_candidate():
    row = pick("xem", ["him", "xem"], ["he", "xe"], [-10.0, -10.0], [5, 5])
    assert (row.picked, row.tie, row.correct) == ("him", True, False)


def test_a_shared_form_is_right_for_every_group_that_has_it():
    table, scores = one("em", ["him", "em"], ["he", "e/ey"], [-10.0, -9.0], [5, 5])
    for group in ("e", "ey"):
        row = synthetic.predictions(table.assign(group=group), scores, "m").iloc[0]
        assert row.correct and row.picked_group == "e/ey"


def test_a_run_of_masked_models_alone_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"no model of this run has a loss on labels.*leave misgendered out of studies"):
        analyses.predictions(
            instances=["none.parquet"], scores=[], combinations="templates/misgendered/declarations.tsv",
            predictions=str(tmp_path / "p.parquet"), models=[[]], wording="corrected", labels="corrected",
            capitals="corrected",
        )  # fmt: skip


def test_chance_by_hand():
    """Accusative and reflexive have ten candidates for eleven groups, the other three forms eleven."""
    groups = {g: dict(zip(synthetic.FORMS, forms[1:], strict=True)) for g, forms in synthetic.GROUPS.items()}
    assert study.chance(groups) == pytest.approx((33 / 11 + 22 / 10) / 55)
    assert numbers.scored_facts(synthetic.predicted(["a"], size=55))["chance"] == pytest.approx(study.chance(groups))


def test_accuracies_are_means_with_their_pooled_columns(predicted):
    table = analyses.accuracies(predicted, "replica", DRAWS, 1, ["a", "b"])
    assert list(table) == analyses.COLUMNS
    zero = predicted[predicted.shots == 0]
    row = table[
        (table.model == "a") & (table.shots == 0) & (table.group == "xe")
        & (table[["declaration_type", "declaration_number", "form", "name_class"]] == ALL).all(axis=1)
    ]  # fmt: skip
    part = zero[(zero.model == "a") & (zero.group == "xe")]
    assert row.accuracy.item() == pytest.approx(part.correct.mean()) and row.n.item() == len(part)
    assert row.pronoun_type.item() == "neo"
    assert (table.ci_low.isna() | (table.ci_low <= table.accuracy + 1e-9)).all()
    assert {"a", "b", ALL, STUDY} == set(table.model)
    assert STUDY not in set(analyses.accuracies(predicted, "replica", DRAWS, 1, ["a", "b", "c"]).model)


def test_intervals_widen_with_the_variance_between_templates():
    """Half of the templates are always right: instances alone would give an interval several times too narrow."""
    table = synthetic.instances(1100).assign(model="m")
    table["correct"] = table.template_index < 5
    resampled = ResampledPredictions(table, 1000, 1)
    low, high = resampled.places.interval(*resampled.cells(np.ones(len(table), dtype=bool)))
    alone = 1.96 * np.sqrt(0.25 / len(table))
    assert high - low > 4 * alone


def test_where_all_are_right_or_none_is_the_interval_is_of_templates_or_names():
    table = synthetic.instances(1100)
    places = BootstrapFrame([table], 100, 1)
    trials = np.bincount(places.cells(table), minlength=np.prod(places.shape)).reshape(places.shape)
    fewer = min(np.count_nonzero(trials.any(axis=axis)) for axis in (0, 1))
    assert places.interval(trials, trials) == pytest.approx(wilson(fewer, fewer))
    assert places.interval(trials, 0 * trials) == pytest.approx(wilson(0, fewer))
    # One name alone: its templates count.
    of_name = trials * (np.arange(trials.shape[1]) == trials.sum(axis=0).argmax())
    templates = np.count_nonzero(of_name.any(axis=1))
    assert places.interval(of_name, of_name, fixed_names=True) == pytest.approx(wilson(templates, templates))
    one = np.zeros_like(trials)
    one[0, 0] = 3
    assert np.isnan(places.interval(one, one)).all()


def test_rows_match_a_value_or_one_of_several():
    table = synthetic.instances(550)
    assert (
        rows_at(table, form="nom", group=["he", "she"]).sum()
        == ((table.form == "nom") & table.group.isin(["he", "she"])).sum()
    )


def test_names_are_ranked_by_neo_pronouns(predicted):
    ranked = analyses.by_name(predicted, DRAWS, 1)
    assert ranked.accuracy.is_monotonic_decreasing
    neo = predicted[(predicted.shots == 0) & (predicted.pronoun_type == "neo")]
    assert ranked.n.sum() == len(neo)
    best, worst = tables.ranking_ends(ranked)
    assert len(best) == len(worst) == 10 and worst.accuracy.iloc[0] == ranked.accuracy.min()
    assert len(tables.ranking_ends(ranked.head(5))[0]) == 2


def test_another_choice_is_compared_on_the_same_instances(predicted):
    base = predicted[predicted.shots == 0]
    same = choices.choices(base, base, "labels", "faithful", DRAWS, 1)
    assert (same.difference == 0).all() and (same.other_pick == 0).all()
    other = choices.choices(base, base.assign(correct=True, picked=base.gold), "labels", "faithful", DRAWS, 1)
    row = other[(other.model == ALL) & (other.pronoun_type == "neo")].iloc[0]
    assert row.otherwise == 1 and row.difference == pytest.approx(1 - row.accuracy)


def test_what_two_declarations_say_alike_is_compared_apart(predicted):
    """He, thon and co have one form for both possessives: two instances with one id, one score and two declarations."""
    base = predicted[predicted.shots == 0]
    twin = base.iloc[:1].assign(declaration="explicit_32", name="Nobody")
    base = pd.concat([base.assign(declaration="explicit_31"), twin], ignore_index=True)
    table = choices.choices(base, base, "labels", "faithful", DRAWS, 1)
    assert table[(table.model == ALL) & (table.pronoun_type == ALL)].n.item() == len(base)


def test_reworded_instances_are_compared_with_those_that_they_reword(predicted):
    base = predicted[predicted.shots == 0].drop_duplicates(choices.WORDS)
    reworded = base.iloc[::2].assign(instance_id=lambda rows: "reworded-" + rows.instance_id)
    wrong = reworded.correct & (reworded.pronoun_type == "neo")
    reworded = reworded.assign(correct=reworded.correct & ~wrong, picked=reworded.picked.where(~wrong, "nobody"))
    table = choices.choices(base, choices.match_rewordings(base, reworded), "wording", "faithful", DRAWS, 1)
    row = table[(table.model == ALL) & (table.pronoun_type == "neo")].iloc[0]
    assert row.n == (reworded.pronoun_type == "neo").sum()
    assert row.otherwise == 0 and row.accuracy == pytest.approx(wrong.sum() / row.n) == row.other_pick
    binary = table[(table.model == ALL) & (table.pronoun_type == "binary")].iloc[0]
    assert binary.difference == 0 and binary.other_pick == 0


def test_draws_of_examples_vary(predicted):
    summary = analyses.over_draws(analyses.by_draw(predicted))
    shown = summary[summary.shots == 2]
    assert (shown.draws == 3).all() and shown.sd.notna().all()
    assert summary[summary.shots == 0].sd.isna().all()


def test_a_file_is_read_one_model_at_a_time_with_the_same_results(tmp_path, predicted):
    """Row groups of a file hold one model or several, and models come in any order."""
    ordered = predicted.sort_values(["shots", "model"], kind="stable", ignore_index=True)
    files.write_parquet(tmp_path / "several.parquet", ordered)
    with files.append_parquet(tmp_path / "single.parquet") as append:
        for _, part in ordered.groupby(["shots", "model"]):
            append(part.head(100))
            append(part.iloc[100:])
    made = {
        "accuracy": lambda table: analyses.accuracies(table, "replica", DRAWS, 1, ["a", "b"]),
        "draws": analyses.by_draw,
        "names": lambda table: analyses.by_name(table, DRAWS, 1),
    }
    for name, make in made.items():
        for path in ("several", "single"):
            from_file = make(str(tmp_path / f"{path}.parquet"))
            pd.testing.assert_frame_equal(from_file, make(ordered), check_dtype=False, obj=name)
    assert numbers.scored_facts(str(tmp_path / "single.parquet")) == numbers.scored_facts(ordered)


def test_pooled_accuracies_are_those_of_all_rows_together(predicted):
    """Cells of models add up to what their rows together give, interval included."""
    zero = predicted[predicted.shots == 0]
    rows = ResampledPredictions(zero, DRAWS, 1)
    table = analyses.accuracies(zero, "replica", DRAWS, 1)
    for group in ("he", "xe"):
        chosen = rows_at(rows.table, group=group)
        row = table[
            (table.model == ALL) & (table.group == group)
            & (table[["declaration_type", "declaration_number", "form", "name_class"]] == ALL).all(axis=1)
        ]  # fmt: skip
        assert (row.accuracy.item(), row.n.item()) == (rows.share(chosen), chosen.sum())
        assert (row.ci_low.item(), row.ci_high.item()) == rows.places.interval(*rows.cells(chosen))


@pytest.mark.parametrize(("second", "clear"), [((0.05, 0.3), False), ((0.05, 0.1), True)])
def test_the_best_neopronoun_is_called_best_if_its_interval_is_above_all_others(second, clear):
    """The largest of some noisy shares is no finding."""
    levels = dict.fromkeys(["declaration_type", "declaration_number", "form", "name_class"], ALL)
    intervals = {"ze": (0.2, 0.15, 0.4), "xe": (0.08, *second), "co": (0.0, 0.0, 0.05)}
    rows = [
        {**levels, "model": ALL, "pronoun_type": "neo", "group": group, "accuracy": a, "ci_low": low, "ci_high": high}
        for group, (a, low, high) in intervals.items()
    ]
    best = numbers.from_accuracy(pd.DataFrame(rows))["group.neo.best"]
    assert (best["label"], best["text"], best["clear"]) == ("ze", "20.0", clear)


def test_a_part_without_instances_has_no_predictions():
    table = synthetic.instances(3)
    made = synthetic.predictions(table, synthetic.scores(table), "m")
    nothing = np.empty((0, 11))
    empty = predictions.decide_instances(table.head(0), nothing, nothing, "m", synthetic.COMBINATIONS)
    assert list(empty) == list(made) and not len(empty)
