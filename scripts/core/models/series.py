"""Checkpoints of one training run: a registry entry with ``revisions`` stands for as many models."""

from collections.abc import Iterator

from scripts.core.errors import UserError

MOST_CHARACTERS = 40
"""Of a label, as in config/schemas/models.schema.yaml."""


def expand_series(models: dict, file: str) -> dict:
    """Return the models of a registry with an entry ``<name>-<revision>``, in lower case, for each revision.

    Revisions of a folder are folders in it; ``revision_of`` of an entry made here has the name of the series.

    Raises:
        UserError: If a model would have the name of another, or a label that is too long to be set.
    """
    entries = {}
    for name, entry in models.items():
        common = {key: value for key, value in entry.items() if key != "revisions"}
        made = {} if "revisions" in entry else {name: entry}
        for revision in entry.get("revisions", []):
            source = entry["source"]
            place = {"revision": revision} if "hub" in source else {"path": f"{source['path']}/{revision}"}
            facts = {"label": f"{entry['label']} {revision}", "source": source | place, "revision_of": name}
            member = f"{name}-{revision.lower().replace('_', '-')}"
            if member in models | entries | made:
                raise UserError(f"{file}: models.{name}.revisions make '{member}', which is another entry; rename one")
            if len(facts["label"]) > MOST_CHARACTERS:
                raise UserError(
                    f"{file}: models.{name}.label and the revision {revision} make '{facts['label']}', of more than "
                    f"{MOST_CHARACTERS} characters; shorten the label"
                )
            made[member] = common | facts
        entries |= made
    return entries


def members_of(models: dict, name: str) -> list[str]:
    """Return the models that an entry with ``revisions`` became; of another name that name."""
    return [member for member, entry in models.items() if entry.get("revision_of") == name] or [name]


def model_lists(configured: dict) -> Iterator[list[str]]:
    """Yield what a configuration lists as ``models`` or ``cards``."""
    for key, value in configured.items():
        if isinstance(value, dict):
            yield from model_lists(value)
        elif key in ("models", "cards") and isinstance(value, list):
            yield value
