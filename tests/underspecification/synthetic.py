"""The study's sentences, and made-up probabilities (:mod:`scripts.underspecification.probabilities`) of some."""

import numpy as np
import pandas as pd

from scripts.core.data.templates import read_occupations
from scripts.underspecification import instances, study, templates
from scripts.underspecification.probabilities import COLUMNS
from tests.conftest import ROOT

FOLDER = ROOT / "templates/underspecification"
GENDERS = ("female", "male", "neutral")
COMMON = {
    "part": "preprint", "model": "M", "label": "M", "prompt": "mask", "evaluation_set": "mgc", "templates": "official",
    "occupation": "", "participant": "", "coreferent": "", "well_specified": False, "variable": "date",
    "accumulation": "top",
}  # fmt: skip

SCHEMA = {
    "occupation": "clerk", "stem": "The {occupation} met {participant} when", "professional": "{nominative} left.",
    "participant": "{nominative} came.", "simplified": "The {occupation} said that {nominative} left.",
}  # fmt: skip
"""A pair of sentences, as a row of this project's own file."""


def tidy(rows, **common):
    """Return probabilities from rows with ``item``, ``gender``, ``position`` and ``probability``."""
    frame = pd.DataFrame([{**COMMON, **common, **row} for row in rows])
    frame["value"] = frame.get("value", frame.position).astype(str)
    return study.identify(frame[list(COLUMNS)])


def mgc(slopes=(0.02, -0.01, 0.0), sentences=4, values=range(6), noise=0.0, **common):
    """Return sentences of MGC at the ``values`` of a variable, whose genders rise by ``slopes`` at each."""
    generator = np.random.default_rng(3)
    return tidy(
        [
            {"item": f"s{i}", "gender": gender, "position": x, "value": value,
             "probability": 0.4 + slope * x + i / 100 + noise * generator.standard_normal()}
            for i in range(sentences)
            for gender, slope in zip(GENDERS, slopes, strict=True)
            for x, value in enumerate(values)
        ],
        **common,
    )  # fmt: skip


def winogender(changes, values=(1901, 2016), **common):
    """Return sentences of Winogender whose genders change between the first and the second half of the dates.

    Args:
        changes: Occupation, participant and whom the pronoun means (0 or 1) to the change of each gender from a third.
    """
    rows = []
    for (occupation, participant, code), of_genders in changes.items():
        sentence = {
            "item": f"{occupation}_{participant}_{code}", "occupation": occupation, "participant": participant,
            "coreferent": ("professional", "participant")[code],
            "well_specified": code == 1 and participant in ("man", "woman"),
        }  # fmt: skip
        for gender, change in zip(GENDERS, of_genders, strict=True):
            for x, value in enumerate(values):
                moved = 1 / 3 + change * (2 * x >= len(values))
                rows.append(sentence | {"gender": gender, "position": x, "value": value, "probability": moved})
    return tidy(rows, **{"evaluation_set": "winogender"} | common)


def own_mgc():
    """Return MGC as it is made of this project's files."""
    return instances.build_mgc(
        templates.read_verbs(FOLDER / "verbs.tsv"),
        templates.read_life_stages(FOLDER / "life_stages.tsv"),
        templates.read_dates(FOLDER / "dates.tsv")["code"],
        templates.read_places(FOLDER / "places.tsv"),
    )


def own_pairs(dates):
    """Return Winogender and the simplified set as they are made of this project's pairs of sentences."""
    occupations = read_occupations(FOLDER.parent / "occupations.tsv")
    return instances.build_replica(templates.read_schemas(FOLDER / "winogender.tsv", occupations), dates)
