"""How often each model prefers each pronoun set."""

from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows, model_outputs
from scripts.core.data.estimate_rows import ESTIMATED, MODEL, PROBABILITY
from scripts.core.data.options import pick_best
from scripts.core.statistics import ratios
from scripts.core.workflow.job import run_named

METRIC = "share of sentences"


def estimates(*, instances: list, scores: list, estimates: str, pronoun_sets: list, draws: int, seed: int) -> None:
    """Estimate shares with intervals over sentences, from a file of ``scores`` for each template set and model."""
    scored = {Path(path).parent.name: files.read_parquet(path) for path in instances}
    items = []
    for path in map(Path, scores):
        chosen = pick_best(model_outputs.read_scores(path, path.stem, scored[path.parent.name]))
        identity = {"templates": path.parent.name, "model": path.stem, "kind": MODEL, "scoring": PROBABILITY}
        for index, name in enumerate(pronoun_sets):
            item = chosen.assign(**identity, pronoun=name, metric=METRIC, above=chosen.option_index == index, below=1)
            items.append(item)
    table = ratios.estimate_ratios(pd.concat(items), [*ESTIMATED, "pronoun"], "instance_id", draws, seed)
    files.write_csv(estimates, table)


def read_estimates(path: str, labels: dict[str, str]) -> pd.DataFrame:
    """Return the estimates, with the label of each model; an empty cell of words, a pooled factor, stays one."""
    table = estimate_rows.read_table(path, [*ESTIMATED, "pronoun"])
    return table.assign(label=table.model.map(labels))


if __name__ == "__main__":
    run_named()
