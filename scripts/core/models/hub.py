"""Repositories on the Hub: fetch the files that a job reads, and find them again where there is no network.

A machine with network fetches. What it fetched is a mapping that JSON can hold: ``hub`` (``owner/name``), ``revision``
(the commit), ``files``. Jobs look these files up in the local cache and never ask the Hub.
"""

import contextlib
import errno
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from scripts.core.errors import UserError
from scripts.core.models import checkpoints

UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)
TOKENIZER_FILES = re.compile(
    r"(tokenizer.*\.json|vocab\.(json|txt|bpe)|.*\.(model|tiktoken)|tokenizer.*\.py|tokenization.*\.py)"
)


def fetch_repository(
    what: str, source: dict[str, Any], needs: Collection[str] = ("weights", "tokenizer")
) -> dict[str, Any]:
    """Fetch what a job reads of a repository into the local cache; nothing where it is there already.

    Args:
        what: Who needs it, for messages: ``model NAME``.
        source: ``hub``, ``revision`` (None: the newest commit) and, where one file is all that is wanted, ``file``.
        needs: What the repository must have: ``weights``, ``tokenizer``, or an ``adapter`` and nothing else.

    Raises:
        UserError: If the Hub does not give the files, they cannot be stored, or some are missing.
    """
    import huggingface_hub
    from filelock import FileLock
    from huggingface_hub import constants

    repository = source["hub"]
    lock = Path(constants.HF_HUB_CACHE) / ".locks" / f"pronouns--{repository.replace('/', '--')}.lock"
    with explained_failures(repository, source.get("revision"), f"{what}: "):
        lock.parent.mkdir(parents=True, exist_ok=True)
        # Jobs that want the same repository take turns, so it is fetched once.
        with FileLock(lock):
            commit, members, _ = list_members(repository, source.get("revision"))

            def read(name: str) -> str:
                path = huggingface_hub.hf_hub_download(repository, name, revision=commit)
                return Path(path).read_text(encoding="utf-8")

            if "file" in source:
                files = [source["file"]]
            elif "adapter" in needs:
                files = checkpoints.select_adapter(members)
            else:
                files = checkpoints.select_files(members, read, "weights" in needs)
            _refuse_incomplete(what, source, members, files, needs)
            huggingface_hub.snapshot_download(
                repository, revision=commit, allow_patterns=[re.sub(r"([*?[])", r"[\1]", name) for name in files]
            )
    return source | {"revision": commit, "files": files}


def find_snapshot(what: str, fetched: dict[str, Any], record: str | Path | None = None) -> Path:
    """Return the folder of what :func:`fetch_repository` returned in the local cache, without asking the Hub.

    Args:
        what: As for :func:`fetch_repository`.
        fetched: As :func:`fetch_repository` returned it.
        record: The file that it was stored in, for the message.

    Raises:
        UserError: If a file is not in the cache of this machine.
    """
    import huggingface_hub
    from huggingface_hub import constants

    for name in fetched["files"]:
        if not isinstance(
            huggingface_hub.try_to_load_from_cache(fetched["hub"], name, revision=fetched["revision"]), str
        ):
            again = f"; if it was removed, delete {record} and run the workflow again" if record else ""
            raise UserError(
                f"{what}: {name} of {fetched['hub']} was fetched, and is not in this machine's cache, "
                f"{constants.HF_HUB_CACHE}: let HF_HOME name a folder that all machines of the run share{again}"
            )
    folder = constants.HF_HUB_CACHE, f"models--{fetched['hub'].replace('/', '--')}", "snapshots", fetched["revision"]
    return Path(*folder)


def list_members(repository: str, revision: str | None) -> tuple[str, set[str], bool]:
    """Return a repository's commit, the names of its files, and whether it is gated.

    If the Hub does not answer, those in the cache, which does not say who may fetch them.
    """
    import huggingface_hub

    try:
        info = huggingface_hub.HfApi().model_info(repository, revision=revision)
        return str(info.sha), {sibling.rfilename for sibling in info.siblings or ()}, bool(info.gated)
    except Exception as error:
        cache = Path(huggingface_hub.constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}"
        reference = cache / "refs" / (revision or "main")
        snapshots = [path.name for path in cache.glob("snapshots/*")]
        if reference.is_file():
            commit = reference.read_text(encoding="utf-8")
        else:
            commit = snapshots[0] if revision is None and len(snapshots) == 1 else revision
        if _status(error) in (401, 403, 404) or commit not in snapshots:
            raise
        snapshot = cache / "snapshots" / str(commit)
        names = {path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*") if path.is_file()}
        return snapshot.name, names, False


def _refuse_incomplete(
    what: str, source: dict[str, Any], members: set[str], files: list[str], needs: Collection[str]
) -> None:
    repository = source["hub"]
    missing = [name for name in files if name not in members]
    if missing:
        raise UserError(f"{what}: {repository} has no {missing[0]}; correct its entry in config/models.yaml")
    if "file" in source:
        return
    if "adapter" in needs and not files:
        raise UserError(f"{what}: {repository} has no {checkpoints.ADAPTER} with weights; correct adapter.hub")
    if "weights" in needs and not set(files) & checkpoints.HEADS:
        if checkpoints.ADAPTER in members:
            raise UserError(
                f"{what}: {repository} is {checkpoints.adapter_remedy('this', '{hub: ..., revision: ...}')}"
            )
        stored = sorted(name for name in members if name.endswith((".safetensors", ".bin")))
        found = f" (only {stored[0]})" if stored else ""
        raise UserError(
            f"{what}: {repository} has neither {' nor '.join(checkpoints.WEIGHTS)}{found}; name a repository with the "
            "weights of a whole model"
        )
    if "tokenizer" in needs and not any(TOKENIZER_FILES.fullmatch(Path(name).name) for name in files):
        raise UserError(
            f"{what}: {repository} has no tokenizer; add the one that it was trained with to config/models.yaml: "
            "tokenizer: {hub: owner/name, revision: COMMIT}"
        )


@contextlib.contextmanager
def explained_failures(repository: str, revision: str | None, head: str = "") -> Iterator[None]:
    """Turn failures of the Hub's client into a UserError that begins with ``head``."""
    try:
        yield
    except (UserError, AttributeError, NameError, TypeError):
        # No failure of a network, but a refusal, or another client than this code was written for.
        raise
    except Exception as error:  # the client's failures share no base class
        raise UserError(f"{head}{explain_failure(repository, revision, error)}") from error


def explain_failure(repository: str, revision: str | None, error: Exception) -> str:
    """Return why the Hub's client failed, and what to do."""
    from huggingface_hub import constants, errors

    causes = list(_causes(error))
    full = next((cause for cause in causes if getattr(cause, "errno", None) in (errno.ENOSPC, errno.EDQUOT)), None)
    if full:
        return f"the disk of {constants.HF_HUB_CACHE} is full; free space, or let HF_HOME name another folder"
    if any(getattr(cause, "errno", None) in UNWRITABLE for cause in causes):
        return f"{constants.HF_HUB_CACHE} cannot be written to; let HF_HOME name a folder of yours"
    if any(isinstance(cause, errors.GatedRepoError) for cause in causes):
        return (
            f"access to {repository} is gated; ask for it at https://huggingface.co/{repository} and log in with: "
            "hf auth login"
        )
    if any(isinstance(cause, errors.RevisionNotFoundError) for cause in causes):
        return f"{repository} has no revision {revision}; correct it where the model is named"
    status = _status(error)
    unknown = any(isinstance(cause, errors.RepositoryNotFoundError) for cause in causes)
    if status == 404 or (status == 401 and unknown):
        return (
            f"{repository} is not on the Hub, or not open to you; correct it where the model is named, or log in with: "
            "hf auth login"
        )
    if status in (401, 403):
        return f"the Hub refuses the access token of this machine ({status}); log in again with: hf auth login"
    if status == 429:
        return "the Hub takes no more requests for now (429); log in with hf auth login, or try again later"
    if status is not None:
        return f"the Hub fails ({status}); try again later"
    pin = f" --revision {revision}" if revision else ""
    return (
        f"the Hub cannot be reached and {repository} is not in the local cache ({type(causes[-1]).__name__}); on a "
        f"machine with network run: hf download {repository}{pin}"
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _status(error: Exception) -> int | None:
    """Return the HTTP status that an error rests on, or None if no server answered."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        if response is not None:
            return response.status_code
    return None


def read_record(path: str | Path) -> dict[str, dict[str, Any]]:
    """Return what was fetched for a model or a system, by part: ``source``, ``tokenizer``, ``encoder``."""
    return json.loads(Path(path).read_text(encoding="utf-8"))
