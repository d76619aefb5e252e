"""Measure how the probability of gendered pronouns goes with dates and places (Method 1, Section 4)."""

from scripts.core import files
from scripts.core.job import run
from scripts.underspecification.lib.analyses import correlation
from scripts.underspecification.lib.analyses.masses import read_masses


def main(*, masses: list, slopes: str, curves: str, draws: int, seed: int):
    """Write ``slopes`` (metrics with intervals) and ``curves`` (means over sentences, lines) as CSV from ``masses``."""
    frame = read_masses(masses)
    frame = frame[frame.evaluation_set == "mgc"]
    files.write_csv(slopes, correlation.slopes(frame, draws, seed))
    files.write_csv(curves, correlation.curves(frame, draws, seed))


if __name__ == "__main__":
    run(main)
