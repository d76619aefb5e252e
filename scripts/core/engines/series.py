"""Checkpoints of one training run: a registry entry with ``revisions`` stands for as many models."""

from collections.abc import Iterator
from typing import Any

from scripts.core.errors import UserError


def expand_series(models: dict, file: str) -> dict:
    """Return the models of a registry with an entry ``<name>-<revision>``, in lower case, for each revision.

    Revisions of a folder are folders in it; ``revision_of`` of an entry made here has the name of the series.

    Raises:
        UserError: If an entry with revisions has no place for them, or if a model would have the name of another.
    """
    entries = {}
    for name, entry in models.items():
        where, source = f"{file}: models.{name}", entry.get("source", {})
        revisions = entry.get("revisions", [])
        if revisions and "hub" not in source and "path" not in source:
            raise UserError(f"{where}.revisions need a source on the hub or in a folder; remove them")
        if revisions and source.get("revision"):
            raise UserError(f"{where} has source.revision and revisions; set source.revision to null")
        common = {key: value for key, value in entry.items() if key != "revisions"}
        for revision in revisions or [None]:
            member, made = name, common
            if revision is not None:
                member = f"{name}-{revision.lower().replace('_', '-')}"
                place = {"revision": revision} if "hub" in source else {"path": f"{source['path']}/{revision}"}
                label = f"{entry['label']} {revision}"
                made = common | {"label": label, "source": source | place, "revision_of": name}
            if member in entries or (member != name and member in models):
                raise UserError(f"{where}.revisions make '{member}', which is another entry; rename one")
            entries[member] = made
    return entries


def members_of(models: dict, name: str) -> list[str]:
    """Return the models that an entry with ``revisions`` became; none for another name."""
    return [member for member, entry in models.items() if entry.get("revision_of") == name]


def spelled_out(value: Any, models: dict, key: str = "") -> Any:
    """Return a configuration in which the members of a series stand wherever ``models`` or ``cards`` name it."""
    if isinstance(value, dict):
        return {inner: spelled_out(part, models, inner) for inner, part in value.items()}
    if key in ("models", "cards") and isinstance(value, list):
        return [member for name in value for member in members_of(models, name) or [name]]
    return value


def named_models(value: Any, key: str = "") -> Iterator[str]:
    """Yield what a configuration lists as ``models`` or ``cards``."""
    if isinstance(value, dict):
        for inner, part in value.items():
            yield from named_models(part, inner)
    elif key in ("models", "cards") and isinstance(value, list):
        yield from value
