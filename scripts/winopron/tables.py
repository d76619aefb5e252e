"""The tables of WinoPron, each by the function of its rule."""

import pandas as pd

from scripts.core import files
from scripts.core.job import run_named
from scripts.core.paper import latex
from scripts.core.paper.tables import write_table
from scripts.winopron.lib import prompts, tables, tidy


def table_biased_occupations(*, biased_occupations: str, bias: str, tex: str, csv: str, templates: str):
    """Tabulate the biased occupations of every pronoun form (paper Table 4).

    Write all occupations (CSV) and the first of each form (LaTeX).
    """
    biased, forms = (table[table.templates == templates] for table in map(tidy.bias, (biased_occupations, bias)))
    cells = tables.biased_occupations(biased, forms)
    shown = tables.printed_occupations(cells)
    tables.write(tex, csv, cells, 5, ["System", "Pronoun set", "Case"], "No occupation is biased.", shown)


def table_consistency(*, metrics: str, tex: str, csv: str, templates: str):
    """Tabulate both consistencies beside chance (paper Table 3).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.consistency(tables.of_set(tidy.metrics(metrics), templates))
    tables.write(tex, csv, cells, 3, ["System"], "No system was run.", cells[cells.Reading == "corrected"])


def table_counts(*, instances: list, tex: str, csv: str, sets: list):
    """Tabulate templates by case and the sentences that they make (paper Table 1).

    Write the counts (LaTeX and CSV) of all ``sets``, each with a file of ``instances``.
    """
    read = [files.read_parquet(path) for path in instances]
    keys = [(names["templates"], names["entities"]) for names in sets]
    cells = tables.counts(dict(zip(keys, read, strict=True)))
    write_table(tex, csv, cells, 1)


def table_f1(*, metrics: str, tex: str, csv: str, templates: str):
    """Tabulate F1 by case and by pronoun set (paper Table 8).

    Write the cells of all systems (CSV) and of all but rules (LaTeX); full precision is in ``metrics``.
    """
    cells = tables.split(tables.of_set(tidy.metrics(metrics), templates), "f1")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


def table_overlap_cases(*, overlap: str, tex: str, csv: str, templates: str):
    """Tabulate how alike the biased occupations of two cases are (paper Table 6), beside chance.

    Write the cells as printed (LaTeX and CSV); full precision is in ``overlap``.
    """
    rows = files.read_csv(overlap)
    cells = tables.overlaps(rows[rows.templates == templates], "cases")
    tables.write(tex, csv, cells, 4, ["System", "Case", "Pronoun set"], "No system has biased occupations.")


def table_overlap_systems(*, overlap: str, tex: str, csv: str, templates: str):
    """Tabulate how alike the biased occupations of two systems are (paper Table 5), beside chance.

    Write the cells as printed (LaTeX and CSV); full precision is in ``overlap``.
    """
    rows = files.read_csv(overlap)
    cells = tables.overlaps(rows[rows.templates == templates], "systems")
    tables.write(tex, csv, cells, 4, ["System", "Case", "Pronoun set"], "No system has biased occupations.")


def table_performance(*, metrics: str, tex: str, csv: str, templates: str):
    """Tabulate F1 beside that on Winogender Schemas (paper Table 2).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.performance(tidy.metrics(metrics), templates)
    tables.write(tex, csv, cells, 2, ["System"], "No system was run.")


def table_precision(*, metrics: str, tex: str, csv: str, templates: str):
    """Tabulate precision by case and by pronoun set (paper Table 9).

    Write the cells of all systems (CSV) and of all but rules (LaTeX); full precision is in ``metrics``.
    """
    cells = tables.split(tables.of_set(tidy.metrics(metrics), templates), "precision")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


def table_prompts(*, prompt_templates: str, tex: str, csv: str, chosen: str | list):
    """List the prompts of the run (paper Table 7).

    Write the prompts (LaTeX and CSV); ``\\\\n`` stands for a line break, as in the study.
    """
    read = prompts.read(prompt_templates, chosen)
    cells = pd.DataFrame(
        {"ID": list(read), "Prompt": [prompt["text"].replace("\n", "\\n") for prompt in read.values()]}
    )
    files.write_csv(csv, cells)
    files.write_text(tex, latex.wrapped_table(cells, [0.05, 0.9]))


def table_readings(*, metrics: str, tex: str, csv: str, templates: str):
    """Tabulate what the corrected reading of a system's outputs changes (not in the paper).

    Write the cells as printed (LaTeX and CSV); full precision is in ``metrics``.
    """
    cells = tables.readings(tables.of_set(tidy.metrics(metrics), templates))
    tables.write(tex, csv, cells, 2, ["System", "Sentences"], "No system of this run is read in two ways.")


def table_recall(*, metrics: str, tex: str, csv: str, templates: str):
    """Tabulate recall by case and by pronoun set (paper Table 10).

    Write the cells of all systems (CSV) and of all but rules (LaTeX); full precision is in ``metrics``.
    """
    cells = tables.split(tables.of_set(tidy.metrics(metrics), templates), "recall")
    tables.write(tex, csv, cells, 2, ["Sentences", "Split"], "No system was run.", tables.printed_split(cells))


def table_variance(*, variance: str, tex: str, csv: str, templates: str):
    """Tabulate how far accuracy spreads over templates and over ways of asking (not in the paper).

    Write the cells as printed (LaTeX and CSV); full precision is in ``variance``.
    """
    rows = tidy.variance(variance)
    cells = tables.variance(rows[rows.templates == templates])
    tables.write(tex, csv, cells, 2, ["System", "Sentences"], "No system is asked in several ways.")


def table_women_share(*, women_share: str, tex: str, csv: str, templates: str):
    """Tabulate how each system's bias agrees with the share of women in an occupation.

    Write all correlations of ``templates`` and of Winogender Schemas (CSV) and those of she (LaTeX).

    ``women_share`` has the agreement of each system's bias with the share of women (CSV).
    """
    cells = tables.women_share(tidy.women_share(women_share), templates)
    shown = tables.printed_women_share(cells)
    keep = ["System", "Templates"]
    tables.write(tex, csv, cells, 5, keep, "No system's bias can be set beside the share of women.", shown)


if __name__ == "__main__":
    run_named()
