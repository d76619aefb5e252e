"""Is a model right as often as it is sure of its pick? Not in the study."""

import pandas as pd

from scripts.core import calibration
from scripts.misgendered.lib.analyses.normalisation import levels, template
from scripts.misgendered.lib.analyses.resampling import matching, pooled_models

CELL = ["model", "normalisation", "pronoun_type", "group", "template"]
"""What instances share whose confidences are summed together."""


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return what confidences and outcomes come to in each bin of each template: a small part of their rows.

    Counts of parts of a table, such as single models, can be put below each other.

    Args:
        table: From :func:`scripts.misgendered.lib.analyses.normalisation.decided`.

    Returns:
        :data:`CELL` and the columns of :func:`scripts.core.calibration.sums`.
    """
    return calibration.sums(table.confidence, table.correct, table[CELL[:-1]].assign(template=template(table)))


def bins(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and confidence in each bin of confidence.

    Args:
        cells: From :func:`counted`, of all models.

    Returns:
        ``model`` (``all``: over the run's models), ``normalisation``, ``pronoun_type``, ``group`` (``all`` as well) and
        the columns of :func:`scripts.core.calibration.reliability`, without empty bins.
    """
    parts = [calibration.reliability_of_sums(part).assign(**cell) for cell, part in _cells(cells)]
    frame = pd.concat(parts, ignore_index=True)
    names = ["model", "normalisation", "pronoun_type", "group"]
    return frame.loc[frame.n > 0, [*names, *(name for name in frame if name not in names)]].reset_index(drop=True)


def summary(cells: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return how far confidences miss the accuracy.

    Args:
        cells: As for :func:`bins`.
        draws, seed: Of the bootstrap over templates; names stay as they are.

    Returns:
        ``model``, ``normalisation``, ``pronoun_type``, ``group``, ``n``, ``accuracy``, ``confidence`` (mean),
        ``overconfidence`` (their difference), ``ece`` (expected calibration error) with ``ci_low`` and ``ci_high`` (95
        %) and ``ece_by_chance`` (:func:`scripts.core.calibration.error_if_calibrated`).
    """
    rows = [cell | calibration.errors_of_sums(part, "template", draws, seed) for cell, part in _cells(cells)]
    return pd.DataFrame(rows)


def _cells(table):
    for model, members in pooled_models(table.model.unique()).items():
        of_model = table[matching(table, model=members)]
        for name, of_both in of_model.groupby("normalisation", sort=False):
            for cell, chosen in levels(of_both):
                yield {"model": model, "normalisation": name} | cell, of_both[chosen]
