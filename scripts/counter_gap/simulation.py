"""Simulate systems with known bias and measure them."""

from scripts.core import files
from scripts.core.job import run
from scripts.counter_gap.lib.analyses.simulation import simulate


def main(*, simulation: str, quadruples: int, repeats: int, seed: int):
    """Write ``simulation`` (CSV), the metrics of ``repeats`` data sets of ``quadruples`` for each strength of bias."""
    files.write_csv(simulation, simulate(quadruples, repeats, seed))


if __name__ == "__main__":
    run(main)
