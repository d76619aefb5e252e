"""Tabulate accuracies with examples in the prompt, apart for each draw of the examples and over all draws."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib.analyses import accuracy as analysis


def main(*, predictions: str, accuracy_by_draw: str, accuracy_over_draws: str):
    """Write both tables (CSV)."""
    by_draw = analysis.by_draw(predictions)
    files.write_csv(accuracy_by_draw, by_draw)
    files.write_csv(accuracy_over_draws, analysis.over_draws(by_draw))


if __name__ == "__main__":
    run(main)
