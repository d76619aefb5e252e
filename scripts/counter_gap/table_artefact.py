"""Tabulate results with and without the quadruples that the released conversion spoilt."""

from scripts.core import files
from scripts.core.job import log, run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, significance: str, subset_sizes: str, tex: str, csv: str, templates: str):
    """Write the cells as printed (LaTeX and CSV); ``subset_sizes`` goes to the log."""
    sizes = files.read_csv(subset_sizes)
    for row in sizes[(sizes.data == templates) & sizes.subset.str.startswith("all")].itertuples():
        log.info("%s: %d quadruples", row.subset, row.quadruples)
    tables.write(tex, csv, tables.artefact(tables.read(metrics, significance, templates), templates), 3)


if __name__ == "__main__":
    run(main)
