"""How often each model continues with the pronoun set that was introduced."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows, model_outputs
from scripts.core.data.estimate_rows import ESTIMATED, MODEL, PROBABILITY
from scripts.core.data.options import pick_best, predicted_form
from scripts.core.statistics import ratios
from scripts.core.workflow.job import run_named


def estimates(*, instances: list, scores: list, estimates: str, draws: int, seed: int) -> None:
    """Estimate accuracy by introduced pronoun set and over all, with intervals over sentences.

    There is a file of ``instances`` for each template set, and of ``scores`` for each set and model.
    """
    asked = {Path(path).parent.name: files.read_parquet(path) for path in instances}
    items = []
    for path in map(Path, scores):
        rows = asked[path.parent.name]
        predicted = predicted_form(rows, pick_best(model_outputs.read_scores(path, path.stem, rows)))
        identity = {"templates": path.parent.name, "model": path.stem, "kind": MODEL, "scoring": PROBABILITY}
        items.append(rows.assign(**identity, metric="accuracy", above=rows.gold == predicted, below=1))
    by_pronoun = pd.concat(items)
    table = pd.concat([by_pronoun, ratios.pool_levels(by_pronoun, "pronoun")])
    files.write_csv(estimates, ratios.estimate_ratios(table, [*ESTIMATED, "pronoun"], "sentence_row", draws, seed))


def read_estimates(path: str, labels: dict[str, str]) -> pd.DataFrame:
    """Return the estimates, with the label of each model; an empty cell of words, a pooled factor, stays one."""
    table = estimate_rows.read_table(path, [*ESTIMATED, "pronoun"])
    return table.assign(label=table.model.map(labels))


if __name__ == "__main__":
    run_named()
