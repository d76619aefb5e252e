"""Count the instances of every setting: possible, sampled and scored (paper Table 1)."""

import re

import pyarrow.parquet as pq

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import tables


def main(
    *,
    context_free: str,
    full_set_sizes: str,
    samples: list,
    selected: str,
    tex: str,
    csv: str,
    models: dict,
    scored: dict,
):
    """Count rows in the files themselves; ``samples`` are named by their settings.

    Full sets are not made for this: ``full_set_sizes`` says how many rows they have. ``scored`` says how many instances
    of each sample every one of ``models`` scores.
    """
    sampled = {}
    for path in samples:
        n = int(re.search(r"distractors(\d+)\.parquet$", path).group(1))
        sampled.setdefault(n, []).append(pq.read_metadata(path).num_rows)
    sizes = files.read_parquet(full_set_sizes, columns=["n_distractors", "instances"])
    table = tables.instance_counts(
        pq.read_metadata(context_free).num_rows,
        dict(zip(sizes.n_distractors, sizes.instances, strict=True)),
        sampled,
        files.read_parquet(selected, columns=["n_distractors", "priority"]),
        scored.values(),
    )
    files.write_csv(csv, table)
    cells = tables.instance_counts_cells(table, scored, models)
    files.write_text(tex, latex.latex_table(cells, align="l" + "r" * (len(cells.columns) - 1)))


if __name__ == "__main__":
    run(main)
