"""Tabulate inconsistencies by gender, and originals against counterfactuals, on all sets (paper Tables 3 and 4)."""

from scripts.core.job import run
from scripts.counter_gap.lib import tables


def main(*, metrics: str, significance: str, tex: str, csv: str, template_sets: list):
    """Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``."""
    of_sets = {name: tables.read(metrics, significance, name) for name in template_sets}
    tables.write_sets(tex, csv, tables.by_gender(of_sets))


if __name__ == "__main__":
    run(main)
