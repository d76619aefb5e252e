"""A mixed model of correctness. Not in the study, which compares averages.

A logistic model, because accuracies on neo-pronouns are near zero, where a linear one leaves the range of shares. Its
random effects are crossed (every template meets many names and models), so it is fitted by variational Bayes
(``BinomialBayesMixedGLM`` of statsmodels), which works with thousands of instances and keeps coefficients finite
where a group of pronouns is never right: they have a normal prior with standard deviation two. Mean-field posteriors
are somewhat too narrow.
"""

import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning

LEAST_MODELS = 5
"""Models from which on their effect is random; fewer say little about a variance, and have coefficients instead."""
FIXED = {
    "pronoun_type": ("neo", "neutral", "binary"),
    "form": ("nom", "acc", "ref", "pos_dep", "pos_ind"),
    "declaration_type": ("explicit", "parenthetical"),
    "declaration_number": ("2", "3", "4", "5"),
}
"""Fixed effects with their levels, the reference first."""
ITERATIONS = 3000
Z = 1.959964
COLUMNS = ["kind", "factor", "level", "estimate", "sd", "ci_low", "ci_high", "n", "converged", "reason"]


def mixed_model(table, seed):
    """Fit correctness on pronoun type, form and declaration, with random effects of template, name and model.

    Parameters
    ----------
    table : DataFrame
        Predictions.
    seed : int
        Of the starting values.

    Returns
    -------
    DataFrame
        :data:`COLUMNS`: for each coefficient (``kind`` fixed; log odds against the factor's first level) its posterior
        mean, standard deviation and 95 % interval, and for each random effect (``kind`` random) its standard deviation
        in log odds with an interval. ``n`` counts instances over all models. If the fit does not
        converge, or if correctness does not vary, there is one row without estimates, ``converged`` is false and
        ``reason`` says why.
    """
    rows = table[table.shots == 0].reset_index(drop=True)
    rows = rows.assign(
        right=rows.correct.astype(float),
        declaration_number=rows.declaration_number.astype(str),
        template=rows.form + " " + rows.template_index.astype(str),
    )
    if rows.right.nunique() < 2:
        return _refused(len(rows), "correctness does not vary")
    random = ["template", "name", *(["model"] if rows.model.nunique() >= LEAST_MODELS else [])]
    fixed = {factor: [v for v in order if v in set(rows[factor])] for factor, order in FIXED.items()}
    if "model" not in random:
        fixed["model"] = list(dict.fromkeys(rows.model))
    fixed = {factor: order for factor, order in fixed.items() if len(order) > 1}
    design = pd.DataFrame({"Intercept": np.ones(len(rows))})
    names = [("intercept", "")]
    for factor, order in fixed.items():
        for level in order[1:]:
            design[f"{factor}: {level}"] = (rows[factor] == level).to_numpy(dtype=float)
            names.append((factor, level))
    effects, owners = _random_design(rows, random)
    model = BinomialBayesMixedGLM(rows.right.to_numpy(), design.to_numpy(), exog_vc=effects, ident=owners)
    with warnings.catch_warnings():
        # What did not converge is refused below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        limits = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS}
        fitted = model.fit_vb(fit_method="L-BFGS-B", minim_opts=limits, rng=seed)
    outcome = fitted.optim_retvals
    if not outcome.success or not np.isfinite(fitted.params).all():
        return _refused(len(rows), f"the fit did not converge in {outcome.nit} iterations")
    made = [
        _row("fixed", factor, level, mean, sd, len(rows))
        for (factor, level), mean, sd in zip(names, fitted.fe_mean, fitted.fe_sd, strict=True)
    ]
    for factor, mean, sd in zip(random, fitted.vcp_mean, fitted.vcp_sd, strict=True):
        row = _row("random", factor, "standard deviation", mean, sd, len(rows))
        made.append(row | {key: float(np.exp(row[key])) for key in ("estimate", "ci_low", "ci_high")} | {"sd": np.nan})
    return pd.DataFrame(made, columns=COLUMNS)


def _random_design(rows, random):
    """Return the sparse design of the random effects and which effect each of its columns belongs to."""
    blocks, owners = [], []
    for index, factor in enumerate(random):
        codes = rows[factor].astype("category").cat.codes.to_numpy()
        levels = int(codes.max()) + 1
        blocks.append(sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), codes)), shape=(len(rows), levels)))
        owners += [index] * levels
    return sparse.hstack(blocks).tocsr(), np.array(owners)


def _row(kind, factor, level, mean, sd, n):
    mean, sd = float(mean), float(sd)
    return {
        "kind": kind, "factor": factor, "level": level, "estimate": mean, "sd": sd, "ci_low": mean - Z * sd,
        "ci_high": mean + Z * sd, "n": n, "converged": True, "reason": "",
    }  # fmt: skip


def _refused(n, reason):
    empty = dict.fromkeys(("estimate", "sd", "ci_low", "ci_high"), np.nan)
    row = {"kind": "fixed", "factor": "intercept", "level": ""} | empty | {"n": n, "converged": False, "reason": reason}
    return pd.DataFrame([row], columns=COLUMNS)
