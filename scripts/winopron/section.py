"""WinoPron in the paper: its section with the numbers of its text, and its rows of the summary."""

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import HEURISTIC, PROMPTED
from scripts.core.data.templates import CASES
from scripts.core.paper import sections
from scripts.core.paper.formats import FEWEST, format_percent
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.numbers import make_count, make_entry, of_settings
from scripts.core.workflow.job import run_named
from scripts.winopron import study
from scripts.winopron.estimates import coin_consistency, coin_share
from scripts.winopron.study import CORRECTED, FACTORS, IDENTITY, TOGETHER, pick

TITLES = {"replica": "replica templates", "official": "official templates"}
"""The sets of templates as the text calls them; the last one of a run is that of its figures."""
MOST_PAIRS = 2
"""Up to this many pairs of systems have their overlap typeset: each has twelve rows."""
SUMMARISED = {
    "accuracy": "accuracy",
    "pronoun_consistency": "pronoun consistency",
    "disambiguation_consistency": "disambiguation consistency",
}
"""Metrics of the summary to what it calls them; the first is the headline."""
SOURCE = "estimates.csv"


def section(
    *,
    section_templates: list,
    estimates: str,
    overlap: str,
    instances: list,
    figures: list,
    tables: list,
    comparison_numbers: list,
    section_files: list,
    paper_numbers: list,
    template_sets: list,
    winogender: bool,
    models: dict,
    scored: dict,
    labels: dict,
    draws: int,
) -> None:
    """Render the paper's section on WinoPron, and write the numbers that its text prints.

    ``instances`` (about two people) and ``paper_numbers`` (JSON) have one file for each of ``template_sets``;
    ``models`` were prompted, ``scored`` resolve by likelihood; ``labels`` are what tables call systems.
    """
    common = sections.make_context(
        "winopron", template_sets, figures, tables, comparison_numbers, section_files[0], models=models | scored
    )
    measured, common_biases = study.with_systems(study.read_table(estimates), labels), study.read_table(overlap)
    for part, path in zip(template_sets, instances, strict=True):
        rows = measured[
            (measured.templates == part) & (measured.entities == "double") & (measured.reading == CORRECTED)
        ]
        rows = rows[rows.prompts != TOGETHER].assign(prompts="")
        told = without_demonstrations(rows)
        overlaps = common_biases[(common_biases.templates == part) & (common_biases.reading == CORRECTED)]
        overlaps = overlaps[overlaps.model.isin(told.model) & overlaps.model_other.isin(told.model)]
        entries = common["sets"][part]["numbers"]
        entries |= of_settings({"draws": draws}, {"draws": "winopron.bootstrap.draws"})
        entries |= count_instances(files.read_parquet(path), path)
        entries |= count_systems(rows, part) | count_bias(told, part) | count_overlaps(overlaps, part)
        enough = rows.index.isin(told.index) & rows.metric.isin(["positive", "negative"]) & (rows.below >= FEWEST)
        for name, chosen in (
            ("rules", rows.kind == HEURISTIC), ("systems", rows.kind != HEURISTIC), ("bias", enough),
        ):  # fmt: skip
            common["sets"][part][name] = Numbers(common["sets"][part], rows[chosen], IDENTITY, FACTORS, SOURCE)
    common |= {
        "called": {name: TITLES[name] for name in template_sets},
        "most_pairs": MOST_PAIRS,
        "main": template_sets[-1],
        "winogender": winogender,
        "models": models,
        "scored": scored,
    }
    sections.write_all(section_files, section_templates, common)
    for part, path in zip(template_sets, paper_numbers, strict=True):
        files.write_json(path, common["sets"][part]["numbers"])


def without_demonstrations(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of heuristics and of systems that are no demonstrations, where the run has any such system."""
    demonstrations = rows.system.str.contains("(demonstration)", regex=False)
    return rows[~demonstrations] if (~demonstrations & (rows.kind != HEURISTIC)).any() else rows


def count_instances(instances: pd.DataFrame, source: str) -> dict[str, dict]:
    """Return how many sentences about two people there are, and templates, pairs of people and pronoun sets of them."""
    columns = {"double.templates": "template", "double.pairs": "pair", "pronoun_sets": "pronoun_set"}
    numbers = {f"size.{name}": make_count(instances[of].nunique(), source, column=of) for name, of in columns.items()}
    return numbers | {"size.double.sentences": make_count(len(instances), source)}


def count_systems(rows: pd.DataFrame, part: str) -> dict[str, dict]:
    """Return how many rules and other systems there are, and how many pairs of people these were asked about.

    ``asked.lowest``, ``prompted.pairs`` and ``scored.pairs``: by any system, prompted model, or model by likelihood, at
    least. ``accusative.hardest``: systems whose interval for the accusative lies below those for both other cases.
    ``chance.<consistency>``: that of a system that reads pronouns.
    """
    whole, sets = pick(rows, metric="accuracy"), rows.pronoun_set[rows.pronoun_set != ""].nunique()
    of_kinds = {
        "asked.lowest": whole, "prompted.pairs": whole[(whole.scoring == PROMPTED)],
        "scored.pairs": whole[whole.scoring.isin(study.LIKELIHOODS)],
    }  # fmt: skip
    found = {
        name: make_count(of.clusters.min(), SOURCE, templates=part, column="clusters")
        for name, of in of_kinds.items()
        if len(of)
    }
    rules = whole.kind == HEURISTIC
    for name, some in (("rules", rules), ("systems", ~rules)):
        found[name] = make_count(whole.system[some].nunique(), SOURCE, templates=part, column="system")
    for metric, chance in coin_consistency(sets).items():
        found[f"chance.{metric}"] = make_entry(chance, format_percent(chance), SOURCE, templates=part, metric=metric)
    by_case = pick(rows[rows.kind != HEURISTIC], metric="accuracy", case=CASES)
    ends = by_case.pivot(index="system", columns="case", values=["low", "high"])
    low, high = (ends.reindex(columns=[(end, case) for case in CASES]).droplevel(0, axis=1) for end in ("low", "high"))
    hardest = high.accusative < low.drop(columns="accusative").min(axis=1, skipna=False)
    return found | {
        "accusative.hardest": make_count(hardest.sum(), SOURCE, templates=part, case="accusative", metric="accuracy")
    }


def count_bias(rows: pd.DataFrame, part: str) -> dict[str, dict]:
    """Return how many systems and pronoun forms have template pairs that can show bias, and how many.

    ``bias.systems``: with some attempted and solvable pair; ``bias.enough`` and ``bias.forms``: systems and forms with
    ``bias.fewest`` or more, and ``bias.pairs.<lowest or highest>`` how many those systems have. ``bias.chance``: the
    share of either sign that fair coins show.
    """
    biased = pick(rows, metric="biased", case=..., pronoun_set=...)
    whole, forms = biased[(biased["case"] == "") & (biased.below > 0)], biased[biased.pronoun_set != ""]
    enough = whole.below[whole.below >= FEWEST]
    counts = {
        "systems": len(whole), "forms": (forms.below >= FEWEST).sum(), "enough": len(enough), "fewest": FEWEST
    }  # fmt: skip
    counts |= {"pairs.lowest": enough.min(), "pairs.highest": enough.max()} if len(enough) else {}
    found = {
        f"bias.{name}": make_count(value, SOURCE, templates=part, metric="biased", column="below")
        for name, value in counts.items()
    }
    coins = coin_share(rows.pronoun_set[rows.pronoun_set != ""].nunique())
    return found | {"bias.chance": make_entry(coins, format_percent(coins, 1), SOURCE, templates=part, column="chance")}


def count_overlaps(rows: pd.DataFrame, part: str) -> dict[str, dict]:
    """Return how many pairs of systems are compared, and how many comparisons of cases are beyond chance."""
    systems, cases = (rows[rows.comparison == comparison] for comparison in ("systems", "cases"))
    counts = {
        "pairs": len(systems[["model", "scoring", "model_other", "scoring_other"]].drop_duplicates()),
        "cases.tested": cases.p_value.notna().sum(), "cases.above_chance": (cases.p_holm < 0.05).sum(),
    }  # fmt: skip
    return {f"overlap.{name}": make_count(value, "overlap.csv", templates=part) for name, value in counts.items()}


def summary(*, estimates: str, summary: str, labels: dict, models: dict, scored: dict, systems: dict) -> None:
    """Write WinoPron's rows of the summary over all studies (CSV): those of the corrected reading over all pronouns.

    The accuracy of a system with several prompts is that of each: prompts may differ by more than models do, and their
    mean is nobody's. The headlines are the lowest and the highest. Sentences about one person leave rules no choice.

    ``models`` (prompted), ``scored`` (by likelihood) and ``systems`` have what figures say of those of the run;
    ``labels`` are what tables call all systems.
    """
    rows = study.read_table(estimates)
    rows = pick(rows, metric=list(SUMMARISED), reading=CORRECTED, case=..., prompt=..., prompts=...)
    rows = rows.assign(
        rank=rows.metric.map({name: place for place, name in enumerate(SUMMARISED)}),
        by_prompt=rows.prompt != "",
        system=rows.groupby(IDENTITY, sort=False).ngroup(),
    ).sort_values(["rank", "by_prompt", "system"], kind="stable")
    rows = rows[(rows.prompts != TOGETHER) & ((rows.entities == "double") | (rows.kind != HEURISTIC))]
    accuracy = (rows.metric == "accuracy") & (rows["case"] == "")
    several = rows.by_prompt.groupby(rows.system).transform("any")
    rows = rows[~accuracy | ~several | rows.by_prompt]
    headlines = rows[(rows.metric == "accuracy") & (rows["case"] == "") & (rows.entities == "double")]
    of_system = headlines.groupby(IDENTITY).value
    ends = headlines[(headlines.value == of_system.transform("min")) | (headlines.value == of_system.transform("max"))]
    unknown = {"demonstration": False, "debiasing": "none"}
    facts = [unknown | (models | scored | systems).get(name, {"label": labels[name]}) for name in rows.model]
    rows = rows.assign(
        part=rows.templates,
        metric=rows.metric.map(SUMMARISED),
        n=rows.clusters,
        n_unit="pairs of people",
        headline=rows.index.isin(ends.index),
        label=[of["label"] for of in facts],
        demonstration=[of["demonstration"] for of in facts],
        debiasing=[of["debiasing"].replace("none", "") for of in facts],
    )
    columns = ["part", *study.SYSTEM, "metric", "entities", "case", "prompt", "value", "low", "high", "n", "n_unit"]
    columns += ["headline", "label", "demonstration", "debiasing"]
    estimate_rows.write_estimates(summary, "winopron", rows[columns].to_dict("records"))


if __name__ == "__main__":
    run_named()
