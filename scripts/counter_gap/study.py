"""What Counter-GAP calls its systems and data sets, and the columns that its tables share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import HEURISTIC
from scripts.core.statistics import ratios

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
METHODS = ("none", "a-CDA", "n-CDA")
"""Debiasing methods in the order of the study's Table 6."""
RULES = {
    "nearest": "Nearest name (rule)",
    "first": "First name (rule)",
    "alphabetical": "Alphabetical (rule)",
    "gendered": "Gendered (rule)",
}
"""Rules that stand in for a system (:mod:`scripts.counter_gap.baselines`), to their labels."""
SETS = {
    "replica": "replica quadruples",
    "books": "quadruples from books",
    "released": "released flags",
    "official": "official quadruples",
}
"""Sets of quadruples to what texts call them; the last one that a run has is the one of its figures."""
GAP = {"gap_test": "GAP test", "gap_validation": "GAP validation", "gap_development": "GAP development"}
"""Parts of GAP to their labels."""
CORPORA = {"ontonotes": "OntoNotes (development set)", "litbank": "LitBank (test set)"}
"""Annotated corpora to their labels, with the part that is scored
(:data:`scripts.core.coreference_systems.documents.SCORED_PARTS`)."""
CORRECTED, PUBLISHED = "corrected", "published"
"""Ways of reading clusters: spans end where they end, or as the study's released conversion took them
(:mod:`scripts.counter_gap.predictions`). Released flags are read already, and have none."""
READINGS = {"": "released flags", CORRECTED: "spans", PUBLISHED: "spans, faithful"}
"""Ways of reading to what tables call them, in their order."""
IDENTITY = ["templates", "model", "kind", "scoring", "debiasing", "reading"]
"""Whose answers, and to what: a set of quadruples, a part of GAP or a corpus."""
FACTORS = ["role", "gender", "original_gender"]
"""Factors of estimates, empty where they are pooled; ``a|b`` pools these levels."""
ORIGINAL, COUNTERFACTUAL = "original|control", "swap-1|swap-2"
"""Roles of the instances with the quadruple's original gender and with the other one."""


def read_estimates(path: str | Path, labels: Mapping[str, str], alpha: float) -> pd.DataFrame:
    """Return estimates with the labels of their systems, and with which tests are significant at a level."""
    table = estimate_rows.read_table(path, [*IDENTITY, *FACTORS])
    return with_systems(add_significance(table, alpha), labels)


def add_significance(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return estimates with whether each p value is below a level; missing for what is not tested.

    The columns are ``significant``, after Holm's correction ``significant_holm``, and the same of the centred bootstrap
    (``significant_centred``, ``significant_centred_holm``).
    """
    columns = {"p_value": "", "p_holm": "_holm", "p_centred": "_centred", "p_centred_holm": "_centred_holm"}
    tested = table.p_value.notna()
    return table.assign(
        **{f"significant{of}": (table[p] < alpha).astype(object).where(tested, None) for p, of in columns.items()}
    )


def pick(table: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    """Return the rows with these levels (:func:`scripts.core.statistics.ratios.select_rows`)."""
    return ratios.select_rows(table, FACTORS, **levels)


def with_systems(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with ``system``, what tables call the model of each row, and ``output``, what was read of it.

    Rows are in the order of :data:`READINGS`, rules last.
    """
    rank = table.reading.map(list(READINGS).index)
    table = table.assign(
        system=table.model.map(labels), output=table.reading.map(READINGS), rank=rank, last=table.kind == HEURISTIC
    )
    return table.sort_values(["rank", "last"], kind="stable", ignore_index=True).drop(columns=["rank", "last"])


def main_outputs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that figures and the text show: of released flags if there are any, else clusters corrected."""
    shown = "" if (table.reading == "").any() else CORRECTED
    return table[table.reading == shown].reset_index(drop=True)


def full_label(row: Any) -> str:
    """Return a system's label, with its debiasing."""
    return row.system if row.debiasing == "none" else f"{row.system}, {row.debiasing}"


def tests_disagree(row: Any) -> bool:
    """Tell whether the two variants of the bootstrap decide a test differently, before or after the correction."""
    centred = row.significant_centred, row.significant_centred_holm
    return (row.significant, row.significant_holm) != centred
