"""The figures keep the rules of all studies' figures."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from scripts.counter_gap import figures as drawing
from tests.figures import colours, problems

SYSTEMS = ["BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large", "nearest", "gendered"]


def rows(**columns):
    """Return a row for each combination of the columns' values."""
    frame = pd.DataFrame(list(product(*columns.values())), columns=list(columns))
    value = np.linspace(-0.05, 0.1, len(frame))
    return frame.assign(value=value, low=value - 0.02, high=value + 0.02)


def cancellation():
    return rows(label=SYSTEMS, metric=[*drawing.LEANINGS, *drawing.POINTS])


@pytest.mark.parametrize(
    ("drawn", "genders"),
    [
        (lambda: drawing.draw_cancellation(cancellation()), True),
        (
            lambda: drawing.draw_inconsistencies(
                pd.DataFrame(drawing.PAIRS, columns=["first", "second", "inconsistency"])
            ),
            True,
        ),
    ],
    ids=["cancellation", "inconsistencies"],
)
def test_figures_keep_the_rules(drawn, genders):
    assert problems(drawn(), pronouns=genders) == []


def test_a_metric_has_the_same_colour_in_every_figure():
    assert {colour.lower() for _, colour in drawing.POINTS.values()} <= colours(
        drawing.draw_cancellation(cancellation())
    )
