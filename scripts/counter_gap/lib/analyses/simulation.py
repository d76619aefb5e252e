"""Systems whose gender bias is known, to see what each metric says of it.

A passage has a difficulty z ~ N(0.5, 1); an instance of it is right if z + s b g / 2 + e > 0, with b the strength of
the bias, g = +1 for masculine and -1 for feminine instances, s = ±1 the direction in which the passage is biased, and
e ~ N(0, t) what the names do, drawn for each instance alone. The chance of a right answer is then known, and so is a
passage's true gap: the difference of the two genders' chances.
"""

import numpy as np
import pandas as pd
from scipy.stats import norm

from scripts.counter_gap.lib.analyses import inconsistency

SETTINGS = {
    "one direction": (np.linspace(0, 2.4, 9), 1.0),
    "both directions": (np.linspace(0, 2.4, 9), 0.5),
    "names only": (np.linspace(0.1, 1.7, 9), 1.0),
}
"""Setting to the strengths that are tried (of the bias; of the names for the last) and the share of passages that lean
towards masculine."""
_NAMES = 0.5
METRICS = ("acc_diff", "delta_i", "i_across")


def chances(difficulty, direction, bias, names):
    """Return the chances of a right answer for masculine and for feminine instances of each passage."""
    shift = direction * bias / 2
    return norm.cdf((difficulty + shift) / names), norm.cdf((difficulty - shift) / names)


def simulate(quadruples, repeats, seed):
    """Simulate every setting.

    Parameters
    ----------
    quadruples : int
        In each data set.
    repeats : int
        Data sets for each strength.
    seed : int

    Returns
    -------
    DataFrame
        ``setting``, ``strength``, ``true_gap`` (mean over passages of the absolute true gap), ``true_signed`` (with its
        sign, masculine minus feminine), ``true_squared`` (mean square), ``metric``, ``value`` (mean over the data
        sets), ``low``, ``high`` (their 2.5 and 97.5 percent points).
    """
    generator = np.random.default_rng(seed)
    rows = []
    for setting, (strengths, masculine_share) in SETTINGS.items():
        for strength in strengths:
            bias, names = (0.0, strength) if setting == "names only" else (strength, _NAMES)
            shape = (repeats, quadruples)
            difficulty = generator.normal(0.5, 1, shape)
            direction = np.where(generator.random(shape) < masculine_share, 1, -1)
            p, q = chances(difficulty, direction, bias, names)
            masculine = np.arange(quadruples) % 2 == 0
            by_instance = np.where(masculine[:, None], np.stack([p, p, q, q], -1), np.stack([q, q, p, p], -1))
            right = generator.random((*shape, 4)) < by_instance
            codes = inconsistency.types(right, np.broadcast_to(masculine, shape))
            counts = (codes[..., None] == np.arange(inconsistency.N_TYPES)).sum(1)
            values = inconsistency.evaluate(counts)
            gaps = p - q
            true = {
                "true_gap": np.abs(gaps).mean(),
                "true_signed": gaps.mean(),
                "true_squared": (gaps**2).mean(),
            }
            for metric in METRICS:
                sample = values[metric, "all"]
                low, high = np.quantile(sample, [0.025, 0.975])
                rows.append(
                    {"setting": setting, "strength": strength, **true, "metric": metric, "value": sample.mean(),
                     "low": low, "high": high}
                )  # fmt: skip
    return pd.DataFrame(rows)
