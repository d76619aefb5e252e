"""Rank names by the accuracy on neo-pronouns (Table 9)."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib.analyses import names as analysis


def main(*, predictions: str, names: str, draws: int, seed: int):
    """Write ``names`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates."""
    files.write_csv(names, analysis.by_name(files.read_parquet(predictions), draws, seed))


if __name__ == "__main__":
    run(main)
