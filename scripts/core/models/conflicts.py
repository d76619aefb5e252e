"""What a registry's schema cannot see: entries that contradict themselves or each other. Each message names the remedy.

The checks of each kind are in the order in which a user meets them: the first that fails is reported.
"""

import json
from collections.abc import Iterable, Mapping

from scripts.core.errors import UserError, did_you_mean
from scripts.core.models.entries import Hub, Model, Package, System, Trained

# Where a coreference system of each architecture runs: with this project's own packages, or with those of
# envs/coreference.in.
ENVIRONMENTS = {"c2f": "main", "caw": "coreference", "lingmess": "coreference", "f-coref": "coreference"}


def check_models(models: Mapping[str, Model], file: str) -> None:
    """Refuse models that cannot be what their entries say, and two with the same source, or label in one study.

    Raises:
        UserError
    """
    sources, labels = {}, {}
    for name, model in models.items():
        where = f"{file}: models.{name}"
        if model.source:
            # The same weights may be run with and without an adapter, and asked with and without a thought.
            twin = sources.setdefault((model.source, model.adapter, json.dumps(model.thinking, sort_keys=True)), name)
            if twin != name:
                raise UserError(f"{where} has the same source as models.{twin}; keep one and list its studies there")
        for study in model.studies:
            twin = labels.setdefault((study, model.label), name)
            if twin != name:
                raise UserError(
                    f"{where}.label is '{model.label}', the label of models.{twin} in {study} too; give each its own"
                )
        for wrong, message in _contradictions(model):
            if wrong:
                raise UserError(f"{where}{message}")
        if model.base and model.base not in models:
            raise UserError(
                f"{where}.base '{model.base}' is not an entry{did_you_mean(model.base, models) or '; correct it'}"
            )


def _contradictions(model: Model) -> Iterable[tuple[object, str]]:
    """Yield whether a model contradicts itself in some way, and what to say of it."""
    wrapped = model.prompt_wrapping is not None
    yield (
        model.gated and not isinstance(model.source, Hub),
        ".gated is true but its source is not the hub; set gated to false",
    )
    yield (
        model.remote_code and isinstance(model.source, Package),
        ".remote_code is true but its source is a package, whose files come without custom code; remove remote_code",
    )
    yield (
        "prompting" in model.studies.values() and not wrapped,
        " is prompted but has no prompt_wrapping; set it to none, llama2 or chat_template",
    )
    yield (
        model.thinking is not None
        and ((model.architecture or "decoder") != "decoder" or model.prompt_wrapping != "chat_template"),
        ".thinking is for decoders whose prompt_wrapping is chat_template; remove it",
    )
    yield (
        model.architecture == "encoder" and wrapped,
        " is an encoder and cannot be prompted; remove prompt_wrapping",
    )
    yield (
        model.outputs and (model.api or model.architecture == "encoder-decoder" or model.parameters is None),
        ".outputs is for encoders and decoders with a number of parameters and without api; correct the entry or "
        "remove outputs",
    )
    yield model.outputs and wrapped, " has scores from elsewhere and cannot be prompted; remove prompt_wrapping"
    yield (
        model.demonstration and model.studies,
        " is a demonstration model and belongs to no study; empty its studies or set demonstration to false",
    )


def check_systems(systems: Mapping[str, System], models: Mapping[str, Model], file: str) -> None:
    """Refuse systems that cannot be what their entries say, and two with the same source, or label and debiasing.

    Raises:
        UserError
    """
    sources, labels = {}, {}
    for name, system in systems.items():
        where = f"{file}: systems.{name}"
        if name in models:
            raise UserError(f"{where} has the name of a model; give it another one")
        twin = sources.setdefault(system.source, name)
        if twin != name:
            raise UserError(f"{where} has the same source as systems.{twin}; keep one")
        twin = labels.setdefault((system.label, system.debiasing), name)
        if twin != name:
            raise UserError(f"{where} has the label and debiasing of systems.{twin}; give it a different label")
        for wrong, message in _system_contradictions(system):
            if wrong:
                raise UserError(f"{where}{message}")


def _system_contradictions(system: System) -> Iterable[tuple[object, str]]:
    """Yield whether a system contradicts itself in some way, and what to say of it."""
    source, architecture = system.source, system.architecture
    runs_in, is_caw = ENVIRONMENTS[architecture], architecture == "caw"
    yield (
        system.gated and not isinstance(source, Hub),
        ".gated is true but its source is not the hub; set gated to false",
    )
    yield (
        system.environment != runs_in,
        f".environment is {system.environment}, but {architecture} runs in {runs_in}; correct it",
    )
    yield (
        isinstance(source, Hub) and (source.file is not None) != is_caw,
        f".source is not one of {architecture}: " + ("name the checkpoint's file" if is_caw else "remove file"),
    )
    yield (
        (system.encoder is not None) != is_caw,
        ": only caw takes an encoder in addition to its source, and needs one; "
        + ("add the encoder" if is_caw else "remove encoder"),
    )
    yield (
        isinstance(source, Package) and architecture != "c2f",
        ": a package with a delta is for c2f; name the hub or a folder",
    )
    yield (
        isinstance(source, Trained) and architecture != "c2f",
        ": a system that is trained here is for c2f; name the hub or a folder",
    )
    yield (
        system.demonstration and system.studies,
        " is a demonstration system and belongs to no study; empty its studies or set demonstration to false",
    )
    yield (
        system.demonstration != system.label.endswith("(demonstration)"),
        ".label must end with (demonstration) if, and only if, demonstration is true",
    )


def check_labels(chosen: Iterable[Model | System]) -> None:
    """Refuse models and systems of this run that tables and figures would not tell apart.

    Raises:
        UserError: Naming the two.
    """
    known = {}
    for entry in chosen:
        label = (entry.label, getattr(entry, "debiasing", "none"))
        if label in known:
            raise UserError(
                f"config/models.yaml: '{known[label]}' and '{entry.name}' have the same label, {label[0]!r}, so that "
                "figures and tables would not tell them apart; change the label of one"
            )
        known[label] = entry.name
