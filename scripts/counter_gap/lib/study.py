"""What the study calls its systems, data sets, subsets and ways of scoring, and where its authors' releases are."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core import files
from scripts.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

SYSTEMS = {
    "bert_base": "BERT-base",
    "bert_large": "BERT-large",
    "spanbert_base": "SpanBERT-base",
    "spanbert_large": "SpanBERT-large",
}
"""The systems whose flags were released, by the names of their files."""
TRAINED_HERE = " (trained here)"
"""Ends the labels, in the registry, of the same systems that are trained by this workflow as the study says."""
RELEASED = {
    "none": "counter_gap/results/none/{name}_output.tsv",
    "n-CDA": "counter_gap_ncda/results/none/ncda/{name}_output.tsv",
}
"""Debiasing methods to the released files (``config/upstream.tsv``); ``name`` is one of :data:`SYSTEMS`."""
RULES = {
    "nearest": "Nearest name (rule)",
    "first": "First name (rule)",
    "alphabetical": "Alphabetical (rule)",
    "gendered": "Gendered (rule)",
}
"""Rules that stand in for a coreference system where none is at hand, to their labels.

Each is told the two candidate names and puts one of them into the pronoun's cluster, so that its behaviour is known in
advance. They show that the machinery works and what its metrics say of a known behaviour; they are no coreference
systems. ``nearest`` and ``first`` see no name and no gender: no inconsistency at all. ``alphabetical`` takes the name
that comes first in the alphabet: inconsistent within genders. ``gendered`` takes the nearest name for masculine
pronouns and the first name for feminine ones: inconsistent across genders only.
"""
SCORING = {"released": "released flags", "clusters": "spans", "clusters_faithful": "spans, faithful"}
"""Ways of scoring to their labels in tables and figures."""
DATA = {"gap_test": "GAP test", "gap_validation": "GAP validation", "gap_development": "GAP development"}
"""Parts of GAP to their labels in tables and figures."""
CORPORA = {"ontonotes": "OntoNotes (development set)", "litbank": "LitBank (test set)"}
"""Annotated corpora to their labels, with the part that is scored
(:data:`scripts.core.coreference_systems.documents.SCORED_PARTS`)."""
METRICS = {
    "accuracy": "the accuracy",
    "acc_diff": "the accuracy difference",
    "delta_i": "the difference of inconsistencies",
    "original_minus_counterfactual": "the difference of original and counterfactual accuracy",
    "i_within_diff": "the difference within genders",
    "i_across_diff": "the difference across genders",
    "spearman_rho": "the rank correlation",
    "conll_f1": "F1",
}
"""Metrics in words."""
PASSAGES = {
    "replica": (96, 28),
    "official": (4008, 112),
    # As many as the study's own, since the books of a run are not known beforehand.
    "books": (4008, 112),
    "gap_test": (2000, 92),
    "gap_validation": (454, 90),
    "gap_development": (2000, 91),
}
"""Data sets with texts to the number of their passages, and of the words and marks of a typical one (the root mean
square), from which plans follow."""


def clusters(data: str, rules: list[str], systems: dict[str, dict], given: list[dict]) -> list[dict]:
    """Return whose clusters are scored on a data set, by ``system`` (its label) and ``debiasing``, and the ``file``.

    Args:
        data: The data set; on one without texts rules and systems resolve nothing.
        rules: Names of :data:`RULES`.
        systems: The coreference systems of the run, by name: ``label`` and ``debiasing``.
        given: Files of the configuration, each with its ``data``.

    Raises:
        UserError: If two files have the same label and debiasing, so that tables could not tell them apart.
    """
    resolving = {name: (RULES[name], "none") for name in rules}
    resolving |= {name: (facts["label"], facts["debiasing"]) for name, facts in systems.items()}
    entries = [
        {"system": label, "debiasing": debiasing, "file": f"results/counter_gap/clusters/{data}/{name}.jsonl"}
        for name, (label, debiasing) in (resolving.items() if data in PASSAGES else ())
    ]
    entries += [entry for entry in given if entry["data"] == data]
    seen = {}
    for entry in entries:
        first = seen.setdefault((entry["system"], entry["debiasing"]), entry["file"])
        if first != entry["file"]:
            raise UserError(
                f"counter_gap.clusters: {entry['file']} is of {entry['system']}, debiasing {entry['debiasing']}, on "
                f"{data}, as {first} is; give it another name"
            )
    return entries


def is_rule(system: str) -> bool:
    """Tell whether a label is that of a rule which stands in for a system (:data:`RULES`)."""
    return system in RULES.values()


def label(row: Any) -> str:
    """Return a system's label, with its debiasing."""
    return row.system if row.debiasing == "none" else f"{row.system}, {row.debiasing}"


def main_scoring(table: "pd.DataFrame") -> "pd.DataFrame":
    """Keep the scoring that a figure shows: released flags where there are any, otherwise rightly taken spans."""
    main = "released" if (table.scoring == "released").any() else "clusters"
    return table[table.scoring == main].reset_index(drop=True)


def read_set(path: str | Path, templates: str) -> "pd.DataFrame":
    """Read what metrics.csv or significance.csv say of one set of quadruples; a set that was not run is refused."""
    table = files.read_csv(path)
    table = table[table.data == templates].reset_index(drop=True)
    if table.empty:
        raise UserError(f"{path}: has no rows of '{templates}'; run the workflow with it in counter_gap.templates")
    return table
