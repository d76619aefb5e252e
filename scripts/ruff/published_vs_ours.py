"""Set every published number beside ours, on each template set, with a verdict."""

from pathlib import PurePath

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.core.paper import published as comparisons
from scripts.ruff.lib import study

WIDTHS = [0.27, 0.17, 0.11, 0.09, 0.07, 0.1, 0.1]
"""Columns of the typeset table, in parts of the text's width."""


def main(
    *,
    published: str,
    mapping: str,
    study_models: str,
    tables: list,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    pronoun_sets: list,
):
    """Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``tables`` are the analysis tables of each of ``template_sets``; the sets of ``every_set`` that were not run are
    listed as such. Demonstration models among ``models`` are left out.
    """
    prompted = any(PurePath(path).stem == "prompted_models" for path in tables)
    listed = comparisons.read_published(published)
    known = comparisons.read_models(study_models)
    found = comparisons.compare(
        listed,
        comparisons.read_mapping(mapping, listed, known),
        known,
        comparisons.read_tables(tables, template_sets),
        every_set,
        study.demonstration(models),
        {
            "likelihood": study.obstacle(pronoun_sets),
            "prompting": study.obstacle(pronoun_sets) if prompted else "not in this run: a prompted model",
        },
        {"instances": study.other_sets(pronoun_sets)},
    )
    files.write_csv(csv, found)
    files.write_text(tex, latex.long_table(comparisons.table_cells(found, "ruff"), WIDTHS))
    files.write_json(numbers, comparisons.counts(found, "published_vs_ours.csv"))


if __name__ == "__main__":
    run(main)
