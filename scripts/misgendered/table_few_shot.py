"""Tabulate accuracies with examples in the prompt (Table 13)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables


def main(*, accuracy_over_draws: str, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and means with standard deviations over the draws of examples (CSV).

    Without examples both have the declaration that examples use, from ``accuracy``.
    """
    summary = files.read_csv(accuracy_over_draws)
    frame = figures.by_examples(figures.read(accuracy, ["shots"]), summary, templates)
    write_table(tex, csv, tables.few_shot(frame, models), left=2, rows=frame)


if __name__ == "__main__":
    run(main)
