"""Compare forms that are declared with the same forms where they are not."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib.analyses import declared_forms as analysis


def main(*, predictions: str, declared_forms: str, draws: int, seed: int):
    """Write ``declared_forms`` (CSV); ``draws`` and ``seed`` belong to the bootstrap over templates and names."""
    files.write_csv(declared_forms, analysis.declared_forms(predictions, draws, seed))


if __name__ == "__main__":
    run(main)
