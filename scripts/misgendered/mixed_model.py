"""Fit correctness on pronoun type, form and declaration, with templates and names that vary at random."""

from scripts.core import files
from scripts.core.job import log, run
from scripts.misgendered.lib.analyses import mixed_model as analysis


def main(*, predictions: str, mixed_model: str, seed: int):
    """Write the coefficients (``mixed_model``, CSV); ``seed`` is that of the starting values."""
    table = analysis.mixed_model(predictions, seed)
    if not table.converged.all():
        log.warning("%s: no estimates, because %s", mixed_model, table.reason.iloc[0])
    files.write_csv(mixed_model, table)


if __name__ == "__main__":
    run(main)
