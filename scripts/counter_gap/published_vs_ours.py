"""Set every published number of Counter-GAP beside ours, on each set of quadruples, with a verdict."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.published import read, write
from scripts.counter_gap.lib.analyses import comparable


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
    printed = read(published, mapping, study_models)
    sizes = files.read_csv(subset_sizes)
    tables = {
        name: {
            "analysis/metrics.csv": comparable.named(comparable.read(metrics, significance, name), printed.models),
            "analysis/subset_sizes.csv": sizes[sizes.data == name],
        }
        for name in template_sets
    }
    write("counter_gap", printed, tables, every_set, csv=csv, tex=tex, numbers=numbers)


if __name__ == "__main__":
    run(main)
