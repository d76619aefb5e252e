"""Show what models read for one prompt, with what is put around it (paper Table 4)."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.tables import write_table
from scripts.ruff.lib import prompt_tables
from scripts.ruff.lib.prompts import read_prompts


def main(*, prompt_templates: str, sample: str, answers: list, tex: str, csv: str, models: dict, blank: str):
    """Write the table; metadata of ``answers``, one file for each of ``models``, say what was put around prompts."""
    paths = [answers] if isinstance(answers, str) else answers
    wrapped = {model: files.parquet_metadata(path)["wrapped"] for model, path in zip(models, paths, strict=True)}
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.examples_cells(prompts, files.read_parquet(sample), blank, models, wrapped)
    write_table(tex, csv, cells, align="lX", midrules=range(1, len(cells)))


if __name__ == "__main__":
    run(main)
