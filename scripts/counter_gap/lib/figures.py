"""What the study's figures share: colours of systems, genders and metrics."""

from collections.abc import Sequence

import pandas as pd

from scripts.core.paper import plotting
from scripts.counter_gap.lib.study import is_rule

COLOURS = {
    "BERT-base": "#E69F00",
    "BERT-large": "#8A5F00",
    "SpanBERT-base": "#56B4E9",
    "SpanBERT-large": "#24577A",
}
_OTHERS = ("#117733", "#B5179E", "#8B5A2B", "#595959", "#332288", "#999933")
MASCULINE, FEMININE = plotting.pronoun_colours(["he", "she"]).values()
"""Genders have the colours of their pronouns."""
DELTA_I, ACC_DIFF, ACROSS = plotting.CATEGORIES[4], plotting.CATEGORIES[0], plotting.CATEGORIES[3]
"""Metrics, the same in every figure."""
DELTA_I_LABEL, ACC_DIFF_LABEL = r"$\Delta I$ (across minus within)", "accuracy: masculine minus feminine"
"""Subscripts would be too small to read."""


def rules_last(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems, then those of rules, each in their order."""
    return frame.sort_values("system", key=lambda names: names.map(is_rule), kind="stable", ignore_index=True)


def colours(systems: Sequence[str]) -> dict[str, str]:
    """Return each system's colour; those of the study keep theirs."""
    others = [s for s in systems if s not in COLOURS]
    return {s: COLOURS.get(s) or _OTHERS[others.index(s) % len(_OTHERS)] for s in systems}
