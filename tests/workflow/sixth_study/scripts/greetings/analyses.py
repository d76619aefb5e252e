"""The analyses of the greetings, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.data.options import predict
from scripts.core.workflow.job import run_named


def choices(*, scores: list, choices: str, models: list, pronoun_sets: list):
    """Count how often each model prefers each pronoun set.

    Write ``model``, ``pronoun``, ``count`` and ``n`` (CSV) from one file of ``scores`` for each model.
    """
    rows = []
    for model, path in zip(models, scores, strict=True):
        chosen = predict(files.read_parquet(path)).option_index
        for index, name in enumerate(pronoun_sets):
            rows.append({"model": model, "pronoun": name, "count": int((chosen == index).sum()), "n": len(chosen)})
    files.write_csv(choices, pd.DataFrame(rows))


if __name__ == "__main__":
    run_named()
