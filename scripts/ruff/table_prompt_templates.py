"""List the prompt templates (paper Table 3)."""

from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables, prompt_texts


def main(*, prompt_templates: str, tex: str, csv: str, kinds: list):
    """Write the templates of ``kinds``, line breaks as line breaks."""
    prompts = prompt_texts.read_prompts(prompt_templates)
    cells = prompt_tables.templates_cells({k: v for k, v in prompts.items() if v["kind"] in kinds})
    write_table(tex, csv, cells, align="llX", midrules=range(1, len(cells)))


if __name__ == "__main__":
    run(main)
