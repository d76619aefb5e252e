"""The run of a model's card: which model is meant, where it is run, and the configuration that follows."""

import json
import re
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

import yaml

from scripts.core import files, runs
from scripts.core.engines import descriptions
from scripts.core.errors import UserError, did_you_mean

SIZES = ("quick", "full")
DESCRIPTION_FILE = "card.json"
"""Where the folder of a card's run says what the checkpoint said about itself, and which commit that was."""
OVERLAY_FILE = "card.yaml"
"""What the command lines said of the run, as an overlay: its audit is asked for with it."""
MODEL, PROMPTED = "@model", "@prompted"
"""What stands for the model in config/cards/<size>.yaml: always, and where it can be prompted."""


@dataclass(frozen=True)
class CardRun:
    """The run of a card.

    Attributes:
        request: What was asked for.
        name: The model's name in the registry.
        folder: Where it is run.
    """

    request: str
    name: str
    folder: Path
    size: str

    @property
    def run(self):
        """The run's name."""
        return self.folder.name


def plan_run(configured: dict, folder: Path, root: Path, known: dict) -> CardRun:
    """Return the run that ``card`` of a configuration asks for.

    Args:
        configured: The keys of the command line: ``card`` and, perhaps, ``card_size``.
        folder: The working directory.
        root: The repository.
        known: The registry's models.

    Returns:
        In the folder of its name below ``runs/``, or here if this folder is called so.

    Raises:
        UserError: For an unknown size.
    """
    request, size = str(configured["card"]), configured.get("card_size", "quick")
    if size not in SIZES:
        raise UserError(f"card_size: '{size}' is no size{did_you_mean(str(size), SIZES) or '; use quick or full'}")
    if is_server(request):
        name = descriptions.name_of(urllib.parse.urlsplit(request).netloc)
    elif request in known:
        name = request
    else:
        name = descriptions.name_of(descriptions.label_of({"path": _path(request)}))
    called = f"card-{name}"
    here = Path(folder)
    return CardRun(request, name, here if here.name == called else Path(root) / runs.FOLDER / called, size)


def is_server(request):
    """Tell whether what was asked for is the address of a server."""
    return bool(re.match(r"https?://", request))


def _path(request):
    return request.partition("@")[0]


def describe_checkpoint(run: CardRun, folder: Path, client: object | None = None):
    """Return the description of a run's checkpoint, made once and kept in the run's folder.

    Args:
        folder: Where a relative path begins.
        client: As of :func:`scripts.core.engines.descriptions.of_hub`.

    Raises:
        UserError: If the folder holds the card of another checkpoint, or the checkpoint cannot be described.
    """
    kept = run.folder / DESCRIPTION_FILE
    if kept.is_file():
        known = json.loads(kept.read_text(encoding="utf-8"))
        if known["request"] != run.request:
            raise UserError(
                f"card: {runs.FOLDER}/{run.run} is the run of {known['request']}, not of {run.request}; move that "
                "folder away, or name this model in a registry of your own"
            )
        return known["description"]
    path = Path(folder) / Path(run.request).expanduser()
    hub, _, revision = run.request.partition("@")
    if path.is_dir():
        found = descriptions.of_folder(path.resolve())
    elif re.fullmatch(r"[\w.-]+/[\w.-]+", hub):
        found = descriptions.of_hub(hub, revision or None, client)
    else:
        raise UserError(
            f"card: {run.request} is no folder, no owner/name of the hub and no model of config/models.yaml"
        )
    descriptions.write(kept, {"request": run.request, "description": found})
    return found


def card_overlay(run: CardRun, entry: dict, sized: dict):
    """Return what a card's run changes in the configuration.

    Args:
        entry: The model's registry entry.
        sized: What ``config/cards/<size>.yaml`` says.
    """
    prompted = [run.name] if "prompt_wrapping" in entry else []
    return _filled(sized, {MODEL: [run.name], PROMPTED: prompted}) | {"run": run.run, "cards": [run.name]}


def write_overlay(run, configured):
    """Write what the command line set, a dict, as an overlay into the run's folder."""
    text = yaml.safe_dump(configured, allow_unicode=True, sort_keys=False)
    files.write_text(
        run.folder / OVERLAY_FILE, f"# What the command line said of this run. Its audit: docs/card.md.\n{text}"
    )


def audit_command(run):
    """Return the command that audits a run from the repository's root; without a run, the default run's."""
    if run is None:
        return "python -m scripts.audit"
    folder = f"{runs.FOLDER}/{run.run}"
    return f"python -m scripts.audit --target card --directory {folder} --configfile={folder}/{OVERLAY_FILE}"


def _filled(value, names):
    if isinstance(value, dict):
        return {key: _filled(member, names) for key, member in value.items()}
    if isinstance(value, list):
        return [
            made for member in value for made in (names.get(member, [member]) if isinstance(member, str) else [member])
        ]
    return value
