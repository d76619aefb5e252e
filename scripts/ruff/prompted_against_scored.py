"""Set what models answer to prompts beside what likelihoods say, on the same instances."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import generation, prompting


def main(
    *,
    outputs: str,
    predictions: str,
    prompted_against_scored: str,
    scored_agreement: str,
    pairs: list,
    draws: int,
    seed: int,
):
    """Write accuracies (``prompted_against_scored``, CSV) and how far single answers agree (``scored_agreement``, CSV).

    ``pairs`` are of a prompted and a scored model; ``draws`` and ``seed`` belong to the bootstrap over occupations.
    """
    written, likelihoods = files.read_parquet(outputs), files.read_parquet(predictions)
    files.write_csv(prompted_against_scored, prompting.against_scored(written, likelihoods, pairs))
    files.write_csv(scored_agreement, generation.scored_agreement(written, likelihoods, pairs, draws, seed))


if __name__ == "__main__":
    run(main)
