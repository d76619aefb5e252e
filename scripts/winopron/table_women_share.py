"""Tabulate how each system's bias agrees with the share of women in an occupation."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, women_share: str, tex: str, csv: str, templates: str):
    """Write all correlations of ``templates`` and of Winogender Schemas (CSV) and those of she (LaTeX).

    ``women_share`` has the agreement of each system's bias with the share of women (CSV).
    """
    cells = tables.women_share(tidy.women_share(women_share), templates)
    shown = tables.printed_women_share(cells)
    keep = ["System", "Templates"]
    tables.write(tex, csv, cells, 5, keep, "No system's bias can be set beside the share of women.", shown)


if __name__ == "__main__":
    run(main)
