"""Write the configuration of a model card, for the workflow to make it in a run of its own.

    python -m scripts.card OWNER/NAME                       a model of the Hub, or OWNER/NAME@REVISION
    python -m scripts.card path/to/checkpoint licence=MIT   a folder, and what it does not say
    python -m scripts.card OWNER/BASE OWNER/TUNED           up to four models share a card

The run's folder, runs/card-NAME, gets card.yaml and, for models that no registry knows, models.yaml with their entries.
The command that makes the card is printed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from scripts.core import files
from scripts.core.config import load_yaml
from scripts.core.errors import UserError
from scripts.core.models import cards, descriptions, entries, registry
from scripts.core.workflow import runs

ROOT = Path(__file__).resolve().parents[2]


def write_configuration(requests: Sequence[str], facts: dict, size: str, own: Path | None, here: Path) -> str:
    """Write the files of a card's run and return the command that makes the card.

    Args:
        requests: Models of a registry, folders, or repositories of the Hub.
        facts: What is stated of models that no registry knows.
        size: Of :data:`cards.SIZES`.
        own: A registry of the user.
        here: Where relative paths begin.

    Raises:
        UserError: If these models cannot have a card.
    """
    schema = ROOT / "config/schemas/models.schema.yaml"
    added = load_yaml(own) if own else {}
    listed = load_yaml(ROOT / "config/models.yaml")["models"] | added.get("models", {})
    run = cards.plan_run(requests, listed)
    folder = ROOT / runs.FOLDER / run.name
    described = cards.described_entries(run, facts, here, folder / cards.REGISTRY_FILE)
    known = registry.read_registry(ROOT / "config/models.yaml", schema)
    overlay = load_yaml(ROOT / f"config/cards/{size}.yaml")
    if added or described:
        path = folder / cards.REGISTRY_FILE
        _write(path, added | {"models": added.get("models", {}) | described}, "The models that this run adds")
        overlay["registry"] = f"{runs.FOLDER}/{run.name}/{cards.REGISTRY_FILE}"
        known = registry.add_registry(known, registry.read_registry(path, schema), str(path))
    models = {name: known.models[name] for name in run.models}
    for name in models.keys() - described.keys():
        placed = entries.find_folders(models[name], lambda path: runs.resolve_path(path, here, ROOT))
        models[name] = descriptions.complete_model(placed)
    prompted = [name for name, model in models.items() if model.prompt_wrapping]
    _write(folder / cards.OVERLAY_FILE, cards.card_overlay(run, overlay, prompted), "The configuration of this card")
    place = f"{runs.FOLDER}/{run.name}"
    return f"snakemake --cores 8 card --directory {place} --configfile={place}/{cards.OVERLAY_FILE}"


def _write(path: Path, content: dict, what: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
    files.write_text(path, f"# {what}, written by python -m scripts.card.\n{text}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what the command line asks for; returns 0, or 1 after one line on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.card", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="+", metavar="MODEL|KEY=VALUE", help="models, and facts about unknown ones")
    parser.add_argument("--size", choices=cards.SIZES, default="quick", help="how much data (docs/models.md)")
    parser.add_argument("--registry", type=Path, help="a registry of your own")
    options = parser.parse_args(arguments)
    facts = [word.partition("=") for word in options.words if word.partition("=")[0] in descriptions.OVERRIDES]
    requests = [word for word in options.words if word.partition("=")[0] not in descriptions.OVERRIDES]
    try:
        stated = descriptions.stated_facts({key: yaml.safe_load(value) for key, _, value in facts})
        if not requests:
            raise UserError("name a model: python -m scripts.card OWNER/NAME")
        print(write_configuration(requests, stated, options.size, options.registry, Path.cwd()))
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
