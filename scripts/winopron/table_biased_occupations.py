"""Tabulate the biased occupations of every pronoun form (paper Table 4)."""

from scripts.core.job import run
from scripts.winopron.lib import tables, tidy


def main(*, biased_occupations: str, bias: str, tex: str, csv: str, templates: str):
    """Write all occupations (CSV) and the first of each form (LaTeX)."""
    biased, forms = (table[table.templates == templates] for table in map(tidy.bias, (biased_occupations, bias)))
    cells = tables.biased_occupations(biased, forms)
    shown = tables.printed_occupations(cells)
    tables.write(tex, csv, cells, 5, ["System", "Pronoun set", "Case"], "No occupation is biased.", shown)


if __name__ == "__main__":
    run(main)
