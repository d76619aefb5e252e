"""The figures keep the rules of all studies' figures; the golden files compare their marks with their tables."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from scripts.core.paper import palette
from scripts.counter_gap import figures
from tests.figures import problems
from tests.golden.marks import marks

SYSTEMS = ["BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large", "nearest", "gendered"]
ARROWS = pd.DataFrame(figures.PAIRS, columns=["first", "second", "inconsistency"])


def draw_cancellation():
    rows = itertools.product(SYSTEMS, [*figures.LEANINGS, *figures.POINTS])
    value = np.linspace(0.01, 0.1, 4 * len(SYSTEMS))
    frame = pd.DataFrame(rows, columns=["label", "metric"]).assign(value=value, low=value - 0.02, high=value + 0.02)
    return figures.draw_cancellation(frame)


def test_figures_keep_the_rules():
    for drawn in (draw_cancellation(), figures.draw_inconsistencies(ARROWS)):
        assert problems(drawn, pronouns=True) == []


def test_leanings_have_the_colour_of_their_gender_and_their_side():
    bars = [mark for mark in marks(draw_cancellation()) if mark["kind"] == "bar"]
    he, she = (to_hex(colour) for colour in palette.pronoun_colours(["he", "she"]).values())
    assert {(bar["colour"], np.sign(bar["xy"][1][0])) for bar in bars} == {(he, 1), (she, -1)}


def test_every_pair_is_compared_once():
    """Within genders if both instances are in one column."""
    pairs = [frozenset(pair) for pair in ARROWS[["first", "second"]].to_numpy()]
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, itertools.combinations(figures.PLACES, 2)))
    for first, second, inconsistency in figures.PAIRS:
        same = (first in ("original", "control")) == (second in ("original", "control"))
        assert (figures.PLACES[first][0] == figures.PLACES[second][0]) == same == (inconsistency == "within")
