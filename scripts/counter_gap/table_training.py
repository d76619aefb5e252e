"""Tabulate how the coreference systems of the study are trained (paper Table 8)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, listed: dict, tex: str, csv: str):
    """Write the settings as LaTeX and CSV; ``listed`` is that of :func:`scripts.counter_gap.lib.tables.training`."""
    tables.write(tex, csv, tables.training(listed), 1)


if __name__ == "__main__":
    run(main)
