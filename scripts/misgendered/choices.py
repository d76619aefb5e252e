"""Tabulate what changes where the paper and the authors' code part, on the same scores."""

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.errors import UserError
from scripts.core.job import run
from scripts.misgendered.lib import declarations, study
from scripts.misgendered.lib.analyses import choices as analysis
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.choices import WORDS
from scripts.misgendered.lib.analyses.predictions import Losses, instance_parts
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, Differences, Places

COLUMNS = [*TEMPLATE, *NAME, "instance_id", "declaration", "draw", "group", "pronoun_type", "picked", "correct"]


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
    declared = {number: forms for number, (forms, _) in declarations.read(combinations).items()}
    known = model_outputs.Asked.read(instances)
    ways = [(f"{name}: {study.other_wording(value)}", name, study.other_wording(value)) for name, value in made.items()]
    source = ByModel(predictions, COLUMNS, shots=0)
    places = Places((rows for _, rows in source), draws, seed)
    otherwise = {label: Differences(places) for label, _, _ in ways}
    worded = []
    for model, path in zip(models, scores, strict=True):
        base = source.read(0, model)
        read = Losses(path, model, known, **made)
        rows = _decided(read, known, instances, model, declared, lambda rows: rows.wording != wording)
        if len(rows):
            worded.append((analysis.among(base, rows), rows))
        for label, name, other in ways:
            read = Losses(path, model, known, **made | {name: other})
            rows = _decided(read, known, instances, model, declared, lambda rows: rows.wording == wording)
            if len(rows) != len(base) or (rows.instance_id.to_numpy() != base.instance_id.to_numpy()).any():
                raise UserError(f"{predictions}: not of the instances in {instances}; run the workflow again")
            moved = rows.picked.to_numpy() != base.picked.astype(object).to_numpy()
            pairs = base.assign(correct_other=rows.correct.to_numpy(), moved=moved)
            analysis.add(otherwise[label], model, pairs)
    parts = [analysis.table(made_of, label) for label, made_of in otherwise.items()]
    if worded:
        base, other = (pd.concat(tables, ignore_index=True) for tables in zip(*worded, strict=True))
        label = f"wording: {study.other_wording(wording)}"
        parts.insert(0, analysis.choices(base, analysis.matched(base, other), label, draws, seed))
    files.write_csv(choices, pd.concat(parts, ignore_index=True))


def _decided(read, known, instances, model, declared, wanted):
    """Return what a model picks for the ``wanted`` rows of the instances."""
    parts = []
    for start, rows in instance_parts(instances, ["wording"]):
        here = wanted(rows).to_numpy()
        part = read.decided(rows[here], known.owner[start : start + len(rows)][here], model, declared)
        parts.append(part[[*WORDS, "instance_id", "shots", "draw", "picked", "correct"]])
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    run(main)
