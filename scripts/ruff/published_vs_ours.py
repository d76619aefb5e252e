"""Set every published number beside ours, on each template set, with a verdict."""

from pathlib import PurePath

from scripts.core.job import run
from scripts.core.paper.published import demonstration, read, read_tables, write
from scripts.ruff.lib import study


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
    write(
        "ruff",
        read(published, mapping, study_models),
        read_tables(tables, template_sets),
        every_set,
        excluded=demonstration(models),
        obstacles={
            "likelihood": study.obstacle(pronoun_sets),
            "prompting": study.obstacle(pronoun_sets) if prompted else "not in this run: a prompted model",
        },
        inapplicable={"instances": study.other_sets(pronoun_sets)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


if __name__ == "__main__":
    run(main)
