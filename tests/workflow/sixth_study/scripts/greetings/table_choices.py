"""Tabulate how often each pronoun set is preferred."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex


def main(*, choices: str, tex: str, csv: str):
    """Write the table (LaTeX and CSV)."""
    frame = files.read_csv(choices)
    files.write_csv(csv, frame)
    files.write_text(tex, latex.latex_table(frame))


if __name__ == "__main__":
    run(main)
