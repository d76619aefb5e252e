"""Where the weights of coreference systems are: in a folder, on the hub, trained here, or a package's with a delta."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data import checkpoints
from scripts.core.engines import models
from scripts.core.errors import UserError


@dataclass(frozen=True)
class Files:
    """What a system is loaded from.

    Attributes:
        checkpoint: A folder, a ``.pt`` file of Stanza's, or a delta.
        encoder: The transformer's folder, where the checkpoint does not bring it.
        revision: The commit of the hub, or the package with its version.
        weights_sha256: One digest of all that is read.
    """

    checkpoint: Path
    encoder: Path | None
    revision: str | None
    weights_sha256: str


def locate(
    name: str,
    entry: dict,
    delta: str | None = None,
    fetched: str | None = None,
    trained: str | None = None,
) -> Files:
    """Return what a system is loaded from.

    Args:
        name, entry: Of the registry.
        delta: The file with the delta.
        fetched: A file of :func:`fetch`: its commits are taken.
        trained: The folder that the rule ``train_coreference`` wrote.

    Raises:
        UserError: If a folder does not hold a checkpoint, or as :func:`scripts.core.engines.models.locate`.
    """
    source = entry["source"]
    commits = json.loads(Path(fetched).read_text(encoding="utf-8")) if fetched else {}
    encoder, revision = None, None
    if "delta" in source:
        assert delta is not None, "the rule has it as an input"
        checkpoint = Path(delta)
        encoder = models.package_file(name, source, source["folder"])
        revision = f"{source['package']}=={source['version']}"
    elif "path" in source:
        checkpoint = _in_folder(name, entry["architecture"], source["path"])
    elif "trained" in source:
        assert trained is not None, "the rule has it as an input"
        checkpoint = Path(trained)
    else:
        commit = source | commits.get("source", {})
        checkpoint = _on_hub(name, commit, entry)
        revision = commit["revision"] or _snapshot(checkpoint)
    if "encoder" in entry:
        part = entry["encoder"] | commits.get("encoder", {})
        encoder = Path(part["path"]).expanduser() if "path" in part else _on_hub(name, part, entry)
        if not (encoder / "config.json").is_file():
            raise UserError(f"system {name}: {encoder} holds no config.json; correct encoder in config/models.yaml")
    # Of a folder of this machine everything counts, of the hub's what loading may read.
    read = [Path(source["path"]).expanduser() if "path" in source else checkpoint]
    if encoder is not None and not encoder.is_relative_to(read[0]):
        read.append(encoder)
    return Files(checkpoint, encoder, revision, _digest(read, whole=bool({"path", "trained"} & set(source))))


def fetch(name: str, entry: dict[str, Any]) -> dict[str, dict]:
    """Fetch what a system needs from the hub into the local cache.

    Returns:
        For ``source`` and ``encoder``, where they are the hub's: hub id, the commit it was resolved to, and the file.
    """
    commits = {}
    for part in ("source", "encoder"):
        wanted = entry.get(part, {})
        if "hub" in wanted:
            place = _on_hub(name, wanted, entry)
            commits[part] = wanted | {"revision": wanted["revision"] or _snapshot(place)}
    return commits


def _in_folder(name: str, architecture: str, path: str) -> Path:
    folder = Path(path).expanduser()
    where = f"config/models.yaml: system {name}: {path}"
    if architecture == "caw":
        found = sorted(folder.glob("*.pt"))
        if len(found) != 1:
            raise UserError(f"{where} holds {len(found)} .pt files, not one; correct source.path")
        return found[0]
    if not checkpoints.has_weights(folder):
        raise UserError(f"{where} holds no weights ({' or '.join(checkpoints.WEIGHT_FILES)}); correct source.path")
    return folder


def _on_hub(name: str, commit: dict[str, Any], entry: dict[str, Any]) -> Path:
    """Return a repository's snapshot or a file of it, from the local cache where a commit is named and it is there."""
    import huggingface_hub

    hub, revision, gated = commit["hub"], commit["revision"], entry["gated"]
    if "file" in commit:
        try:
            return Path(huggingface_hub.hf_hub_download(hub, commit["file"], revision=revision))
        except Exception as error:  # the hub client's failures share no base class
            pin = f" --revision {revision}" if revision else ""
            raise UserError(
                f"system {name}: {commit['file']} of {hub} is neither on the hub nor in the local cache "
                f"({type(error).__name__}); on a machine with network run: hf download {hub} {commit['file']}{pin}"
            ) from error
    if revision:
        try:
            return Path(huggingface_hub.snapshot_download(hub, revision=revision, local_files_only=True))
        # Another machine fetched it, and this one does not share its cache.
        except Exception:
            pass
    return models.locate(name, {"source": {"hub": hub, "revision": revision}, "gated": gated}).folder


def _snapshot(path: Path) -> str:
    """Return the commit in the name of a file or folder of the hub's cache."""
    parts = Path(path).parts
    return parts[len(parts) - parts[::-1].index("snapshots")]


def _digest(paths: Sequence[Path], whole: bool) -> str:
    """Return one digest of files and folders; of a folder all that is in it, or only what loading may read."""
    digests = [files.sha256(path) if whole or path.is_file() else checkpoints.digest(path) for path in paths]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
