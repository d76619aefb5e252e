"""Where the weights of coreference systems are: in a folder, on the hub, trained here, or a package's with a delta."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.models import checkpoints, hub, loading
from scripts.core.models.entries import Folder, Package, ResolvedSystem, Trained, state_source


@dataclass(frozen=True)
class SystemFiles:
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


def locate_system(
    name: str,
    wanted: ResolvedSystem,
    delta: str | None = None,
    fetched: str | None = None,
    trained: str | None = None,
) -> SystemFiles:
    """Return what a system is loaded from.

    Args:
        name: Of the registry.
        wanted: What its entry says.
        delta: The file with the delta.
        fetched: A file with what :func:`scripts.core.models.loading.fetch_places` returned: the Hub is not asked.
        trained: The folder that the rule ``train_coreference`` wrote.

    Raises:
        UserError: If a folder does not hold a checkpoint, or as :func:`scripts.core.models.loading.locate_model`.
    """
    source = wanted.source
    commits = hub.read_record(fetched) if fetched else loading.fetch_places(f"system {name}", wanted)
    folders = {part: hub.find_snapshot(f"system {name}", commit, fetched) for part, commit in commits.items()}
    encoder, revision = folders.get("encoder"), None
    if isinstance(source, Package):
        assert delta is not None and source.folder is not None, "the rule has it as an input"
        checkpoint = Path(delta)
        encoder = loading.package_file(name, state_source(source), source.folder)
        revision = f"{source.package}=={source.version}"
    elif isinstance(source, Folder):
        checkpoint = _in_folder(name, wanted.architecture, source.path)
    elif isinstance(source, Trained):
        assert trained is not None, "the rule has it as an input"
        checkpoint = Path(trained)
    else:
        checkpoint = folders["source"] / (source.file or "")
        revision = commits["source"]["revision"]
    if isinstance(wanted.encoder, Folder):
        encoder = Path(wanted.encoder.path).expanduser()
        if not (encoder / "config.json").is_file():
            raise UserError(f"system {name}: {encoder} holds no config.json; correct encoder in config/models.yaml")
    # Of a folder of this machine everything counts, of the hub's what loading may read.
    read = [Path(source.path).expanduser() if isinstance(source, Folder) else checkpoint]
    if encoder is not None and not encoder.is_relative_to(read[0]):
        read.append(encoder)
    return SystemFiles(checkpoint, encoder, revision, _digest(read, whole=isinstance(source, Folder | Trained)))


def _in_folder(name: str, architecture: str, path: str) -> Path:
    folder = Path(path).expanduser()
    where = f"config/models.yaml: system {name}: {path}"
    if architecture == "caw":
        found = sorted(folder.glob("*.pt"))
        if len(found) != 1:
            raise UserError(f"{where} holds {len(found)} .pt files, not one; correct source.path")
        return found[0]
    if not checkpoints.has_weights(folder):
        raise UserError(f"{where} holds no weights ({' or '.join(checkpoints.WEIGHTS)}); correct source.path")
    return folder


def _digest(paths: Sequence[Path], whole: bool) -> str:
    """Return one digest of files and folders; of a folder all that is in it, or only what loading may read."""
    digests = [files.sha256(path) if whole or path.is_file() else checkpoints.digest_checkpoint(path) for path in paths]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
