"""What RUFF asks of a run's pronoun sets, what it shares with the study, and the columns that its tables share."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.data import estimate_rows, templates
from scripts.core.data.estimate_rows import PROBABILITY
from scripts.core.errors import UserError
from scripts.core.statistics import ratios

if TYPE_CHECKING:
    import pandas as pd

PRONOUN_SETS = ("he", "she", "they", "xe")
"""The four sets that every model of the study chooses among."""

SENTENCES = 3
"""Task sentences about each occupation: one for each grammatical case."""
LEAST = 3
"""Pronoun sets that RUFF needs; see :func:`select_pronoun_sets`."""

FIDELITY, CONTEXT_FREE = "fidelity", "context_free"
"""Settings of what is scored: with an introduction, and the task sentence alone."""
VANILLA, FINAL = "vanilla", "final"
"""How the study asks above all: without a chain of thought, read at the end."""
SCORED = {"scoring": PROBABILITY, "setting": FIDELITY}
ASKED = {"method": VANILLA, "answer": FINAL}
IDENTITY = ["templates", "model", "kind", "scoring", "setting", "method", "answer"]
"""Whose values, and how they were asked for; what is prompted has no setting, what is scored no method."""
FACTORS = ["prompt", "seed", "n_distractors", "pronoun", "case", "polarity", "preferred"]
"""Factors of estimates, empty where they are pooled. ``preferred`` is what was predicted, and chooses no instances."""


def read_table(path: str | Path, part: str | None = None) -> "pd.DataFrame":
    """Return a table of results, or its rows about a template set; words stay words, and an empty one is one."""
    table = estimate_rows.read_table(path, [*IDENTITY, *FACTORS])
    return table if part is None else table[table.templates == part].reset_index(drop=True)


def select_rows(table: "pd.DataFrame", metric: str | Sequence[str] = "accuracy", **levels: Any) -> "pd.DataFrame":
    """Return the rows of a metric with these levels (:func:`scripts.core.statistics.ratios.select_rows`)."""
    return ratios.select_rows(table, FACTORS, metric=metric, **levels)


def sort_rows(table: "pd.DataFrame", **orders: Iterable | None) -> "pd.DataFrame":
    """Sort a table by columns whose values have an order of their own, such as models and pronoun sets.

    Args:
        orders: Column name to its values in order; ``None`` sorts the column as it is.
    """
    ranks = {
        name: {value: rank for rank, value in enumerate(order)} for name, order in orders.items() if order is not None
    }

    def rank(column: Any) -> Any:
        return column.map(ranks[column.name]) if column.name in ranks else column

    return table.sort_values(list(orders), key=rank, kind="stable", ignore_index=True)


def select_pronoun_sets(pronouns: dict, names: Sequence[str]) -> dict[str, templates.PronounSet]:
    """Return the configured pronoun sets in the configured order, checked for what RUFF needs.

    An instance with distractors has a right set and another person's. Only a third one makes errors possible that do
    not pick the distractor's, which the error analysis counts (section 8). Sets that share a form could not tell the
    two people apart.

    Args:
        pronouns: As read by :func:`scripts.core.data.templates.read_pronouns`.

    Raises:
        UserError: For fewer than three sets; otherwise as :func:`scripts.core.data.templates.select_pronoun_sets`.
    """
    selected = templates.select_pronoun_sets(pronouns, names)
    if len(selected) < LEAST:
        has = {0: "none", 1: f"one, {', '.join(selected)}", 2: f"two, {' and '.join(selected)}"}[len(selected)]
        raise UserError(
            f"pronoun_sets: RUFF needs at least three sets, and this run has {has}: a right one, the distractor's and "
            "a third, because with two, every error with distractors is the distractor's, and distraction cannot be "
            f"told from bias; add some of {', '.join(name for name in pronouns if name not in selected)}"
        )
    return selected


def explain_other_sets(pronoun_sets: Collection[str]) -> str:
    """Return why the study's numbers of instances do not apply to this run, or an empty string."""
    if set(pronoun_sets) == set(PRONOUN_SETS):
        return ""
    theirs, ours = ", ".join(PRONOUN_SETS), ", ".join(pronoun_sets)
    return f"the study counts instances of the pronoun sets {theirs}; this run has {ours}"


def main_model(models: dict) -> str:
    """Return the model that stands for a run where one alone is shown: the largest decoder, else the largest model.

    A demonstration model only where there are no others.
    """

    def rank(name: str):
        facts = models[name]
        return facts["demonstration"], facts["architecture"] != "decoder", -(facts["parameters"] or 0)

    return min(models, key=rank)


def pooled_models(models: dict) -> list[str]:
    """Return the models that means and tests over all models are about.

    Demonstration models stand for nothing but the machinery: they are left out if the run has any other.

    Args:
        models: Name to facts (``facts`` of :class:`scripts.core.models.entries.Model`).
    """
    return [name for name, facts in models.items() if not facts["demonstration"]] or list(models)
