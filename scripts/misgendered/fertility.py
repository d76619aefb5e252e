"""Set the tokens that a form costs beside the accuracy on it."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib.analyses import fertility as analysis


def main(*, predictions: str, fertility: str, regressions: str):
    """Write tokens and accuracy of each form (``fertility``, CSV) and of each model ``regressions`` (CSV)."""
    cells = analysis.by_form(predictions)
    files.write_csv(fertility, cells)
    files.write_csv(regressions, analysis.regressions(cells))


if __name__ == "__main__":
    run(main)
