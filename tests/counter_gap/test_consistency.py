"""Predictions within and across genders, without labels."""

import numpy as np
import pytest

from scripts.counter_gap.lib.analyses import consistency

A, B, NEITHER = (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("predictions", "across", "within"),
    [
        ([A, A, A, A], 0, 0),
        ([A, A, B, B], 1, 0),
        ([A, B, A, B], 0.5, 1),
        ([A, A, A, B], 0.5, 0.5),
        # Three answers differ from each other; right and wrong are only two.
        ([A, B, NEITHER, NEITHER], 1, 0.5),
    ],
)
def test_shares_of_a_quadruple(predictions, across, within):
    found = consistency.shares(predictions)
    assert (found[0][0], found[1][0]) == (across, within)


def test_metrics_and_their_relation_to_right_answers():
    generator = np.random.default_rng(1)
    flags = generator.random((400, 2)) < 0.5
    table = {row["metric"]: row for row in consistency.rows(flags, 500, 1)}
    assert table["delta_p"]["value"] == pytest.approx(table["p_across"]["value"] - table["p_within"]["value"])
    for row in table.values():
        assert row["ci_low"] < row["value"] < row["ci_high"]
    # Whatever the labels are, each inconsistency of right answers is no greater.
    for labels in (A, B, NEITHER):
        right = (flags == labels).all(1).reshape(-1, 4)
        for pairs, metric in ((consistency.ACROSS, "p_across"), (consistency.WITHIN, "p_within")):
            differs = np.mean([right[:, i] != right[:, j] for i, j in pairs])
            assert differs <= table[metric]["value"]
