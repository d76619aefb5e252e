"""Put the results of all sources, released and run, into one table for each method, and count printed cells."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import published
from scripts.underspecification.lib import study
from scripts.underspecification.lib.analyses import agreement


def main(
    *,
    slopes: list,
    rates: list,
    metric: list,
    orders: list,
    printed: str,
    specification_detection: str,
    method1_slopes: str,
    cell_agreement: str,
    sources: list,
):
    """Write the three tables (CSV) from those of each of ``sources``; runs have no printed cells to agree with."""
    files.write_csv(method1_slopes, pd.concat(map(files.read_csv, slopes), ignore_index=True))
    tables = [files.read_csv(path) for path in rates]
    files.write_csv(specification_detection, pd.concat(tables, ignore_index=True))
    listed = published.read_published(printed)
    rows = []
    for source, table, metric_file, order_file in zip(sources, tables, metric, orders, strict=True):
        if source != study.RUN:
            found = agreement.counts(files.read_csv(metric_file), table, files.read_csv(order_file), listed)
            rows.append(found.assign(release=source))
    columns = ["release", "table", "dates", "variant", "cells", "agree", "close", "largest_difference"]
    files.write_csv(cell_agreement, pd.concat([pd.DataFrame(columns=columns), *rows], ignore_index=True)[columns])


if __name__ == "__main__":
    run(main)
