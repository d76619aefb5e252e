"""Put the results of all sources, released and run, into one table for each method."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run


def main(*, slopes: list, rates: list, method1_slopes: str, specification_detection: str):
    """Write ``method1_slopes`` and ``specification_detection`` (CSV) from the tables of all sources."""
    for tables, path in ((slopes, method1_slopes), (rates, specification_detection)):
        files.write_csv(path, pd.concat(map(files.read_csv, tables), ignore_index=True))


if __name__ == "__main__":
    run(main)
