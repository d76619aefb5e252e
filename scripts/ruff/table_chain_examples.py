"""Show both steps of prompting with a chain of thought (paper Table 5)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables
from scripts.ruff.lib.prompts import read_chains, read_prompts, select_chains


def main(*, prompt_templates: str, chain_templates: str, sample: str, tex: str, csv: str, methods: list, blank: str):
    """Write the table for ``methods``."""
    chains = select_chains(read_chains(chain_templates), methods, chain_templates)
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.chain_cells(prompts, chains, files.read_parquet(sample), blank)
    write_table(tex, csv, cells, align="llX", midrules=range(1, len(cells)))


if __name__ == "__main__":
    run(main)
