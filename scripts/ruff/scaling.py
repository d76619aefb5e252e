"""Set accuracy beside model size at the fewest and the most distractors (paper Figure 8)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import scaling as analysis


def main(*, accuracy: str, scaling: str, models: dict):
    """Write one row for each model and number of distractors."""
    files.write_csv(scaling, analysis.scaling(files.read_csv(accuracy), models))


if __name__ == "__main__":
    run(main)
