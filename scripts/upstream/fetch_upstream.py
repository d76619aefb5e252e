"""Fetch one of the authors' files, from a mirror or from its repository at the pinned commit, and verify it."""

import logging
import os

from scripts.core.data import upstream
from scripts.core.workflow.job import run

log = logging.getLogger("pronouns")


def main(*, manifest: str, path: str, file: str, mirror: str | None = None):
    """Write the verified file.

    Args:
        manifest: config/upstream.tsv.
        path: The file's name in the manifest.
        file: Where to write it.
        mirror: A folder that holds the files under their names in the manifest. By default the environment variable
            PRONOUN_UPSTREAM_MIRROR names it; without either the file comes from the network. Where a verified file came
            from makes no difference, so the workflow does not rerun a job for it.
    """
    mirror = mirror or os.environ.get("PRONOUN_UPSTREAM_MIRROR")
    entry = upstream.fetch_to(path, manifest, file, mirror)
    # Logs travel with the results; the folder is a matter of this machine.
    source = "the mirror" if mirror else entry.url()
    log.info("%s: %d bytes, sha256 %s, licence %s, from %s", path, entry.size, entry.sha256, entry.licence, source)


if __name__ == "__main__":
    run(main)
