"""Show excerpts of the text corpora (Table 12)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.misgendered.lib import tables


def main(*, excerpts: str, tex: str, csv: str):
    """Write those of nominative forms as a table (LaTeX) and all of them (CSV)."""
    rows = files.read_csv(excerpts)
    files.write_csv(csv, rows)
    files.write_text(tex, latex.wrapped_table(tables.excerpts(rows), tables.EXCERPT_WIDTHS))


if __name__ == "__main__":
    run(main)
