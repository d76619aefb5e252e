"""The model registry: reading, checking and selecting its entries.

Entries with ``available: false`` have no weights, those with an ``api`` are behind a server, and scores of those with
``outputs`` come from elsewhere.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from scripts.core.config import load_yaml, validate
from scripts.core.errors import UserError, did_you_mean
from scripts.core.models import series
from scripts.core.workflow import runs

# Where a coreference system of each architecture runs: with this project's own packages, or with those of
# envs/coreference.in.
ENVIRONMENTS = {"c2f": "main", "caw": "coreference", "lingmess": "coreference", "f-coref": "coreference"}

# What an entry means that does not say otherwise.
UNSTATED = {"gated": False, "demonstration": False, "studies": {}}
# What plans need of a model.
PLANNED_KEYS = ("family", "size", "architecture", "parameters", "precision", "gpus")


def read_registry(path: str | Path, schema_path: str | Path) -> dict[str, dict[str, dict]]:
    """Read and check a registry, such as ``config/models.yaml``.

    Args:
        schema_path: ``config/schemas/models.schema.yaml``; the studies' own schemas lie in ``studies/`` beside it.

    Returns:
        ``models`` and ``systems`` (:mod:`scripts.core.coreference_systems.sources`): name to entry, in file order.

    Raises:
        UserError: If a file cannot be read, a key or value is unknown (naming the entry, the key and the nearest valid
            one), or two entries contradict each other (:func:`check_conflicts`).
    """
    data = load_yaml(path)
    validate(data, _with_studies(load_yaml(schema_path), Path(schema_path).parent, data), str(path))
    models, systems = (
        {name: UNSTATED | entry for name, entry in data.get(kind, {}).items()} for kind in ("models", "systems")
    )
    models = series.expand_series(models, str(path))
    check_conflicts(models, str(path))
    check_systems(systems, models, str(path))
    return {"models": models, "systems": systems}


def check_entry(name: str, entry: dict[str, Any], models: dict[str, dict], schema_path: str | Path) -> dict[str, Any]:
    """Return an entry that was made by program if a registry with ``models`` could hold it.

    Raises:
        UserError: As :func:`read_registry`.
    """
    schema = _with_studies(load_yaml(schema_path), Path(schema_path).parent, {})
    validate({"models": {name: entry}}, schema, "card")
    check_conflicts(models | {name: entry}, "card")
    return entry


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


def check_conflicts(registry: dict[str, dict], file: str) -> None:
    """Refuse what the schema cannot see.

    Two entries with the same source, or with the same label in one study; a gated entry whose source is not the
    hub; code of its own in a source that cannot carry any; a demonstration model that a study claims; a prompted model
    without a wrapping of its prompts, or an encoder with one; a base model that is not there.

    Raises:
        UserError
    """
    sources, labels = {}, {}
    for name, entry in registry.items():
        source = entry.get("source", {})
        if source:
            # The same weights may be asked with and without a thought.
            asked = json.dumps([source, entry.get("thinking")], sort_keys=True)
            twin = sources.setdefault(asked, name)
            if twin != name:
                raise UserError(
                    f"{file}: models.{name} has the same source as models.{twin}; keep one and list its studies there"
                )
        for study in entry["studies"]:
            twin = labels.setdefault((study, entry["label"]), name)
            if twin != name:
                raise UserError(
                    f"{file}: models.{name}.label is '{entry['label']}', the label of models.{twin} in {study} too; "
                    "give each its own"
                )
        if entry["gated"] and "hub" not in source:
            raise UserError(f"{file}: models.{name}.gated is true but its source is not the hub; set gated to false")
        if entry.get("remote_code") and "package" in source:
            raise UserError(
                f"{file}: models.{name}.remote_code is true but its source is a package, whose files come without "
                "custom code; remove remote_code"
            )
        if "prompting" in entry["studies"].values() and "prompt_wrapping" not in entry:
            raise UserError(
                f"{file}: models.{name} is prompted but has no prompt_wrapping; set it to none, llama2 or chat_template"
            )
        if "thinking" in entry and (
            entry.get("architecture", "decoder") != "decoder" or entry.get("prompt_wrapping") != "chat_template"
        ):
            raise UserError(
                f"{file}: models.{name}.thinking is for decoders whose prompt_wrapping is chat_template; remove it"
            )
        if entry.get("architecture") == "encoder" and "prompt_wrapping" in entry:
            raise UserError(f"{file}: models.{name} is an encoder and cannot be prompted; remove prompt_wrapping")
        if entry.get("base", name) not in registry:
            raise UserError(
                f"{file}: models.{name}.base '{entry['base']}' is not an entry"
                f"{did_you_mean(entry['base'], registry) or '; correct it'}"
            )
        if "outputs" in entry and (
            "api" in entry or entry["architecture"] == "encoder-decoder" or entry["parameters"] is None
        ):
            raise UserError(
                f"{file}: models.{name}.outputs is for encoders and decoders with a number of parameters and without "
                "api; correct the entry or remove outputs"
            )
        if "outputs" in entry and "prompt_wrapping" in entry:
            raise UserError(
                f"{file}: models.{name} has scores from elsewhere and cannot be prompted; remove prompt_wrapping"
            )
        if entry["demonstration"] and entry["studies"]:
            raise UserError(
                f"{file}: models.{name} is a demonstration model and belongs to no study; empty its studies or set "
                "demonstration to false"
            )


def check_systems(systems: dict[str, dict], models: dict[str, dict], file: str) -> None:
    """Refuse what the schema cannot see of coreference systems.

    A name that a model has; two entries with the same source, or with the same label and debiasing in one study or
    among those of none; a gated entry whose source is not the hub; an environment in which the architecture does not
    run; a source or encoder that does not belong to the architecture; a demonstration system that a study claims or
    whose label does not say so.

    Raises:
        UserError
    """
    sources, labels = {}, {}
    for name, entry in systems.items():
        where, source, architecture = f"{file}: systems.{name}", entry["source"], entry["architecture"]
        if name in models:
            raise UserError(f"{where} has the name of a model; give it another one")
        twin = sources.setdefault(tuple(sorted(source.items(), key=str)), name)
        if twin != name:
            raise UserError(f"{where} has the same source as systems.{twin}; keep one")
        called = (entry["label"], entry.get("debiasing", "none"))
        twin = labels.setdefault(called, name)
        if twin != name:
            raise UserError(f"{where} has the label and debiasing of systems.{twin}; give it a different label")
        if entry["gated"] and "hub" not in source:
            raise UserError(f"{where}.gated is true but its source is not the hub; set gated to false")
        if entry["environment"] != ENVIRONMENTS[architecture]:
            raise UserError(
                f"{where}.environment is {entry['environment']}, but {architecture} runs in "
                f"{ENVIRONMENTS[architecture]}; correct it"
            )
        if entry["environment"] != "main" and entry["precision"] != "float32":
            raise UserError(
                f"{where}.precision is {entry['precision']}, but {architecture} computes in float32; say so"
            )
        if ("file" in source) != (architecture == "caw" and "hub" in source):
            remedy = "name the checkpoint's file" if architecture == "caw" else "remove file"
            raise UserError(f"{where}.source is not one of {architecture}: {remedy}")
        if ("encoder" in entry) != (architecture == "caw"):
            remedy = "add the encoder" if architecture == "caw" else "remove encoder"
            raise UserError(f"{where}: only caw takes an encoder in addition to its source, and needs one; {remedy}")
        if {"delta", "trained"} & set(source) and architecture != "c2f":
            kind = "a package with a delta" if "delta" in source else "a system that is trained here"
            raise UserError(f"{where}: {kind} is for c2f; name the hub or a folder")
        if entry["demonstration"] and entry["studies"]:
            raise UserError(
                f"{where} is a demonstration system and belongs to no study; empty its studies or set demonstration to "
                "false"
            )
        if entry["demonstration"] != entry["label"].endswith("(demonstration)"):
            raise UserError(f"{where}.label must end with (demonstration) if, and only if, demonstration is true")


def select_systems(systems: dict[str, dict], names: Collection[str]) -> dict[str, dict]:
    """Return the coreference systems called ``names``, in registry order.

    Raises:
        UserError: If a name is not in the registry; names the nearest.
    """
    for name in names:
        if name not in systems:
            raise UserError(
                f"systems: '{name}' is no coreference system of config/models.yaml"
                f"{did_you_mean(name, systems) or '; add an entry'}"
            )
    return {name: entry for name, entry in systems.items() if name in set(names)}


def check_labels(models: dict[str, dict], systems: dict[str, dict]) -> None:
    """Refuse models and systems of this run that tables and figures would not tell apart.

    Raises:
        UserError: Naming the two.
    """
    known = {}
    for name, entry in (models | systems).items():
        label = (entry["label"], entry.get("debiasing", "none"))
        if label in known:
            raise UserError(
                f"config/models.yaml: '{known[label]}' and '{name}' have the same label, {label[0]!r}, so that figures "
                "and tables would not tell them apart; change the label of one"
            )
        known[label] = name


def check_new(registry: dict[str, dict], known: dict[str, dict], file: str) -> None:
    """Refuse entries of another registry that have the name of a different entry here.

    Raises:
        UserError
    """
    for name in registry.keys() & known.keys():
        if registry[name] != known[name]:
            raise UserError(f"{file}: '{name}' is another entry in config/models.yaml; give yours a different name")


def select(
    registry: dict[str, dict],
    names: Iterable[str],
    where: str = "models",
    file: str | None = None,
    *,
    servers: bool = False,
) -> dict[str, dict]:
    """Return the entries called ``names``, in registry order.

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
        if name not in registry:
            raise UserError(f"{where}: '{name}' is not in {places}{did_you_mean(name, registry) or '; add an entry'}")
        if name in chosen:
            raise UserError(f"{where}: '{name}' is listed twice; remove one")
        _check_available(where, name, registry[name])
        if "api" in registry[name] and not servers:
            remedy = "name it in completions.models instead" if where == "models" else "remove it"
            raise UserError(f"{where}: '{name}' is behind a server; {remedy}")
        if "outputs" in registry[name] and where != "models":
            raise UserError(f"{where}: '{name}' has scores from elsewhere only; remove it")
        chosen.add(name)
    return {name: entry for name, entry in registry.items() if name in chosen}


def select_servers(registry: dict[str, dict], names: Collection[str]) -> dict[str, dict]:
    """Return the entries called ``names``, all of which are behind servers, in registry order; as :func:`select`."""
    where = "completions.models"
    for name in names:
        if name not in registry:
            known = [other for other, entry in registry.items() if "api" in entry]
            raise UserError(
                f"{where}: '{name}' is not in config/models.yaml{did_you_mean(name, known) or '; add an entry'}"
            )
        _check_available(where, name, registry[name])
        if "api" not in registry[name]:
            raise UserError(f"{where}: '{name}' is not behind a server; name it in models instead")
    return {name: entry for name, entry in registry.items() if name in set(names)}


def _check_available(where: str, name: str, entry: dict[str, Any]):
    if entry.get("available", True):
        return
    outputs = ""
    if "released_in" in entry:
        study = entry["released_in"]
        outputs = f": its released outputs are read instead ({study} in config.yaml, results/upstream/{study}/)"
    raise UserError(f"{where}: '{name}' cannot be run ({entry['note']}){outputs}; remove it")


def methods(entry: dict[str, Any], study: str) -> list[str]:
    """Return for which texts a model gives token distributions: those with a ``mask``, those to ``generate`` from.

    What ``study`` did with the model, otherwise what its architecture can do.
    """
    by_use = {"masked": ["mask"], "generation": ["generate"], "masked-and-generation": ["mask", "generate"]}
    by_architecture = {"encoder": ["mask"], "decoder": ["generate"], "encoder-decoder": ["mask", "generate"]}
    return by_use.get(entry["studies"].get(study)) or by_architecture[entry["architecture"]]


def given_scores(model: str, outputs: dict[str, str], key: str, folder: Path, root: Path) -> str:
    """Return the file with a model's scores of one set of instances, as a path of the working directory.

    Args:
        model: Its name in the registry, for messages.
        outputs: ``outputs`` of its entry.
        key: Study and set, such as ``ruff/replica``.
        folder, root: The working directory and the repository.

    Raises:
        UserError: If the entry names no file of the set, or one that is not there.
    """
    where = f"models.{model}.outputs"
    if key not in outputs:
        raise UserError(f"{where} names no scores of {key}, which this run reads; add the file or leave the model out")
    path = runs.resolve_path(outputs[key], folder, root)
    if not (folder / Path(path).expanduser()).is_file():
        raise UserError(f"{where}: {outputs[key]}: no such file; correct the path")
    return str(Path(path).expanduser())


def describe(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what figures and tables say of a model: label, family, size, architecture, parameters, demonstration."""
    facts = ("label", "family", "size", "architecture", "parameters", "demonstration")
    return {key: entry[key] for key in facts}


def describe_system(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what they say of a system, with its debiasing (none if it has none)."""
    return describe(entry) | {"debiasing": entry.get("debiasing", "none")}
