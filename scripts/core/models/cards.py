"""The run of a card: which models are meant, where it is run, and the configuration that follows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.core.config import load_yaml
from scripts.core.errors import UserError
from scripts.core.models import descriptions
from scripts.core.models.entries import Model, state_source
from scripts.core.workflow import runs

SIZES = ("brief", "quick", "full")
MOST = 4
"""Up to this many models share a card."""
OVERLAY_FILE, REGISTRY_FILE = "card.yaml", "models.yaml"
"""The configuration of a card's run and the registry of its unknown models, in the run's folder."""
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
    """

    models: dict[str, str]
    unknown: dict[str, str]

    @property
    def name(self) -> str:
        """What the run and its folder are called."""
        return f"card-{join_names(list(self.models))}"


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


def plan_run(requests: Sequence[str], known: dict) -> CardRun:
    """Return the run of a card for what was asked for; ``known``: the registry's models.

    Raises:
        UserError: For models that cannot share a card.
    """
    if len(requests) > MOST:
        raise UserError(f"{len(requests)} models do not fit on a card; list up to {MOST}")
    models: dict[str, str] = {}
    for request in requests:
        name = request if request in known else name_of(request)
        if name in models:
            raise UserError(f"{models[name]} and {request} are both called {name}; list each model once")
        models[name] = request
    return CardRun(models, {name: request for name, request in models.items() if request not in known})


def described_entries(run: CardRun, given: dict, folder: Path, registry: Path) -> dict[str, dict]:
    """Return the registry entries of a card's unknown models.

    Args:
        run: The run.
        given: What the command line states of these models.
        folder: Where a relative path begins.
        registry: Of the run; an earlier command may have written it.

    Raises:
        UserError: If a checkpoint cannot be described, the run's folder is that of another one, and if facts about one
            model are stated of several.
    """
    of_one = sorted(given.keys() & {"label", "parameters"})
    if of_one and len(run.unknown) > 1:
        raise UserError(
            f"{', '.join(of_one)}: {' and '.join(run.unknown)} cannot have the same; describe the models in a registry "
            "of your own"
        )
    found = {name: descriptions.make_entry(_describe(request, folder), given) for name, request in run.unknown.items()}
    before = load_yaml(registry)["models"] if registry.is_file() else {}
    for name, entry in found.items():
        theirs = before.get(name, entry)["source"]
        if any(theirs.get(key) != entry["source"].get(key) for key in ("hub", "path")):
            raise UserError(
                f"{runs.FOLDER}/{run.name} is the run of {' '.join(map(str, theirs.values()))}, not of "
                f"{run.unknown[name]}; move that folder away, or name this model in a registry of your own"
            )
    return found


def _describe(request: str, folder: Path) -> dict[str, Any]:
    path = folder / Path(request).expanduser()
    if path.is_dir():
        return descriptions.describe_folder(path.resolve())
    if re.fullmatch(HUB, request):
        repository, _, revision = request.partition("@")
        return descriptions.describe_repository(repository, revision or None)
    raise UserError(f"{request} is no folder, no owner/name of the Hub and no model of config/models.yaml")


def card_overlay(run: CardRun, sized: dict, prompted: Iterable[str]) -> dict[str, Any]:
    """Return the configuration of a card's run.

    Args:
        sized: What ``config/cards/<size>.yaml`` says.
        prompted: Those of its models that can be prompted.
    """
    filled = fill_lists(fill_lists(sized, MODEL, run.models), PROMPTED, prompted)
    return filled | {"run": run.name, "cards": [",".join(run.models)]}


def fill_lists(value: Any, place: str, names: Iterable[str]) -> Any:
    """Return a configuration with names in the lists that hold what stands for them."""
    if isinstance(value, dict):
        return {key: fill_lists(member, place, names) for key, member in value.items()}
    if isinstance(value, list):
        return [name for member in value for name in (names if member == place else [member])]
    return value


def describe_model(model: Model) -> dict[str, Any]:
    """Return what a card says of a model itself."""
    facts = ("label", "architecture", "parameters", "precision", "context", "licence", "gated", "demonstration")
    source = state_source(model.source) if model.source else {}
    return {key: getattr(model, key) for key in facts} | {"source": source}


def audit_command(name: str | None, overlays: Sequence[str]) -> str:
    """Return the command that audits a run, or without a name the default run, from the repository's root."""
    words = ["python -m scripts.audit"]
    if name:
        words += ["--target card", f"--directory {runs.FOLDER}/{name}"]
    return " ".join([*words, *(f"--configfile={path}" for path in overlays)])
