"""Whether a system gives a pronoun rather than *he* to an occupation, the more women work in it (not in the study).

The measure is the one that Rudinger et al. (2018) take of coreference systems: of each occupation, how much larger the
share of sentences is that are resolved to it with *she* than with *he*, correlated over occupations with the share of
women among those who work in them. Sentences in which nobody is named count as not resolved to the occupation.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError
from scripts.core.statistics import procedures
from scripts.winopron.lib import study

FEWEST = 10
"""Fewer occupations have no correlation: with ten, one below 0.63 cannot be told from none (two-sided test, 5 %)."""
DIFFERENCES = ["pronoun_set", "compared_with", "occupation", "women", "share", "compared_share", "difference"]
"""``share`` and ``compared_share``: of the sentences about an occupation with either pronoun set, those resolved to
it; ``difference``: the first less the second; ``women``: their share among those who work in it."""
AGREEMENT = [
    "pronoun_set", "compared_with", "n", "left_out", "pearson", "ci_low", "ci_high", "spearman", "undefined",
]  # fmt: skip
"""``n``: occupations; ``left_out``: those whose share of women is not known; ``ci_low`` and ``ci_high``: of Pearson's
correlation; ``undefined``: why there is none, else empty."""
FEW = f"fewer than {FEWEST} occupations"
NO_DIFFERENCE = "the same with both pronoun sets in every occupation"
SAME_DIFFERENCE = "the same difference in every occupation"
SAME_WOMEN = "the same share of women in every occupation"
SHARES = ("occupation", "women", "year")
"""``women``: percent of those who work in the occupation; ``year``: of the count."""


def read_shares(path: str | Path) -> dict[str, float]:
    """Read the share of women in each occupation (templates/winopron/occupation_women.tsv; Rudinger et al. 2018).

    Returns:
        Occupation to a share between 0 and 1, in the order of the file.

    Raises:
        UserError: For an occupation that is empty or appears twice, and a share that is no percentage.
    """
    shares = {}
    for row, cells in read_tsv(path, SHARES):
        where, name = f"{path}, row {row}", cells["occupation"]
        if not name or name in shares:
            raise UserError(f"{where}: the occupation '{name}' is empty or appears twice; keep one row of it")
        try:
            share = float(cells["women"]) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UserError(f"{where}: women '{cells['women']}' is no percentage; write a number from 0 to 100")
        shares[name] = share
    return shares


def differences(answers: pd.DataFrame, women: dict[str, float]) -> pd.DataFrame:
    """Return how much oftener each pronoun set than *he* is resolved to each occupation.

    Args:
        answers: As of :mod:`scripts.winopron.lib.analyses.performance`, of one system; all ways of asking a prompted
            one count together.
        women: Occupation to the share of women.

    Returns:
        :data:`DIFFERENCES`, a row for each occupation and each pronoun set but *he*; ``women`` is missing where it is
        not known. Without *he* among the pronoun sets there are no rows.
    """
    to_occupation = (answers.prediction == "occupation").groupby([answers.pronoun_set, answers.occupation], sort=False)
    shares = to_occupation.mean().unstack("pronoun_set", sort=False)
    if study.MASCULINE not in shares:
        return pd.DataFrame(columns=DIFFERENCES)
    compared = shares.pop(study.MASCULINE)
    parts = [
        pd.DataFrame(
            {
                "pronoun_set": name,
                "compared_with": study.MASCULINE,
                "occupation": shares.index,
                "women": [women.get(occupation, np.nan) for occupation in shares.index],
                "share": shares[name].to_numpy(),
                "compared_share": compared.to_numpy(),
                "difference": (shares[name] - compared).to_numpy(),
            }
        )
        for name in shares
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=DIFFERENCES)


def agreement(found: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the correlation of these differences with the share of women, over occupations.

    Args:
        found: Of :func:`differences`.
        draws, seed: Of the bootstrap over occupations.

    Returns:
        :data:`AGREEMENT`, a row for each pronoun set. Bootstrap samples in which either side does not vary have no
        correlation and are left out of the interval.
    """
    rows = []
    for (name, compared), all_of_set in found.groupby(["pronoun_set", "compared_with"], sort=False):
        known = all_of_set[all_of_set.women.notna()]
        women, difference = known.women.to_numpy(dtype=float), known.difference.to_numpy(dtype=float)
        why, values = _obstacle(women, difference), (np.nan,) * 4
        if not why:
            drawn = np.random.default_rng(seed).integers(len(women), size=(draws, len(women)))
            ends = procedures.percentile_interval(_pearson(women[drawn], difference[drawn]))
            values = (
                float(_pearson(women[None], difference[None])[0]), *ends, procedures.spearman(women, difference)
            )  # fmt: skip
        rows.append((name, compared, len(known), len(all_of_set) - len(known), *values, why))
    return pd.DataFrame(rows, columns=AGREEMENT)


def _obstacle(women: np.ndarray, difference: np.ndarray):
    if len(women) < FEWEST:
        return FEW
    if not procedures.has_variation(difference, 1.0):
        return SAME_DIFFERENCE if abs(difference[0]) > procedures.ROUNDING else NO_DIFFERENCE
    return "" if procedures.has_variation(women, 1.0) else SAME_WOMEN


def _pearson(x: np.ndarray, y: np.ndarray):
    """Return the correlation of each row of two arrays; NaN where either does not vary by more than rounding."""
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    defined = np.logical_and(*(np.ptp(values, axis=1) > procedures.ROUNDING for values in (x, y)))
    above, below = (x * y).sum(axis=1), np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.divide(above, below, out=np.full(len(x), np.nan), where=defined)
