"""What the figures of the study share."""

from typing import TYPE_CHECKING

from scripts.core.paper import plotting
from scripts.underspecification.lib import study
from scripts.underspecification.lib.templates import GENDERS

if TYPE_CHECKING:
    import pandas as pd

_PRONOUN = {"female": "she", "male": "he", "neutral": "they", "neo": "xe"}
LABELS = {"female": "female", "male": "male", "neutral": "neutral", "neo": "neopronouns"}
MARKERS = {"female": "o", "male": "s", "neutral": "^", "neo": "D"}
LINES = {"female": "-", "male": (0, (4, 1.5)), "neutral": (0, (1, 1)), "neo": (0, (6, 1.5, 1, 1.5))}
"""Drawn in this order, each line leaves gaps through which one below it is seen."""
KINDS = {
    "winogender": {
        "man_1": ("man", "participant"), "woman_1": ("woman", "participant"),
        "man_0": ("man", "professional"), "woman_0": ("woman", "professional"),
        "someone_0": ("someone", "professional"), "other_0": ("other", "professional"),
        "someone_1": ("someone", "participant"), "other_1": ("other", "participant"),
    },
    "simplified": {
        "female_0": ("female", "professional"), "male_0": ("male", "professional"),
        "unspecified_0": ("unspecified", "professional"),
    },
}  # fmt: skip
"""Kinds of sentences of each set in the order of columns, well-specified ones first."""


def colours() -> dict[str, str]:
    """Return each gender's colour, that of a pronoun set of its own."""
    known = plotting.pronoun_colours(_PRONOUN.values())
    return {gender: known[pronoun] for gender, pronoun in _PRONOUN.items()}


def marker_offset(gender: str) -> float:
    """Return how many places right of the middle a gender's marks stand where all genders stand side by side."""
    names = list(MARKERS)
    return names.index(gender) - (len(names) - 1) / 2


def genders(frame: "pd.DataFrame") -> list[str]:
    """Return the genders of a frame in the study's order."""
    return [*GENDERS, *(["neo"] if (frame.gender == "neo").any() else [])]


def kinds_of_sentences(frame: "pd.DataFrame") -> "pd.Series":
    """Return each row's kind of sentence: its participant, with 0 if the pronoun means the professional, else 1."""
    return frame.participant + "_" + frame.coreferent.map({"professional": "0", "participant": "1"})


def panel_label(model: str, prompt: str = "mask") -> str:
    """Return a model with its prompt, marked if only files of it were released and no figure of the study shows it."""
    mark = "†" if model in study.MODELS and model not in study.IN_FIGURES else ""
    return f"{model}{mark}" if prompt == "mask" else f"{model}{mark} ({prompt})"


def panels(frame: "pd.DataFrame") -> list[tuple[str, str]]:
    """Return (model, prompt) of a frame in the study's order."""
    present = set(frame[["model", "prompt"]].itertuples(index=False, name=None))
    return [(m, p) for m in study.order(frame.model) for p in ("mask", "A", "B", "C") if (m, p) in present]
