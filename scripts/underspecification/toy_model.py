"""The toy structural causal model (Appendix B): simulated, and its exact correlations.

With independent standard normal e0 to e4 and amplification a: W = (a / 2) e0, G = a e1, and S selects where
T = W + G + e2 > 2 a. Well-specified: X = W + G + e3, Y = X + G + e4. Unspecified: X = W + e3, Y = G + e4.
"""

import numpy as np
import pandas as pd
import scipy

from scripts.core import files
from scripts.core.workflow.job import run_named

VARIABLES = ("W", "G", "X", "Y")
TASKS = ("well-specified", "unspecified")
POPULATIONS = ("all", "selected")
PAIRS = (("W", "G"), ("W", "X"), ("W", "Y"), ("G", "X"), ("G", "Y"), ("X", "Y"))
POINTS_SHOWN = 1500
"""The first draws are kept for the figure: an even sample, so that the selected ones have their share in it."""


def toy_model(*, correlations: str, points: str, amplification: float, draws: int, seed: int) -> None:
    """Write ``correlations`` and, for the figure, the first ``points`` of each task (CSV)."""
    files.write_csv(correlations, correlate_variables(amplification, draws, seed))
    shown = []
    for task in TASKS:
        shown.append(simulate_variables(task, amplification, draws, seed).head(POINTS_SHOWN).assign(task=task))
    files.write_csv(points, pd.concat(shown, ignore_index=True))


def loadings(task: str, amplification: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the variables as linear combinations of e0 to e4, shape (4, 5), and T's, shape (5,)."""
    w = np.array([amplification / 2, 0, 0, 0, 0])
    g = np.array([0, amplification, 0, 0, 0])
    e2, e3, e4 = np.eye(5)[2:]
    x = w + g + e3 if task == "well-specified" else w + e3
    y = x + g + e4 if task == "well-specified" else g + e4
    return np.array([w, g, x, y]), w + g + e2


def simulate_variables(task: str, amplification: float, draws: int, seed: int) -> pd.DataFrame:
    """Return ``draws`` draws: W, G, X, Y and ``selected`` (bool)."""
    variables, selector = loadings(task, amplification)
    noise = np.random.default_rng(seed).standard_normal((draws, 5))
    frame = pd.DataFrame(noise @ variables.T, columns=list(VARIABLES))
    return frame.assign(selected=noise @ selector > 2 * amplification)


def exact_covariance(task: str, amplification: float, population: str) -> np.ndarray:
    """Return the covariance matrix of W, G, X, Y, shape (4, 4).

    Given T > 2 a, which is jointly normal with the others, Cov(Z | T > c) = Cov(Z) - d v v' / Var(T) with
    v = Cov(Z, T), d = h (h - c / sd(T)) and h the hazard of the standard normal at c / sd(T) (Tallis 1961).
    """
    variables, selector = loadings(task, amplification)
    covariance = variables @ variables.T
    if population == "all":
        return covariance
    variance = selector @ selector
    limit = 2 * amplification / np.sqrt(variance)
    hazard = np.exp(scipy.stats.norm.logpdf(limit) - scipy.stats.norm.logsf(limit))
    with_selector = variables @ selector
    return covariance - hazard * (hazard - limit) * np.outer(with_selector, with_selector) / variance


def selected_share(amplification: float) -> float:
    """Return the probability of being selected."""
    _, selector = loadings(TASKS[0], amplification)
    return float(scipy.stats.norm.sf(2 * amplification / np.sqrt(selector @ selector)))


def correlate_variables(amplification: float, draws: int, seed: int) -> pd.DataFrame:
    """Return simulated beside exact correlations.

    Returns:
        ``task``, ``population``, ``a``, ``b``, ``simulated``, ``exact``, ``standard_error`` (of the simulated one, by
        Fisher's transformation), ``draws``, ``exact_share`` (of the population).
    """
    rows = []
    for task in TASKS:
        frame = simulate_variables(task, amplification, draws, seed)
        for population in POPULATIONS:
            drawn = frame if population == "all" else frame[frame.selected]
            simulated = np.corrcoef(drawn[list(VARIABLES)].to_numpy(), rowvar=False)
            covariance = exact_covariance(task, amplification, population)
            scale = np.sqrt(np.diag(covariance))
            exact = covariance / np.outer(scale, scale)
            share = 1.0 if population == "all" else selected_share(amplification)
            for a, b in PAIRS:
                i, j = VARIABLES.index(a), VARIABLES.index(b)
                rows.append(
                    {"task": task, "population": population, "a": a, "b": b, "simulated": simulated[i, j],
                     "exact": exact[i, j], "standard_error": (1 - exact[i, j] ** 2) / np.sqrt(max(len(drawn) - 3, 1)),
                     "draws": len(drawn), "exact_share": share}
                )  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    run_named()
