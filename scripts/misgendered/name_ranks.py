"""Rank names by the accuracy on neo-pronouns (Table 9)."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib.analyses import name_ranks as analysis


def main(*, predictions: str, name_ranks: str, draws: int, seed: int):
    """Write ``name_ranks`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates."""
    files.write_csv(name_ranks, analysis.by_name(predictions, draws, seed))


if __name__ == "__main__":
    run(main)
