"""Set every published number of WinoPron beside ours, on each template set, with a verdict."""

from scripts.core import files
from scripts.core.job import run
from scripts.core.paper.published import demonstration, read, write
from scripts.winopron.lib import comparable, study, tidy


def main(
    *,
    published: str,
    mapping: str,
    study_models: str,
    metrics: str,
    overlap: str,
    counts: str,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    pronoun_sets: list,
):
    """Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    Systems are read as the study's authors read them. ``counts`` is the table of templates; demonstration models among
    ``models`` are left out, and so are all results if ``pronoun_sets`` are not the study's.
    """
    printed = read(published, mapping, study_models)
    measured, overlaps, sizes = (tidy.metrics(metrics), files.read_csv(overlap), files.read_csv(counts))
    tables = {
        name: {
            "analysis/metrics.csv": comparable.metrics(measured, name, printed.models),
            "analysis/overlap.csv": comparable.overlaps(overlaps, name),
            "tables/counts.csv": comparable.counts(sizes, name),
        }
        for name in template_sets
    }
    reason = study.obstacle(pronoun_sets)
    write(
        "winopron",
        printed,
        tables,
        every_set,
        excluded=demonstration(models),
        obstacles=dict.fromkeys(("coreference", "prompting"), reason),
        inapplicable={"instances": reason},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


if __name__ == "__main__":
    run(main)
