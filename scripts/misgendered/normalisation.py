"""What the study's mean over tokens decides: accuracies and single decisions under other scores.

Not in the study. There is no difference to the score without context: texts without their declaration are not scored.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.core.data import losses, model_outputs, options
from scripts.core.statistics import normalisation as scores_compared
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.grid import Grid
from scripts.misgendered.study import NAME, TEMPLATE


def normalisation(
    *, instances: list, scores: list, normalisation: str, models: list, template_sets: list, wording: str, labels: str,
    capitals: str, draws: int, seed: int,
) -> None:  # fmt: skip
    """Decide every instance under each normalisation of the losses, and say what that changes.

    :func:`scripts.core.statistics.normalisation.compare_scores` has the columns. ``instances`` have a file for each of
    ``template_sets``, ``scores`` one for each of them and of ``models``, models varying fastest; ``labels`` and
    ``capitals`` say which losses are compared.
    """
    tables, left = [], iter(scores)
    for name, path in zip(template_sets, instances, strict=True):
        selected = files.read_parquet(path)
        asked = selected[selected.wording == wording]
        counts = []
        # Decisions are counted model by model and not kept: there can be sixty million.
        for model in models:
            read = model_outputs.read_scores(next(left), model, selected)
            sums = loss_sums(asked, read, labels, capitals, model)
            counts.append(scores_compared.count_decisions(asked, sums, model, DESIGN))
        table = scores_compared.compare_scores(pd.concat(counts), DESIGN, draws, seed)
        tables.append(study.add_identity(table, name, wording))
    files.write_csv(normalisation, pd.concat(tables, ignore_index=True))


def loss_sums(instances: pd.DataFrame, scores: pd.DataFrame, labels: str, capitals: str, model: str) -> pd.DataFrame:
    """Return the scores of these instances with sums of losses and the lengths of what these are about.

    Columns ``log_probability`` (a sum, nats), ``scored_tokens`` and ``text_bytes``: of the text, or of the option alone
    where the labels are (those of T5's kind, whose sentinels have no bytes).
    """
    table = losses.comparable_scores(scores, "sum", labels, capitals, f"scores of {model}")
    texts = options.option_texts(instances)[["instance_id", "option_index", "filled", "text"]]
    table = table.drop(columns="text", errors="ignore")
    table = table.merge(texts, on=["instance_id", "option_index"], how="inner", validate="one_to_one")
    counted = table.text.where(table.sentinel_tokens == 0, table.filled)
    return table.assign(text_bytes=scores_compared.byte_lengths(counted))


def iterate_levels(table: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield what names each level with its rows: all, each type of pronouns, each group with its type."""
    yield {"pronoun_type": POOLED, "group": POOLED}, table
    for kind, part in table.groupby("pronoun_type", sort=False):
        yield {"pronoun_type": kind, "group": POOLED}, part
    for (kind, group), part in table.groupby(["pronoun_type", "group"], sort=False):
        yield {"pronoun_type": kind, "group": group}, part


class TemplatesAndNames:
    """As :class:`scripts.core.statistics.normalisation.Clusters`, resampling templates and names."""

    def __init__(self, cells: pd.DataFrame, draws: int, seed: int):
        self.grid = Grid([cells], draws, seed)
        self.places = self.grid.places(cells)

    def accuracy(self, part: pd.DataFrame) -> tuple[float, float]:
        """Return both ends of the 95 % interval of the accuracy of some cells."""
        return self.grid.interval(self._cells(part))

    def difference(self, part: pd.DataFrame, base: pd.DataFrame) -> tuple[float, float]:
        """Return both ends of the 95 % interval of a difference of accuracies on the same instances."""
        return self.grid.difference(self._cells(part), self._cells(base))

    def _cells(self, part: pd.DataFrame) -> np.ndarray:
        return self.grid.count(self.places[part.index], part.n, part.correct)


def pooled_models(models: Iterable[str]) -> dict[str, list[str]]:
    """Return what a row's ``model`` can be, and the models behind it: each one, and all."""
    every = list(models)
    return {model: [model] for model in every} | {POOLED: every}


DESIGN = scores_compared.Design(
    scores=("tokens", "sum", "bytes"),
    kept=["pronoun_type", "group", *TEMPLATE, *NAME],
    clusters=TEMPLATE,
    levels=iterate_levels,
    models=pooled_models,
    bootstrap=TemplatesAndNames,
)
"""The study's own score comes first."""


if __name__ == "__main__":
    run_named()
