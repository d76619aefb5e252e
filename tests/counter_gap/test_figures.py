"""The figures keep the rules of all studies' figures, and draw no subset that is too small."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from scripts.core.paper import plotting
from scripts.counter_gap import figures as drawing
from scripts.counter_gap.lib import figures
from tests.figures import colours, problems

SYSTEMS = ["BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large", "nearest", "gendered"]
SIZES = pd.Series({"all": 1002, "gutenberg": 800, "bookcorpus": 202, "near": 19, "near without artefact": 12,
                   "all without artefact": 902})  # fmt: skip


def rows(**columns):
    """Return a row for each combination of the columns' values."""
    frame = pd.DataFrame(list(product(*columns.values())), columns=list(columns))
    value = np.linspace(-0.05, 0.1, len(frame))
    return frame.assign(value=value, ci_low=value - 0.02, ci_high=value + 0.02)


def breakdown():
    frame = rows(system=SYSTEMS, subset=list(SIZES.index)).assign(debiasing="none")
    frame.loc[0, "ci_high"] = frame.loc[0, "ci_low"]
    return drawing.prepare_breakdown(frame, SIZES)


def simulation():
    frame = rows(setting=list(drawing.SETTINGS), metric=list(drawing.CURVES), strength=[0, 1, 2])
    return frame.assign(
        low=frame.ci_low, high=frame.ci_high, true_gap=frame.strength / 4, true_squared=frame.strength / 16
    )


def cancellation():
    frame = rows(label=SYSTEMS, kind=drawing.CANCELLING)
    return frame.assign(metric=[k[0] for k in frame.kind], group=[k[1] for k in frame.kind])


@pytest.mark.parametrize(
    ("drawn", "genders"),
    [
        (lambda: drawing.draw_breakdown(breakdown(), SIZES), False),
        (lambda: drawing.draw_simulation(simulation()), False),
        (lambda: drawing.draw_cancellation(cancellation()), True),
        (
            lambda: drawing.draw_inconsistencies(
                pd.DataFrame(drawing.PAIRS, columns=["first", "second", "inconsistency"])
            ),
            True,
        ),
    ],
    ids=["breakdown", "simulation", "cancellation", "inconsistencies"],
)
def test_figures_keep_the_rules(drawn, genders):
    assert problems(drawn(), pronouns=genders) == []


def test_small_subsets_are_not_drawn_and_uniform_ones_have_no_interval():
    frame = breakdown()
    assert not frame.subset.str.startswith("near").any()
    assert frame.quadruples.min() >= drawing.FEWEST
    assert frame.ci_low.isna().sum() == 1


def test_a_metric_has_the_same_colour_in_every_figure():
    for drawn in (drawing.draw_simulation(simulation()), drawing.draw_cancellation(cancellation())):
        assert {figures.DELTA_I.lower(), figures.ACC_DIFF.lower()} <= colours(drawn)
    of_systems = set(figures.colours(SYSTEMS).values())
    assert len(of_systems) == len(SYSTEMS)
    assert not of_systems & set(plotting.PALETTE[: len(plotting.PRONOUNS)])
