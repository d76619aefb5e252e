"""Values with their bootstrap samples."""

import numpy as np
import pytest

from scripts.core.paper import checks
from scripts.core.paper.checks import Sampled
from scripts.core.paper.finding_verdicts import HOLDS, decide


def test_samples_of_differences_and_of_their_means_lie_around_the_value():
    generator = np.random.default_rng(0)
    he, she, they, xe = (Sampled(value, generator.normal(value, 0.01, 10_000), 20) for value in (0.9, 0.8, 0.5, 0.2))
    for found, value, spread in ((he - xe, 0.7, 2**0.5), ((he - they).mean_with(she - xe), 0.5, 1.0)):
        assert (found.value, found.samples.mean()) == (pytest.approx(value), pytest.approx(value, abs=1e-3))
        assert found.samples.std() == pytest.approx(0.01 * spread, rel=0.05)
        assert (found.least, found.most, found.clusters) == (-1.0, 1.0, 20)


def test_a_test_of_levels_makes_a_check_of_each_combination():
    asked = []

    @checks.each("ab", (1, 2))
    def test(run, letter, number):
        asked.append((run, letter, number))
        return True, ""

    assert decide(test("r")).verdict == HOLDS
    assert asked == [("r", "a", 1), ("r", "a", 2), ("r", "b", 1), ("r", "b", 2)]
