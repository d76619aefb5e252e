"""Groups of instances that a system resolves all together or not at all (section 4.3)."""

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
