"""Tabulate accuracies with examples in the prompt (Table 13)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.misgendered.lib import figures, tables


def main(*, accuracy_over_draws: str, accuracy: str, tex: str, csv: str, templates: str, models: dict):
    """Write the cells (LaTeX) and means with standard deviations over the draws of examples (CSV)."""
    summary = files.read_csv(accuracy_over_draws)
    kept = {"declaration_type", "declaration_number", "pronoun_type"}
    base = figures.pooled(figures.read(accuracy, ["shots"]), templates, kept)
    base = base[(base.declaration_type == "explicit") & (base.declaration_number == "5")]
    write_table(tex, csv, tables.few_shot(summary, base, models), left=2, rows=summary)


if __name__ == "__main__":
    run(main)
