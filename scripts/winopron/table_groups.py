"""Show sentences that have to be resolved rightly together, with whom the pronoun means (paper Figures 2 and 4)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.winopron.lib import tables


def main(*, instances: str, tex: str, csv: str):
    """Write the groups of one pair of people (LaTeX and CSV)."""
    cells = tables.groups(files.read_parquet(instances))
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, [0.2, 0.6, 0.15]))


if __name__ == "__main__":
    run(main)
