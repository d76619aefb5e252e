"""List the prompted models, how they were prompted and which weights they have."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables


def main(*, answers: list, tex: str, csv: str, models: dict):
    """Write the table from the metadata of ``answers``, one file for each of ``models``."""
    table = prompt_tables.prompted_models(models, [answers] if isinstance(answers, str) else answers)
    cells = prompt_tables.prompted_models_cells(table, models)
    write_table(tex, csv, cells, rows=table, align="lrll" + "X" * ("Thinking" in cells) + "rrrrl")


if __name__ == "__main__":
    run(main)
