"""Tabulate accuracies of prompted models and what their outputs come to."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables


def main(*, prompted_summary: str, tex: str, csv: str, models: dict):
    """Write means over prompts with their SD (LaTeX) and the same for each kind of prompt (CSV)."""
    frame = files.read_csv(prompted_summary)
    write_table(tex, csv, prompt_tables.prompting_cells(frame, models), 3, rows=frame)


if __name__ == "__main__":
    run(main)
