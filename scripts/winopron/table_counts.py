"""Tabulate templates by case and the sentences that they make (paper Table 1)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.winopron.lib import tables


def main(*, instances: list, tex: str, csv: str, sets: list):
    """Write the counts (LaTeX and CSV) of all ``sets``, each with a file of ``instances``."""
    read = [files.read_parquet(path) for path in instances]
    keys = [(names["templates"], names["entities"]) for names in sets]
    cells = tables.counts(dict(zip(keys, read, strict=True)))
    write_table(tex, csv, cells, 1)


if __name__ == "__main__":
    run(main)
