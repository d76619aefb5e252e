"""Read one release of the authors' raw probabilities: Winogender, the simplified set, and MGC."""

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.underspecification.lib.analyses import released


def main(*, winogender: str, simplified: str, mgc: str, masses: str, release: str):
    """Write ``masses`` (Parquet) of a ``release`` from its three archives."""
    frames = []
    for name, path in (("winogender", winogender), ("simplified", simplified), ("mgc", mgc)):
        frames.append(released.read(path, release, name))
        log.info("%s: %d probabilities of %d models", path, len(frames[-1]), frames[-1].model.nunique())
    files.write_parquet(masses, pd.concat(frames, ignore_index=True), {"origins": {"row": "{text_id}"}})


if __name__ == "__main__":
    run(main)
