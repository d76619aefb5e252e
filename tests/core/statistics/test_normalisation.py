"""Normalisations, the decisions under each, and what flips: values worked out by hand, and intervals of decisions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from scripts.core.data import options
from scripts.core.statistics import normalisation, paired, procedures
from tests.refusals import refused

# One instance with a short option (a), one of two tokens and more bytes (b), and one that is frequent anywhere (c).
SCORES = pd.DataFrame(
    {
        "instance_id": "x",
        "option_index": [0, 1, 2],
        "log_probability": [-12.0, -12.5, -11.0],
        "scored_tokens": [4, 5, 4],
        "text_bytes": [20, 25, 10],
        "context_free_log_probability": [-10.0, -11.0, -6.0],
    }
)


def favoured(scores, kind):
    return options.pick_best(scores.assign(log_probability=normalisation.normalise_scores(scores, kind)))


@pytest.mark.parametrize(
    ("kind", "expected", "picked"),
    [
        ("sum", [-12, -12.5, -11], 2),
        ("tokens", [-3, -2.5, -2.75], 1),
        ("bytes", [-0.6, -0.5, -1.1], 1),
        ("context_free", [-2, -1.5, -5], 1),
    ],
)
def test_each_normalisation_has_its_formula(kind, expected, picked):
    assert normalisation.normalise_scores(SCORES, kind).tolist() == pytest.approx(expected)
    assert favoured(SCORES, kind).option_index.tolist() == [picked]


def test_bytes_are_those_of_utf_8():
    assert normalisation.byte_lengths(["she", "čov", "ﬁ"]).tolist() == [3, 4, 3]


@pytest.mark.parametrize("kind", normalisation.COLUMNS)
def test_ties_go_to_the_first_option(kind):
    equal = SCORES.assign(
        log_probability=-8.0, scored_tokens=4, text_bytes=20, context_free_log_probability=-6.0, instance_id="y"
    )
    made = favoured(equal[::-1], kind)
    assert made.option_index.tolist() == [0]
    assert made.tie.tolist() == [True]


@pytest.mark.parametrize("kind", ["tokens", "bytes", "context_free"])
def test_what_a_normalisation_needs_has_to_be_there(kind):
    column = normalisation.COLUMNS[kind][1]
    refusals = [(SCORES.drop(columns=column), column), (SCORES.assign(**{column: [4, np.nan, 4]}), column)]
    if kind != "context_free":
        refusals.append((SCORES.assign(**{column: [4, 0, 4]}), normalisation.LABELS[kind]))
    for scores, named in refusals:
        with refused(named, "delete the score file"):
            normalisation.normalise_scores(scores, kind)


def levels(table):
    yield {"kind": "all"}, table
    yield from (({"kind": kind}, part) for kind, part in table.groupby("kind"))


DESIGN = normalisation.Design(("sum", "tokens"), ["kind", "place", "job"], ["place", "job"], levels)


def asked(size, seed=3):
    """Return instances of 20 clusters with scores that differ by the normalisation."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "instance_id": [f"i{i:03}" for i in range(size)], "kind": np.array(["a", "b"])[np.arange(size) % 2],
            "place": np.arange(size) % 5, "job": [f"job {i % 4}" for i in range(size)],
            "options": [["he", "she", "xe"]] * size, "gold": np.array(["he", "xe"])[random.integers(0, 2, size)],
        }
    )  # fmt: skip
    scores = pd.DataFrame(
        {
            "instance_id": np.repeat(table.instance_id, 3), "option_index": np.tile([0, 1, 2], size),
            "log_probability": random.normal(-20, 2, 3 * size), "scored_tokens": random.integers(8, 13, 3 * size),
        }
    )  # fmt: skip
    return table, scores


def test_flips_are_counted_by_what_they_do():
    # Under the sum and the mean: he and he, twice he and xe, xe and he, she and she.
    table = asked(5)[0].assign(gold=["he", "xe", "xe", "xe", "he"])
    sums = [[-4, -9, -9], [-4, -9, -5], [-4, -9, -5], [-5, -9, -4], [-9, -4, -9]]
    tokens = [[2, 2, 2], [1, 2, 2], [1, 2, 2], [2, 2, 1], [2, 2, 2]]
    scores = pd.DataFrame(
        {"instance_id": np.repeat(table.instance_id, 3), "option_index": np.tile([0, 1, 2], 5),
         "log_probability": np.ravel(sums).astype(float), "scored_tokens": np.ravel(tokens)}
    )  # fmt: skip
    cells = normalisation.count_decisions(table, scores, "m", DESIGN)
    other = cells[cells.normalisation == "tokens"][list(normalisation.COUNTS)].sum()
    assert other.tolist() == [5, 3, 0, 3, 2, 1]
    row = normalisation.compare_scores(cells, DESIGN, 20, 0).iloc[1]
    assert row[["n", "accuracy", "difference", "flipped", "gained", "lost"]].tolist() == [5, 0.6, 0.2, 0.6, 0.4, 0.2]


def test_decisions_are_joined_with_instances_by_their_ids():
    table, scores = asked(40)
    alike = scores.instance_id.isin(table.instance_id[table.kind == "a"])
    scores["log_probability"] = scores.log_probability.mask(alike, -20.0)
    keys = ["normalisation", *DESIGN.kept]
    cells = normalisation.count_decisions(table, scores, "m", DESIGN).sort_values(keys, ignore_index=True)
    assert cells[cells.normalisation == "sum"].groupby("kind").tie.sum().to_dict() == {"a": 20, "b": 0}
    # In whatever order they come.
    shuffled = normalisation.count_decisions(table[::-1], scores.sample(frac=1, random_state=1), "m", DESIGN)
    pd.testing.assert_frame_equal(shuffled.sort_values(keys, ignore_index=True), cells)


def test_decisions_that_no_score_changes_leave_open_what_few_items_would_do():
    table, scores = asked(40)
    cells = normalisation.count_decisions(table, scores.assign(scored_tokens=9), "m", DESIGN)
    row = normalisation.compare_scores(cells, DESIGN, 20, 0).iloc[1]
    assert (row.difference, row.p, row.flipped) == (0, 1, 0)
    expected = procedures.agreeing_interval(0.0, len(table[["place", "job"]].drop_duplicates()))
    assert (row.difference_low, row.difference_high) == expected


def test_counts_give_what_the_single_decisions_give():
    table, scores = asked(200)
    frame = normalisation.compare_scores(normalisation.count_decisions(table, scores, "m", DESIGN), DESIGN, 300, 7)
    part = table[table.kind == "b"]
    right = {}
    for name in DESIGN.scores:
        picks = options.pick_best(scores.assign(log_probability=normalisation.normalise_scores(scores, name)))
        right[name] = np.array(options.predicted_form(part, picks)) == part.gold
    clusters = part.place.astype(str) + " " + part.job
    moved, sizes = paired.cluster_sums(right["tokens"], right["sum"], clusters)
    low, high = procedures.cluster_bootstrap(moved, sizes, 300, 7, least=-1.0)
    row = frame[(frame.kind == "b") & (frame.normalisation == "tokens")].iloc[0]
    assert row[["n", "difference", "difference_low", "difference_high", "p"]].tolist() == pytest.approx(
        [len(clusters), moved.sum() / len(clusters), low, high, paired.sign_flip_p(moved, 300, 7)]
    )
    sums = pd.Series(right["tokens"]).groupby(clusters).agg(["sum", "count"])
    assert row[["low", "high"]].tolist() == pytest.approx(
        procedures.cluster_bootstrap(sums["sum"], sums["count"], 300, 7)
    )


def test_models_are_counted_apart_and_may_be_pooled():
    pooled = replace(DESIGN, models=lambda models: {name: [name] for name in models} | {"all": list(models)})
    cells = [normalisation.count_decisions(*asked(200, seed), f"m{seed}", DESIGN) for seed in (3, 4)]
    alone = pd.concat(normalisation.compare_scores(part, DESIGN, 50, 0) for part in cells)
    frame = normalisation.compare_scores(pd.concat(cells), pooled, 50, 0)
    pd.testing.assert_frame_equal(frame[frame.model != "all"], alone.reset_index(drop=True))
    assert frame[frame.model == "all"].n.max() == 400


def test_an_instance_without_scores_is_named():
    table, scores = asked(4)
    with refused("scores of m: instance i003 is not scored", "delete the score file"):
        normalisation.count_decisions(table, scores[scores.instance_id != "i003"], "m", DESIGN)
