"""Select the RUFF instances that are scored: the context-free ones and a balanced part of every sample.

:mod:`scripts.ruff.lib.selection` says which rows of a sample these are. The file is sorted by text, so that instances
that begin alike are neighbours and share computations (:mod:`scripts.core.engines.prefix_tree`), across samples and
numbers of distractors.
"""

import numpy as np

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.job import run
from scripts.ruff.lib.selection import balanced


def main(*, context_free: str, samples: list, sample_size: int, selected: str):
    """Write the selected instances.

    Parameters
    ----------
    context_free : str
        The context-free instances.
    samples : list of str
        One file for each seed and number of distractor sentences.
    sample_size : int
        Rows to take from each sample; the whole sample if it has no more.
    selected : str
        The Parquet file to write.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if sample_size < 1:
        raise UserError(f"ruff.sample_size is {sample_size}; use at least 1")
    tables = [files.read_arrow(context_free)]
    for path in samples:
        sample = files.read_arrow(path)
        rows = balanced(sample.drop_columns(["text", "options", "distractor_indices"]).to_pandas(), sample_size)
        tables.append(sample.take(np.sort(rows)))
    metadata = {**files.parquet_metadata(context_free), "sample_size": sample_size, "samples": len(samples)}
    table = pa.concat_tables([t.replace_schema_metadata(None) for t in tables])
    # Stable: equal texts of several samples keep the samples' order.
    files.write_parquet(selected, table.take(pc.sort_indices(table["text"])), metadata)


if __name__ == "__main__":
    run(main)
