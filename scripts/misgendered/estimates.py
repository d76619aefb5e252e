"""Accuracies of every model and of their mean, by everything that the study splits them by (section 4 of the paper).

Tables 4 to 8, 10 and 13 and Figure 3 have these averages, Table 9 the accuracies by name.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.paper.published import read_models
from scripts.core.statistics.ratios import MEASURES, POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.grid import Grid, fewest
from scripts.misgendered.predictions import by_model
from scripts.misgendered.study import FACTORS, NAME, TEMPLATE

MARGINS = (
    (), ("pronoun_type",), ("pronoun_type", "group"), ("form",), ("pronoun_type", "form"),
    ("pronoun_type", "group", "form"), ("declaration_type", "pronoun_type"), ("declaration_number", "pronoun_type"),
    ("declaration_type", "declaration_number", "pronoun_type"), ("pronoun_type", "name_class"),
    ("pronoun_type", "group", "name_class"),
)  # fmt: skip
"""What is not pooled in an estimate."""
BEHIND_EXAMPLES = (*MARGINS[:6], ("draw",), ("draw", "pronoun_type"))
"""The same with examples in the prompt, whose declaration never varies."""
Level = tuple[str, ...]
"""A level of each of the factors."""


def estimates(
    *, predictions: list, study_models: str, estimates: str, template_sets: list, wording: str, draws: int, seed: int
) -> None:
    """Estimate accuracies on all sets of templates, of which ``predictions`` has one file.

    Columns: the identity and factors of :mod:`scripts.misgendered.study`, ``metric``,
    ``scripts.core.statistics.ratios.MEASURES``, ``chance``. ``study_models`` lists the models of the study, whose mean
    has rows of its own if the run has them all.
    """
    known = list(read_models(study_models).model)
    tables = [
        study.add_identity(accuracies(path, draws, seed, known), name, wording)
        for name, path in zip(template_sets, predictions, strict=True)
    ]
    files.write_csv(estimates, pd.concat(tables, ignore_index=True))


def accuracies(path: str | Path, draws: int, seed: int, study_models: Sequence[str] = ()) -> pd.DataFrame:
    """Return the accuracies of one file of predictions, of which one model is held at a time."""
    sets = dict.fromkeys(shots for shots, _, _ in by_model(path, []))
    rows = [row for shots in sorted(sets) for row in _of_shots(path, shots, draws, seed, study_models)]
    return pd.DataFrame(rows, columns=["model", *FACTORS, "metric", *MEASURES, "chance"])


def _of_shots(path: str | Path, shots: int, draws: int, seed: int, study_models: Sequence[str]) -> Iterator[dict]:
    grid = Grid((rows for _, _, rows in by_model(path, [*TEMPLATE, *NAME], shots)), draws, seed)
    columns = [*TEMPLATE, *NAME, *FACTORS, "correct", "chance"]
    models, pooled = [], {POOLED: {}, "|".join(study_models): {}}
    for _, model, rows in by_model(path, columns, shots):
        models.append(model)
        found = count_levels(rows, grid, BEHIND_EXAMPLES if shots else MARGINS)
        yield from (_row(model, level, cells, grid) for level, cells in found.items())
        for members, sums in pooled.items():
            if not members or model in study_models:
                sums |= {level: sums.get(level, 0) + cells for level, cells in found.items()}
    for members, sums in pooled.items():
        if not members or set(study_models) <= set(models):
            yield from (_row(members, level, cells, grid) for level, cells in sums.items())
    if not shots:
        yield from _by_name(pooled[POOLED], grid)


def count_levels(rows: pd.DataFrame, grid: Grid, margins: Sequence[tuple[str, ...]]) -> dict[Level, np.ndarray]:
    """Return each combination of levels with its cells: instances, right picks, and right picks at random."""
    rows = rows.assign(declaration_number=_declared(rows.declaration_number), place=grid.places(rows))
    found = {}
    for margin in margins:
        columns = ["shots", *margin]
        for levels, part in rows.groupby(columns, observed=True, sort=False)[["place", "correct", "chance"]]:
            named = dict(zip(columns, map(str, levels), strict=True))
            level = tuple(named.get(factor, POOLED) for factor in FACTORS)
            found[level] = grid.count(part.place, None, part.correct, part.chance)
    return found


def _declared(numbers: pd.Series) -> pd.Series:
    """Return the combinations that declare as many forms as each."""
    known = sorted(numbers.unique())
    same = {
        number: "|".join(str(n) for n in known if study.forms_declared(n) == study.forms_declared(number))
        for number in known
    }
    return numbers.map(same).astype("category")


def _row(model: str, level: Level, cells: np.ndarray, grid: Grid, fixed_names: bool = False) -> dict:
    low, high = grid.interval(cells, fixed_names)
    trials, right, by_chance = cells.sum(axis=(1, 2))
    return {
        "model": model, **dict(zip(FACTORS, level, strict=True)), "metric": "accuracy", "value": right / trials,
        "low": low, "high": high, "above": int(right), "below": int(trials), "clusters": fewest(cells),
        "chance": by_chance / trials,
    }  # fmt: skip


def _by_name(found: dict[Level, np.ndarray], grid: Grid) -> Iterator[dict]:
    """Yield the accuracy on neopronouns for each name, over all models (section 4.2).

    The bootstrap resamples templates alone: a name is the name that it is. ``chance`` is that of all names.
    """
    neo = tuple({"shots": "0", "pronoun_type": "neo"}.get(factor, POOLED) for factor in FACTORS)
    if neo not in found:
        return
    trials, _, by_chance = found[neo].sum(axis=(1, 2))
    for place, (name_class, name) in enumerate(grid.names):
        cells = np.where(np.arange(len(grid.names)) == place, found[neo], 0)
        if cells[0].any():
            named = {"name_class": name_class, "name": name}
            level = tuple(named.get(factor, known) for factor, known in zip(FACTORS, neo, strict=True))
            yield _row(POOLED, level, cells, grid, fixed_names=True) | {"chance": by_chance / trials}


if __name__ == "__main__":
    run_named()
