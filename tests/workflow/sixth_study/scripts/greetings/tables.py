"""The tables of the greetings, each by the function of its rule."""

from scripts.core import files
from scripts.core.paper import latex
from scripts.core.workflow.job import run_named


def table_choices(*, choices: str, tex: str, csv: str):
    """Tabulate how often each pronoun set is preferred (LaTeX and CSV)."""
    frame = files.read_csv(choices)
    files.write_csv(csv, frame)
    files.write_text(tex, latex.latex_table(frame))


if __name__ == "__main__":
    run_named()
