"""Compare each pair of models on the same instances, and say how small a difference the sample can show."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import pairs


def main(*, predictions: str, model_pairs: str, power: str, draws: int, seed: int):
    """Write differences of accuracies (``model_pairs``, CSV) and what samples can show (``power``, CSV).

    ``draws`` and ``seed`` belong to bootstrap and permutations over occupations.
    """
    table = files.read_parquet(predictions)
    files.write_csv(model_pairs, pairs.model_pairs(table, draws, seed))
    files.write_csv(power, pairs.power(table))


if __name__ == "__main__":
    run(main)
