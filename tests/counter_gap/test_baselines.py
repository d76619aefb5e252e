"""The rules that stand in for systems have the metrics that their behaviour implies."""

import numpy as np

from scripts.counter_gap import baselines, metrics, predictions, study
from scripts.counter_gap.metrics import key


def test_rules_behave_as_announced(replica):
    masculine = (replica.gender == "M").to_numpy().reshape(-1, 4)[:, 0]
    values = {}
    for rule in study.RULES:
        documents = {row.id: baselines.resolve(rule, row) for row in replica.itertuples()}
        predicted = predictions.flags_from_clusters(replica, documents, study.CORRECTED)[
            ["a_pred", "b_pred"]
        ].to_numpy()
        right = (predicted == replica[["a_coref", "b_coref"]].to_numpy()).all(axis=1).reshape(-1, 4)
        values[rule] = metrics.evaluate(np.bincount(metrics.quadruple_types(right, masculine), minlength=32))
    for rule in ("nearest", "first"):
        assert values[rule][key("i_within")] == values[rule][key("i_across")] == 0
    assert values["alphabetical"][key("i_within")] > 0.9 and values["alphabetical"][key("delta_i")] < 0
    # The bias of this rule cancels in the accuracy difference, because right names are first and second equally often.
    assert values["gendered"][key("i_within")] == values["gendered"][key("acc_diff")] == 0
    assert values["gendered"][key("delta_i")] > 0.9
