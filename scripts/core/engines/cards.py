"""The run of a card: which models are meant, where it is run, and the configuration that follows."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scripts.core import files
from scripts.core.engines import descriptions
from scripts.core.errors import UserError, did_you_mean
from scripts.core.workflow import runs

SIZES = ("brief", "quick", "full")
DESCRIPTION_FILE = "card.json"
"""Where the folder of a card's run says what the checkpoint said about itself, and which commit that was."""
OVERLAY_FILE = "card.yaml"
"""What the command lines said of the run, as an overlay: its audit is asked for with it."""
MODEL, PROMPTED = "@model", "@prompted"
"""What stands for the models in config/cards/<size>.yaml: for all, and for those that can be prompted."""


MOST = 4
"""Up to this many models share a card."""


@dataclass(frozen=True)
class CardRun:
    """The run of a card.

    Attributes:
        models: The names of its models in the registry, each with what was asked for.
        folder: Where it is run.
        size: Of :data:`SIZES`.
        unknown: The names of models that no registry has; their checkpoints are described.
    """

    models: dict[str, str]
    folder: Path
    size: str
    unknown: tuple[str, ...] = ()

    @property
    def run(self) -> str:
        """The run's name."""
        return self.folder.name


def joined(names: Iterable[str]) -> str:
    """Return what the card of some models is called.

    Examples:
        >>> joined(["gpt2", "bert-base"])
        'gpt2-and-bert-base'
    """
    return "-and-".join(names)


def plan_run(configured: dict, folder: Path, root: Path, known: dict) -> CardRun:
    """Return the run that ``card`` of a configuration asks for.

    Args:
        configured: The keys of the command line: ``card``, models with commas between, and perhaps ``card_size``.
        folder: The working directory.
        root: The repository.
        known: The registry's models.

    Returns:
        In the folder of its name below ``runs/``, or here if this folder is called so.

    Raises:
        UserError: For an unknown size, and for models that cannot share a card.
    """
    requests = [request.strip() for request in str(configured["card"]).split(",")]
    size = configured.get("card_size", "quick")
    if size not in SIZES:
        raise UserError(
            f"card_size: '{size}' is no size{did_you_mean(str(size), SIZES) or '; use brief, quick or full'}"
        )
    models = {}
    for request in requests:
        name = _name(request, known, Path(folder))
        if not request:
            raise UserError(f"card: '{configured['card']}' has an empty name; write card=MODEL or card=MODEL,MODEL")
        if name in models:
            raise UserError(f"card: {models[name]} and {request} are both called {name}; list each model once")
        if len(requests) > 1 and "revisions" in known.get(name, {}):
            raise UserError(
                f"card: {request} is a series of checkpoints, which cannot share a card; write card={request}"
            )
        models[name] = request
    if len(models) > MOST:
        raise UserError(f"card: {len(models)} models do not fit on a card; list up to {MOST}")
    called = f"card-{joined(models)}"
    here = Path(folder)
    place = here if here.name == called else Path(root) / runs.FOLDER / called
    unknown = [name for name, request in models.items() if request not in known]
    return CardRun(models, place, size, tuple(unknown))


def _name(request: str, known: dict[str, dict], folder: Path):
    if request in known:
        return request
    # A folder may have an @ in its name.
    path = request if (folder / Path(request).expanduser()).is_dir() else request.partition("@")[0]
    return descriptions.name_of(descriptions.label_of({"path": path}))


def check_studies(studies: dict[str, list[str]]) -> None:
    """Refuse models without a common study.

    Args:
        studies: Model to the labels of the studies for which it does something.

    Raises:
        UserError: If no study takes all models.
    """
    if not set.intersection(*map(set, studies.values())):
        listed = "; ".join(f"{name}: {', '.join(labels) or 'none'}" for name, labels in studies.items())
        raise UserError(f"card: these models have no study in common ({listed}); make a card for each")


def entries(run: CardRun, given: dict, known: dict, folder: Path) -> dict[str, dict]:
    """Return the registry entries of a card's models.

    Args:
        run: The run.
        given: What the command line states of the models that no registry has.
        known: The registry's models.
        folder: Where a relative path begins.

    Raises:
        UserError: If a checkpoint cannot be described, and if facts about one model are stated of several.
    """
    of_one = sorted(given.keys() & {"label", "parameters"})
    if of_one and len(run.unknown) > 1:
        raise UserError(
            f"card: {', '.join(of_one)}: {' and '.join(run.unknown)} cannot have the same; describe the models in a "
            "registry of your own"
        )
    found = describe_checkpoint(run, folder)
    return {name: descriptions.entry_of(found[name], given) if name in found else known[name] for name in run.models}


def describe_checkpoint(run: CardRun, folder: Path, client: object | None = None) -> dict[str, dict]:
    """Return the descriptions of a run's checkpoints, made once and kept in the run's folder.

    Args:
        run: The run.
        folder: Where a relative path begins.
        client: As of :func:`scripts.core.engines.descriptions.of_hub`.

    Raises:
        UserError: If the folder holds the card of another checkpoint, or a checkpoint cannot be described.
    """
    kept = run.folder / DESCRIPTION_FILE
    requests = {name: run.models[name] for name in run.unknown}
    if requests and kept.is_file():
        known = json.loads(kept.read_text(encoding="utf-8"))
        if known.get("requests") != requests:
            asked = ", ".join(known.get("requests", {"": known.get("request", "another model")}).values())
            raise UserError(
                f"card: {runs.FOLDER}/{run.run} is the run of {asked}, not of {', '.join(requests.values())}; move "
                "that folder away, or name this model in a registry of your own"
            )
        return known["descriptions"]
    found = {name: _described(request, folder, client) for name, request in requests.items()}
    if found:
        files.write_json(kept, {"requests": requests, "descriptions": found})
    return found


def _described(request: str, folder: Path, client: Any):
    path = Path(folder) / Path(request).expanduser()
    hub, _, revision = request.partition("@")
    if path.is_dir():
        return descriptions.of_folder(path.resolve())
    if re.fullmatch(r"[\w.-]+/[\w.-]+", hub):
        return descriptions.of_hub(hub, revision or None, client)
    raise UserError(f"card: {request} is no folder, no owner/name of the hub and no model of config/models.yaml")


def card_overlay(run: CardRun, entries: dict[str, dict], sized: dict) -> dict[str, Any]:
    """Return what a card's run changes in the configuration.

    Args:
        run: The run.
        entries: The models' registry entries.
        sized: What ``config/cards/<size>.yaml`` says.
    """
    prompted = [name for name, entry in entries.items() if "prompt_wrapping" in entry]
    filled = _filled(sized, {MODEL: list(run.models), PROMPTED: prompted})
    return filled | {"run": run.run, "cards": [",".join(run.models)]}


def write_overlay(run: CardRun, configured: dict[str, Any]) -> None:
    """Write what the command line set as an overlay into the run's folder."""
    text = yaml.safe_dump(configured, allow_unicode=True, sort_keys=False)
    files.write_text(
        run.folder / OVERLAY_FILE, f"# What the command line said of this run. Its audit: docs/card.md.\n{text}"
    )


def audit_command(run: CardRun | None) -> str:
    """Return the command that audits a run from the repository's root; without a run, the default run's."""
    if run is None:
        return "python -m scripts.audit"
    folder = f"{runs.FOLDER}/{run.run}"
    return f"python -m scripts.audit --target card --directory {folder} --configfile={folder}/{OVERLAY_FILE}"


def _filled(value: Any, names: dict[str, list[str]]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(member, names) for key, member in value.items()}
    if isinstance(value, list):
        return [
            made for member in value for made in (names.get(member, [member]) if isinstance(member, str) else [member])
        ]
    return value
