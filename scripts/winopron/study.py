"""What WinoPron calls its template sets, sentences and systems, and the columns that its tables share."""

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import FULL, HEURISTIC, PARTIAL
from scripts.core.statistics import ratios

SETS = {"replica": "replica templates", "official": "WinoPron", "winogender": "Winogender Schemas"}
"""Template sets to their labels; Winogender Schemas have no sentences about one person."""
WINOGENDER = "winogender"
ENTITIES = {"double": "two people", "single": "one person"}
"""Kinds of sentences to their labels."""
CASE_LABELS = {"nominative": "nom.", "accusative": "acc.", "possessive": "poss."}
WINOGENDER_SETS = ("he/him/his", "she/her/her", "they/them/their")
"""Pronoun sets of Winogender Schemas, which the study's values on them are over."""
THREE_SETS = "|".join(WINOGENDER_SETS)
"""The ``pronoun_set`` of estimates that pool these."""
PRONOUN_SETS = ("he", "she", "they", "xe")
"""The study's pronoun sets, by their names in templates/pronouns.tsv."""
LIKELIHOODS = {FULL: "log_probability", PARTIAL: "continuation_log_probability"}
"""Ways of resolving by likelihood, to the column of scores that they go by."""
RULES = {
    "nearest": "Nearest person (rule)",
    "first": "First person (rule)",
    "last": "Last person (rule)",
    "subject": "Grammatical subject (rule)",
}
"""Rules that stand in for a system (:mod:`scripts.winopron.baselines`), to their labels."""
SYSTEMS = (
    "LingMess", "CAW-coref", "SpanBERT-base", "SpanBERT-large",
    "FLAN-T5-small", "FLAN-T5-base", "FLAN-T5-large", "FLAN-T5-xl", "FLAN-T5-xxl",
)  # fmt: skip
"""The study's systems, in the order of its tables."""
CORRECTED, PUBLISHED = "corrected", "published"
READINGS = {CORRECTED: "corrected", PUBLISHED: "as published"}
"""Ways of reading outputs to what tables call them: as this project does, and as the study's authors did."""
SYSTEM = ["model", "kind", "scoring"]
IDENTITY = ["templates", "entities", *SYSTEM, "reading"]
"""Whose answers, and to what."""
ASKED, FORM = ["prompt", "variant"], ["case", "pronoun_set"]
FACTORS = ["prompt", "prompts", *FORM]
"""Factors of estimates, empty where they are pooled. ``prompts`` says of systems with several how these make a group
of answers that are right together: ``each`` by itself, or all ``together``, as in the study."""
EACH, TOGETHER = "each", "together"


def read_table(path: str | Path) -> pd.DataFrame:
    """Return a table of results; words stay words, and an empty one is one."""
    return estimate_rows.read_table(path, [*SYSTEM, *ASKED, *FACTORS])


def pick(table: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    """Return the rows with these levels (:func:`scripts.core.statistics.ratios.select_rows`)."""
    return ratios.select_rows(table, FACTORS, **levels)


def reads_pronouns(table: pd.DataFrame) -> pd.Series:
    """Tell of each row whether its system's answers can depend on the pronoun set, so that bias can show."""
    return (table.kind != HEURISTIC) & ~table.scoring.isin(LIKELIHOODS)


def as_published(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with each system once: as the study's authors read it, or corrected where they do not say."""
    published = table.reading == PUBLISHED
    known = published.groupby([table[name] for name in SYSTEM]).transform("any")
    return table[published == known]


def system_label(facts: Mapping[str, Any]) -> str:
    """Return what tables call a system of the registry, with what it was debiased by.

    Examples:
        >>> system_label({"label": "BERT-base", "debiasing": "n-CDA"})
        'BERT-base, n-CDA'
    """
    return facts["label"] + ("" if facts["debiasing"] == "none" else f", {facts['debiasing']}")


def scored_label(label: str, scoring: str) -> str:
    """Return what tables call a system with its way of scoring, which they say of those that have several."""
    return f"{label}, {scoring}" if scoring in LIKELIHOODS else label


def short_label(pronoun_set: str) -> str:
    """Return what texts call a pronoun set: he."""
    return pronoun_set.partition("/")[0]


def count_sentences(pairs: int | str) -> int:
    """Return how many sentences about two people are about so many pairs of people, or about ``all``."""
    return 6 * (60 if pairs == "all" else int(pairs))


def with_systems(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with ``label``, what figures call the model of each row, and ``system``, that and its scoring.

    ``system`` is categorical, and rows are in its order, that of the study's tables. Of two systems that are compared
    the first in this order comes first, and ``system_other`` is the second.

    Args:
        labels: Model to label.
    """
    names = {
        suffix: [
            scored_label(labels[model], scoring)
            for model, scoring in zip(table[f"model{suffix}"], table[f"scoring{suffix}"], strict=True)
        ]
        for suffix in ("", "_other")
        if f"model{suffix}" in table
    }
    order = order_systems(itertools.chain(*names.values()))
    systems = {f"system{suffix}": pd.Categorical(of, order, ordered=True) for suffix, of in names.items()}
    table = table.assign(label=table.model.map(labels), **systems)
    if "system_other" in table:
        turned = table.system > table.system_other
        pairs = ["system", "system_other"], ["first", "second"]
        for one, other in pairs:
            table[one], table[other] = table[one].where(~turned, table[other]), table[other].where(~turned, table[one])
    return table.sort_values("system", kind="stable")


def order_systems(labels: Iterable[str]) -> list[str]:
    """Return labels in the order of the study's tables; those of other systems follow in their own, rules last.

    Examples:
        >>> order_systems(["First person (rule)", "Some model", "CAW-coref", "LingMess"])
        ['LingMess', 'CAW-coref', 'Some model', 'First person (rule)']
    """
    last = len(SYSTEMS)
    rank = {name: SYSTEMS.index(name) if name in SYSTEMS else last + (name in RULES.values()) for name in labels}
    return sorted(rank, key=rank.__getitem__)
