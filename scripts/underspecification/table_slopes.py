"""Tabulate slopes and correlations of Method 1 (the numbers behind Figures 3 and 6 to 8)."""

from scripts.core.job import run
from scripts.underspecification.lib import tables
from scripts.underspecification.lib.readers import read_rows


def main(*, slopes: str, tex: str, csv: str):
    """Write the cells as printed (LaTeX and CSV); full precision and intervals are in ``slopes``."""
    cells = tables.slopes(read_rows(slopes, "slopes"))
    tables.write(tex, csv, cells, 2, rows=tables.over_prompts(cells))


if __name__ == "__main__":
    run(main)
