"""Tabulate what changes where the paper and the authors' code part, on the same scores."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.job import run
from scripts.misgendered.lib import declarations, study
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
    wording: str,
    made: dict,
    draws: int,
    seed: int,
):
    """Write ``choices`` (CSV).

    ``scores`` has a file for each of ``models``, of the ``instances`` without examples; ``made`` is how the run chose
    (labels and capitals), each of which is also made the other way. What the ``wording`` changes is seen in those
    instances that were scored in both. ``draws`` and ``seed`` belong to the bootstrap over templates and names.
    """
    base = files.read_parquet(predictions)
    base, table = base[base.shots == 0], files.read_parquet(instances)
    declared = {number: forms for number, (forms, _) in declarations.read(combinations).items()}
    read = {m: model_outputs.read_scores(path, m, table) for m, path in zip(models, scores, strict=True)}

    def predicted(rows, **chosen):
        return pd.concat([predict(rows, read[m], m, declared, **chosen) for m in models], ignore_index=True)

    worded, reworded = table[table.wording == wording], table[table.wording != wording]
    parts = []
    if len(reworded):
        rows = analysis.matched(base, predicted(reworded, **made))
        parts.append(analysis.choices(base, rows, f"wording: {study.other_wording(wording)}", draws, seed))
    for name, value in made.items():
        other = study.other_wording(value)
        rows = predicted(worded, **made | {name: other})
        parts.append(analysis.choices(base, rows, f"{name}: {other}", draws, seed))
    files.write_csv(choices, pd.concat(parts, ignore_index=True))


if __name__ == "__main__":
    run(main)
