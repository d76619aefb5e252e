"""List the prompt templates (paper Table 3)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables
from scripts.ruff.lib.prompts import read_prompts


def main(*, prompt_templates: str, tex: str, csv: str, kinds: list):
    """Write the templates of ``kinds``, line breaks as line breaks."""
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.templates_cells({k: v for k, v in prompts.items() if v["kind"] in kinds})
    write_table(tex, csv, cells, align="llX", midrules=range(1, len(cells)))


if __name__ == "__main__":
    run(main)
