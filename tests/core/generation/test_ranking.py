"""The most probable tokens, against sorting in plain Python."""

import math

import numpy as np
import pytest
import torch

from scripts.core.generation.ranking import most_probable


def plain(logits, count):
    """Return ids and probabilities of one row."""
    total = math.fsum(math.exp(value) for value in logits)
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:count]
    return order, [math.exp(logits[i]) / total for i in order]


@pytest.mark.parametrize("count", [1, 5, 299, 300, 1000])
@pytest.mark.parametrize("rounded", [False, True], ids=["distinct", "many equal"])
def test_against_plain_python(count, rounded):
    logits = torch.randn(20, 300, generator=torch.Generator().manual_seed(count))
    logits = logits.round() if rounded else logits
    groups = torch.zeros(300, 3, dtype=torch.bool)
    groups[[4, 7], 0] = groups[9, 1] = True
    ids, values, masses = most_probable(logits, count, groups)
    assert ids.shape == values.shape == (20, min(count, 300))
    for row in range(20):
        expected, probabilities = plain(logits[row].tolist(), count)
        assert ids[row].tolist() == expected
        assert values[row] == pytest.approx(probabilities, rel=1e-5)
        every = dict(zip(*plain(logits[row].tolist(), 300), strict=True))
        assert masses[row] == pytest.approx([every[4] + every[7], every[9], 0.0], rel=1e-5)


def test_equals_at_the_edge():
    logits = torch.zeros(3, 100)
    logits[1, [7, 3]] = 1.0
    logits[2, 50:] = 2.0
    ids, values, masses = most_probable(logits, 3)
    assert ids.tolist() == [[0, 1, 2], [3, 7, 0], [50, 51, 52]]
    assert values[0] == pytest.approx([0.01] * 3)
    assert masses.shape == (3, 0)
    # Here torch takes the last of two.
    logits = torch.zeros(1, 50)
    logits[0, [5, 49]] = 1.0
    assert most_probable(logits, 1)[0].tolist() == [[5]]


def test_half_precision_is_read_in_float32():
    logits = torch.tensor([[1.0, 2.0, 3.0, -4.0]], dtype=torch.bfloat16)
    ids, values, _ = most_probable(logits, 4)
    assert (ids[0].tolist(), values[0]) == (plain([1, 2, 3, -4], 4)[0], pytest.approx(plain([1, 2, 3, -4], 4)[1]))
    assert values.dtype == np.float64


def test_a_large_vocabulary_sums_to_one():
    logits = 3 * torch.randn(2, 49152, generator=torch.Generator().manual_seed(1))
    _, values, masses = most_probable(logits, 49152, torch.ones(49152, 1, dtype=torch.bool))
    assert values.sum(1) == pytest.approx([1, 1], abs=2e-6)
    assert masses[:, 0] == pytest.approx([1, 1], abs=2e-6)


def test_none_are_wanted():
    ids, values, masses = most_probable(torch.randn(2, 9), 0, torch.ones(9, 1, dtype=torch.bool))
    assert ids.shape == values.shape == (2, 0)
    assert masses[:, 0] == pytest.approx([1, 1])
