"""The authors' files: listed in config/upstream.tsv, taken from a mirror or from their repositories, always verified.

Each row pins a file by repository, commit and SHA-256 digest. A mirror is a folder that holds the files under the
names of the column ``path``. The kind ``directory`` stands for a folder of a repository, packed into an archive that
only a mirror has; the kind ``file`` can come from either.
"""

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data.templates import read_tsv
from scripts.core.errors import UserError, did_you_mean

COLUMNS = ("path", "kind", "repository", "commit", "source_path", "bytes", "sha256", "licence")
RAW = "https://raw.githubusercontent.com"
_REMEDY = "set upstream.mirror in config.yaml or PRONOUN_UPSTREAM_MIRROR to a folder that has it"


@dataclass(frozen=True)
class Entry:
    """One row of config/upstream.tsv; ``size`` in bytes."""

    path: str
    kind: str
    repository: str
    commit: str
    source_path: str
    size: int
    sha256: str
    licence: str

    def url(self, base: str = RAW) -> str:
        """Return where the network has the file: its raw content at the pinned commit."""
        owner_and_name = urllib.parse.urlsplit(self.repository).path.strip("/")
        return f"{base}/{owner_and_name}/{self.commit}/{urllib.parse.quote(self.source_path)}"


def read_manifest(path: str | Path) -> dict[str, Entry]:
    """Read config/upstream.tsv.

    Returns:
        By ``path``.

    Raises:
        UserError: If a kind is unknown, a size is not a number, or a path occurs twice or leaves the folder.
    """
    entries = {}
    for row, cells in read_tsv(path, COLUMNS):
        where = f"{path}, row {row}"
        if cells["kind"] not in ("file", "directory"):
            raise UserError(f"{where}: the kind '{cells['kind']}' is unknown; use file or directory")
        if not cells["bytes"].isdecimal():
            raise UserError(f"{where}: '{cells['bytes']}' is not a number of bytes; correct it")
        name = cells["path"]
        if not name or name.startswith("/") or ".." in Path(name).parts:
            raise UserError(f"{where}: the path '{name}' must be relative and stay in its folder; correct it")
        if name in entries:
            raise UserError(f"{where}: '{name}' is listed twice; remove one")
        entries[name] = Entry(size=int(cells.pop("bytes")), **cells)
    return entries


def fetch(
    entry: Entry,
    mirror: str | Path | None = None,
    base: str = RAW,
    timeout: float = 60,
    attempts: int = 3,
    pause: float = 2,
) -> bytes:
    """Return the content of one upstream file, verified.

    Args:
        mirror: A folder with the file; without it the file comes from the network.
        base: Address of the raw files.
        timeout: Seconds without an answer after which an attempt fails.
        attempts: How often to try; a file that is not there is not tried again.
        pause: Seconds before the second attempt; doubled for each later one.

    Raises:
        UserError: If the mirror lacks the file, the network is unreachable, or size or digest are not the recorded
            ones.
    """
    if mirror:
        source = Path(mirror) / entry.path
        try:
            content = source.read_bytes()
        except OSError as error:
            raise UserError(
                f"{source}: the mirror has no such file ({error.strerror}); correct upstream.mirror or "
                "PRONOUN_UPSTREAM_MIRROR, or unset them to fetch from the network"
            ) from error
    elif entry.kind == "directory":
        raise UserError(
            f"{entry.path}: a packed folder of {entry.repository}; a mirror offers it, the network does not; {_REMEDY}"
        )
    else:
        source = entry.url(base)
        content = _download(source, entry, timeout, attempts, pause)
    digest = hashlib.sha256(content).hexdigest()
    if len(content) != entry.size or digest != entry.sha256:
        what = f"{len(content)} bytes, sha256 {digest[:12]}…"
        expected = f"{entry.size} bytes, sha256 {entry.sha256[:12]}…"
        raise UserError(f"{source}: has {what} where config/upstream.tsv records {expected}; get an unchanged copy")
    return content


def _download(url: str, entry: Entry, timeout: float, attempts: int, pause: float) -> bytes:
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(url, timeout=timeout) as response:
                # One byte more than recorded is enough to see that the file is another one.
                content = response.read(entry.size + 1)
            if len(content) >= entry.size:
                return content
            reason = f"only {len(content)} of {entry.size} bytes arrived"
        except urllib.error.HTTPError as error:
            reason = f"the server answers {error.code} {error.reason}"
            if error.code < 500 and error.code != 429:
                break
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
    raise UserError(f"{url}: cannot be fetched ({reason}); check the network, or {_REMEDY}")


def fetch_to(
    path: str, manifest: str | Path, file: str | Path, mirror: str | Path | None = None, **options: Any
) -> Entry:
    """Fetch the file that the manifest lists as ``path`` and write it to ``file``, atomically.

    Args:
        manifest: config/upstream.tsv.
        mirror, **options: As for :func:`fetch`.

    Raises:
        UserError: As :func:`fetch`, and for a ``path`` that the manifest does not list (with the nearest one).
    """
    entries = read_manifest(manifest)
    if path not in entries:
        hint = did_you_mean(path, entries) or f"; it lists {', '.join(entries)}"
        raise UserError(f"{manifest}: lists no file '{path}'{hint}")
    content = fetch(entries[path], mirror, **options)
    with files.write_atomically(file) as temporary:
        temporary.write_bytes(content)
    return entries[path]
