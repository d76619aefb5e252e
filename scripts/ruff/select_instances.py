"""Select the RUFF instances that are scored: the context-free ones and a balanced part of every sample.

:mod:`scripts.ruff.lib.selection` says which rows of a sample these are. The file is sorted by text, so that instances
that begin alike are neighbours and share computations (:mod:`scripts.core.engines.prefix_tree`), across samples and
numbers of distractors. The column ``priority`` says which rows of each sample come first: a model with a smaller sample
than others scores those whose priority is below its size, so that all models share them.
"""

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.job import run
from scripts.ruff.lib.selection import priorities


def main(*, context_free: str, samples: list, sizes: list, selected: str):
    """Write the selected instances.

    Parameters
    ----------
    context_free : str
        The context-free instances.
    samples : list of str
        One file for each seed and number of distractor sentences.
    sizes : list of int
        Rows that models score of each sample; the largest is taken, or the whole sample if it has no more.
    selected : str
        The Parquet file to write.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if min(sizes) < 1:
        raise UserError(f"ruff.sample_size is {min(sizes)}; use at least 1")
    free = files.read_arrow(context_free)
    tables = [free.append_column("priority", pa.nulls(len(free), pa.int32()))]
    for path in samples:
        sample = files.read_arrow(path)
        places = priorities(sample.drop_columns(["text", "options", "distractor_indices"]).to_pandas(), sizes)
        sample = sample.append_column("priority", pa.array(places, pa.int32()))
        tables.append(sample.filter(pa.array(places < max(sizes))))
    metadata = {**files.parquet_metadata(context_free), "sample_size": max(sizes), "samples": len(samples)}
    table = pa.concat_tables([t.replace_schema_metadata(None) for t in tables])
    # Stable: equal texts of several samples keep the samples' order.
    files.write_parquet(selected, table.take(pc.sort_indices(table["text"])), metadata)


if __name__ == "__main__":
    run(main)
