"""The run of a card: which models are meant, where it is run, and the configuration that follows."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scripts.core import files
from scripts.core.errors import UserError, did_you_mean
from scripts.core.models import descriptions
from scripts.core.models.entries import Model, state_source
from scripts.core.workflow import runs

SIZES = ("brief", "quick", "full")
MOST = 4
"""Up to this many models share a card."""
DESCRIPTION_FILE = "card.json"
"""Where the folder of a card's run says what the checkpoints said about themselves, and which commits those were."""
OVERLAY_FILE = "card.yaml"
"""What the command line said of the run, as an overlay: its audit is asked for with it."""
HUB = r"([\w.-]+/)([\w.-]+(?:@.+)?)"
"""A repository on the Hub, with a revision or without."""
MODEL, PROMPTED = "@model", "@prompted"
"""What stands for the models in config/cards/<size>.yaml: for all, and for those that can be prompted."""


@dataclass(frozen=True)
class CardRun:
    """The run of a card.

    Attributes:
        models: The names of its models in the registry, each with what was asked for.
        unknown: Those among them that no registry has; their checkpoints are described.
        folder: Where it is run; the run is called like it.
        size: Of :data:`SIZES`.
    """

    models: dict[str, str]
    unknown: dict[str, str]
    folder: Path
    size: str


def name_of(request: str) -> str:
    """Return a name that the registry takes, made from a folder or from name and revision on the Hub.

    Examples:
        >>> name_of("lab/SmolLM2-135M_Instruct"), name_of("lab/M@refs/pr/1"), name_of("exp@2/checkpoint/")
        ('smollm2-135m-instruct', 'm-refs-pr-1', 'checkpoint')
    """
    on_hub = re.fullmatch(HUB, request)
    last = on_hub[2] if on_hub else Path(request).name
    return re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-.") or "model"


def join_names(names: list[str]) -> str:
    """Return what the card of some models is called."""
    return "-and-".join(names)


def plan_run(configured: dict, folder: Path, root: Path, known: dict) -> CardRun:
    """Return the run that ``card`` of a configuration asks for.

    Args:
        configured: The keys of the command line: ``card``, models with commas between, and perhaps ``card_size``.
        folder: The working directory. The run is here if this folder is called like it, otherwise below ``runs/``.
        root: The repository.
        known: The registry's models.

    Raises:
        UserError: For an unknown size, and for models that cannot share a card.
    """
    requests = [request.strip() for request in str(configured["card"]).split(",")]
    size = str(configured.get("card_size", "quick"))
    if size not in SIZES:
        raise UserError(f"card_size: '{size}' is no size{did_you_mean(size, SIZES) or '; use brief, quick or full'}")
    if len(requests) > MOST:
        raise UserError(f"card: {len(requests)} models do not fit on a card; list up to {MOST}")
    models = {}
    for request in requests:
        name = request if request in known else name_of(request)
        if not request:
            raise UserError(f"card: '{configured['card']}' has an empty name; write card=MODEL or card=MODEL,MODEL")
        if name in models:
            raise UserError(f"card: {models[name]} and {request} are both called {name}; list each model once")
        if len(requests) > 1 and "revisions" in known.get(name, {}):
            raise UserError(
                f"card: {request} is a series of checkpoints, which cannot share a card; write card={request}"
            )
        models[name] = request
    called = f"card-{join_names(list(models))}"
    place = folder if folder.name == called else root / runs.FOLDER / called
    return CardRun(models, {name: request for name, request in models.items() if request not in known}, place, size)


def entries(run: CardRun, given: dict, folder: Path) -> dict[str, dict]:
    """Return the registry entries of a card's unknown models; the run's folder keeps what their checkpoints said.

    Args:
        run: The run.
        given: What the command line states of these models.
        folder: Where a relative path begins.

    Raises:
        UserError: If a checkpoint cannot be described, the folder holds the card of another one, and if facts about
            one model are stated of several.
    """
    if not run.unknown:
        return {}
    of_one = sorted(given.keys() & {"label", "parameters"})
    if of_one and len(run.unknown) > 1:
        raise UserError(
            f"card: {', '.join(of_one)}: {' and '.join(run.unknown)} cannot have the same; describe the models in a "
            "registry of your own"
        )
    kept = run.folder / DESCRIPTION_FILE
    if not kept.is_file():
        found = {name: _describe(request, folder) for name, request in run.unknown.items()}
        files.write_json(kept, {"requests": run.unknown, "descriptions": found})
    told = json.loads(kept.read_text(encoding="utf-8"))
    if told["requests"] != run.unknown:
        raise UserError(
            f"card: {runs.FOLDER}/{run.folder.name} is the run of {', '.join(told['requests'].values())}, not of "
            f"{', '.join(run.unknown.values())}; move that folder away, or name this model in a registry of your own"
        )
    return {name: descriptions.entry_of(told["descriptions"][name], given) for name in run.unknown}


def _describe(request: str, folder: Path) -> dict[str, Any]:
    path = folder / Path(request).expanduser()
    if path.is_dir():
        return descriptions.of_folder(path.resolve())
    if re.fullmatch(HUB, request):
        repository, _, revision = request.partition("@")
        return descriptions.of_hub(repository, revision or None)
    raise UserError(f"card: {request} is no folder, no owner/name of the Hub and no model of config/models.yaml")


def card_overlay(run: CardRun, sized: dict) -> dict[str, Any]:
    """Return what a card's run changes in the configuration.

    Args:
        run: The run.
        sized: What ``config/cards/<size>.yaml`` says.
    """
    return fill(sized, MODEL, run.models) | {"run": run.folder.name, "cards": [",".join(run.models)]}


def fill(value: Any, place: str, names: Iterable[str]) -> Any:
    """Return a configuration with names in the lists that hold what stands for them."""
    if isinstance(value, dict):
        return {key: fill(member, place, names) for key, member in value.items()}
    if isinstance(value, list):
        return [name for member in value for name in (names if member == place else [member])]
    return value


def write_overlay(run: CardRun, configured: dict[str, Any]) -> None:
    """Write what the command line set as an overlay into the run's folder."""
    text = yaml.safe_dump(configured, allow_unicode=True, sort_keys=False)
    files.write_text(
        run.folder / OVERLAY_FILE, f"# What the command line said of this run. Its audit: docs/card.md.\n{text}"
    )


def describe(model: Model) -> dict[str, Any]:
    """Return what a card says of a model itself."""
    facts = ("label", "architecture", "parameters", "precision", "context", "licence", "gated", "demonstration")
    source = state_source(model.source) if model.source else {}
    return {key: getattr(model, key) for key in facts} | {"source": source}


def audit_command(run: CardRun | None) -> str:
    """Return the command that audits a run from the repository's root; without a run, the default run's."""
    if run is None:
        return "python -m scripts.audit"
    folder = f"{runs.FOLDER}/{run.folder.name}"
    return f"python -m scripts.audit --target card --directory {folder} --configfile={folder}/{OVERLAY_FILE}"
