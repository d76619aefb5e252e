"""Findings on data whose truth is known: how often a verdict is right, wrong or open.

A study states what it found, and for each of its findings how two other worlds (:data:`WORLDS`) differ from that: one
in which the sentence is false by the study's own effect, and one on the border between both, where neither may be
shown. What is drawn in each world is what the study's findings take, or the counts that it is made of; verdicts are
those of the functions that judge a run.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from scripts.core.paper.finding_verdicts import FAILS, HOLDS, NOT_APPLICABLE, Finding, decide

PUBLISHED = Path(__file__).parents[3] / "paper/published"
TRUE, FALSE, BORDER = "true", "false", "border"
WORLDS = (TRUE, FALSE, BORDER)
RUN, STUDY = "default run", "study"
SIZES = (RUN, STUDY)
WRONG_VERDICTS = {TRUE: (FAILS,), FALSE: (HOLDS,), BORDER: (HOLDS, FAILS)}
"""The verdicts that each world must not get."""
LIMIT = 0.05
"""The share of data sets on which a finding may have each of its wrong verdicts."""
COUNT_QUANTILE = 0.95
"""A count of wrong verdicts is too large if a finding at the limit has fewer in this share of simulations."""
MOSTLY = 0.8
"""The share of data sets from which on a finding's verdict counts as mostly right."""
COLUMNS = ["finding", "statement", "size", "world", "data_sets", HOLDS, FAILS, "undecided", "wrong", "too_often"]


SPREAD = 0.5
"""How far the rate of a cluster lies from the mean at most, as a share of the way to 0 or 1."""

Change = Callable[[Any], Any]
"""Takes what is true in one world and returns what is true in another; the study's module says what that is."""


def changed(**fields: Any) -> Change:
    """Return a change of some fields of a dataclass, each to a value or by a function of what it was."""

    def world(truth: Any) -> Any:
        return replace(
            truth,
            **{name: value(getattr(truth, name)) if callable(value) else value for name, value in fields.items()},
        )

    return world


def chain(*changes: Change) -> Change:
    """Return changes made one after the other."""

    def world(truth: Any) -> Any:
        for change in changes:
            truth = change(truth)
        return truth

    return world


UNCHANGED = chain()


def vary(rates: np.ndarray, clusters: int, generator: np.random.Generator) -> np.ndarray:
    """Return the rates of clusters, such as occupations, around mean rates.

    Half of what moves a cluster is common to all models, half is a model's own.

    Args:
        rates: Shape (models, ...).

    Returns:
        Shape (models, ..., clusters).
    """
    common, own = generator.uniform(-1, 1, clusters), generator.uniform(-1, 1, (len(rates), clusters))
    moved = np.expand_dims((common + own) / 2, tuple(range(1, rates.ndim)))
    return rates[..., None] + SPREAD * np.minimum(rates, 1 - rates)[..., None] * moved


@dataclass(frozen=True)
class Worlds:
    """The worlds of one finding, as changes of what the study found.

    Args:
        true: For a finding that is not true together with the others.
        exact: Whether the finding speaks of the very things that were measured, so that nothing is sampled. Then the
            border has no error to allow for.
    """

    false: Change
    border: Change
    true: Change = UNCHANGED
    exact: bool = False


@dataclass(frozen=True)
class Simulation:
    """What a study simulates.

    Args:
        findings: In the order of the study.
        truth: What the study found.
        worlds: Number of a finding to its worlds.
        draw: Returns what the finding's function takes: of its number, what is true, the size and a generator.
        sizes: What a data set of each of :data:`SIZES` has, in words.
        draws: Of the bootstrap.
    """

    findings: tuple[Finding, ...]
    truth: Any
    worlds: dict[int, Worlds]
    draw: Callable
    sizes: dict[str, str]
    draws: int

    def data(self, number: int, world: str, size: str, generator: np.random.Generator) -> Any:
        """Return a data set for a finding."""
        return self.draw(number, getattr(self.worlds[number], world)(self.truth), size, generator)


def verdict_rates(
    simulation: Simulation, data_sets: int, seed: int, numbers: Collection[int] | None = None
) -> Iterator[pd.DataFrame]:
    """Yield for each finding, or those of some ``numbers``, how often each verdict falls in every world and size.

    They are rows of :data:`COLUMNS`.

    Raises:
        ValueError: If a finding has no worlds, or there are worlds of no finding.
    """
    known = {finding.number for finding in simulation.findings}
    if known != set(simulation.worlds):
        raise ValueError(f"findings {sorted(known ^ set(simulation.worlds))} have no worlds, or are no findings")
    most = too_many(data_sets)
    for finding in simulation.findings:
        if numbers and finding.number not in numbers:
            continue
        rows = []
        for size in SIZES:
            for place, world in enumerate(WORLDS):
                generators = np.random.default_rng([seed, finding.number, place]).spawn(data_sets)
                verdicts = [
                    decide(finding.checks(simulation.data(finding.number, world, size, generator))).verdict
                    for generator in generators
                ]
                counts = {verdict: verdicts.count(verdict) for verdict in (HOLDS, FAILS, NOT_APPLICABLE)}
                judged = not (world == BORDER and simulation.worlds[finding.number].exact)
                wrong = max(counts[verdict] for verdict in WRONG_VERDICTS[world]) if judged else 0
                rows.append(
                    (finding.number, finding.finding, size, world, data_sets, *counts.values(), wrong, wrong > most)
                )
        yield pd.DataFrame(rows, columns=COLUMNS)


def too_many(data_sets: int) -> int:
    """Return the largest count of wrong verdicts that a finding at the limit has by chance.

    Examples:
        >>> too_many(200)
        15
    """
    return int(scipy.stats.binom.ppf(COUNT_QUANTILE, data_sets, LIMIT))


def summarise(table: pd.DataFrame, simulation: Simulation) -> list[str]:
    """Return a study's rows of the page's table in Markdown, one for each size."""
    rows = []
    for size in SIZES:
        some = table[table["size"] == size]
        share = {world: some[some.world == world].set_index("finding") for world in WORLDS}
        held, failed = (share[TRUE][HOLDS] / share[TRUE].data_sets, share[FALSE][FAILS] / share[FALSE].data_sets)
        open_ = ", ".join(str(number) for number in held.index[held < MOSTLY]) or "none"
        cells = [
            f"{size}: {simulation.sizes[size]}; {simulation.draws:,} draws of the bootstrap",
            f"{(held >= MOSTLY).sum()} of {len(held)}",
            f"{(failed >= MOSTLY).sum()} of {len(failed)}",
            f"{100 * (some.wrong / some.data_sets).max():.3g}" + " **!**" * bool(some.too_often.any()),
            open_,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return rows
