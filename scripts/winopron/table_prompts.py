"""List the prompts of the run (paper Table 7)."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.winopron.lib import prompts


def main(*, prompt_templates: str, tex: str, csv: str, chosen: str | list):
    """Write the prompts (LaTeX and CSV); ``\\\\n`` stands for a line break, as in the study."""
    read = prompts.read(prompt_templates, chosen)
    cells = pd.DataFrame(
        {"ID": list(read), "Prompt": [prompt["text"].replace("\n", "\\n") for prompt in read.values()]}
    )
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, [0.05, 0.9]))


if __name__ == "__main__":
    run(main)
