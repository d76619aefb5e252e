"""Put the counts and the excerpts of all corpora of a run into one table each (Tables 11 and 12 of the paper)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib import corpora


def main(*, counted: list, excerpted: list, corpus_counts: str, excerpts: str):
    """Write both tables.

    Parameters
    ----------
    counted, excerpted : list of str
        Counts and excerpts of each corpus.
    corpus_counts, excerpts : str
        The CSV files to write; without a corpus they have no rows.
    """
    for paths, columns, target in (
        (counted, corpora.COLUMNS, corpus_counts),
        (excerpted, corpora.EXCERPT_COLUMNS, excerpts),
    ):
        frames = [frame for frame in map(files.read_csv, paths) if len(frame)]
        joined = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
        files.write_csv(target, joined[list(columns)])


if __name__ == "__main__":
    run(main)
