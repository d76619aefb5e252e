"""What the study calls its template sets, sentences, systems and ways of reading them."""

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

SETS = {"replica": "replica templates", "official": "WinoPron", "winogender": "Winogender Schemas"}
"""Template sets to their labels; Winogender Schemas have no sentences about one person."""
WINOGENDER = "winogender"
ENTITIES = {"double": "two people", "single": "one person"}
"""Kinds of sentences to their labels."""
CASE_LABELS = {"nominative": "nom.", "accusative": "acc.", "possessive": "poss."}
WINOGENDER_SETS = ("he/him/his", "she/her/her", "they/them/their")
"""Pronoun sets of Winogender Schemas, which the study's values on them are over."""
PRONOUN_SETS = {"he", "she", "they", "xe"}
"""The study's pronoun sets, by their names in templates/pronouns.tsv."""
THREE_SETS = "|".join(WINOGENDER_SETS)
"""The ``pronoun_set`` of metrics that pool these."""
RULES = {
    "nearest": "Nearest person (rule)",
    "first": "First person (rule)",
    "last": "Last person (rule)",
    "subject": "Grammatical subject (rule)",
}
"""Rules that stand in for a system (:mod:`scripts.winopron.lib.person_rules`), to their labels."""
SYSTEMS = {
    "LingMess": "other_mention",
    "CAW-coref": "other_mention",
    "SpanBERT-base": "carried_over",
    "SpanBERT-large": "carried_over",
    "FLAN-T5-small": "published",
    "FLAN-T5-base": "published",
    "FLAN-T5-large": "published",
    "FLAN-T5-xl": "published",
    "FLAN-T5-xxl": "published",
}
"""The study's systems, in the order of its tables, to how its authors read their outputs."""
CONVERSIONS = {"c2f": "carried_over", "caw": "other_mention", "lingmess": "other_mention"}
"""Architectures of coreference systems to how the study's authors read their outputs, as of :data:`SYSTEMS`; they had
no other architecture."""
TEMPLATES = {"replica": 360, "official": 360, "winogender": 120}
"""Template sets to the number of their sentences about two people, each with every pronoun set."""
WORDS = 20
"""Words and marks of a typical sentence."""
CORRECTED = "corrected"
"""How this project reads the outputs of every system."""
READINGS = {
    CORRECTED: "corrected",
    "other_mention": "as published",
    "carried_over": "as published",
    "published": "as published",
}
"""Ways of reading to what tables call them."""


FULL, PARTIAL = ", full likelihood", ", partial likelihood"
"""What the label of a model ends with that resolves by likelihood (:func:`by_likelihood`)."""
SCORINGS = {FULL: "log_probability", PARTIAL: "continuation_log_probability"}
"""The same to the column of scores that the model goes by."""
WORDS_OF_TABLES = dict.fromkeys(("pairing", "prompt", "variant", "undefined"), "")
"""Columns of tidy tables that may be empty in every row."""


def read_table(path: str | Path) -> "pd.DataFrame":
    """Return a tidy table from its file: columns of words stay words, with nothing where there is no word."""
    return files.read_csv(path, dtype=dict.fromkeys(WORDS_OF_TABLES, str)).fillna(WORDS_OF_TABLES)


def conversions(architecture: str) -> list[str]:
    """Return the ways in which clusters of a system are read: the corrected one, and the authors' where there is one.

    Examples:
        >>> conversions("c2f"), conversions("f-coref")
        (['corrected', 'carried_over'], ['corrected'])
    """
    return [CORRECTED, *([CONVERSIONS[architecture]] if architecture in CONVERSIONS else [])]


def system_label(facts: Mapping[str, Any]) -> str:
    """Return what tables call a system of the registry, with what it was debiased by.

    Examples:
        >>> system_label({"label": "BERT-base", "debiasing": "n-CDA"})
        'BERT-base, n-CDA'
    """
    return facts["label"] + ("" if facts["debiasing"] == "none" else f", {facts['debiasing']}")


def systems(folder: str, rules: dict[str, str], run: dict[str, dict], given: list[dict]) -> list[dict]:
    """Return every system with clusters of a set of instances: label, ways of reading (``conversions``) and file.

    Args:
        folder: With the clusters of this run.
        rules: Rules that stand in for a system, to their labels.
        run: Systems of the run, to their facts in the registry; those that the authors had are read in their way as
            well.
        given: Entries of ``winopron.clusters`` in the configuration.
    """
    found = [(name, label, [CORRECTED]) for name, label in rules.items()]
    found += [(name, system_label(facts), conversions(facts["architecture"])) for name, facts in run.items()]
    made = [{"system": label, "conversions": ways, "file": f"{folder}/{name}.jsonl"} for name, label, ways in found]
    return made + [entry | {"conversions": [CORRECTED, entry["conversion"]]} for entry in given]


def check_systems(names: dict, systems: list[dict]) -> None:
    """Refuse two systems of a set of instances that tables could not tell apart.

    Args:
        names: ``templates`` and ``entities``.
        systems: With ``system`` and ``file``.

    Raises:
        UserError: If two have the same label.
    """
    seen = {}
    for entry in systems:
        first = seen.setdefault(entry["system"], entry["file"])
        if first != entry["file"]:
            raise UserError(
                f"winopron.clusters: {entry['file']} is of {entry['system']} on {names['templates']}, "
                f"{names['entities']}, as {first} is; give it another name"
            )


def by_likelihood(system: str) -> bool:
    """Tell whether a label is that of a model that resolves by likelihood.

    Examples:
        >>> by_likelihood("BERT, full likelihood"), by_likelihood("FLAN-T5-xl")
        (True, False)
    """
    return system.endswith((FULL, PARTIAL))


def reads_pronouns(system: str) -> bool:
    """Tell whether what a system takes can depend on the pronoun set, so that bias can show.

    Examples:
        >>> [reads_pronouns(name) for name in ("SpanBERT-base", "BERT, full likelihood", "First person (rule)")]
        [True, False, False]
    """
    return not is_rule(system) and not by_likelihood(system)


def comparison_obstacle(pronoun_sets: Iterable[str]) -> str:
    """Return why results over these pronoun sets cannot be compared with the study's; empty if they can."""
    return "" if set(pronoun_sets) == PRONOUN_SETS else "the study has the pronoun sets he, she, they and xe"


def overall_rows(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of metrics on all sentences of a set together."""
    return table[(table[["case", "pronoun_set"]] == "all").all(axis=1)]


def corrected_rows(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a table that belong to the corrected reading, which figures and tables show."""
    return table[table.conversion == CORRECTED].reset_index(drop=True)


def with_all_prompts(bias: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of bias.csv of systems that read pronouns: of prompted ones those of all prompts together."""
    prompted = bias.groupby("system").prompt.transform(lambda prompts: (prompts == "all").any())
    return bias[(~prompted | (bias.prompt == "all")) & bias.system.map(reads_pronouns)]


def as_published(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with each system once: as the study's authors read it, or corrected where they do not say."""
    theirs = table[table.conversion != CORRECTED].system.unique()
    kept = (table.conversion != CORRECTED) | ~table.system.isin(theirs)
    return table[kept].reset_index(drop=True)


def order_systems(systems: Iterable[str]) -> list[str]:
    """Return labels in the order of the study's tables; those of other systems follow in their own, rules last.

    Examples:
        >>> order_systems(["First person (rule)", "Some model", "CAW-coref", "LingMess"])
        ['LingMess', 'CAW-coref', 'Some model', 'First person (rule)']
    """
    names = list(dict.fromkeys(systems))
    places = list(SYSTEMS)
    return sorted(names, key=lambda name: places.index(name) if name in SYSTEMS else len(places) + is_rule(name))


def is_rule(system: Hashable) -> bool:
    """Tell whether a label is that of a rule that stands in for a system.

    Examples:
        >>> is_rule("First person (rule)"), is_rule("SpanBERT-base")
        (True, False)
    """
    return system in RULES.values()
