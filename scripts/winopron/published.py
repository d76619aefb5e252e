"""Every published number of WinoPron beside ours. Systems are read as the study's authors read them."""

from collections.abc import Mapping

import pandas as pd

from scripts.core import files
from scripts.core.data import options
from scripts.core.data.templates import CASES
from scripts.core.paper.published import find_demonstration_models, read_study, write_comparison
from scripts.core.workflow.job import run_named
from scripts.winopron import study
from scripts.winopron.estimates import coin_consistency
from scripts.winopron.study import EACH, ENTITIES, FORM, PUBLISHED, SETS, WINOGENDER, pick
from scripts.winopron.tables import CHANGED_VERB


def published_vs_ours(
    *,
    published: str,
    mapping: str,
    study_models: str,
    estimates: str,
    overlap: str,
    biased_occupations: str,
    named_occupations: str,
    counts: str,
    csv: str,
    tex: str,
    numbers: str,
    template_sets: list,
    every_set: list,
    models: dict,
    labels: dict,
    pronoun_sets: list,
) -> None:
    """Set every published number of WinoPron beside ours, on each template set, with a verdict.

    ``counts`` is the table of templates, ``named_occupations`` lists those of the study's Table 4 and ``labels`` are
    what tables call systems, by which the study's are known; demonstration models among ``models`` are left out, and so
    are all results if ``pronoun_sets`` are not the study's.
    """
    printed = read_study(published, mapping, study_models)
    known = dict(zip(printed.models.label, printed.models.model, strict=True))
    measured, overlaps, biased = (
        study.with_systems(study.read_table(path), labels).pipe(name_models, known)
        for path in (estimates, overlap, biased_occupations)
    )
    sizes, named = files.read_csv(counts), files.read_csv(named_occupations)
    systems = measured[measured.templates != WINOGENDER].model.unique()
    compared = {
        name: {
            "estimates.csv": comparable_estimates(measured, name),
            "overlap.csv": overlaps[(overlaps.templates == name) & (overlaps.reading == PUBLISHED)],
            "biased_occupations.csv": comparable_occupations(named, biased[biased.templates == name], systems),
            "tables/counts.csv": comparable_counts(sizes, name),
        }
        for name in template_sets
    }
    reason = options.other_choice(pronoun_sets, study.PRONOUN_SETS)
    write_comparison(
        "winopron",
        printed,
        compared,
        every_set,
        excluded=find_demonstration_models(models),
        obstacles=dict.fromkeys(("coreference", "prompting"), reason),
        inapplicable={"instances": reason},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


def name_models(table: pd.DataFrame, known: Mapping[str, str]) -> pd.DataFrame:
    """Return a table in which ``model`` is what the study's models are called, else what tables call a system."""
    names = {
        f"model{suffix}": table[f"system{suffix}"].astype(str)
        for suffix in ("", "_other")
        if f"system{suffix}" in table
    }
    return table.assign(**{column: of.map(known).fillna(of) for column, of in names.items()})


def comparable_estimates(estimates: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return the estimates of a template set and of Winogender Schemas, and the difference between their F1.

    Each system is there once, as its authors read it; prompts are taken together.

    Returns:
        With ``data`` (``WP``, ``WS``, or ``WP - WS``, which has no interval), and the consistencies of fair coins
        (``<metric>_chance``).
    """
    rows = study.as_published(estimates[(estimates.prompts != EACH) & (estimates.prompt == "")])
    ours = rows[rows.templates == templates].assign(data="WP")
    # The study's values on Winogender Schemas are over three pronoun sets.
    there = rows[(rows.templates == WINOGENDER) & (rows.pronoun_set == study.THREE_SETS)]
    there = there.assign(data="WS", pronoun_set="")
    one, other = (pick(of, metric="f1", entities="double").set_index("model").value for of in (ours, there))
    change = (one - other).dropna().rename("value").reset_index()
    sets = ours.pronoun_set[ours.pronoun_set != ""].nunique()
    coins = pd.Series(coin_consistency(sets)).rename("value").add_suffix("_chance").rename_axis("metric").reset_index()
    made = pd.concat([change.assign(data="WP - WS", metric="f1"), coins.assign(data="WP")])
    made = made.assign(entities="double", **dict.fromkeys(FORM, ""))
    return pd.concat([ours, there, made], ignore_index=True)


def comparable_occupations(named: pd.DataFrame, biased: pd.DataFrame, systems: list) -> pd.DataFrame:
    """Return how many of the occupations that Table 4 names for a form and a sign of bias each system has there too.

    Args:
        named: Occupations by ``case``, ``pronoun_set`` and ``polarity`` (paper/published/winopron_table4.csv).
    """
    cells = ["case", "pronoun_set", "bias"]
    named = named.rename(columns={"polarity": "bias"}).assign(case=named["case"].str.lower())
    there = study.as_published(biased)[["model", *cells, "occupation"]].drop_duplicates().assign(found=1)
    every = named.merge(pd.DataFrame({"model": systems}), how="cross")
    found = every.merge(there, how="left").fillna({"found": 0})
    return found.groupby(["model", *cells], sort=False).found.sum().reset_index()


def comparable_counts(counts: pd.DataFrame, templates: str) -> pd.DataFrame:
    """Return how many ``templates`` a set has by ``Case`` and ``data`` (``WP``, ``WS``), and their ``share`` of all."""
    columns = {f"{SETS[name]}: {ENTITIES['double']}": data for name, data in ((templates, "WP"), (WINOGENDER, "WS"))}
    rows = counts[["Case", *(name for name in columns if name in counts)]].rename(columns=columns)
    rows = rows.melt("Case", var_name="data", value_name="templates")
    whole = rows[rows.Case == "All"].set_index("data").templates
    rows = rows.assign(share=rows.templates / rows.data.map(whole))
    if {"WP", "WS"} <= set(whole.index):
        rows.loc[len(rows)] = {"Case": "All", "data": "WP - WS", "templates": whole["WP"] - whole["WS"]}
    return rows[rows.Case.isin([*(case.capitalize() for case in CASES), "All", "Sentences", CHANGED_VERB])]


if __name__ == "__main__":
    run_named()
