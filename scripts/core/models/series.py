"""Checkpoints of one training run: a registry entry with ``revisions`` stands for as many models."""

import dataclasses
from collections.abc import Iterator, Mapping

from scripts.core.errors import UserError
from scripts.core.models.entries import Folder, Model

MOST_CHARACTERS = 40
"""Of a label, as in config/schemas/models.schema.yaml."""


def expand_series(models: Mapping[str, Model], file: str) -> dict[str, Model]:
    """Return the models of a registry with a model ``<name>-<revision>``, in lower case, for each revision.

    Revisions of a folder are folders in it.

    Raises:
        UserError: If a model would have the name of another, or a label that is too long to be set.
    """
    expanded = {}
    for name, model in models.items():
        made = {} if model.revisions else {name: model}
        for revision in model.revisions:
            assert model.source is not None, "revisions are those of a source"
            source = (
                Folder(f"{model.source.path}/{revision}")
                if isinstance(model.source, Folder)
                else dataclasses.replace(model.source, revision=revision)
            )
            member = f"{name}-{revision.lower().replace('_', '-')}"
            if member in {*models, *expanded, *made}:
                raise UserError(f"{file}: models.{name}.revisions make '{member}', which is another entry; rename one")
            label = f"{model.label} {revision}"
            if len(label) > MOST_CHARACTERS:
                raise UserError(
                    f"{file}: models.{name}.label and the revision {revision} make '{label}', of more than "
                    f"{MOST_CHARACTERS} characters; shorten the label"
                )
            made[member] = dataclasses.replace(
                model, name=member, label=label, source=source, revisions=(), series=name
            )
        expanded |= made
    return expanded


def members_of(models: Mapping[str, Model], name: str) -> list[str]:
    """Return the models that an entry with ``revisions`` became; of another name that name."""
    return [member for member, model in models.items() if model.series == name] or [name]


def model_lists(configured: dict) -> Iterator[list[str]]:
    """Yield what a configuration lists as ``models`` or ``cards``."""
    for key, value in configured.items():
        if isinstance(value, dict):
            yield from model_lists(value)
        elif key in ("models", "cards") and isinstance(value, list):
            yield value
