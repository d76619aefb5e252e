"""The quantities that findings compare, each with bootstrap samples over pairs of people."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scripts.core.paper import checks
from scripts.core.paper.checks import Quantity, Sampled
from scripts.core.paper.finding_verdicts import MissingEvidence
from scripts.winopron import study
from scripts.winopron.estimates import GROUPS, template_pairs

BIASED = "biased occupations"
FEWEST_PAIRS = 5
"""Pairs of people over which an interval is taken at least: of fewer, samples repeat each other."""


class Results:
    """The quantities of the study's systems on one template set.

    Args:
        answers: Of :func:`scripts.winopron.estimates.read_answers` with ``system``, each system read in one way.
        templates: The template set; Winogender Schemas stand beside it with the pronoun sets of that study.
        draws, seed: Of the bootstrap over pairs of people.
        systems: Those that findings about every system are about.
    """

    def __init__(
        self, answers: pd.DataFrame, templates: str, draws: int, seed: int, systems: Sequence[str] = study.SYSTEMS
    ):
        self.draws, self.seed, self.systems = draws, seed, systems
        own = answers[answers.templates == templates]
        there = answers[answers.templates == study.WINOGENDER]
        self.answers = {
            "double": own[own.entities == "double"],
            "single": own[own.entities == "single"],
            study.WINOGENDER: there[there.pronoun_set.isin(study.WINOGENDER_SETS)],
        }
        # Sentences about one person are about the same pairs.
        self.pairs = {kind: list(dict.fromkeys(rows.pair)) for kind, rows in self.answers.items() if kind != "single"}
        self.pairs["single"] = self.pairs["double"]
        self._of_systems = {kind: dict(list(rows.groupby("system"))) for kind, rows in self.answers.items()}
        self._template_pairs: dict[str, pd.DataFrame] = {}

    def rows(self, system: str, entities: str = "double", **levels: str) -> pd.DataFrame:
        """Return the answers of a system; :class:`MissingEvidence` without any that tell something."""
        table = self._of_systems[entities].get(system)
        if table is None:
            where = {"single": " on one person", study.WINOGENDER: " on Winogender Schemas"}.get(entities, "")
            raise MissingEvidence(f"{system}{where}")
        if table.prediction.isna().all():
            raise MissingEvidence(f"an answer of {system} that names somebody")
        if table.pair.nunique() < FEWEST_PAIRS:
            raise MissingEvidence(f"{FEWEST_PAIRS} pairs of people for {system}")
        for column, value in levels.items():
            table = table[table[column] == value]
        if table.empty:
            raise MissingEvidence(", ".join(levels.values()))
        return table

    def ratio(self, above: pd.Series, below: pd.Series, entities: str = "double") -> Sampled:
        """Return one sum over another, both by pair of people (the index), as one quantity of all pairs."""
        over, under = (
            part.groupby(level=0).sum().reindex(self.pairs[entities], fill_value=0).to_numpy(dtype=float)
            for part in (above, below)
        )
        # Winogender Schemas have other pairs of people, and are resampled apart.
        seed = self.seed + (entities == study.WINOGENDER)
        return checks.sample_ratio(over, under, self.draws, seed)

    def f1(self, system: str, entities: str = "double", **levels: str) -> Quantity:
        """F1 of all answers, or of those with levels."""

        def quantity() -> Sampled:
            rows = self.rows(system, entities, **levels).set_index("pair")
            return self.ratio(2 * rows.right.astype(int), 1 + rows.prediction.notna().astype(int), entities)

        return quantity

    def recall(self, system: str, **levels: str) -> Quantity:
        """Recall of all answers, or of those with levels."""

        def quantity() -> Sampled:
            rows = self.rows(system, **levels).set_index("pair")
            return self.ratio(rows.right, rows.right | True)

        return quantity

    def consistency(self, metric: str, system: str) -> Quantity:
        """A consistency, prompts taken together."""

        def quantity() -> Sampled:
            groups = self.rows(system).groupby(["pair", *GROUPS[metric]]).right.all()
            groups.index = groups.index.get_level_values("pair")
            return self.ratio(groups, groups | True)

        return quantity

    def template_pairs(self, system: str) -> pd.DataFrame:
        """What a system does with each template pair (:func:`scripts.winopron.estimates.template_pairs`)."""
        if system not in self._template_pairs:
            self._template_pairs[system] = template_pairs(self.rows(system)).set_index("pair")
        return self._template_pairs[system]

    def biased(self, system: str, sign: str = "") -> Quantity:
        """The share of attempted and solvable template pairs with bias, or with one sign."""

        def quantity() -> Sampled:
            pairs = self.template_pairs(system)
            return self.ratio(pairs.bias == sign if sign else pairs.bias != "", pairs.counted)

        return quantity

    def overlap(self, *forms: tuple[str, str, str]) -> Quantity:
        """The Jaccard index of the biased occupations of two forms: systems, cases and pronoun sets.

        It is zero in samples without any of them, as the study has it.
        """

        def quantity() -> Sampled:
            one, other = (self._biased_pairs(*form) for form in forms)
            if not (one | other).any():
                raise MissingEvidence(BIASED)
            found = self.ratio(one & other, one | other)
            return replace(found, samples=np.nan_to_num(found.samples))

        return quantity

    def _biased_pairs(self, system: str, case: str, pronoun_set: str) -> pd.Series:
        rows = self.template_pairs(system)
        rows = rows[(rows["case"] == case) & (rows.pronoun_set == pronoun_set)]
        return (rows.bias != "").groupby(level=0).any().reindex(self.pairs["double"], fill_value=False)
