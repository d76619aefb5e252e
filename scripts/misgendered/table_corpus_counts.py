"""Tabulate how many documents of text corpora hold each pronoun (Table 11)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import tables


def main(*, corpus_counts: str, tex: str, csv: str, pronoun_sets: list):
    """Write the cells (LaTeX) and the counts of all forms (CSV)."""
    counts = files.read_csv(corpus_counts)
    write_table(tex, csv, tables.corpus_counts(counts, pronoun_sets), left=2, rows=counts)


if __name__ == "__main__":
    run(main)
