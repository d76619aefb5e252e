"""Which quadruples are shown as examples; the golden files have how they are typeset."""

import numpy as np
import pandas as pd
import pytest

from scripts.counter_gap import examples

RIGHT = {
    "across, long": [1, 1, 0, 0], "across, a mark": [1, 1, 0, 0], "across": [0, 0, 1, 1], "again": [1, 1, 0, 0],
    "within": [1, 0, 1, 1], "mixed": [1, 0, 1, 0], "all": [1, 1, 1, 1], "no right name": [0, 0, 1, 1],
}  # fmt: skip
LENGTHS = [9, 2, 5, 5, 7, 1, 1, 1]


@pytest.mark.parametrize(("rule", "expected"), [("across", "across"), ("within", "within")])
def test_the_first_of_the_shortest_that_fits_is_shown(rule, expected):
    instances = pd.DataFrame({"text": np.repeat(["x" * length for length in LENGTHS], 4)})
    facts = pd.DataFrame({"words": 3.0, "mark": "none"}, index=list(RIGHT))
    facts.loc["across, a mark", "mark"] = "splitting"
    facts.loc["no right name", "words"] = np.nan
    flags = pd.DataFrame({"correct": np.ravel(list(RIGHT.values())).astype(bool)})
    assert list(RIGHT)[examples.choose_example(instances, flags, facts, rule)] == expected
    assert examples.choose_example(instances, flags.assign(correct=True), facts, rule) is None
