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
from scripts.misgendered.grid import Cells, Grid, fewest
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
    """Estimate accuracies on all sets of templates.

    Write ``estimates`` (CSV; the identity and factors of :mod:`scripts.misgendered.study`, ``metric``,
    ``scripts.core.statistics.ratios.MEASURES``, ``chance``) from one file of predictions for each of ``template_sets``.
    ``draws`` and ``seed`` belong to the bootstrap over templates and names; ``study_models`` lists the models of the
    study, whose mean has rows of its own if the run has them all.
    """
    known = list(read_models(study_models).model)
    tables = [
        study.identify(accuracies(path, draws, seed, known), name, wording)
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
    chances: dict[Level, float] = {}
    for _, model, rows in by_model(path, columns, shots):
        models.append(model)
        found = dict(count_levels(rows, grid, BEHIND_EXAMPLES if shots else MARGINS, chances))
        yield from (_row(model, level, cells, grid, chances[level]) for level, cells in found.items())
        for members, sums in pooled.items():
            if not members or model in study_models:
                sums |= {level: sums[level] + cells if level in sums else cells for level, cells in found.items()}
    for members, sums in pooled.items():
        if not members or set(study_models) <= set(models):
            yield from (_row(members, level, cells, grid, chances[level]) for level, cells in sums.items())
    if not shots:
        yield from _by_name(pooled[POOLED], grid, chances)


def count_levels(
    rows: pd.DataFrame, grid: Grid, margins: Sequence[tuple[str, ...]], chances: dict[Level, float]
) -> Iterator[tuple[Level, Cells]]:
    """Yield each combination of levels with its cells, and note what a random pick comes to there."""
    rows = rows.assign(declaration_number=_declared(rows.declaration_number))
    places, correct = grid.places(rows), rows.correct.to_numpy(dtype=bool)
    for margin in margins:
        columns = ["shots", *margin]
        codes = rows.groupby(columns, observed=True, sort=False).ngroup().to_numpy()
        chance = np.bincount(codes, weights=rows.chance) / np.bincount(codes)
        for first in np.unique(codes, return_index=True)[1]:
            here = codes == codes[first]
            levels = rows[columns].iloc[first].astype(str).to_dict()
            level = tuple(levels.get(factor, POOLED) for factor in FACTORS)
            chances.setdefault(level, float(chance[codes[first]]))
            yield level, grid.count(places[here], correct[here])


def _declared(numbers: pd.Series) -> pd.Series:
    """Return the combinations that declare as many forms as each."""
    known = sorted(numbers.unique())
    same = {
        number: "|".join(str(n) for n in known if study.forms_declared(n) == study.forms_declared(number))
        for number in known
    }
    return numbers.map(same).astype("category")


def _row(model: str, level: Level, cells: Cells, grid: Grid, chance: float, fixed_names: bool = False) -> dict:
    low, high = grid.interval(cells, fixed_names)
    facts = {"model": model, **dict(zip(FACTORS, level, strict=True)), "metric": "accuracy"}
    return facts | {
        "value": cells.share, "low": low, "high": high, "above": cells.right.sum(), "below": cells.trials.sum(),
        "clusters": fewest(cells.trials), "chance": chance,
    }  # fmt: skip


def _by_name(found: dict[Level, Cells], grid: Grid, chances: dict[Level, float]) -> Iterator[dict]:
    """Yield the accuracy on neo-pronouns for each name, over all models (section 4.2).

    The bootstrap resamples templates alone: a name is the name that it is.
    """
    neo = next((level for level in found if _is_split(level, pronoun_type="neo")), None)
    if neo is None:
        return
    for place, (name_class, name) in enumerate(grid.names):
        cells = Cells(*(np.where(np.arange(grid.shape[1]) == place, of, 0) for of in found[neo]))
        if cells.trials.any():
            named = {"name_class": name_class, "name": name}
            level = tuple(named.get(factor, known) for factor, known in zip(FACTORS, neo, strict=True))
            yield _row(POOLED, level, cells, grid, chances[neo], fixed_names=True)


def _is_split(level: Level, **levels: str) -> bool:
    known = dict(zip(FACTORS, level, strict=True)) | {"shots": POOLED}
    return known == dict.fromkeys(FACTORS, POOLED) | levels


if __name__ == "__main__":
    run_named()
