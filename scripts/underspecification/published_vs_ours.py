"""Set every published number beside ours, from each source: the releases and the run."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.core.paper import published as comparisons
from scripts.underspecification.lib import study

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
    sources: list,
    every_source: list,
    models: dict,
):
    """Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``tables`` are the analysis tables of each of ``sources``; those of ``every_source`` that are not in the run are
    listed as such. Demonstration models among the run's ``models`` are left out.
    """
    listed = comparisons.read_published(published)
    known = comparisons.read_models(study_models)
    names = {study.run_label(row.label, "mask"): row.model for row in known.itertuples()}
    read = comparisons.read_tables(tables, sources)
    for frame in (frame for own in read.values() for frame in own.values() if "model" in frame):
        # Our tables have labels; what the study does not print has no name in the registry and keeps its label.
        frame["model"] = frame.model.map(names).fillna(frame.model)
    found = comparisons.compare(
        listed,
        comparisons.read_mapping(mapping, listed, known),
        known,
        read,
        every_source,
        {name for name, facts in models.items() if facts["demonstration"]},
    )
    files.write_csv(csv, found)
    cells = comparisons.table_cells(found, "underspec").rename(columns={"Templates": "Source"})
    files.write_text(tex, latex.long_table(cells, WIDTHS))
    files.write_json(numbers, comparisons.counts(found, "published_vs_ours.csv"))


if __name__ == "__main__":
    run(main)
