"""Decisions under every normalisation, counted: what flips, and intervals against those of the single decisions."""

import numpy as np
import pandas as pd
import pytest

from scripts.core.statistics import decisions, paired, procedures


def levels(table):
    yield {"kind": "all"}, table
    yield from (({"kind": kind}, part) for kind, part in table.groupby("kind"))


DESIGN = decisions.Design("sum", ["instance_id"], "picked", ["kind"], [], ["place", "job"], levels)


def table(size=200, model="m"):
    """Return decisions of a model under two normalisations on instances of 20 clusters."""
    random = np.random.default_rng(3)
    base = pd.DataFrame(
        {
            "model": model, "instance_id": np.arange(size), "kind": np.array(["a", "b"])[np.arange(size) % 2],
            "place": np.arange(size) % 5, "job": [f"job {i % 4}" for i in range(size)], "tie": False,
            "gold": np.array(["he", "xe"])[random.integers(0, 2, size)],
        }
    )  # fmt: skip
    parts = []
    for name in ("sum", "tokens"):
        picked = np.array(["he", "she", "xe"])[random.integers(0, 3, size)]
        sure = random.uniform(0.34, 1, size)
        parts.append(base.assign(normalisation=name, picked=picked, correct=picked == base.gold, confidence=sure))
    return pd.concat(parts, ignore_index=True)


def test_flips_are_counted_by_what_they_do():
    # The same twice, gained, lost, and wrong under both.
    gold = ["he", "he", "xe", "she", "xe"]
    picks = {"sum": ["he", "xe", "he", "she", "he"], "tokens": ["he", "xe", "xe", "he", "she"]}
    base = table(5)
    made = pd.concat([base[base.normalisation == name].assign(picked=pick) for name, pick in picks.items()])
    made = made.assign(gold=gold * 2, correct=lambda rows: rows.picked == rows.gold)
    frame = decisions.decision_tables([decisions.count_decisions(made, DESIGN)], DESIGN, 20, 0)[0]
    row = frame[(frame.kind == "all") & (frame.normalisation == "tokens")].iloc[0]
    assert row[["n", "flipped", "gained", "lost", "difference"]].tolist() == [5, 0.6, 0.2, 0.2, 0]


def test_counts_give_what_the_decisions_give():
    made = table()
    frame, errors, bins = decisions.decision_tables([decisions.count_decisions(made, DESIGN)], DESIGN, 300, 7)
    part = made[made.kind == "b"]
    study, other = (part[part.normalisation == name].reset_index(drop=True) for name in ("sum", "tokens"))
    clusters = other.place.astype(str) + " " + other.job
    expected = paired.comparison(other.correct, study.correct, clusters, 300, 7)
    row = frame[(frame.kind == "b") & (frame.normalisation == "tokens")].iloc[0]
    assert row[["n", "difference", "difference_low", "difference_high", "p"]].tolist() == pytest.approx(
        [expected[name] for name in ("n", "difference", "ci_low", "ci_high", "p")]
    )
    sums = other.correct.groupby(clusters).agg(["sum", "count"])
    assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(
        procedures.cluster_bootstrap(sums["sum"], sums["count"], 300, 7)
    )
    error = errors[(errors.kind == "b") & (errors.normalisation == "tokens")].iloc[0]
    of_row = bins[(bins.kind == "b") & (bins.normalisation == "tokens")]
    assert (of_row.n * (of_row.accuracy - of_row.confidence).abs()).sum() / error.n == pytest.approx(error.ece)


def test_parts_are_counted_apart():
    two = [table(), table(model="n")]
    apart = decisions.decision_tables([decisions.count_decisions(part, DESIGN) for part in two], DESIGN, 50, 0)
    together = decisions.decision_tables([decisions.count_decisions(pd.concat(two), DESIGN)], DESIGN, 50, 0)
    for one, other in zip(apart, together, strict=True):
        pd.testing.assert_frame_equal(one, other)
    # Both models are as often right, so that they share the first rank.
    assert (apart[0]["rank"] == 1).all()
