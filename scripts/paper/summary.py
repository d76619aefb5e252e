"""What estimates (:mod:`scripts.core.data.estimate_rows`) are called where they are printed.

Each study writes its rows (the ``summary`` of its declaration); the paper's texts about all studies, cards and
``results/paper/summary.csv`` are made from all of them. Labels are made here; nothing reads them back.
"""

from collections.abc import Mapping
from typing import Any

from scripts.core.data.estimate_rows import (
    FULL,
    PARTIAL,
    PROMPT_FACTOR,
    PROMPTED,
    factor_columns,
)
from scripts.core.statistics.normalisation import LABELS as NORMALISATIONS

LEVELS = {
    "evaluation_set": {"mgc": "", "winogender": "Winogender"},
    "entities": {"double": "two people", "single": "one person"},
    "gender": {"M": "masculine", "F": "feminine"},
    "normalisation": {name: f"by {label}" for name, label in NORMALISATIONS.items()},
    "method": {"vanilla": ""},
    "original_gender": {"M": "M2F", "F": "F2M"},
    "pronoun_type": {"binary": "binary pronouns", "neutral": "they", "neo": "neopronouns"},
    "role": {"original|control": "original", "swap-1|swap-2": "counterfactual"},
    "setting": {"fidelity": ""},
    "shots": {"0": ""},
    "variable": {"date": "over dates", "place": "over places"},
    "wording": {"corrected": ""},
}
"""Levels of factors whose own names would not be read: what is printed."""
FIRST = ("evaluation_set", "templates", "variable")
"""Factors whose levels are told before others."""


def describe_levels(row: Mapping[Any, Any]) -> str:
    """Return what tells a row from others of its metric and model: levels, scoring, debiasing and prompt.

    Examples:
        >>> row = {"metric": "accuracy", "n_distractors": "1", "scoring": "prompted", "debiasing": "", "prompt": "A"}
        >>> describe_levels(row)
        '1 distractor, prompted, prompt A'
    """
    scoring = row["scoring"] if row["scoring"] in (FULL, PARTIAL, PROMPTED) else ""
    asked = f"prompt {row[PROMPT_FACTOR]}" if row.get(PROMPT_FACTOR) else ""
    return ", ".join(filter(None, [*_levels(row), scoring, str(row["debiasing"]), asked])) or "as trained"


def _levels(row: Mapping[Any, Any]) -> list[str]:
    named = sorted(factor_columns(row), key=lambda name: name not in FIRST)
    return [word for name in named if row[name] and name != PROMPT_FACTOR and (word := _word(name, str(row[name])))]


def _word(name: str, level: str) -> str:
    if level in LEVELS.get(name, {}):
        return LEVELS[name][level]
    if not level.isdigit():
        return level
    noun = name.removeprefix("n_").replace("_", " ")
    return f"{level if level != '0' else 'no'} {noun.removesuffix('s') if level == '1' else noun}"


def describe_subject(row: Mapping[Any, Any]) -> str:
    """Return what a row is of: a model or system, what it was debiased by, how it decided and how it was asked."""
    asked = f"prompt {row[PROMPT_FACTOR]}" if row.get(PROMPT_FACTOR) else ""
    likelihood = row["scoring"] if row["scoring"] in (FULL, PARTIAL) else ""
    return ", ".join(filter(None, [row["label"], row["debiasing"], likelihood, asked]))
