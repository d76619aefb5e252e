"""Set every published number of Counter-GAP beside ours, on each set of quadruples, with a verdict."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.core.paper import published as comparisons
from scripts.counter_gap.lib.analyses import comparable

WIDTHS = [0.27, 0.17, 0.11, 0.09, 0.07, 0.1, 0.1]
"""Columns of the typeset table, in parts of the text's width."""


def main(
    *,
    published: str,
    mapping: str,
    study_models: str,
    metrics: str,
    significance: str,
    subset_sizes: str,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
):
    """Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON)."""
    listed = comparisons.read_published(published)
    known = comparisons.read_models(study_models)
    sizes = files.read_csv(subset_sizes)
    read = {
        name: {
            "analysis/metrics.csv": comparable.named(comparable.read(metrics, significance, name), known),
            "analysis/subset_sizes.csv": sizes[sizes.data == name],
        }
        for name in template_sets
    }
    found = comparisons.compare(listed, comparisons.read_mapping(mapping, listed, known), known, read, every_set)
    files.write_csv(csv, found)
    files.write_text(tex, latex.long_table(comparisons.table_cells(found, "counter_gap"), WIDTHS))
    files.write_json(numbers, comparisons.counts(found, "published_vs_ours.csv"))


if __name__ == "__main__":
    run(main)
