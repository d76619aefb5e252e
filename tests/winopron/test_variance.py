"""Spread over templates and ways of asking, worked out by hand and recovered from tables of known spread."""

import numpy as np
import pandas as pd
import pytest

from scripts.winopron.lib.analyses import consistency, performance
from tests.winopron import synthetic

WAYS = [("0", "none"), ("0", "occupation_first"), ("4", "none")]


def once(table):
    found = consistency.variances(np.array(table, dtype=float), np.ones((1, len(table)), dtype=int))
    return consistency.deviations(found[:, 0])


def test_components_by_hand():
    # Ways of asking alone: means 1 and 0 over two templates, so a mean square of 1 and a variance of a half.
    assert once([[1, 0], [1, 0]]) == pytest.approx([0, np.sqrt(0.5), 0])
    assert once([[1, 1], [0, 0]]) == pytest.approx([np.sqrt(0.5), 0, 0])
    # Neither by itself: all of it is what both make together; negative variances count as zero.
    assert once([[1, 0], [0, 1]]) == pytest.approx([0, 0, 1])
    assert once([[0.5] * 3] * 4) == pytest.approx([0, 0, 0])


def test_known_spreads_are_recovered():
    random = np.random.default_rng(1)
    templates, ways, rest = (
        random.normal(0, 3, (600, 1)),
        random.normal(0, 1, (1, 500)),
        random.normal(0, 2, (600, 500)),
    )
    assert once(templates + ways + rest) == pytest.approx([3, 1, 2], rel=0.1)


def test_samples_count_templates_as_often_as_they_are_drawn():
    table = np.random.default_rng(2).random((4, 3))
    counted = consistency.deviations(consistency.variances(table, np.array([[2, 0, 1, 1]]))[:, 0])
    # Drawn twice is twice in the table.
    assert counted == pytest.approx(once(table[[0, 0, 2, 3]]))


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    return synthetic.sentences(tmp_path_factory.mktemp("variance"))


def asked(sentences, right, ways=WAYS):
    """Return answers to all ways of asking; ``right(template, way)`` tells whether all of a cell are right."""
    parts = []
    for number, (prompt, variant) in enumerate(ways):
        table = synthetic.answers(sentences, lambda row, number=number: float(right(row.template, number)))
        parts.append(table.assign(prompt=prompt, variant=variant))
    return pd.concat(parts, ignore_index=True)


def test_templates_or_ways_carry_it(sentences):
    by_way = consistency.spread(asked(sentences, lambda _, way: way == 0), 100, 1).set_index("part")
    assert list(by_way.index) == list(consistency.SOURCES)
    assert by_way.value[consistency.TEMPLATES] == 0 and by_way.value[consistency.WAYS] == pytest.approx(np.sqrt(1 / 3))
    assert (by_way.templates_asked == 72).all() and (by_way.ways == 3).all()
    hard = set(sentences.template.unique()[::2])
    by_template = consistency.spread(asked(sentences, lambda name, way: (name in hard) == (way > -1)), 100, 1)
    by_template = by_template.set_index("part")
    assert by_template.value[consistency.WAYS] == 0 and by_template.value[consistency.DIFFERENCE] > 0.4


def test_the_interval_of_what_does_not_vary_begins_at_zero(sentences):
    """Resampled templates make ways of asking look more different than they are; the interval allows for it."""
    ways = [(str(number), "none") for number in range(40)]
    drawn = np.random.default_rng(7)
    answers = asked(sentences, lambda _, way: drawn.random() < 0.5, ways)
    table = consistency.spread(answers, 500, 1).set_index("part")
    row = table.loc[consistency.WAYS]
    assert row.ci_low == 0 and row.value <= row.ci_high < 0.12
    together = table.loc[consistency.TOGETHER]
    assert together.ci_low < together.value < together.ci_high


def test_one_way_of_asking_has_no_spread(sentences):
    table = synthetic.answers(sentences, lambda _: 0.5).assign(prompt="0", variant="none")
    assert consistency.spread(table, 100, 1).empty


def test_the_person_counts_whom_most_ways_name(sentences):
    first = sentences.iloc[:4]
    predictions = [
        ["occupation", "occupation", None],
        ["occupation", "participant", "participant"],
        ["occupation", None, None],
        ["occupation", "participant", None],
    ]
    rows = [
        {"instance_id": name, "prediction": prediction, "prompt": prompt, "variant": variant}
        for name, of_instance in zip(first.instance_id, predictions, strict=True)
        for prediction, (prompt, variant) in zip(of_instance, WAYS, strict=True)
    ]
    voted = performance.majority_answers(performance.join_instances(pd.DataFrame(rows), first))
    assert list(voted.instance_id) == list(first.instance_id) and not {"prompt", "variant"} & set(voted)
    assert voted.prediction.where(voted.prediction.notna(), None).tolist() == ["occupation", "participant", None, None]
