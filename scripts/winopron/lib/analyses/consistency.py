"""Groups of instances that a system resolves all together or not at all (section 4.3), and how far accuracy spreads."""

import numpy as np
import pandas as pd

from scripts.core.errors import UserError
from scripts.core.statistics import procedures
from scripts.winopron.lib.analyses.performance import COLUMNS, PART

GROUPS = {
    "pronoun_consistency": ["template"],
    "disambiguation_consistency": ["template_pair", "pronoun_set"],
}
"""A template with all pronoun sets; the two templates of a pair with one pronoun set."""
PROMPT = ("prompt", "variant")
POOLED, SINGLE = "over prompts", "by prompt"
SPREAD = ["part", "value", "ci_low", "ci_high", "templates_asked", "ways"]
"""``value``: a standard deviation, as a share of answers; ``templates_asked`` and ``ways``: how many there are."""
TEMPLATES, WAYS, TOGETHER, DIFFERENCE = "templates", "ways of asking", "both together", "templates over ways"
SOURCES = (TEMPLATES, WAYS, TOGETHER, DIFFERENCE)


def chance(metric: str, pronoun_sets: int, prompts: int = 1) -> float:
    """Return the share of groups that a fair coin resolves: one for each sentence, or for each template.

    Args:
        metric: One of :data:`GROUPS`.
        pronoun_sets: How many the system tells apart: 1 for one that does not read the pronoun, and gives them all the
            same answer.
        prompts: How many prompts a group takes together. The paper's chance levels (6.25 and 25 percent) are those of
            one; its values for prompted models take all thirty together, for which chance is next to nothing.

    Examples:
        >>> chance("pronoun_consistency", 4), chance("disambiguation_consistency", 4)
        (0.0625, 0.25)
        >>> chance("pronoun_consistency", 1)
        0.5
    """
    members = pronoun_sets if metric == "pronoun_consistency" else 2
    return 0.5 ** (members * prompts)


def groups(answers: pd.DataFrame, metric: str, by_prompt: bool = False) -> pd.DataFrame:
    """Return every group with its pair of people and whether all of its answers are right.

    Args:
        answers: As of :mod:`scripts.winopron.lib.analyses.performance`; prompted models have the columns ``prompt`` and
            ``variant``.
        by_prompt: Whether each prompt and variant has groups of its own.

    Raises:
        UserError: If a group lacks a pronoun set, an ending or a prompt that others have.
    """
    keys = GROUPS[metric] + ([name for name in PROMPT if name in answers] if by_prompt else [])
    right = answers.prediction == answers.answer
    table = answers.assign(right=right).groupby(keys, sort=False)
    sizes = table.size()
    if sizes.nunique() > 1:
        small = sizes.idxmin()
        name = ", ".join(map(str, small)) if isinstance(small, tuple) else small
        raise UserError(
            f"the group '{name}' has {sizes.min()} answers where others have {sizes.max()}; "
            "run the system on all instances"
        )
    return table.agg(pair=("pair", "first"), right=("right", "all")).reset_index()


def evaluate(answers: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return both consistencies, over prompts (as published) and by prompt, with intervals.

    Returns:
        :data:`COLUMNS`; ``pairing`` is :data:`POOLED`, :data:`SINGLE`, or empty for systems without prompts. Intervals
        are those of a bootstrap over pairs of people. ``chance`` rows (``<metric>_chance``) have none.
    """
    prompted = any(name in answers for name in PROMPT)
    prompts = len(answers[[name for name in PROMPT if name in answers]].drop_duplicates()) if prompted else 1
    sets = answers.pronoun_set.nunique()
    rows = []
    for metric in GROUPS:
        for pairing, by_prompt in ((POOLED, False), (SINGLE, True)) if prompted else (("", False),):
            found = groups(answers, metric, by_prompt)
            by_pair = found.groupby("pair", sort=False).right.agg(["sum", "size"])
            interval = procedures.cluster_bootstrap(by_pair["sum"], by_pair["size"], draws, seed)
            rows.append((*PART.values(), pairing, metric, found.right.mean(), *interval))
            together = 1 if by_prompt else prompts
            rows.append((*PART.values(), pairing, f"{metric}_chance", chance(metric, sets, together), None, None))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"ci_low": float, "ci_high": float})


def cells(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the share of right answers of each template and way of asking.

    Args:
        answers: As of :mod:`scripts.winopron.lib.analyses.performance`, of one prompted system.

    Returns:
        A row for each template (index: ``pair``, ``template``), a column for each prompt and variant.
    """
    right = answers.assign(right=answers.prediction == answers.answer)
    return right.pivot_table(index=["pair", "template"], columns=list(PROMPT), values="right", sort=False)


def variances(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the variances that belong to templates, to ways of asking and to both together.

    Args:
        table: Shape (templates, ways), at least two of either.
        weights: How often each template counts, shape (draws, templates); the sum of a row is their number.

    Returns:
        The three variances of each draw, in the unit of ``table`` squared. The method of moments can give variances
        below zero.
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


def deviations(found: np.ndarray) -> np.ndarray:
    """Return the standard deviations of variances; a variance below zero counts as zero."""
    return np.sqrt(np.maximum(found, 0))


def spread(answers: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Return the standard deviation of each source, and how far that of templates is above that of ways of asking.

    Does the template or the way of asking decide more of what a prompted system gets right? (Not in the study.) A cell
    is a template asked in one way (a prompt and a variant of it): the share of pronoun sets with which it is resolved
    rightly. Cells vary with the template, with the way of asking, and with what both make together. The variance of
    each is that of a crossed design of random effects with one value a cell, by the method of moments (Searle, Casella
    and McCulloch 1992).

    Args:
        answers: Of one prompted system.
        draws, seed: Of the bootstrap over pairs of people, whose templates stay together.

    Returns:
        :data:`SPREAD`, a row for each of :data:`SOURCES`; none with fewer than two templates or ways of asking.
    """
    table = cells(answers)
    if min(table.shape) < 2:
        return pd.DataFrame(columns=SPREAD)
    pairs, places = np.unique(table.index.get_level_values("pair"), return_inverse=True)
    drawn = procedures.cluster_weights(len(pairs), draws, seed)
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
        [(name, value, *procedures.percentile_interval(sample), *table.shape) for name, value, sample in rows],
        columns=SPREAD,
    )
