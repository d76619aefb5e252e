"""Synthetic models: their scores are drawn by a seeded rule, so that a run of many models can be measured without any.

Nothing that is made of them says anything about language models. So that it is never taken for a result, a synthetic
model says what it is in its name, in its label and in its score files, a run has synthetic models only or none, and it
has a folder of its own.
"""

from collections.abc import Collection
from typing import Any

from scripts.core.errors import UserError

PREFIX, LABEL = "synthetic-", "Synthetic "
"""What the names and the labels of synthetic models start with, and those of no others."""
ENGINE = "synthetic"
"""The engine that their score files name."""


def is_synthetic(entry: dict[str, Any]) -> bool:
    """Tell whether an entry of the registry is a synthetic model."""
    return "synthetic" in entry.get("source", {})


def check_names(registry: dict[str, dict]) -> None:
    """Refuse a synthetic model that does not look like one, and one that only looks so.

    Raises:
        UserError: Naming the model.
    """
    for name, entry in registry.items():
        looks = {"name": name.startswith(PREFIX), "label": entry["label"].startswith(LABEL)}
        if not is_synthetic(entry) and looks["name"]:
            raise UserError(f"models: '{name}' is called like a synthetic model and has weights; give it another name")
        if is_synthetic(entry) and not all(looks.values()):
            wrong, start = ("label", LABEL) if looks["name"] else ("name", PREFIX)
            raise UserError(f"models: '{name}' is a synthetic model, so its {wrong} must start with '{start}'")


def check_run(models: dict[str, dict], asked: Collection[str], run: str | None) -> list[str]:
    """Refuse a run in which drawn scores could be taken for results.

    Args:
        models: The entries of all models that the run reads or asks.
        asked: Those that it prompts or whose token distributions it reads.
        run: The run's name.

    Returns:
        The synthetic models.

    Raises:
        UserError: If there are synthetic models and others, if the run has no name, and if a synthetic model is asked
            for more than scores.
    """
    drawn = [name for name, entry in models.items() if is_synthetic(entry)]
    others = [name for name in models if name not in drawn]
    if not drawn:
        return []
    if others:
        raise UserError(
            f"models: '{drawn[0]}' is a synthetic model and '{others[0]}' is not; results must not be mixed "
            "with simulated numbers: run them separately"
        )
    if not run:
        raise UserError(
            f"models: the scores of '{drawn[0]}' are drawn, and the default run is for results; give the configuration "
            "a name with the key run"
        )
    wrong = next((name for name in drawn if name in asked), None)
    if wrong:
        raise UserError(
            f"models: '{wrong}' is a synthetic model, which has scores only; leave out studies that prompt it or "
            "read its token distributions"
        )
    return drawn


def check_published(facts: dict) -> None:
    """Refuse to publish what was made of drawn scores.

    Args:
        facts: Of a score file: ``model``, ``engine``.

    Raises:
        UserError
    """
    if facts.get("engine") == ENGINE:
        raise UserError(f"the scores of '{facts['model']}' were drawn; a run of synthetic models is not for publishing")
