"""Tabulate what changes where the paper and the authors' code part, on the same scores."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import run
from scripts.misgendered.lib import declarations
from scripts.misgendered.lib.analyses import choices as analysis
from scripts.misgendered.lib.analyses.predictions import predictions as predict


def main(
    *,
    predictions: str,
    instances: str,
    scores: list,
    combinations: str,
    choices: str,
    models: list,
    made: dict,
    draws: int,
    seed: int,
):
    """Write ``choices`` (CSV).

    ``scores`` has a file for each of ``models``, of the ``instances`` without examples; ``made`` is how the run chose
    (labels and capitals), each of which is also made the other way. ``draws`` and ``seed`` belong to the bootstrap over
    templates and names.
    """
    base = files.read_parquet(predictions)
    base, table = base[base.shots == 0], files.read_parquet(instances)
    declared = {number: forms for number, (forms, _) in declarations.read(combinations).items()}
    read = {m: model_outputs.read_scores(path, m, table) for m, path in zip(models, scores, strict=True)}
    parts = []
    for name, value in made.items():
        other = "faithful" if value == "corrected" else "corrected"
        changed = made | {name: other}
        rows = pd.concat([predict(table, read[m], m, declared, **changed) for m in models], ignore_index=True)
        parts.append(analysis.choices(base, rows, f"{name}: {other}", draws, seed))
    files.write_csv(choices, pd.concat(parts, ignore_index=True))


if __name__ == "__main__":
    run(main)
