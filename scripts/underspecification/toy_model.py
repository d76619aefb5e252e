"""Simulate the toy structural causal model beside its exact correlations (Appendix B)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.underspecification import toy

SHOWN = 1500
"""Draws of each population that are kept for the figure."""


def main(*, correlations: str, points: str, amplification: float, draws: int, seed: int):
    """Write ``correlations`` and, for the figure, some ``points`` of each population (CSV)."""
    files.write_csv(correlations, toy.correlations(amplification, draws, seed))
    shown = []
    for task in toy.TASKS:
        frame = toy.simulate(task, amplification, draws, seed)
        for population in toy.POPULATIONS:
            own = frame if population == "all" else frame[frame.selected]
            shown.append(own.head(SHOWN).assign(task=task, population=population))
    files.write_csv(points, pd.concat(shown, ignore_index=True))


if __name__ == "__main__":
    run(main)
