"""What the paper takes from the greetings: numbers of the text, the section, rows of the summary."""

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.paper import sections
from scripts.core.workflow.job import run_named


def paper_numbers(*, choices: str, paper_numbers: str):
    """Write ``sentences``, how many a model has read (JSON)."""
    n = int(files.read_csv(choices).n.iloc[0])
    entry = {"value": n, "text": str(n), "source": "choices.csv", "cell": {"column": "n"}}
    files.write_json(paper_numbers, {"sentences": entry})


def section(
    *,
    section_template: str,
    numbers: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_tex: str,
    template_sets: list,
):
    """Write ``section_tex``; ``numbers`` has one file for each of ``template_sets``, in that order."""
    common = sections.context("greetings", template_sets, numbers, figures, tables, comparison_numbers, section_tex)
    sections.write(section_tex, section_template, common)


def summary(*, choices: list, summary: str, template_sets: list):
    """Write ``summary`` (CSV) from one table of ``choices`` for each of ``template_sets``."""
    rows = [
        {
            "part": name,
            "model": row.model,
            "kind": estimate_rows.MODEL,
            "scoring": estimate_rows.PROBABILITY,
            "metric": "share of sentences",
            "pronoun": row.pronoun,
            "value": row.chosen / row.n,
            "n": row.n,
            "n_unit": "instances",
            "label": row.model,
            "headline": row.pronoun == "they",
        }
        for name, path in zip(template_sets, choices, strict=True)
        for row in files.read_csv(path).rename(columns={"count": "chosen"}).itertuples()
    ]
    estimate_rows.write(summary, "greetings", rows)


if __name__ == "__main__":
    run_named()
