"""Set every published number of MISGENDERED beside ours, on each template set, with a verdict."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.published import demonstration, read, read_tables, write
from scripts.misgendered.lib import study


def main(
    *,
    published: str,
    mapping: str,
    study_models: str,
    accuracy: str,
    corpus_counts: str,
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

    ``accuracy`` has the accuracies on all of ``template_sets`` and ``corpus_counts`` what was counted in corpora;
    ``tables`` are tables of each of the sets. Those of ``every_set`` that were not run are listed so. Demonstration
    models among ``models`` are left out.
    """
    printed = read(published, mapping, study_models)
    by_set = read_tables(tables, template_sets)
    everything = files.read_csv(accuracy, dtype={"declaration_number": str})
    counts = files.read_csv(corpus_counts)
    for name in template_sets:
        by_set[name]["analysis/accuracy.csv"] = everything[everything.templates == name]
        by_set[name]["analysis/corpus_counts.csv"] = counts
    write(
        "misgendered",
        printed,
        by_set,
        every_set,
        excluded=demonstration(models),
        obstacles={"likelihood": study.obstacle(pronoun_sets)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


if __name__ == "__main__":
    run(main)
