"""What the choices change that the paper and the authors' code make differently (faithful and corrected)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.core.errors import UserError
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.grid import Cells, Grid, fewest
from scripts.misgendered.predictions import by_model, decide_parts, read_losses
from scripts.misgendered.study import NAME, TEMPLATE

WORDS = ["declaration", "template_index", "name", "group"]
"""What instances have in common that differ in the wording of their declarations alone."""
COMPARED = [*TEMPLATE, *NAME, "instance_id", "declaration", "group", "pronoun_type", "picked", "correct"]
"""Columns of predictions that are compared with other choices."""
Change = tuple[Cells, Cells, int]
"""Right picks as chosen and otherwise, and how many picks are others."""


def choices(
    *, predictions: list, instances: list, scores: list, choices: str, models: list, template_sets: list, wording: str,
    made: dict, draws: int, seed: int,
) -> None:  # fmt: skip
    """Tabulate what changes where the paper and the authors' code part, on the same scores.

    Write ``choices`` (CSV; :func:`changes` has the columns). ``predictions`` and ``instances`` without examples have a
    file for each of ``template_sets``, ``scores`` one for each of them and of ``models``, models varying fastest.
    ``made`` is how the run chose (labels and capitals), each of which is also made the other way. What the ``wording``
    changes is seen in those instances that were scored in both. ``draws`` and ``seed`` belong to the bootstrap over
    templates and names.
    """
    tables, left = [], iter(scores)
    for name, path, asked in zip(template_sets, predictions, instances, strict=True):
        of_set = {model: next(left) for model in models}
        table = of_templates(path, asked, of_set, wording, made, draws, seed)
        tables.append(study.identify(table, name, wording))
    files.write_csv(choices, pd.concat(tables, ignore_index=True))


def of_templates(
    predictions: str, instances: str, scores: dict[str, str], wording: str, made: dict[str, str], draws: int, seed: int
) -> pd.DataFrame:
    """Return the changes (:func:`changes`) on one set of templates, of whose files one model is read at a time."""
    known = model_outputs.ExpectedOptions.read(instances)
    grid = Grid((rows for _, _, rows in by_model(predictions, [*TEMPLATE, *NAME], 0)), draws, seed)
    others = {name: study.other_wording(value) for name, value in made.items()}
    found: dict[str, dict[tuple[str, str], Change]] = {name: {} for name in others}
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
            add(found[name], model, base.assign(picked_other=rows.picked, correct_other=rows.correct), grid)
    tables = [changes(of_choice, grid, name, others[name]) for name, of_choice in found.items()]
    if reworded:
        tables.insert(0, changes_of_wording(reworded, study.other_wording(wording), draws, seed))
    return pd.concat(tables, ignore_index=True)


def match_rewordings(base: pd.DataFrame, reworded: pd.DataFrame) -> pd.DataFrame:
    """Return those of one model's predictions that are there in another wording as well, with what it picks there.

    Each of ``reworded`` has one in ``base``. Two declarations may say the same, which makes one instance of them.
    """
    base = base.astype(dict.fromkeys(base.select_dtypes("category"), object))
    return base.merge(reworded[[*WORDS, "picked", "correct"]], on=WORDS, suffixes=("", "_other"), validate="one_to_one")


def changes_of_wording(pairs: dict[str, pd.DataFrame], made: str, draws: int, seed: int) -> pd.DataFrame:
    """Return what the wording ``made`` changes, from what each model picks in both (:func:`match_rewordings`)."""
    grid, found = Grid(pairs.values(), draws, seed), {}
    for model, rows in pairs.items():
        add(found, model, rows, grid)
    return changes(found, grid, "wording", made)


def add(found: dict[tuple[str, str], Change], model: str, pairs: pd.DataFrame, grid: Grid) -> None:
    """Add what one model picks to its own and to all models' changes, together and by type of pronouns.

    Args:
        pairs: Predictions as chosen, with ``picked_other`` and ``correct_other``.
    """
    places = grid.places(pairs)
    moved = pairs.picked.astype(object).to_numpy() != pairs.picked_other.to_numpy()
    right, otherwise = (pairs[name].to_numpy(dtype=bool) for name in ("correct", "correct_other"))
    for kind in (POOLED, *pairs.pronoun_type.unique()):
        here = np.ones(len(pairs), dtype=bool) if kind == POOLED else (pairs.pronoun_type == kind).to_numpy()
        one, other = (grid.count(places[here], of[here]) for of in (right, otherwise))
        for key in ((model, kind), (POOLED, kind)):
            before = found.get(key)
            count = int(moved[here].sum())
            if before is None:
                found[key] = one, other, count
            else:
                found[key] = before[0] + one, before[1] + other, before[2] + count


def changes(found: dict[tuple[str, str], Change], grid: Grid, choice: str, made: str) -> pd.DataFrame:
    """Return how accuracies change when one choice is made otherwise, on the same instances.

    Args:
        choice, made: What differs, such as ``capitals``, and how it is made otherwise, such as ``faithful``.

    Returns:
        ``model`` (empty: over the run's models), ``choice``, ``made``, ``pronoun_type`` (empty: all), ``accuracy`` (as
        chosen), ``otherwise``, ``difference`` (otherwise minus as chosen) with ``low`` and ``high``, ``other_pick``
        (share of instances with another form), ``n``, ``clusters``.
    """
    return pd.DataFrame(_changes(found, grid)).assign(choice=choice, made=made)[
        ["model", "choice", "made", "pronoun_type", "accuracy", "otherwise", "difference", "low", "high", "other_pick",
         "n", "clusters"]
    ]  # fmt: skip


def _changes(found: dict[tuple[str, str], Change], grid: Grid) -> Iterator[dict]:
    models = dict.fromkeys(model for model, _ in found)
    kinds = dict.fromkeys(kind for _, kind in found)
    for model in (*(name for name in models if name != POOLED), POOLED):
        for kind in (kind for kind in kinds if (model, kind) in found):
            chosen, otherwise, moved = found[model, kind]
            low, high = grid.difference(otherwise, chosen)
            n = int(chosen.trials.sum())
            yield {
                "model": model, "pronoun_type": kind, "accuracy": chosen.share, "otherwise": otherwise.share,
                "difference": otherwise.share - chosen.share, "low": low, "high": high, "other_pick": moved / n,
                "n": n, "clusters": fewest(chosen.trials),
            }  # fmt: skip


if __name__ == "__main__":
    run_named()
