"""What the study's mean over tokens decides: accuracies and single decisions under other scores.

Not in the study. There is no difference to the score without context: texts without their declaration are not scored.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scripts.core.data import losses, options
from scripts.core.statistics import normalisation, procedures
from scripts.misgendered.lib.analyses.resampling import NAME, TEMPLATE, BootstrapFrame, fewest, pooled_models
from scripts.misgendered.lib.labels import ALL


def loss_sums(instances: pd.DataFrame, scores: pd.DataFrame, labels: str, capitals: str, model: str) -> pd.DataFrame:
    """Return sums of losses with the lengths of what they are about.

    Args:
        scores: A model's scores with losses (:mod:`scripts.core.data.losses`).
        labels, capitals: As :func:`scripts.core.data.losses.comparable_scores` takes them.
        model: For messages.

    Returns:
        ``scores`` of these instances with ``log_probability`` (a sum, nats), ``scored_tokens`` and ``text_bytes``: of
        the text, or of the option alone where the labels are (those of T5's kind, whose sentinels have no bytes).
    """
    table = losses.comparable_scores(scores, "sum", labels, capitals, f"scores of {model}")
    texts = options.option_texts(instances)[["instance_id", "option_index", "filled", "text"]]
    table = table.drop(columns="text", errors="ignore")
    table = table.merge(texts, on=["instance_id", "option_index"], how="inner", validate="one_to_one")
    counted = table.text.where(table.sentinel_tokens == 0, table.filled)
    return table.assign(text_bytes=normalisation.byte_lengths(counted))


def levels(table: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield what names each level with its rows: all, each type of pronouns, each group with its type."""
    yield {"pronoun_type": ALL, "group": ALL}, table
    for kind, part in table.groupby("pronoun_type", sort=False):
        yield {"pronoun_type": kind, "group": ALL}, part
    for (kind, group), part in table.groupby(["pronoun_type", "group"], sort=False):
        yield {"pronoun_type": kind, "group": group}, part


class TemplatesAndNames:
    """As :class:`scripts.core.statistics.normalisation.Clusters`, resampling templates and names."""

    def __init__(self, cells: pd.DataFrame, draws: int, seed: int):
        self.places = BootstrapFrame([cells], draws, seed)
        self.place = self.places.cells(cells)

    def accuracy(self, part: pd.DataFrame) -> tuple[float, float]:
        """Return both ends of the 95 % interval of the accuracy of some cells."""
        return self.places.interval(*self._counts(part))

    def difference(self, part: pd.DataFrame, base: pd.DataFrame) -> tuple[float, float]:
        """Return both ends of the 95 % interval of a difference of accuracies on the same instances."""
        (trials, right), (trials_base, right_base) = self._counts(part), self._counts(base)
        samples = self.places.samples(trials, right) - self.places.samples(trials_base, right_base)
        value = right.sum() / trials.sum() - right_base.sum() / trials_base.sum()
        return procedures.bootstrap_interval(value, samples, fewest(trials))

    def _counts(self, part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return trials and successes of some cells. Shape (templates, names)."""
        place, shape = self.place[part.index], self.places.shape
        trials, right = (
            np.bincount(place, weights=values, minlength=shape[0] * shape[1]).reshape(shape)
            for values in (part.n, part.correct)
        )
        return trials, right


DESIGN = normalisation.Design(
    scores=("tokens", "sum", "bytes"),
    kept=["pronoun_type", "group", *TEMPLATE, *NAME],
    clusters=TEMPLATE,
    levels=levels,
    models=pooled_models,
    bootstrap=TemplatesAndNames,
)
"""The study's own score comes first."""
