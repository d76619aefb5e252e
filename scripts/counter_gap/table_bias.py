"""Tabulate both measures of bias on all sets of quadruples (paper Tables 2, 3 and 6)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, significance: str, tex: str, csv: str, template_sets: list):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    of_sets = {name: tables.read(metrics, significance, name) for name in template_sets}
    tables.write_sets(tex, csv, tables.bias(of_sets))


if __name__ == "__main__":
    run(main)
