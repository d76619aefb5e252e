"""Tabulate the task specification metric of the sentences about one occupation (paper Table 2)."""

from scripts.core.job import run
from scripts.core.paper import published
from scripts.underspecification.lib import tables
from scripts.underspecification.lib.readers import read_rows


def main(*, metric: str, printed: str, tex: str, csv: str):
    """Write the cells as printed (LaTeX and CSV); ``printed`` are the published numbers."""
    frame = tables.example(read_rows(metric, "metric"), published.read_published(printed))
    # The same in all rows.
    tables.write(tex, csv, frame, 5, hidden=["Occupation"])


if __name__ == "__main__":
    run(main)
