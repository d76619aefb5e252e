"""Logistic mixed models with crossed random effects: what goes with being right, beside items and models that vary.

Where every item meets many models, effects of items and of models are crossed. Such models are fitted by variational
Bayes (``BinomialBayesMixedGLM`` of statsmodels), which works with thousands of outcomes and keeps coefficients finite
where a group is never right, because they have a normal prior. Its posterior leaves out that coefficients and random
effects go together, so that its intervals are far too narrow for what differs between items: of 100 simulated samples
with 40 items and 20 models, 95 % intervals held the truth of the intercept in 38, of an effect between items in 50 and
of one within items in 79. Only the standard deviations of the random effects are therefore taken from it; coefficients
and all intervals are made given these (:func:`table`), and hold the truth as often as they promise
(``tests/core/statistics/test_mixed_effects.py``).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning

FIXED_SD = 2.0
"""Standard deviation of the normal prior of a coefficient, in log odds; statsmodels' own."""
OPTIMIZER = {"maxiter": 3000, "maxfun": 6000, "ftol": 1e-14, "gtol": 1e-8, "maxcor": 30}
"""Of the variational fit. With SciPy's own tolerance it stops a part in a thousand before the optimum, at a place that
depends on the processor; with a longer memory of the curvature (``maxcor``) going on takes no more time."""
STEPS = 100
"""Of Newton's method at most."""
MOST = 100_000
"""Of more outcomes so many are drawn, because a fit takes time that grows with them."""
STEP = 0.05
"""By how much log standard deviations are moved to find the curvature."""
Z = 1.959964
LEAST_MODELS = 5
"""Models from which on their effect is random; fewer say little about a variance, and have coefficients instead."""
COLUMNS = ["kind", "factor", "level", "estimate", "sd", "ci_low", "ci_high", "n", "converged", "reason"]


@dataclass(frozen=True)
class Outcomes:
    """Outcomes with the design of both kinds of effects."""

    right: np.ndarray
    fixed: np.ndarray
    random: sparse.csr_matrix
    owners: np.ndarray
    """Which random factor each column of ``random`` belongs to."""

    @property
    def columns(self) -> sparse.csr_matrix | sparse.csr_array:
        """Both designs beside each other (sparse, outcomes by coefficients and then random effects)."""
        return sparse.hstack([sparse.csr_matrix(self.fixed), self.random]).tocsr()


def of_models(rows: pd.DataFrame, fixed: dict[str, Sequence], random: Sequence[str], seed: int) -> pd.DataFrame:
    """Return :func:`table` of the column ``correct``, with ``model`` as a further factor.

    Models are a random factor from :data:`LEAST_MODELS` on, and a fixed one below; the first is the reference.
    """
    models = list(dict.fromkeys(rows.model))
    if len(models) >= LEAST_MODELS:
        return table(rows, fixed, [*random, "model"], seed, right="correct")
    return table(rows, {**fixed, "model": models}, random, seed, right="correct")


def table(
    rows: pd.DataFrame, fixed: dict[str, Sequence], random: Sequence[str], seed: int, right: str = "right"
) -> pd.DataFrame:
    r"""Fit outcomes on fixed factors, with random effects of others; return estimates with intervals.

    With :math:`x_i` the dummies of outcome :math:`i` and :math:`b_{k,g}` the effect of level :math:`g` of random factor
    :math:`k`, the log odds of being right are :math:`x_i \beta + \sum_k b_{k,g_k(i)}`, with
    :math:`b_{k,g} \sim N(0, \sigma_k^2)`, :math:`\beta \sim N(0, 2^2)` and :math:`\log \sigma_k \sim N(0, 1)`.

    1. :math:`\sigma_k` are those of the variational posterior (``BinomialBayesMixedGLM.fit_vb``).
    2. Given these, coefficients and random effects are where their posterior is highest (penalised maximum likelihood;
       Breslow and Clayton 1993), and standard deviations of coefficients come from the inverse of its curvature over
       both together, so that what random effects leave open is part of them.
    3. Intervals of :math:`\sigma_k` come from the curvature of Laplace's approximation to the posterior of
       :math:`\log \sigma`, with coefficients and random effects integrated out (Tierney and Kadane 1986).

    Args:
        rows: A row for each outcome. Of more than :data:`MOST`, so many are drawn at random.
        fixed: Factors to their levels, the reference first. Levels that do not occur are left out, and factors with
            one.
        random: Factors whose levels are a sample of others.
        seed: Of the starting values, and of the draw.
        right: The column of outcomes, of truth values.

    Returns:
        :data:`COLUMNS`: for each coefficient (``kind`` fixed; log odds against the factor's first level) estimate,
        standard deviation and 95 % interval; for each random factor (``kind`` random) its standard deviation in log
        odds with an interval, which is missing where the curvature gives none. ``n`` counts the outcomes of the fit. If
        correctness does not vary or a step does not converge, there is one row without estimates, ``converged`` is
        false and ``reason`` says why.
    """
    if len(rows) > MOST:
        rows = rows.sample(MOST, random_state=seed)
    rows = rows.reset_index(drop=True)
    outcomes = rows[right].to_numpy(dtype=float)
    if len(np.unique(outcomes)) < 2:
        return empty_fit(len(rows), "correctness does not vary")
    names, dummies = _fixed_design(rows, fixed)
    effects, owners = _random_design(rows, random)
    data = Outcomes(outcomes, dummies, effects, owners)
    with warnings.catch_warnings():
        # What did not converge is refused below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BinomialBayesMixedGLM(outcomes, dummies, exog_vc=effects, ident=owners, fe_p=FIXED_SD)  # pyright: ignore[reportArgumentType]: any number will do
        fitted = model.fit_vb(fit_method="L-BFGS-B", minim_opts=OPTIMIZER, rng=seed)
    outcome = fitted.optim_retvals
    assert outcome is not None, "the fit was made here"
    if not outcome.success or not np.isfinite(fitted.params).all():
        return empty_fit(len(rows), f"the fit did not converge in {outcome.nit} iterations")
    start = np.concatenate([fitted.fe_mean, fitted.vc_mean])
    estimates, curvature = mode(data, fitted.vcp_mean, start)
    if estimates is None:
        return empty_fit(len(rows), f"the coefficients did not settle in {STEPS} steps")
    spread = np.sqrt(np.diag(np.linalg.inv(curvature)))
    made = [
        _row("fixed", *name, estimates[place], spread[place], len(rows))
        for place, name in enumerate(names)
    ]  # fmt: skip
    for factor, log_sd, sd in zip(
        random, fitted.vcp_mean, _spread_of_sds(data, fitted.vcp_mean, estimates), strict=True
    ):
        row = _row("random", factor, "standard deviation", log_sd, sd, len(rows))
        made.append(row | {key: float(np.exp(row[key])) for key in ("estimate", "ci_low", "ci_high")} | {"sd": np.nan})
    return pd.DataFrame(made, columns=COLUMNS)


def mode(data: Outcomes, log_sds: np.ndarray, start: np.ndarray) -> tuple:
    """Return where the posterior of coefficients and random effects is highest, given the latter's spread.

    Args:
        log_sds: Shape (random factors,), of float.
        start: Shape (coefficients and random effects,), of float.

    Returns:
        The values, or None if Newton's method did not settle, and the posterior's negative Hessian there.
    """
    columns, precision = data.columns, _precision(data, log_sds)
    values = np.array(start, dtype=float)
    for _ in range(STEPS):
        chance = expit(columns @ values)
        weighted = columns.multiply((chance * (1 - chance))[:, None]).tocsr()
        curvature = (columns.T @ weighted).toarray() + np.diag(precision)
        step = np.linalg.solve(curvature, columns.T @ (data.right - chance) - precision * values)
        # Steps of more than a few log odds overshoot where chances are near 0 or 1.
        values = values + step * min(1, 4 / np.abs(step).max()) if step.any() else values
        if np.abs(step).max() < 1e-8:
            return values, curvature
    return None, curvature


def _precision(data: Outcomes, log_sds: np.ndarray) -> np.ndarray:
    of_fixed = np.full(data.fixed.shape[1], FIXED_SD**-2)
    return np.concatenate([of_fixed, np.exp(-2 * np.asarray(log_sds))[data.owners]])


def _log_posterior(data: Outcomes, log_sds: np.ndarray, start: np.ndarray) -> float:
    """Return the log posterior of log standard deviations, all else integrated out by Laplace's method (+ constant)."""
    values, curvature = mode(data, log_sds, start)
    if values is None:
        return np.nan
    odds, precision = data.columns @ values, _precision(data, log_sds)
    of_outcomes = data.right @ odds - np.logaddexp(0, odds).sum()
    of_effects = (np.log(precision).sum() - precision @ values**2) / 2
    return of_outcomes + of_effects - np.linalg.slogdet(curvature)[1] / 2 - np.sum(np.square(log_sds)) / 2


def _spread_of_sds(data: Outcomes, log_sds: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the standard deviations of log standard deviations from the curvature at them; NaN where there is none."""
    steps = STEP * np.eye(len(log_sds))
    bent = np.empty((len(log_sds), len(log_sds)))
    for i, one in enumerate(steps):
        for j, other in enumerate(steps[: i + 1]):
            corners = [
                sign * _log_posterior(data, log_sds + towards, start)
                for sign, towards in ((1, one + other), (-1, one - other), (-1, other - one), (1, -one - other))
            ]
            bent[i, j] = bent[j, i] = -sum(corners) / (4 * STEP**2)
    if not np.isfinite(bent).all() or np.linalg.eigvalsh(bent).min() <= 0:
        return np.full(len(log_sds), np.nan)
    return np.sqrt(np.diag(np.linalg.inv(bent)))


def _fixed_design(rows: pd.DataFrame, fixed: dict[str, Sequence]) -> tuple[list[tuple[str, Any]], np.ndarray]:
    names, dummies = [("intercept", "")], [np.ones(len(rows))]
    for factor, order in fixed.items():
        present = set(rows[factor])
        for level in [level for level in order if level in present][1:]:
            names.append((factor, level))
            dummies.append((rows[factor] == level).to_numpy(dtype=float))
    return names, np.column_stack(dummies)


def _random_design(rows: pd.DataFrame, random: Sequence[str]) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the sparse design of the random effects and which factor each of its columns belongs to."""
    blocks, owners = [], []
    for index, factor in enumerate(random):
        codes = rows[factor].astype("category").cat.codes.to_numpy()
        levels = int(codes.max()) + 1
        blocks.append(sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), codes)), shape=(len(rows), levels)))
        owners += [index] * levels
    return sparse.csr_matrix(sparse.hstack(blocks)), np.array(owners)


def _row(kind: str, factor: str, level: Any, mean: float, sd: float, n: int) -> dict[str, Any]:
    mean, sd = float(mean), float(sd)
    return {
        "kind": kind, "factor": factor, "level": level, "estimate": mean, "sd": sd, "ci_low": mean - Z * sd,
        "ci_high": mean + Z * sd, "n": n, "converged": True, "reason": "",
    }  # fmt: skip


def empty_fit(n: int, reason: str) -> pd.DataFrame:
    """Return the table of a fit that gives no estimates."""
    empty = dict.fromkeys(("estimate", "sd", "ci_low", "ci_high"), np.nan)
    row = {"kind": "fixed", "factor": "intercept", "level": ""} | empty | {"n": n, "converged": False, "reason": reason}
    return pd.DataFrame([row], columns=COLUMNS)
