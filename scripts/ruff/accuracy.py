"""Average accuracies over samples and over models, overall and by pronoun set, case and polarity."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff import fidelity


def main(
    *,
    predictions: str,
    accuracy_by_seed: str,
    accuracy: str,
    accuracy_over_models: str,
    models: dict,
    draws: int,
    seed: int,
):
    """Write the three accuracy tables; ``draws`` and ``seed`` belong to the bootstrap over occupations."""
    table = files.read_parquet(predictions)
    summary = fidelity.accuracy(table, draws, seed)
    architectures = {name: facts["architecture"] for name, facts in models.items()}
    over = fidelity.over_models(summary, architectures, ["n_distractors", "factor", "level"], "accuracy")
    files.write_csv(accuracy_by_seed, fidelity.accuracy_by_seed(table))
    files.write_csv(accuracy, summary)
    files.write_csv(accuracy_over_models, over.rename(columns={"mean": "accuracy"}))


if __name__ == "__main__":
    run(main)
