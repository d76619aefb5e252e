"""The model registry: reading it, and selecting from it.

Entries with ``available: false`` have no weights, those with an ``api`` are behind a server, and scores of those with
``outputs`` come from elsewhere.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scripts.core.config import load_yaml, validate
from scripts.core.errors import UserError, did_you_mean
from scripts.core.models import conflicts
from scripts.core.models.entries import Model, System, read_entry
from scripts.core.workflow import runs


class Registry(NamedTuple):
    """Models and coreference systems by name, in file order."""

    models: dict[str, Model]
    systems: dict[str, System]


def read_registry(path: str | Path, schema_path: str | Path) -> Registry:
    """Read and check a registry, such as ``config/models.yaml``.

    Args:
        schema_path: ``config/schemas/models.schema.yaml``; the studies' own schemas lie in ``studies/`` beside it.
    """
    data = load_yaml(path)
    validate(data, _with_studies(load_yaml(schema_path), Path(schema_path).parent, data), str(path))
    models = {name: read_entry(Model, name, entry) for name, entry in data.get("models", {}).items()}
    systems = {name: read_entry(System, name, entry) for name, entry in data.get("systems", {}).items()}
    conflicts.check_models(models, str(path))
    conflicts.check_systems(systems, models, str(path))
    return Registry(models, systems)


def add_registry(known: Registry, own: Registry, file: str) -> Registry:
    """Return the project's registry with the entries of another one, ``file``.

    Raises:
        UserError: If one of them has the name of a different entry here, or contradicts one.
    """
    for mine, theirs in zip(own, known, strict=True):
        for name in mine.keys() & theirs.keys():
            if mine[name] != theirs[name]:
                raise UserError(f"{file}: '{name}' is another entry in config/models.yaml; give yours a different name")
    both = Registry(known.models | own.models, known.systems | own.systems)
    conflicts.check_models(both.models, file)
    conflicts.check_systems(both.systems, both.models, file)
    return both


def _with_studies(schema: dict[str, Any], folder: Path, data: dict[str, Any]):
    """Return the schema of a registry with what is known of studies: their names, and what they do with models.

    A study of the workflow says so in its own schema (``$defs.model_uses``), one that is still planned in the registry.
    """
    uses = {}
    planned = data.get("planned_studies")
    for study, listed in planned.items() if isinstance(planned, dict) else ():
        uses[study] = {"enum": listed if isinstance(listed, list) else []}
    for path in sorted(folder.glob("studies/*.schema.yaml")):
        definitions = load_yaml(path).get("$defs", {})
        if "model_uses" in definitions:
            uses[path.name.removesuffix(".schema.yaml")] = definitions["model_uses"]
    entry = schema["$defs"]["entry"]["properties"]
    entry["studies"]["properties"] = schema["$defs"]["system"]["properties"]["studies"]["properties"] = uses
    entry["released_in"] = {"enum": list(uses)}
    return schema


def listed_models(configured: dict[str, Any]) -> Iterator[str]:
    """Yield the models that a configuration lists as ``models`` or ``cards``, at any depth."""
    for key, value in configured.items():
        if isinstance(value, dict):
            yield from listed_models(value)
        elif key in ("models", "cards") and isinstance(value, list):
            yield from value


def select_systems(systems: dict[str, System], names: Collection[str]) -> dict[str, System]:
    """Return the coreference systems called ``names``, in registry order; an unknown one is refused."""
    for name in names:
        _refuse_unknown("systems", name, systems, "no coreference system of config/models.yaml")
    return {name: system for name, system in systems.items() if name in set(names)}


def _refuse_unknown(where: str, name: str, known: Collection[str], problem: str) -> None:
    if name not in known:
        raise UserError(f"{where}: '{name}' is {problem}{did_you_mean(name, known) or '; add an entry'}")


def select_models(
    models: dict[str, Model],
    names: Iterable[str],
    where: str = "models",
    file: str | None = None,
    *,
    servers: bool = False,
) -> dict[str, Model]:
    """Return the models called ``names``, in registry order.

    Args:
        where: The key of the configuration that names them, for messages.
        file: A registry besides the project's, for messages.
        servers: Whether models behind servers may be among them.

    Raises:
        UserError: If a name is given twice or is not in the registry (naming the nearest), or if nobody can run the
            model.
    """
    chosen = set()
    places = f"config/models.yaml{f' or {file}' if file else ''}"
    for name in names:
        _refuse_unknown(where, name, models, f"not in {places}")
        if name in chosen:
            raise UserError(f"{where}: '{name}' is listed twice; remove one")
        if not models[name].available:
            study, outputs = models[name].released_in, ""
            if study:
                outputs = f": its released outputs are read instead ({study} in config.yaml, results/upstream/{study}/)"
            raise UserError(f"{where}: '{name}' cannot be run ({models[name].note}){outputs}; remove it")
        if models[name].api and not servers:
            remedy = "name it in completions.models instead" if where == "models" else "remove it"
            raise UserError(f"{where}: '{name}' is behind a server; {remedy}")
        if models[name].outputs and where != "models":
            raise UserError(f"{where}: '{name}' has scores from elsewhere only; remove it")
        chosen.add(name)
    return {name: model for name, model in models.items() if name in chosen}


def select_prompted(models: dict[str, Model], names: Iterable[str], where: str) -> dict[str, Model]:
    """Return the models called ``names``, here and behind servers, all of which can be asked."""
    chosen = select_models(models, names, where, servers=True)
    for name, model in chosen.items():
        if not model.is_promptable:
            raise UserError(
                f"{where}: '{name}' has no prompt_wrapping in the registry; add one if it follows instructions"
            )
    return chosen


def select_servers(models: dict[str, Model], names: Iterable[str]) -> dict[str, Model]:
    """Return the models called ``names``, all of which are behind servers, in registry order."""
    where = "completions.models"
    chosen = select_models(models, names, where, servers=True)
    for name, model in chosen.items():
        if not model.api:
            raise UserError(f"{where}: '{name}' is not behind a server; name it in models instead")
    return chosen


def given_scores(model: Model, key: str, folder: Path, root: Path) -> str:
    """Return the file with a model's scores of one set of instances, as a path of the working directory.

    Args:
        model: One with ``outputs``.
        key: Study and set, such as ``ruff/replica``.
        folder, root: The working directory and the repository.
    """
    where, outputs = f"models.{model.name}.outputs", model.outputs or {}
    if key not in outputs:
        raise UserError(f"{where} names no scores of {key}, which this run reads; add the file or leave the model out")
    path = runs.resolve_path(outputs[key], folder, root)
    if not (folder / Path(path).expanduser()).is_file():
        raise UserError(f"{where}: {outputs[key]}: no such file; correct the path")
    return str(Path(path).expanduser())
