"""Compare the mean of a candidate's losses with their sum."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib.analyses import reductions as analysis


def main(*, predictions: str, reductions: str, draws: int, seed: int):
    """Write ``reductions`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates and names."""
    files.write_csv(reductions, analysis.reductions(predictions, draws, seed))


if __name__ == "__main__":
    run(main)
