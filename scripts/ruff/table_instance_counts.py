"""Count the instances of every setting: made, sampled and scored (paper Table 1)."""

import re

import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import tables


def main(*, context_free: str, full: list, samples: list, selected: str, tex: str, csv: str):
    """Count rows in the files themselves: ``full`` and ``samples`` are Parquet files named by their settings."""
    distractors = re.compile(r"distractors(\d+)\.parquet$")

    def size(path):
        return int(distractors.search(path).group(1)), pq.read_metadata(path).num_rows

    sampled = {}
    for path in samples:
        n, count = size(path)
        sampled.setdefault(n, []).append(count)
    table = tables.instance_counts(
        pq.read_metadata(context_free).num_rows,
        dict(map(size, full)),
        sampled,
        files.read_parquet(selected, columns=["n_distractors"]),
    )
    files.write_csv(csv, table)
    files.write_text(tex, latex.latex_table(tables.instance_counts_cells(table), align="lrrr"))


if __name__ == "__main__":
    run(main)
