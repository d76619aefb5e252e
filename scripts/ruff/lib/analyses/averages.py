"""Averages over models."""

import pandas as pd


def over_models(frame, architectures, keys, value, pooled):
    """Average a per-model column over the pooled models and over all those of each architecture.

    Parameters
    ----------
    frame : DataFrame
        With ``model``, the columns ``keys`` and the column ``value``.
    architectures : dict of str
        Model name to architecture.
    keys : list of str
    value : str
    pooled : list of str
        Models of the rows ``all`` (:func:`scripts.ruff.lib.study.pooled`).

    Returns
    -------
    DataFrame
        ``architecture`` (``all`` first), ``keys``, ``n_models``, ``mean``, ``sd`` (over models, ddof 1).
    """
    frame = frame.assign(architecture=frame.model.map(architectures))
    groups = [("all", frame[frame.model.isin(pooled)]), *frame.groupby("architecture", sort=False)]
    parts = []
    for name, part in groups:
        summary = part.groupby(keys, sort=False)[value].agg(n_models="count", mean="mean", sd="std").reset_index()
        summary.insert(0, "architecture", name)
        parts.append(summary)
    return pd.concat(parts, ignore_index=True)
