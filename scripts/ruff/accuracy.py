"""Average accuracies over samples and over models, overall and by pronoun set, case and polarity."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import study
from scripts.ruff.lib.analyses import accuracy as analysis
from scripts.ruff.lib.analyses import averages


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
    """Write the three accuracy tables; ``draws`` and ``seed`` belong to the bootstrap over occupations.

    Rows over ``all`` models leave demonstration models out if there are others.
    """
    table = files.read_parquet(predictions, analysis.COLUMNS)
    summary = analysis.accuracy(table, draws, seed)
    architectures = {name: facts["architecture"] for name, facts in models.items()}
    keys = ["n_distractors", "factor", "level"]
    over = averages.over_models(summary, architectures, keys, "accuracy", study.pooled(models))
    files.write_csv(accuracy_by_seed, analysis.accuracy_by_seed(table))
    files.write_csv(accuracy, summary)
    files.write_csv(accuracy_over_models, over.rename(columns={"mean": "accuracy"}))


if __name__ == "__main__":
    run(main)
