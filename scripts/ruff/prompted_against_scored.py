"""Set what models answer to prompts beside what likelihoods say, on the same instances."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import prompting


def main(*, outputs: str, predictions: str, prompted_against_scored: str, pairs: list):
    """Write ``prompted_against_scored`` (CSV) for ``pairs`` of a prompted and a scored model."""
    table = prompting.against_scored(files.read_parquet(outputs), files.read_parquet(predictions), pairs)
    files.write_csv(prompted_against_scored, table)


if __name__ == "__main__":
    run(main)
