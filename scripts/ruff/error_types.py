"""Split unambiguous errors into distraction, bias and others (paper Figure 9)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import errors as analysis


def main(*, predictions: str, error_types: str, error_range: str):
    """Write the shares per model and number of distractors, and the range of distraction plus bias."""
    types = analysis.error_types(files.read_parquet(predictions, analysis.COLUMNS))
    files.write_csv(error_types, types)
    files.write_csv(error_range, analysis.error_range(types))


if __name__ == "__main__":
    run(main)
