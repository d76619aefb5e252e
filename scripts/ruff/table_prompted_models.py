"""List the prompted models, how they were prompted and which weights they have."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.ruff.lib import prompt_tables


def main(*, answers: list, tex: str, csv: str, models: dict):
    """Write the table from the metadata of ``answers``, one file for each of ``models``."""
    table = prompt_tables.prompted_models(models, [answers] if isinstance(answers, str) else answers)
    files.write_csv(csv, table)
    cells = prompt_tables.prompted_models_cells(table, models)
    files.write_text(tex, latex.latex_table(cells, align="lrllrrrrl"))


if __name__ == "__main__":
    run(main)
