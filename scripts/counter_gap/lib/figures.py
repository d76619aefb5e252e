"""What the study's figures share: colours of genders and metrics, and the order of systems."""

import pandas as pd

from scripts.core.paper import plotting
from scripts.counter_gap.lib.study import is_rule

MASCULINE, FEMININE = plotting.pronoun_colours(["he", "she"]).values()
"""Genders have the colours of their pronouns."""
DELTA_I, ACC_DIFF = plotting.CATEGORIES[4], plotting.CATEGORIES[0]
"""Metrics, the same in every figure."""
DELTA_I_LABEL, ACC_DIFF_LABEL = "ΔI (across minus within)", "accuracy: masculine minus feminine"
"""Subscripts would be too small to read."""


def rules_last(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems, then those of rules, each in their order."""
    return frame.sort_values("system", key=lambda names: names.map(is_rule), kind="stable", ignore_index=True)
