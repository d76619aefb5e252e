"""What a checkpoint says about itself, and the registry entry that follows from it; no weights are read.

A description is a dictionary that JSON can hold: ``source`` as in the registry, the revision resolved to a commit;
``classes``, ``model_type``, ``encoder_decoder``, ``own_code`` and ``dtype`` of ``config.json``; ``parameters`` and
``context`` of the configuration as loaded, or None where they could not be read, and ``unread``, why; ``licence``,
``gated``, ``chat_template``.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import yaml

from scripts.core import files
from scripts.core.data import checkpoints
from scripts.core.engines.registry import BYTES, PLANNED_KEYS
from scripts.core.errors import UserError

SMALL_FILES = ("config.json", "tokenizer_config.json", "chat_template.jinja", "README.md")
"""What is fetched of a checkpoint to describe it."""
READ_KEYS = (*PLANNED_KEYS, "context", "labels", "prompt_wrapping", "gated")
"""Keys of a registry entry that a checkpoint can say."""
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


def of_folder(folder: str | Path) -> dict:
    """Describe a checkpoint in a folder.

    Raises:
        UserError: If there is no ``config.json`` or it cannot be read.
    """
    path = Path(folder).expanduser()
    if not (path / "config.json").is_file():
        raise UserError(f"card: {folder} holds no config.json; name a folder that save_pretrained wrote")
    facts = {"source": {"path": str(folder)}, "licence": None, "gated": False}
    return _with_configuration(facts, path)


def of_hub(hub: str, revision: str | None = None, client: Any = None) -> dict[str, Any]:
    """Describe a checkpoint on the hub, of which only small files are fetched.

    Args:
        hub: ``owner/name``.
        revision: A commit, branch or tag; None: the newest commit.
        client: With ``model_info`` and ``hf_hub_download`` of ``huggingface_hub.HfApi``, which it is by default.

    Raises:
        UserError: If the hub cannot be reached, does not know the model or does not let this user in.
    """
    if client is None:
        import huggingface_hub

        client = huggingface_hub.HfApi()
    try:
        info = client.model_info(hub, revision=revision)
        present = {sibling.rfilename for sibling in info.siblings or ()}
        paths = [Path(client.hf_hub_download(hub, name, revision=info.sha)) for name in SMALL_FILES if name in present]
    except (AttributeError, NameError, TypeError):
        # No failure of a network, but another client than this code was written for.
        raise
    except Exception as error:  # the client's failures share no base class
        raise UserError(_refusal(hub, revision, error)) from error
    if "config.json" not in present:
        raise UserError(f"card: {hub} holds no config.json; name a checkpoint of transformers")
    facts = {
        "source": {"hub": hub, "revision": info.sha},
        "licence": _licence(getattr(info, "card_data", None)),
        "gated": bool(info.gated),
    }
    folder = next(path.parent for path in paths if path.name == "config.json")
    return _with_configuration(facts, folder)


def _refusal(hub: str, revision: str | None, error: Exception):
    kind = type(error).__name__
    if kind == "GatedRepoError":
        return (
            f"card: access to {hub} is gated; ask for it at https://huggingface.co/{hub} and log in with: hf auth login"
        )
    if kind == "RepositoryNotFoundError":
        return f"card: {hub} is not on the hub, or not open to you; correct the id, or log in with: hf auth login"
    if kind == "RevisionNotFoundError":
        return f"card: {hub} has no revision {revision}; correct what stands behind the @"
    return f"card: the hub cannot be reached ({kind}); name the folder of a checkpoint, or try again with a network"


def _with_configuration(facts: dict[str, Any], folder: Path):
    """Return ``facts`` with what the small files in a folder say."""
    configuration = checkpoints.read_keys(folder / "config.json")
    tokenizer_file = folder / "tokenizer_config.json"
    tokenizer = checkpoints.read_keys(tokenizer_file) if tokenizer_file.is_file() else {}
    described = facts | {
        "classes": list(configuration.get("architectures") or []),
        "model_type": configuration.get("model_type"),
        "encoder_decoder": bool(configuration.get("is_encoder_decoder")),
        "own_code": bool(configuration.get("auto_map")),
        "dtype": _dtype(configuration.get("dtype") or configuration.get("torch_dtype")),
        "licence": facts["licence"] or _front_matter(folder / "README.md").get("license"),
        "chat_template": bool(tokenizer.get("chat_template")) or (folder / "chat_template.jinja").is_file(),
        "parameters": None,
        "context": None,
        "unread": None,
    }
    architecture = checkpoints.architecture_of(described["classes"], described["encoder_decoder"])
    if architecture:
        try:
            # Torch takes seconds, and every start of Snakemake imports this module.
            from scripts.core.engines import contexts

            described["parameters"], described["context"] = contexts.measure_checkpoint(
                facts["source"], architecture, folder
            )
        except UserError as error:
            described["unread"] = str(error)
    return described


def _front_matter(path: Path):
    """Return the keys at the head of a README, or nothing if there are none that can be read."""
    if not path.is_file():
        return {}
    match = re.match(r"---\s*\n(.*?)\n---\s*(\n|$)", path.read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    try:
        read = yaml.safe_load(match[1]) if match else {}
    except yaml.YAMLError:
        return {}
    return read if isinstance(read, dict) else {}


def _licence(card: Any):
    """Return the licence of a model card of the hub, by its name where it has one of its own."""
    if card is None:
        return None
    licence = card.get("license")
    return card.get("license_name") or licence if licence == "other" else licence


def _dtype(name: str | None):
    """Return the precision that a configuration or a header names, as the registry calls it, or None."""
    short = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
    name = str(name or "").removeprefix("torch.").lower()
    return short.get(name, name) if short.get(name, name) in BYTES else None


def check_entry(name: str, entry: dict[str, Any], folder: str | Path) -> None:
    """Refuse a registry entry whose architecture or parameters are others than those of the checkpoint in a folder.

    The heads of its weights are read. Only where they say something else is the model built, which takes seconds.

    Raises:
        UserError: As :func:`scripts.core.engines.contexts.check`.
    """
    checkpoints.check_architecture(name, entry, folder)
    counted = checkpoints.count_parameters(Path(folder))
    if counted is None or checkpoints.sizes_differ(entry["parameters"], counted):
        # Torch takes seconds, and every start of Snakemake imports this module.
        from scripts.core.engines import contexts

        contexts.check(name, {key: value for key, value in entry.items() if key != "context"}, folder)


def complete_entry(name: str, entry: dict[str, Any], kept: str | Path = KEPT) -> dict[str, Any]:
    """Return a registry entry with what it leaves out read from its checkpoint, which must not contradict the rest.

    The Hub is asked once. A folder is read each time; where it is away, what :func:`keep` wrote stands for it, so that
    a finished run can be audited.

    Args:
        name, entry: The model in the registry.
        kept: Folder of the run.

    Raises:
        UserError: If the checkpoint is not there, says too little, or contradicts the entry.
    """
    source, known = entry.get("source", {}), Path(kept) / f"{name}.json"
    lacking = [key for key in PLANNED_KEYS if key not in entry]
    folder = Path(source["path"]).expanduser() if "path" in source else None
    if folder and (folder / "config.json").is_file():
        entry = _add_facts(name, of_folder(folder), entry) if lacking else entry
        check_entry(name, entry, folder)
        return entry
    if (folder or lacking) and known.is_file():
        found = json.loads(known.read_text(encoding="utf-8"))
        if found["source"] == source:
            return _lay_over(found["facts"], entry)
    if folder:
        raise UserError(f"models.{name}.source.path: {folder} holds no config.json; name the folder of a checkpoint")
    if not lacking:
        return entry
    try:
        described = of_hub(source["hub"], source["revision"])
    except UserError as error:
        said = str(error).removeprefix("card: ")
        raise UserError(f"models.{name} lacks {', '.join(lacking)}: {said}; or add these keys to its entry") from error
    completed = _add_facts(name, described, entry)
    keep(name, completed, kept)
    return completed


def keep(name: str, entry: dict[str, Any], kept: str | Path = KEPT) -> None:
    """Write what a model's entry says once it is complete, for :func:`complete_entry`."""
    facts = {key: entry[key] for key in READ_KEYS if key in entry}
    files.write_json(Path(kept) / f"{name}.json", {"source": entry["source"], "facts": facts})


def _add_facts(name: str, described: dict, entry: dict[str, Any]) -> dict[str, Any]:
    try:
        made = entry_of(described, entry)
    except UserError as error:
        raise UserError(f"models.{name}: {str(error).removeprefix('card: ')}") from error
    return _lay_over({key: made[key] for key in READ_KEYS if key in made}, entry)


def _lay_over(facts: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    return facts | entry | {"gated": entry["gated"] or facts["gated"]}


def entry_of(described: dict, given: dict | None = None) -> dict:
    """Return the registry entry of a described checkpoint.

    Args:
        described: Of :func:`of_folder` or :func:`of_hub`.
        given: Some of :data:`OVERRIDES`.

    Returns:
        As ``config/schemas/models.schema.yaml`` has it.

    Raises:
        UserError: If the checkpoint predicts no words, or naming all facts that could not be found out and how to state
            them.
    """
    given = given or {}
    called = described["source"].get("hub") or described["source"]["path"]
    architecture = given.get("architecture") or checkpoints.architecture_of(
        described["classes"], described["encoder_decoder"]
    )
    if architecture is None:
        found = f"is a {described['classes'][0]}" if described["classes"] else "names no class in its config.json"
        raise UserError(
            f"card: {called} {found}, which no study can take: they want a model that predicts words, as "
            "save_pretrained writes it"
        )
    if described["own_code"] and "remote_code" not in given:
        raise UserError(
            f"card: {called} comes with custom code, which runs only if you allow it; read it and state "
            "remote_code=true, or remote_code=false to use transformers' own code, if that supports the architecture"
        )
    facts = {
        "parameters": given.get("parameters") or described["parameters"],
        "licence": given.get("licence") or described["licence"],
    }
    lacking = [name for name, value in facts.items() if not value]
    if lacking:
        why = f" ({described['unread']})" if described["unread"] else ""
        raise UserError(
            f"card: {called} does not say {', '.join(lacking)}{why}; state with --config or in the model's entry: "
            + " ".join(f"{name}=..." for name in lacking)
        )
    parameters = facts["parameters"]
    precision = given.get("precision") or precision_of(parameters, described["dtype"])
    entry = {
        "label": given.get("label") or label_of(described["source"]),
        "family": described["model_type"] or label_of(described["source"]),
        "size": size_text(parameters),
        "architecture": architecture,
        "parameters": parameters,
        "source": described["source"],
        "precision": precision,
        "gpus": given["gpus"] if "gpus" in given else gpus_of(parameters, precision),
        "licence": str(facts["licence"]),
        "gated": described["gated"],
        "demonstration": False,
        "studies": {},
    }
    if described["context"]:
        entry["context"] = described["context"]
    if given.get("remote_code"):
        entry["remote_code"] = True
    if architecture == "encoder-decoder":
        entry["labels"] = "span" if described["model_type"] in SPAN_TYPES else "text"
        entry["prompt_wrapping"] = "none"
    elif architecture == "decoder" and described["chat_template"]:
        entry["prompt_wrapping"] = "chat_template"
    return entry


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


def label_of(source: dict[str, Any]) -> str:
    """Return what figures call a checkpoint: the last part of its id or folder."""
    last = source["hub"].rpartition("/")[2] if "hub" in source else Path(source["path"]).expanduser().resolve().name
    return last.replace(": ", " ")


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


def name_of(label: str) -> str:
    """Return a name that the registry takes, made from a label.

    Examples:
        >>> name_of("SmolLM2-135M_Instruct")
        'smollm2-135m-instruct'
    """
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.") or "model"


def stated_facts(configured: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of :data:`OVERRIDES` that a configuration states, with their types checked.

    Raises:
        UserError: If one has another type.
    """
    given = {}
    for name, kind in OVERRIDES.items():
        if name in configured:
            value = configured[name]
            if type(value) is not kind:
                words = {str: "text", int: "a whole number", bool: "true or false"}
                raise UserError(f"{name}: '{value}' is not {words[kind]}; correct it")
            given[name] = value
    return given
