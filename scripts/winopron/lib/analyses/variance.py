"""Whether the template or the way of asking decides more of what a prompted system gets right (not in the study).

A cell is a template asked in one way (a prompt and a variant of it): the share of pronoun sets with which it is
resolved rightly. Cells vary with the template, with the way of asking, and with what both make together. The variance
of each is that of a crossed design of random effects with one value a cell, by the method of moments (Searle, Casella
and McCulloch 1992).
"""

import numpy as np
import pandas as pd

from scripts.core import statistics
from scripts.winopron.lib.analyses.consistency import PROMPT

COLUMNS = ["part", "value", "ci_low", "ci_high", "templates_asked", "ways"]
"""``value``: a standard deviation, as a share of answers; ``templates_asked`` and ``ways``: how many there are."""
TEMPLATES, WAYS, TOGETHER, DIFFERENCE = "templates", "ways of asking", "both together", "templates over ways"
SOURCES = (TEMPLATES, WAYS, TOGETHER, DIFFERENCE)


def cells(answers):
    """Return the share of right answers of each template and way of asking.

    Parameters
    ----------
    answers : DataFrame
        As of :mod:`scripts.winopron.lib.analyses.performance`, of one prompted system.

    Returns
    -------
    DataFrame
        A row for each template (index: ``pair``, ``template``), a column for each prompt and variant.
    """
    right = answers.assign(right=answers.prediction == answers.answer)
    return right.pivot_table(index=["pair", "template"], columns=list(PROMPT), values="right", sort=False)


def variances(table, weights):
    """Return the variances that belong to templates, to ways of asking and to both together.

    Parameters
    ----------
    table : ndarray of float, shape (templates, ways)
        At least two of either.
    weights : ndarray of int, shape (draws, templates)
        How often each template counts; the sum of a row is their number.

    Returns
    -------
    ndarray of float, shape (3, draws)
        In the unit of ``table``, squared. The method of moments can give variances below zero.
    """
    rows, columns = table.shape
    of_template = table.mean(axis=1)
    of_way = weights @ table / rows
    mean = of_way.mean(axis=1)
    total = weights @ (table**2).sum(axis=1) - rows * columns * mean**2
    between_templates = columns * (weights @ of_template**2 - rows * mean**2)
    between_ways = rows * ((of_way**2).sum(axis=1) - columns * mean**2)
    rest = (total - between_templates - between_ways) / ((rows - 1) * (columns - 1))
    found = [
        (between_templates / (rows - 1) - rest) / columns,
        (between_ways / (columns - 1) - rest) / rows,
        rest,
    ]
    return np.array(found)


def deviations(found):
    """Return the standard deviations of variances; a variance below zero counts as zero."""
    return np.sqrt(np.maximum(found, 0))


def evaluate(answers, draws, seed):
    """Return the standard deviation of each source, and how far that of templates is above that of ways of asking.

    Parameters
    ----------
    answers : DataFrame
        Of one prompted system.
    draws, seed : int
        Of the bootstrap over pairs of people, whose templates stay together.

    Returns
    -------
    DataFrame
        :data:`COLUMNS`, a row for each of :data:`SOURCES`; none with fewer than two templates or ways of asking.
    """
    table = cells(answers)
    if min(table.shape) < 2:
        return pd.DataFrame(columns=COLUMNS)
    pairs, places = np.unique(table.index.get_level_values("pair"), return_inverse=True)
    drawn = np.random.default_rng(seed).multinomial(len(pairs), np.full(len(pairs), 1 / len(pairs)), size=draws)
    values = table.to_numpy(dtype=float)
    whole = variances(values, np.ones((1, len(table)), dtype=int))
    # Every pair of people has as many templates, so that a sample of pairs has as many as the whole.
    of_samples = variances(values, drawn[:, places])
    # Chance enters the means of ways twice in a sample, by its sentences and by the draw, and is taken off once:
    # samples are moved to where their mean is the value itself.
    samples = deviations(of_samples - of_samples.mean(axis=1, keepdims=True) + whole)
    found = deviations(whole[:, 0])
    rows = [*zip(SOURCES[:3], found, samples, strict=True), (DIFFERENCE, found[0] - found[1], samples[0] - samples[1])]
    return pd.DataFrame(
        [(name, value, *statistics.percentile_interval(sample), *table.shape) for name, value, sample in rows],
        columns=COLUMNS,
    )
