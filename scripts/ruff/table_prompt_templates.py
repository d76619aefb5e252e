"""List the prompt templates (paper Table 3)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import prompt_tables
from scripts.ruff.lib.prompts import read_prompts


def main(*, prompt_templates: str, tex: str, csv: str, kinds: list):
    """Write the templates of ``kinds``, line breaks as line breaks."""
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.templates_cells({k: v for k, v in prompts.items() if v["kind"] in kinds})
    files.write_csv(csv, cells)
    files.write_text(tex, prompt_tables.typeset(cells, "llX"))


if __name__ == "__main__":
    run(main)
