"""The figures keep the rules of all studies' figures; the golden files compare their marks with their tables."""

import itertools

import numpy as np
import pandas as pd

from scripts.counter_gap import figures
from tests.figures import problems

SYSTEMS = ["BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large", "nearest", "gendered"]


def test_figures_keep_the_rules():
    rows = itertools.product(SYSTEMS, [*figures.LEANINGS, *figures.POINTS])
    value = np.linspace(0.01, 0.1, 4 * len(SYSTEMS))
    frame = pd.DataFrame(rows, columns=["label", "metric"]).assign(value=value, low=value - 0.02, high=value + 0.02)
    arrows = pd.DataFrame(figures.PAIRS, columns=["first", "second", "inconsistency"])
    for drawn in (figures.draw_cancellation(frame), figures.draw_inconsistencies(arrows)):
        assert problems(drawn, pronouns=True) == []
