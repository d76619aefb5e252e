"""What changes with the choices that the paper (corrected) and the authors' code (faithful) make differently."""

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.core.errors import UserError
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.grid import Grid, fewest
from scripts.misgendered.predictions import by_model, decide_parts, read_losses
from scripts.misgendered.study import NAME, TEMPLATE

WORDS = ["declaration", "template_index", "name", "group"]
"""What instances have in common that differ in the wording of their declarations alone."""
COMPARED = [*TEMPLATE, *NAME, "instance_id", "declaration", "group", "pronoun_type", "picked", "correct"]
"""Columns of predictions that are compared with other choices."""
Changes = dict[str, dict[str, np.ndarray]]
"""Model and type of pronouns (or none) to cells: instances, right picks as chosen and otherwise, and other picks."""


def choices(
    *, predictions: list, instances: list, scores: list, choices: str, models: list, template_sets: list, wording: str,
    made: dict, draws: int, seed: int,
) -> None:  # fmt: skip
    """Write what changes where the paper and the authors' code differ, on the same scores (:func:`tabulate_changes`).

    ``predictions`` and ``instances`` have a file for each of ``template_sets``, ``scores`` one for each of them and of
    ``models``, models varying fastest. ``made`` is how the run chose labels and capitals, which are also chosen the
    other way. What the ``wording`` changes is seen in those instances that were scored in both.
    """
    tables, left = [], iter(scores)
    for name, path, asked in zip(template_sets, predictions, instances, strict=True):
        of_set = {model: next(left) for model in models}
        table = compare_choices(path, asked, of_set, wording, made, draws, seed)
        tables.append(study.add_identity(table, name, wording))
    files.write_csv(choices, pd.concat(tables, ignore_index=True))


def compare_choices(
    predictions: str, instances: str, scores: dict[str, str], wording: str, made: dict[str, str], draws: int, seed: int
) -> pd.DataFrame:
    """Return the changes on one set of templates, of whose files one model is read at a time."""
    known = model_outputs.ExpectedOptions.read(instances)
    grid = Grid((rows for _, _, rows in by_model(predictions, [*TEMPLATE, *NAME], 0)), draws, seed)
    others = {name: study.other_wording(value) for name, value in made.items()}
    found: dict[str, Changes] = {name: {} for name in others}
    reworded = {}
    for model, path in scores.items():
        ((_, _, base),) = by_model(predictions, COMPARED, 0, [model])
        read = read_losses(path, model, known, **made)
        parts = list(decide_parts(instances, known, read, model, study.other_wording(wording)))
        if parts:
            reworded[model] = match_rewordings(base, pd.concat(parts, ignore_index=True))
        for name, other in others.items():
            read = read_losses(path, model, known, **made | {name: other})
            parts = decide_parts(instances, known, read, model, wording)
            rows = pd.concat([part[["instance_id", "picked", "correct"]] for part in parts], ignore_index=True)
            if len(rows) != len(base) or (rows.instance_id != base.instance_id).any():
                raise UserError(f"{predictions}: not of the instances in {instances}; run the workflow again")
            pairs = base.assign(picked_other=rows.picked, correct_other=rows.correct)
            found[name][model] = count_changes(pairs, grid)
    tables = [tabulate_changes(of_choice, grid, name, others[name]) for name, of_choice in found.items()]
    if reworded:
        tables.insert(0, changes_of_wording(reworded, study.other_wording(wording), draws, seed))
    return pd.concat(tables, ignore_index=True)


def match_rewordings(base: pd.DataFrame, reworded: pd.DataFrame) -> pd.DataFrame:
    """Return those of one model's predictions that are there in another wording as well, with what it picks there."""
    base = base.astype(dict.fromkeys(base.select_dtypes("category"), object))
    return base.merge(reworded[[*WORDS, "picked", "correct"]], on=WORDS, suffixes=("", "_other"), validate="one_to_one")


def changes_of_wording(pairs: dict[str, pd.DataFrame], made: str, draws: int, seed: int) -> pd.DataFrame:
    """Return what the wording ``made`` changes, from what each model picks in both."""
    grid = Grid(pairs.values(), draws, seed)
    return tabulate_changes({model: count_changes(rows, grid) for model, rows in pairs.items()}, grid, "wording", made)


def count_changes(pairs: pd.DataFrame, grid: Grid) -> dict[str, np.ndarray]:
    """Return what changes in one model's picks: type of pronouns (or none) to cells (:data:`Changes`).

    ``pairs`` are predictions as chosen, with ``picked_other`` and ``correct_other``.
    """
    moved = pairs.picked.astype(object).to_numpy() != pairs.picked_other.astype(object).to_numpy()
    pairs = pairs.assign(moved=moved, place=grid.places(pairs))
    parts = {POOLED: pairs, **dict(iter(pairs.groupby("pronoun_type", sort=False, observed=True)))}
    return {
        kind: grid.count(rows.place, None, rows.correct, rows.correct_other, rows.moved) for kind, rows in parts.items()
    }


def tabulate_changes(found: Changes, grid: Grid, choice: str, made: str) -> pd.DataFrame:
    """Return how accuracies change when one choice is made otherwise, on the same instances.

    Args:
        choice, made: What differs, such as ``capitals``, and how it is made otherwise, such as ``faithful``.

    Returns:
        ``model`` (empty: over the run's models), ``choice``, ``made``, ``pronoun_type`` (empty: all), ``accuracy`` (as
        chosen), ``otherwise``, ``difference`` (otherwise minus as chosen) with ``low`` and ``high``, ``other_pick``
        (share of instances with another form), ``n``, ``clusters``.
    """
    kinds = dict.fromkeys(kind for of_model in found.values() for kind in of_model)
    every = {kind: sum(of_model[kind] for of_model in found.values() if kind in of_model) for kind in kinds}
    rows = []
    for model, of_model in {**found, POOLED: every}.items():
        for kind in (kind for kind in kinds if kind in of_model):
            cells = np.asarray(of_model[kind])
            low, high = grid.difference(cells[[0, 2]], cells)
            n, right, otherwise, moved = cells.sum(axis=(1, 2))
            rows.append({
                "model": model, "choice": choice, "made": made, "pronoun_type": kind, "accuracy": right / n,
                "otherwise": otherwise / n, "difference": (otherwise - right) / n, "low": low, "high": high,
                "other_pick": moved / n, "n": int(n), "clusters": fewest(cells),
            })  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    run_named()
