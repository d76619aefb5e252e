"""Simulate the toy structural causal model beside its exact correlations (Appendix B)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.underspecification.lib.analyses import toy_model

SHOWN = 1500
"""The first draws are kept for the figure: an even sample, so that the selected ones have their share in it."""


def main(*, correlations: str, points: str, amplification: float, draws: int, seed: int):
    """Write ``correlations`` and, for the figure, the first ``points`` of each task (CSV)."""
    files.write_csv(correlations, toy_model.correlations(amplification, draws, seed))
    shown = []
    for task in toy_model.TASKS:
        shown.append(toy_model.simulate(task, amplification, draws, seed).head(SHOWN).assign(task=task))
    files.write_csv(points, pd.concat(shown, ignore_index=True))


if __name__ == "__main__":
    run(main)
