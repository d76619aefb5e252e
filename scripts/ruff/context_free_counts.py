"""Count the pronoun sets that each model picks without any context (paper Figures 4 and 10)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import study
from scripts.ruff.lib.analyses import averages
from scripts.ruff.lib.analyses import context_free as analysis


def main(*, predictions: str, context_free: str, context_free_summary: str, models: dict, pronoun_sets: list):
    """Write counts per model, and their mean and SD over models, as two CSV files.

    Rows over ``all`` models leave demonstration models out if there are others.
    """
    counts = analysis.context_free_counts(files.read_parquet(predictions, analysis.COLUMNS), pronoun_sets)
    architectures = {name: facts["architecture"] for name, facts in models.items()}
    summary = averages.over_models(counts, architectures, ["pronoun"], "count", study.pooled(models))
    files.write_csv(context_free, counts)
    files.write_csv(context_free_summary, summary.rename(columns={"mean": "mean_count", "sd": "sd_count"}))


if __name__ == "__main__":
    run(main)
