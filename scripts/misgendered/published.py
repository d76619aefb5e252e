"""Every published number of MISGENDERED beside ours."""

import pandas as pd

from scripts.core import files
from scripts.core.data import options
from scripts.core.paper.published import find_demonstration_models, read_study, write_comparison
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.corpora import SUM


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, estimates: str, corpus_counts: str, sizes: str, declared: str,
    asked: str, csv: str, tex: str, numbers: str, template_sets: list, every_set: list, models: dict,
    pronoun_sets: list,
) -> None:  # fmt: skip
    """Compare every published number of MISGENDERED with ours, on each template set.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON). ``declared``
    and ``asked`` are the tables of declarations and models. Demonstration models among ``models`` are left out.
    """
    printed = read_study(published, mapping, study_models)
    measured = comparable_estimates(study.read_table(estimates), list(printed.models.model))
    counts, of_sets = files.read_csv(corpus_counts), files.read_csv(sizes)
    common = {
        "corpus_counts.csv": pd.concat([counts, ratio_of_documents(counts)]),
        "tables/{templates}/declarations.csv": files.read_csv(declared),
        "tables/{templates}/models.csv": files.read_csv(asked),
    }
    by_set = {}
    for name in template_sets:
        rows = measured[measured.templates == name]
        by_set[name] = common | {
            "estimates.csv": pd.concat([rows, ratios_of_accuracies(rows)]),
            "sizes.csv": of_sets[of_sets.templates == name],
        }
    write_comparison(
        "misgendered",
        printed,
        by_set,
        every_set,
        excluded=find_demonstration_models(models),
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


def ratios_of_accuracies(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios that the study prints of accuracies over all of its models (sections 1, 4.1 and 4.2).

    In rows of a template set the factor that is compared names both levels, the numerator first.
    """
    rows = rows[(rows.model == "study") & (rows.shots == "0")]
    compared = [
        ("name_class", "male", "female", study.estimates_by(rows, "group", "name_class", group="he")),
        ("name_class", "female", "male", study.estimates_by(rows, "group", "name_class", group="she")),
        ("pronoun_type", "neutral", "binary", study.estimates_by(rows, "pronoun_type")),
    ]
    found = []
    for factor, first, second, of_levels in compared:
        values = of_levels.set_index(factor).value
        if {first, second} <= set(values.index):
            ratio = {factor: f"{first} over {second}", "value": values[first] / values[second]}
            found.append(of_levels.iloc[0].to_dict() | ratio | {"low": None, "high": None})
    return pd.DataFrame(found, columns=rows.columns)


def ratio_of_documents(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how many times as many documents *he* has in each corpus as *xe*, over forms (section 1)."""
    sums = counts[(counts.quantity == SUM) & counts.group.isin(["he", "xe"])]
    wide = sums.pivot(index="corpus", columns="group", values="count").reindex(columns=["he", "xe"])
    ratio = (wide.he / wide.xe).rename("count").reset_index()
    return ratio.assign(quantity=SUM, group="he over xe").dropna()


if __name__ == "__main__":
    run_named()
