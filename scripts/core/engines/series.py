"""Checkpoints of one training run: a registry entry with ``revisions`` stands for as many models."""

import re
from typing import Any

from scripts.core.errors import UserError

NUMBERS = (("steps", r"step[-_]?(\d+)"), ("billions of tokens", r"tokens?[-_]?(\d+)B"), ("checkpoint", r"(\d+)"))
"""What a revision's name counts, and how it says so; the first that fits all revisions of an entry is taken."""


def expand_series(models: dict, file: str) -> dict:
    """Return the models of a registry with an entry for each revision of those that have several.

    A member is called ``<name>-<revision>``, in lower case, and has the key ``series``: ``name``, ``label``,
    ``position`` (a number) and ``unit`` (what the number counts). Revisions of a folder are folders in it.

    Args:
        models: Name to entry, as in the registry.
        file: The registry, for messages.

    Raises:
        UserError: If revisions are given of what has none, besides a single one, without numbers, or twice the same
            number; or if a member has the name of another entry.
    """
    entries = {}
    for name, entry in models.items():
        members = _members(name, entry, f"{file}: models.{name}") if "revisions" in entry else {name: entry}
        for member, made in members.items():
            if member in entries or (member != name and member in models):
                raise UserError(f"{file}: models.{name}.revisions make '{member}', which is another entry; rename that")
            entries[member] = made
    return entries


def _members(name: str, entry: dict, where: str) -> dict:
    source = entry.get("source", {})
    if "hub" not in source and "path" not in source:
        raise UserError(f"{where}.revisions need a source on the hub or in a folder; remove them")
    if source.get("revision"):
        raise UserError(f"{where} has source.revision and revisions; set source.revision to null")
    unit, positions = _positions(entry["revisions"], where)
    common = {key: value for key, value in entry.items() if key != "revisions"}
    members = {}
    for revision, position in sorted(positions.items(), key=lambda item: item[1]):
        place = {"revision": revision} if "hub" in source else {"path": f"{source['path']}/{revision}"}
        members[f"{name}-{revision.lower().replace('_', '-')}"] = common | {
            "label": f"{entry['label']} {revision}",
            "source": source | place,
            "series": {"name": name, "label": entry["label"], "position": position, "unit": unit},
        }
    if len(members) < len(positions):
        raise UserError(f"{where}.revisions: two have the same name in lower case; remove one")
    return members


def _positions(revisions: list, where: str) -> tuple[str, dict]:
    for unit, pattern in NUMBERS:
        found = {revision: re.search(pattern, revision, re.IGNORECASE) for revision in revisions}
        positions = {revision: int(match[1]) for revision, match in found.items() if match}
        if len(set(positions.values())) == len(positions) == len(found):
            return unit, positions
    raise UserError(f"{where}.revisions: their names do not say in which order they come; name them like step1000")


def members_of(models: dict, name: str) -> list[str]:
    """Return the models that an entry with ``revisions`` became, in their order; none for another name."""
    return [member for member, entry in models.items() if entry.get("series", {}).get("name") == name]


def spelled_out(configured: dict, models: dict) -> dict:
    """Return a configuration in which the members of a series stand wherever ``models`` name the series.

    ``cards`` of a series are that of its last member, which shows them all.
    """

    def members(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {inner: members(inner, part) for inner, part in value.items()}
        if key not in ("models", "cards") or not isinstance(value, list):
            return value
        start = -1 if key == "cards" else 0
        return [member for name in value for member in members_of(models, name)[start:] or [name]]

    return members("", configured)
