"""List the prompted models, how they were prompted and which weights they have."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables


def main(*, answers: list, tex: str, csv: str, models: dict):
    """Write the table from the metadata of ``answers``, one file for each of ``models``."""
    table = prompt_tables.prompted_models(models, [answers] if isinstance(answers, str) else answers)
    write_table(tex, csv, prompt_tables.prompted_models_cells(table, models), rows=table, align="lrllrrrrl")


if __name__ == "__main__":
    run(main)
