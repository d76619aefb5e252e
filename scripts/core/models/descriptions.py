"""What a checkpoint says about itself, and the registry entry that follows from it; no weights are read.

A description is a dictionary that JSON can hold: ``source`` as in the registry, the revision resolved to a commit;
``classes``, ``architecture``, ``model_type``, ``own_code`` and ``dtype`` of ``config.json``; ``parameters`` and
``context`` of the configuration as loaded, or None where they could not be read, and ``unread``, why; ``licence``,
``gated``, ``chat_template``.
"""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import yaml

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.models import checkpoints, contexts, gguf_heads, hub, loading
from scripts.core.models.costs import BYTES
from scripts.core.models.entries import Folder, Hub, Model, Package, state_source

SMALL_FILES = ("config.json", "tokenizer_config.json", "chat_template.jinja", "README.md")
"""What is fetched of a checkpoint to describe it."""
READ_KEYS = (
    "family", "size", "architecture", "parameters", "precision", "gpus", "context", "labels", "prompt_wrapping",
    "gated",
)  # fmt: skip
"""What a checkpoint can say of a model."""
STATED_KEYS = ("architecture", "parameters", "precision", "licence", "remote_code")
"""What an entry says that outranks its checkpoint, and on which the rest depends."""
KEPT = "results/provenance/.read"
"""Where a run keeps what it read from checkpoints; like the cache of digests it is no result."""
OVERRIDES = {
    "parameters": int,
    "precision": str,
    "licence": str,
    "gpus": int,
    "label": str,
    "remote_code": bool,
}
"""Facts that the command line may state, which outrank what a checkpoint says; with their types."""
HALF_FROM = 6e9
"""From so many parameters upwards a model is run in half precision, as in config/models.yaml."""
GPU_BYTES, GPU_SPARE = 40e9, 1.1
"""A GPU of the registry, and how much room a model needs, in parts of its weights."""
ON_CPU = 2e8
"""A model with fewer parameters asks for no GPU."""
SPAN_TYPES = ("t5", "mt5", "umt5", "longt5", "switch_transformers")


def describe_folder(folder: str | Path, source: dict[str, Any] | None = None, gated: bool = False) -> dict[str, Any]:
    """Describe a checkpoint by the small files in a folder.

    Args:
        folder: Where they are.
        source, gated: As in the registry; by default the checkpoint's source is the folder.

    Raises:
        UserError: If there is no ``config.json``, or a file cannot be read.
    """
    path = Path(folder).expanduser()
    source = source or {"path": str(folder)}
    if not (path / "config.json").is_file():
        raise UserError(f"{_called(source)} holds no config.json; name a checkpoint that save_pretrained wrote")
    configuration = checkpoints.read_keys(path / "config.json")
    tokenizer_file = path / "tokenizer_config.json"
    tokenizer = checkpoints.read_keys(tokenizer_file) if tokenizer_file.is_file() else {}
    classes = list(configuration.get("architectures") or [])
    described = {
        "source": source,
        "gated": gated,
        "licence": _licence(path / "README.md"),
        "classes": classes,
        "architecture": checkpoints.architecture_of(configuration),
        "model_type": configuration.get("model_type"),
        "own_code": bool(configuration.get("auto_map")),
        "dtype": str(configuration.get("dtype") or configuration.get("torch_dtype")).removeprefix("torch."),
        "chat_template": bool(tokenizer.get("chat_template")) or (path / "chat_template.jinja").is_file(),
        "parameters": None,
        "context": None,
        "unread": None,
    }
    if described["architecture"]:
        try:
            built = contexts.build_without_weights(_called(source), described["architecture"], path)
            described["parameters"], described["context"] = built.num_parameters(), contexts.context_length(built)
        except UserError as error:
            described["unread"] = str(error)
    return described


def describe_repository(repository: str, revision: str | None = None) -> dict[str, Any]:
    """Describe a checkpoint on the Hub (``owner/name``), of which only small files are fetched."""
    import huggingface_hub

    with hub.explained_failures(repository, revision):
        commit, _, gated = hub.list_members(repository, revision)
        folder = huggingface_hub.snapshot_download(repository, revision=commit, allow_patterns=[*SMALL_FILES])
    return describe_folder(folder, {"hub": repository, "revision": commit}, gated)


def _called(source: dict[str, Any]) -> str:
    return source.get("hub") or source["path"]


def _licence(readme: Path) -> str | None:
    """Return the licence at the head of a README, by its name where it has one of its own."""
    import huggingface_hub

    try:
        said = huggingface_hub.metadata_load(readme) if readme.is_file() else None
    except (ValueError, yaml.YAMLError):
        said = None
    licence = (said or {}).get("license")
    return said.get("license_name", licence) if said and licence == "other" else licence


def complete_model(model: Model, kept: str | Path = KEPT) -> Model:
    """Return a model with what its entry leaves out read from its checkpoint, which must not contradict the rest.

    Entries of packages leave nothing out; what a GGUF file says must not contradict them. The Hub is asked once. A
    folder is read each time; where it is away, what :func:`keep_description` wrote stands for it, so that a
    finished run can be audited.

    Args:
        kept: Folder of the run.

    Raises:
        UserError: If the checkpoint is not there, says too little, or contradicts the entry.
    """
    name, source, known = model.name, model.source, Path(kept) / f"{model.name}.json"
    if isinstance(source, Package):
        _check_package(model, source)
        return model
    lacking = model.lacking
    folder = Path(source.path).expanduser() if isinstance(source, Folder) else None
    if folder and (folder / "config.json").is_file():
        model = _add_facts(model, describe_folder(folder)) if lacking else model
        contexts.check_stated_facts(model.name, model, folder, parameters=model.parameters)
        return model
    if source and (folder or lacking) and known.is_file():
        found = json.loads(known.read_text(encoding="utf-8"))
        if found["source"] == state_source(source):
            return _lay_under(model, found["facts"])
    if folder:
        raise UserError(f"models.{name}.source.path: {folder} holds no config.json; name the folder of a checkpoint")
    if not lacking or not isinstance(source, Hub):
        return model
    try:
        described = describe_repository(source.hub, source.revision)
    except UserError as error:
        raise UserError(f"models.{name} lacks {', '.join(lacking)}: {error}; or add these keys to its entry") from error
    completed = _add_facts(model, described)
    keep_description(completed, kept)
    return completed


def _check_package(model: Model, source: Package) -> None:
    """Refuse an entry that the GGUF file in its package contradicts; a package that is not there is its job's matter.

    Raises:
        UserError
    """
    if source.file is None:
        return
    try:
        path = loading.package_file(model.name, state_source(source), source.file)
    except UserError:
        return
    head, where = gguf_heads.read_head(path), f"models.{model.name}"
    if head.architecture != model.architecture:
        raise UserError(
            f"{where}.architecture is {model.architecture}, and {path.name} is of the kind {head.kind}; write "
            f"architecture: {head.architecture}"
        )
    counted, stated = sum(head.sizes.values()), model.parameters
    assert stated is not None, "the schema asks for the parameters of what a package holds"
    # An output layer that is that of the embeddings may be stored twice.
    if all(checkpoints.sizes_differ(stated, n) for n in (counted, counted - head.sizes.get(gguf_heads.OUTPUT, 0))):
        raise UserError(f"{where}.parameters is {stated}, and {path.name} holds {counted}; write that number")


def keep_description(model: Model, kept: str | Path = KEPT) -> None:
    """Write what is known of a model once it is complete, for :func:`complete_model`."""
    facts = {key: value for key in READ_KEYS if (value := getattr(model, key)) is not None}
    assert model.source is not None, "what has no weights is never read"
    files.write_json(Path(kept) / f"{model.name}.json", {"source": state_source(model.source), "facts": facts})


def _add_facts(model: Model, described: dict) -> Model:
    stated = {key: value for key in STATED_KEYS if (value := getattr(model, key)) not in ("", None)}
    try:
        made = make_entry(described, stated)
    except UserError as error:
        raise UserError(f"models.{model.name}: {str(error).removeprefix('card: ')}") from error
    return _lay_under(model, {key: made[key] for key in READ_KEYS if key in made} | {"gated": described["gated"]})


def _lay_under(model: Model, facts: dict[str, Any]) -> Model:
    unsaid = {key: value for key, value in facts.items() if getattr(model, key) in ("", None)}
    return dataclasses.replace(model, **unsaid, gated=model.gated or facts["gated"])


def make_entry(described: dict, given: dict | None = None) -> dict:
    """Return the registry entry of a described checkpoint.

    Args:
        described: Of :func:`describe_folder` or :func:`describe_repository`.
        given: Some of :data:`OVERRIDES`.

    Returns:
        As ``config/schemas/models.schema.yaml`` has it.

    Raises:
        UserError: If the checkpoint predicts no words, or naming all facts that could not be found out and how to state
            them.
    """
    given = given or {}
    known = described | given
    called = _called(described["source"])
    if known["architecture"] is None:
        found = f"is a {described['classes'][0]}" if described["classes"] else "names no class in its config.json"
        raise UserError(
            f"{called} {found}, which no study can take: they want a model that predicts words, as save_pretrained "
            "writes it"
        )
    if described["own_code"] and "remote_code" not in given:
        raise UserError(
            f"{called} comes with custom code, which runs only if you allow it; read it and state remote_code=true, or "
            "remote_code=false to use transformers' own code, if that supports the architecture"
        )
    lacking = [name for name in ("parameters", "licence") if not known[name]]
    if lacking:
        why = f" ({described['unread']})" if described["unread"] else ""
        raise UserError(
            f"{called} does not say {', '.join(lacking)}{why}; state in the command or in the model's entry: "
            + " ".join(f"{name}=..." for name in lacking)
        )
    precision = given.get("precision") or precision_of(known["parameters"], described["dtype"])
    label = Path(called).name
    entry = {
        "label": label,
        "family": described["model_type"] or label,
        "size": size_text(known["parameters"]),
        "architecture": known["architecture"],
        "parameters": known["parameters"],
        "source": described["source"],
        "precision": precision,
        "gpus": gpus_of(known["parameters"], precision),
        "licence": str(known["licence"]),
        "gated": described["gated"],
        "demonstration": False,
        "studies": {},
    }
    if described["context"]:
        entry["context"] = described["context"]
    if known["architecture"] == "encoder-decoder":
        entry["labels"] = "span" if described["model_type"] in SPAN_TYPES else "text"
        entry["prompt_wrapping"] = "none"
    elif known["architecture"] == "decoder" and described["chat_template"]:
        entry["prompt_wrapping"] = "chat_template"
    return entry | given


def precision_of(parameters: float, dtype: str | None) -> str:
    """Return the precision in which a model is run.

    As in config/models.yaml float32 below six billion parameters, so that rounding decides no close call. Above, what
    the weights are stored in if that is half precision; otherwise bfloat16, whose range is that of float32.
    """
    if parameters < HALF_FROM:
        return "float32"
    return dtype if dtype in ("float16", "bfloat16") else "bfloat16"


def gpus_of(parameters: float, precision: str) -> int:
    """Return how many GPUs of 40 GB a model needs, 0 for a small one.

    Examples:
        >>> gpus_of(7e10, "float16"), gpus_of(7e9, "bfloat16"), gpus_of(1.3e8, "float32")
        (4, 1, 0)
    """
    if parameters < ON_CPU:
        return 0
    return math.ceil(GPU_SPARE * parameters * BYTES[precision] / GPU_BYTES)


def size_text(parameters: int) -> str:
    """Return a number of parameters in short.

    Examples:
        >>> size_text(134515008), size_text(6_738_415_616), size_text(36032)
        ('135M', '6.7B', '36K')
    """
    for unit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if parameters >= unit:
            value = parameters / unit
            return f"{value:.1f}".removesuffix(".0") + letter if value < 10 else f"{value:.0f}{letter}"
    return str(parameters)


def stated_facts(configured: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of :data:`OVERRIDES` that a command states, with their types checked.

    Raises:
        UserError: If one has another type.
    """
    words = {str: "text", int: "a whole number", bool: "true or false"}
    given = {name: configured[name] for name in OVERRIDES if name in configured}
    for name, value in given.items():
        if type(value) is not OVERRIDES[name]:
            raise UserError(f"{name}: '{value}' is not {words[OVERRIDES[name]]}; correct it")
    return given
