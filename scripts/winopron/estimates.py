"""Accuracy, consistency and bias of every system (sections 4 and 5 of the paper), and how alike biases are."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from scripts.core import files
from scripts.core.data.templates import CASES
from scripts.core.statistics import procedures, ratios
from scripts.core.statistics.ratios import pool_levels
from scripts.core.workflow.job import run_named
from scripts.winopron import study
from scripts.winopron.study import ASKED, EACH, FACTORS, FORM, IDENTITY, SYSTEM, TOGETHER
from scripts.winopron.templates import ANSWERS

GROUPS = {"pronoun_consistency": ["template"], "disambiguation_consistency": ["template_pair", "pronoun_set"]}
"""Answers that count as right together: a template with all pronoun sets; both templates of a pair with one set."""
SIGNS = {"positive": ["positive"], "negative": ["negative"], "biased": ["positive", "negative"]}
"""Metrics of bias to the signs that they count."""
BIASED = [*IDENTITY, *ASKED, *FORM, "occupation", "bias"]
OVERLAP = [
    "templates", "reading", *SYSTEM, *(f"{name}_other" for name in SYSTEM), "case", "case_other", "pronoun_set",
    "comparison", "first", "second", "common", "jaccard", "expected", "p_value", "p_holm",
]  # fmt: skip
"""``comparison``: what differs, ``systems`` or ``cases``. ``first``, ``second``, ``common``: how many occupations are
biased in either and in both, of those that both were asked about."""


def estimates(
    *,
    instances: list,
    predictions: list,
    estimates: str,
    biased_occupations: str,
    overlap: str,
    draws: int,
    seed: int,
) -> None:
    """Estimate all metrics of all systems; list the biased occupations and how far those of two forms overlap."""
    answers = read_answers(instances, predictions)
    own = answers[answers.templates != study.WINOGENDER]
    # What is grouped is resampled in the order of the templates, all else in that of the names.
    own = own.assign(pair=own.groupby("templates").pair.transform(lambda pairs: pd.factorize(pairs)[0]))
    pairs = template_pairs(own[own.entities == "double"])
    items = [count_performance(answers), count_consistency(own), count_bias(pairs)]
    # Nobody is named: precision is 1 by definition.
    table = pd.concat(
        [
            ratios.estimate_ratios(part, [*IDENTITY, *FACTORS], "pair", draws, seed, {"precision": 1.0})
            for part in items
        ],
        ignore_index=True,
    )
    files.write_csv(estimates, table.assign(chance=chance_levels(table, answers)))
    files.write_csv(biased_occupations, pairs.loc[pairs.bias != "", BIASED])
    files.write_csv(overlap, compare_overlaps(template_pairs(majority_answers(own[own.entities == "double"]))))


def read_answers(instances: list, predictions: list) -> pd.DataFrame:
    """Return the predictions of all sets with what is known of their instances."""
    tables = [
        files.read_parquet(path).merge(files.read_parquet(known), on="instance_id", validate="many_to_one")
        for known, path in zip(instances, predictions, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def count_performance(answers: pd.DataFrame) -> pd.DataFrame:
    """Return numerators and denominators as the authors count: an answer that is not right is a false negative.

    *Accuracy* is the share of answers that are right, and so the same as recall. It is there by prompt as well.
    """
    right, named = answers.right.astype(int), answers.prediction.notna().astype(int)
    answers = pool_levels(answers, "prompts")
    counts = {"accuracy": (right, 1), "precision": (right, named), "recall": (right, 1), "f1": (2 * right, 1 + named)}
    items = pd.concat([answers.assign(metric=name, above=a, below=b) for name, (a, b) in counts.items()])
    several = answers.groupby(IDENTITY).prompt.transform("nunique") > 1
    by_prompt = answers[several].assign(metric="accuracy", above=right[several], below=1)
    three = items[(items.templates == study.WINOGENDER) & items.pronoun_set.isin(study.WINOGENDER_SETS)]
    # The study's values on Winogender Schemas are over three pronoun sets.
    three = three if three.pronoun_set.nunique() == len(study.WINOGENDER_SETS) else three.iloc[:0]
    parts = [pool_levels(items, "prompt", *factors) for factors in (FORM, ["pronoun_set"], ["case"], [])]
    three = pool_levels(three, "prompt", "case").assign(pronoun_set=study.THREE_SETS)
    return pd.concat([*parts, three, pool_levels(by_prompt, *FORM)])


def count_consistency(answers: pd.DataFrame) -> pd.DataFrame:
    """Return groups of answers that count as right together (section 4.3).

    Where a system is asked in several ways, it has groups for each, and groups of all of them, as in the study.
    """
    several = ways_of_asking(answers) > 1
    found = []
    for metric, keys in GROUPS.items():
        for rows, prompts, asked in (
            (answers[~several], ratios.POOLED, []),
            (answers[several], TOGETHER, []),
            (answers[several], EACH, ASKED),
        ):
            right = rows.groupby([*IDENTITY, "pair", *keys, *asked], sort=False).right.all().reset_index(name="above")
            found.append(pool_levels(right, "prompt", *FORM).assign(metric=metric, prompts=prompts, below=1))
    return pd.concat(found)


def ways_of_asking(answers: pd.DataFrame) -> pd.Series:
    """Return in how many ways the system of each row was asked: prompts and their variants."""
    return (answers.prompt + "\n" + answers.variant).groupby([answers[name] for name in IDENTITY]).transform("nunique")


def chance_levels(table: pd.DataFrame, answers: pd.DataFrame) -> pd.Series:
    """Return what fair coins come to.

    The paper's chance levels of consistency (6.25 and 25 percent) are those of one prompt; its values for prompted
    models take all thirty together, for which chance is next to nothing.
    """
    sets = answers.groupby("templates").pronoun_set.nunique()
    ways = answers.assign(ways=ways_of_asking(answers)).groupby(IDENTITY).ways.first()
    ways = pd.Series(ways.reindex(pd.MultiIndex.from_frame(table[IDENTITY])).to_numpy(), table.index)
    told_apart = table.templates.map(sets).where(study.reads_pronouns(table), 1)
    together = ways.where(table.prompts == TOGETHER, 1)
    coins = table.templates.map(sets).map(coin_share)
    levels = {
        "accuracy": pd.Series(0.5, table.index).where(table.entities == "double"),
        **{metric: chance**together for metric, chance in coin_consistency(told_apart).items()},
        "positive": coins, "negative": coins, "biased": 2 * coins,
    }  # fmt: skip
    chance = np.select([table.metric == name for name in levels], list(levels.values()), np.nan)
    return pd.Series(chance, table.index)


def coin_consistency(pronoun_sets: Any) -> dict[str, Any]:
    """Return each consistency of a fair coin for each sentence, told apart by so many pronoun sets.

    Examples:
        >>> coin_consistency(4)
        {'pronoun_consistency': 0.0625, 'disambiguation_consistency': 0.25}
    """
    return {metric: 0.5**members for metric, members in zip(GROUPS, (pronoun_sets, 2), strict=True)}


def coin_share(pronoun_sets: int) -> float:
    """Return the share of either sign of bias that fair coins show, among attempted and solvable template pairs.

    Two coins for each template pair and pronoun set: both sentences are resolved to the same person, either one, with
    probability 1/4 each, and the pair is solvable if another set is solved, which has probability 1/4 for each set.
    """
    return 0.25 * (1 - 0.75 ** (pronoun_sets - 1)) / (1 - 0.75**pronoun_sets)


def template_pairs(answers: pd.DataFrame) -> pd.DataFrame:
    """Return what systems that read pronouns make of both sentences of a template pair with a pronoun set (section 5).

    ``solvable``: some pronoun set is resolved rightly in both. ``counted``: in both somebody is named, and the pair is
    solvable. ``bias``: both sentences of a solvable pair are resolved to the occupation (``positive``) or both to the
    participant (``negative``), else empty; a pair with both answers exchanged is neither solved nor biased.
    """
    answers = answers[study.reads_pronouns(answers)]
    facts = answers.assign(
        solved=answers.right,
        counted=answers.prediction.notna(),
        positive=answers.prediction == "occupation",
        negative=answers.prediction == "participant",
    )
    keys = [*IDENTITY, *ASKED, "template_pair", *FORM, "occupation", "pair"]
    pairs = facts.groupby(keys, sort=False)[["solved", "counted", "positive", "negative"]].all().reset_index()
    solvable = pairs.groupby([*IDENTITY, *ASKED, "template_pair"], sort=False).solved.transform("any")
    signs = np.select([pairs.positive & solvable, pairs.negative & solvable], ["positive", "negative"], "")
    return pairs.assign(solvable=solvable, counted=pairs.counted & solvable, bias=signs)


def count_bias(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return biased pairs among those that are attempted and solvable (Figure 5), all prompts together."""
    pairs = pool_levels(pairs, "prompt", "prompts").assign(below=pairs.counted.astype(int))
    items = pd.concat([pairs.assign(metric=name, above=pairs.bias.isin(signs)) for name, signs in SIGNS.items()])
    return pd.concat([items, pool_levels(items, "pronoun_set"), pool_levels(items, *FORM)])


def majority_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Return one answer of each system to an instance: what more ways of asking give than any other, else nobody."""
    keys = [*IDENTITY, "instance_id"]
    votes = answers.assign(who=answers.prediction.fillna("")).groupby([*keys, "who"], sort=False).size().rename("votes")
    votes = votes.reset_index()
    most = votes[votes.votes == votes.groupby(keys, sort=False).votes.transform("max")]
    most = most.drop_duplicates(keys, keep=False)
    once = pool_levels(answers.drop_duplicates(keys), *ASKED).merge(most, on=keys, how="left")
    once["prediction"] = once.who.where(once.who.isin(ANSWERS), None)
    return once.assign(right=once.prediction == once.answer)


def compare_overlaps(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return how alike the biased occupations of two systems or cases are (Tables 5 and 6), beside chance.

    The study gives the Jaccard index alone. How large it would be if both sets were drawn at random from the
    occupations follows from their sizes. Two systems are compared if both are read as published, or both corrected;
    Holm's correction is over all comparisons of a kind with one way of reading.
    """
    keys = ["templates", "reading", *SYSTEM]
    asked = {key: frozenset(names) for key, names in pairs.groupby(keys, sort=False).occupation}
    with_bias = pairs[pairs.bias != ""].groupby([*keys, *FORM]).occupation
    biased = {key: frozenset(names) for key, names in with_bias}
    sets = list(dict.fromkeys(pairs.pronoun_set))
    systems = [
        ("systems", one, other, case, case)
        for one, other in itertools.combinations(asked, 2)
        if one[:2] == other[:2]
        for case in CASES
    ]
    cases = [("cases", one, one, *two) for one in asked for two in itertools.combinations(CASES, 2)]
    rows = []
    for (comparison, one, other, case, case_other), name in itertools.product([*systems, *cases], sets):
        forms = (*one, case, name), (*other, case_other, name)
        first, second = (biased.get(form, frozenset()) & asked[one] & asked[other] for form in forms)
        facts = (*one, *other[2:], case, case_other, name, comparison)
        rows.append((*facts, *compare_sets(first, second, len(asked[one] & asked[other]))))
    table = pd.DataFrame(rows, columns=OVERLAP[:-1])
    table["p_holm"] = np.nan
    for _, same in table.groupby(["templates", "comparison", "reading"], sort=False):
        table.loc[same.index, "p_holm"] = procedures.holm(same.p_value)
    return table


def compare_sets(first: frozenset, second: frozenset, asked: int) -> tuple[float, ...]:
    """Return sizes of two sets, out of so many ``asked``, and of what they share, their Jaccard index and its chance.

    Chance is the index of two random sets of these sizes, and the probability of an overlap as large as theirs
    or larger, exact (hypergeometric); missing where one set is empty, so that no other overlap is possible.
    """
    sizes = len(first), len(second), len(first & second)
    index = sizes[2] / len(first | second) if first or second else np.nan
    if not (first and second):
        return *sizes, index, np.nan, np.nan
    common = np.arange(min(sizes[:2]) + 1)
    expected = (hypergeom.pmf(common, asked, *sizes[:2]) * common / (sizes[0] + sizes[1] - common)).sum()
    return *sizes, index, float(expected), float(hypergeom.sf(sizes[2] - 1, asked, *sizes[:2]))


if __name__ == "__main__":
    run_named()
