"""Every published number of MISGENDERED beside ours."""

import pandas as pd

from scripts.core import files
from scripts.core.data import options
from scripts.core.paper.published import demonstration, read, read_tables, write
from scripts.core.workflow.job import run_named
from scripts.misgendered import study


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, estimates: str, corpus_counts: str, sizes: str, tables: list,
    csv: str, tex: str, numbers: str, template_sets: list, every_set: list, models: dict, pronoun_sets: list,
) -> None:  # fmt: skip
    """Set every published number of MISGENDERED beside ours, on each template set, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``estimates`` and ``sizes`` are of all of ``template_sets``, ``corpus_counts`` what was counted in corpora;
    ``tables`` are tables of each of the sets. Those of ``every_set`` that were not run are listed so. Demonstration
    models among ``models`` are left out.
    """
    printed = read(published, mapping, study_models)
    by_set = read_tables(tables, template_sets)
    measured = comparable_estimates(study.read_table(estimates), list(printed.models.model))
    counts, of_sets = files.read_csv(corpus_counts), files.read_csv(sizes)
    for name, compared in by_set.items():
        compared["estimates.csv"] = measured[measured.templates == name]
        compared["sizes.csv"] = of_sets[of_sets.templates == name]
        compared["corpus_counts.csv"] = counts
    write(
        "misgendered",
        printed,
        by_set,
        every_set,
        excluded=demonstration(models),
        obstacles={"likelihood": options.other_choice(pronoun_sets, study.PRONOUN_GROUPS)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


def comparable_estimates(estimates: pd.DataFrame, study_models: list[str]) -> pd.DataFrame:
    """Return the estimates over all names and draws of examples.

    ``model`` is ``study`` for the mean over all of its models; ``declaration_number`` is how many forms are declared.
    """
    rows = estimates[(estimates["name"] == "") & (estimates.draw == "")]
    return rows.assign(
        model=rows.model.replace("|".join(study_models), "study"), declaration_number=rows.declaration_number.str[:1]
    )


if __name__ == "__main__":
    run_named()
